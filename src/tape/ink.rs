//! Records to JSON. The fields of each kind are written in the order of their names, so
//! that a line is canonical without sorting anything.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::convert::NATIVE;
use super::line::{effect_to_json, microseconds};
use super::pen;
use super::record::{
    Body, End, Entry, Fault, Footer, HookCall, HookReturned, HookVetoed, HostCall, Lost, Phase,
    Predicate, Project, Seal, Start, Undecided, Used,
};
use super::seal::Hash;
use super::sheet::{Hole, Mark, Sheet};
use crate::capability::log::LogLine;
use crate::decision::{Effect, Ruling, Said};
use crate::outcome::{Outcome, Stages, TraceRow};

impl Sheet {
    /// Writes a record.
    pub(super) fn push(&mut self, dispatch: Option<u64>, entry: &Entry) {
        self.bytes.push(b'{');
        match entry {
            Entry::Header(project) => self.header(project),
            Entry::Session(project) => self.session(project),
            Entry::Dispatch(start) => self.dispatch(dispatch, &First::of_record(start)),
            Entry::Predicate(one) => self.predicate(dispatch, one),
            Entry::HookCall(one) => self.hook_call(dispatch, &Call::of_record(one)),
            Entry::HostCall(one) => self.host_call(dispatch, one),
            Entry::HookReturned(one) => self.hook_returned(dispatch, &Returned::of_record(one)),
            Entry::HookVetoed(one) => self.hook_vetoed(dispatch, one),
            Entry::Outcome(end) => self.outcome(dispatch, &Final::of_record(end)),
            Entry::Undecided(one) => self.undecided(one),
            Entry::Lost(lost) => self.lost(lost),
            Entry::Body(body) => self.body(body),
            Entry::Redaction(seal) => self.redaction(seal),
            Entry::Footer(footer) => self.footer(footer),
        }
        self.close();
        self.end(dispatch, Mark::of(entry));
    }

    /// Writes how a dispatch begins, without making a record of it first.
    pub(super) fn push_start(&mut self, dispatch: u64, first: &First<'_>) {
        self.give_back();
        self.bytes.push(b'{');
        self.dispatch(Some(dispatch), first);
        self.close();
        let parent = first.parent;
        self.end(Some(dispatch), Mark::Begin { parent });
    }

    /// Writes what a hook gets, without making a record of it first.
    pub(super) fn push_call(&mut self, dispatch: u64, call: &Call<'_>) {
        self.bytes.push(b'{');
        self.hook_call(Some(dispatch), call);
        self.close();
        self.end(Some(dispatch), Mark::Middle);
    }

    /// Writes what a hook said, without making a record of it first.
    pub(super) fn push_returned(&mut self, dispatch: u64, returned: &Returned<'_>) {
        self.bytes.push(b'{');
        self.hook_returned(Some(dispatch), returned);
        self.close();
        self.end(Some(dispatch), Mark::Middle);
    }

    /// Writes how a dispatch ended, without making a record of it first.
    pub(super) fn push_end(&mut self, dispatch: u64, outcome: &Outcome, took_us: u64) {
        self.bytes.push(b'{');
        let payload = outcome.payload.shared_text();
        self.outcome(
            Some(dispatch),
            &Final::of_outcome(outcome, &payload, took_us),
        );
        self.close();
        self.end(Some(dispatch), Mark::End);
    }

    fn header(&mut self, project: &Project) {
        self.word(r#""format":"#, &super::Format::CURRENT.to_string());
        self.place(r#""kind":"header","n":"#, None);
        self.prev();
        self.serialized(r#""project":"#, project);
    }

    fn session(&mut self, project: &Project) {
        self.place(r#""kind":"session","n":"#, None);
        self.prev();
        self.serialized(r#""project":"#, project);
    }

    fn dispatch(&mut self, dispatch: Option<u64>, start: &First<'_>) {
        if let Some(about) = start.about {
            self.long(r#""about":"#, about);
        }
        self.flag(r#""background":"#, start.background);
        self.number(r#""depth":"#, u64::from(start.depth));
        // Tapes of the native dialect alone need not say so on every line.
        if start.dialect != NATIVE {
            self.word(r#""dialect":"#, start.dialect);
        }
        self.word(r#""event":"#, start.event);
        self.word(r#""id":"#, start.id);
        self.place(r#""kind":"dispatch","n":"#, dispatch);
        self.maybe_number(r#""parent":"#, start.parent);
        self.long(r#""payload":"#, start.payload);
        self.prev();
        self.number(r#""session":"#, start.session);
        self.maybe_word(r#""subject":"#, start.subject);
        self.number(r#""time":"#, start.time);
    }

    fn predicate(&mut self, dispatch: Option<u64>, one: &Predicate) {
        self.number(r#""at_us":"#, one.used.at_us);
        self.maybe_serialized(r#""failure":"#, one.failure.as_ref());
        self.maybe_number(r#""fuel":"#, one.used.fuel);
        self.word(r#""hook":"#, &one.hook);
        self.belongs(r#""kind":"predicate","#, dispatch);
        self.logs(&one.used.logs);
        self.truth(r#""matched":"#, one.matched);
        self.number(r#""memory_bytes":"#, one.used.memory_bytes);
        self.n();
        self.prev();
        self.words(r#""refusals":"#, &one.used.refusals);
        self.rest_of_use(&one.used);
    }

    fn hook_call(&mut self, dispatch: Option<u64>, one: &Call<'_>) {
        self.number(r#""at_us":"#, one.at_us);
        self.flag(r#""collected":"#, one.collected);
        self.word(r#""handler":"#, one.handler);
        self.word(r#""hook":"#, one.hook);
        self.place(r#""kind":"hook_call","n":"#, dispatch);
        self.long(r#""payload":"#, one.payload);
        self.prev();
    }

    fn host_call(&mut self, dispatch: Option<u64>, one: &HostCall) {
        self.long(r#""answer":"#, &one.answer);
        self.number(r#""at_us":"#, one.at_us);
        self.word(r#""capability":"#, &one.capability);
        self.flag(r#""derived":"#, one.derived);
        self.word(r#""hook":"#, &one.hook);
        self.place(r#""kind":"host_call","n":"#, dispatch);
        match one.phase {
            Phase::When => self.raw(r#""phase":"when","#),
            Phase::Handle => self.raw(r#""phase":"handle","#),
        }
        self.prev();
        self.long(r#""request":"#, &one.request);
        self.number(r#""took_us":"#, one.took_us);
    }

    fn hook_returned(&mut self, dispatch: Option<u64>, one: &Returned<'_>) {
        self.number(r#""at_us":"#, one.used.at_us);
        self.fixed(r#""decision":"#, one.decision.name());
        self.effects(one.effects);
        self.maybe_serialized(r#""failure":"#, one.failure);
        self.maybe_number(r#""fuel":"#, one.used.fuel);
        self.word(r#""hook":"#, one.hook);
        self.belongs(r#""kind":"hook_returned","#, dispatch);
        self.flag(r#""last":"#, one.last);
        self.logs(&one.used.logs);
        self.number(r#""memory_bytes":"#, one.used.memory_bytes);
        self.n();
        if let Some(payload) = one.payload {
            self.long(r#""payload":"#, payload);
        }
        self.prev();
        self.maybe_word(r#""reason":"#, one.reason);
        self.words(r#""refusals":"#, &one.used.refusals);
        self.maybe_serialized(r#""said":"#, one.said);
        self.rest_of_use(one.used);
    }

    fn hook_vetoed(&mut self, dispatch: Option<u64>, one: &HookVetoed) {
        self.fixed(r#""decision":"#, one.decision.name());
        self.word(r#""hook":"#, &one.hook);
        self.place(r#""kind":"hook_vetoed","n":"#, dispatch);
        self.prev();
        self.word(r#""reason":"#, &one.reason);
    }

    fn outcome(&mut self, dispatch: Option<u64>, end: &Final<'_>) {
        self.fixed(r#""decision":"#, end.decision.name());
        self.effects(end.effects);
        self.maybe_word(r#""hook":"#, end.hook);
        self.place(r#""kind":"outcome","n":"#, dispatch);
        self.long(r#""payload":"#, end.payload);
        self.prev();
        self.flag(r#""raised":"#, end.raised);
        self.maybe_word(r#""reason":"#, end.reason);
        self.maybe_serialized(r#""said":"#, end.said);
        self.stages(end.stages);
        self.number(r#""took_us":"#, end.took_us);
        self.list(r#""trace":"#, end.trace, Self::row);
        self.words(r#""warnings":"#, end.warnings);
    }

    fn undecided(&mut self, one: &Undecided) {
        self.word(r#""error":"#, &one.error);
        self.word(r#""event":"#, &one.event);
        self.place(r#""kind":"undecided","n":"#, None);
        self.prev();
        self.number(r#""time":"#, one.time);
    }

    fn lost(&mut self, lost: &Lost) {
        self.number(r#""count":"#, lost.count);
        self.word(r#""error":"#, &lost.error);
        self.belongs(r#""kind":"lost","#, None);
        if !lost.dispatches.is_empty() {
            self.serialized(r#""lost":"#, &lost.dispatches);
        }
        self.n();
        self.prev();
    }

    fn body(&mut self, body: &Body) {
        self.hash(r#""body":"#, &body.hash);
        self.place(r#""kind":"body","n":"#, None);
        self.prev();
        self.word(r#""text":"#, &body.text);
    }

    fn redaction(&mut self, seal: &Seal) {
        self.number(r#""count":"#, seal.count);
        self.belongs(r#""kind":"redaction","#, None);
        self.hash(r#""lines":"#, &seal.lines);
        self.n();
        self.prev();
    }

    fn footer(&mut self, footer: &Footer) {
        self.number(r#""count":"#, footer.count);
        self.number(r#""dispatches":"#, footer.dispatches);
        self.hash(r#""head":"#, &footer.head);
        self.place(r#""kind":"footer","n":"#, None);
        self.prev();
        self.number(r#""sessions":"#, footer.sessions);
    }

    fn stages(&mut self, stages: &Stages) {
        self.raw(r#""stages":{"#);
        self.names(r#""compose":"#, &stages.compose);
        self.names(r#""dispatch":"#, &stages.dispatch);
        self.names(r#""filter":"#, &stages.filter);
        match stages.r#return {
            Some(ruling) => self.fixed(r#""return":"#, ruling.name()),
            None => self.raw(r#""return":null,"#),
        }
        self.names(r#""sort":"#, &stages.sort);
        self.close();
        self.bytes.push(b',');
    }

    fn row(&mut self, row: &TraceRow) {
        self.bytes.push(b'{');
        self.flag(r#""background":"#, row.background);
        self.maybe_serialized(r#""cause":"#, row.cause.as_ref());
        if let Some(decision) = row.decision {
            self.fixed(r#""decision":"#, decision.name());
        }
        self.word(r#""dialect":"#, &row.dialect);
        self.maybe_word(r#""error":"#, row.error.as_deref());
        self.maybe_number(r#""fuel":"#, row.fuel);
        self.word(r#""hook":"#, &row.hook);
        self.truth(r#""matched":"#, row.matched);
        self.number(r#""memory_bytes":"#, row.memory_bytes);
        self.raw(r#""priority":"#);
        pen::signed(row.priority, &mut self.bytes);
        self.bytes.push(b',');
        self.maybe_word(r#""reason":"#, row.reason.as_deref());
        self.words(r#""refusals":"#, &row.refusals);
        self.maybe_word(r#""stack":"#, row.stack.as_deref());
        self.number(r#""took_us":"#, microseconds(row.duration));
        self.maybe_number(r#""when_fuel":"#, row.when_fuel);
        self.close();
    }

    fn logs(&mut self, logs: &[LogLine]) {
        if logs.is_empty() {
            return;
        }
        self.list(r#""logs":"#, logs, |sheet, line| {
            sheet.bytes.push(b'{');
            sheet.word(r#""event":"#, &line.event);
            sheet.word(r#""hook":"#, &line.hook);
            sheet.fixed(r#""level":"#, line.level.name());
            sheet.word(r#""message":"#, &line.message);
            sheet.close();
        });
    }

    fn effects(&mut self, effects: &[Effect]) {
        if !effects.is_empty() {
            let effects: Vec<_> = effects.iter().map(effect_to_json).collect();
            self.serialized(r#""effects":"#, &effects);
        }
    }

    fn rest_of_use(&mut self, used: &Used) {
        self.number(r#""took_us":"#, used.took_us);
        self.words(r#""warnings":"#, &used.warnings);
    }

    // Names of fields come with their quotes and colons, and what takes them is inlined:
    // a copy whose length is known is a few instructions, and any other one a call.

    /// Writes which dispatch a record belongs to, and what it is.
    #[inline(always)]
    fn belongs(&mut self, kind: &'static str, dispatch: Option<u64>) {
        self.maybe_number(r#""in":"#, dispatch);
        self.raw(kind);
    }

    /// Does the same, where nothing stands between that and the number.
    #[inline(always)]
    fn place(&mut self, kind_and_n: &'static str, dispatch: Option<u64>) {
        self.belongs(kind_and_n, dispatch);
        self.hole(Hole::Number);
        self.bytes.push(b',');
    }

    fn n(&mut self) {
        self.raw(r#""n":"#);
        self.hole(Hole::Number);
        self.bytes.push(b',');
    }

    #[inline(always)]
    fn prev(&mut self) {
        self.raw(r#""prev":""#);
        self.hole(Hole::Prev);
        self.raw(r#"","#);
    }

    #[inline(always)]
    fn raw(&mut self, raw: &'static str) {
        self.bytes.extend_from_slice(raw.as_bytes());
    }

    /// Ends an object that has a field: every one leaves a comma behind it.
    fn close(&mut self) {
        self.bytes.pop();
        self.bytes.push(b'}');
    }

    #[inline(always)]
    fn truth(&mut self, key: &'static str, truth: bool) {
        self.raw(key);
        self.raw(if truth { "true," } else { "false," });
    }

    #[inline(always)]
    fn flag(&mut self, key: &'static str, truth: bool) {
        if truth {
            self.raw(key);
            self.raw("true,");
        }
    }

    #[inline(always)]
    fn number(&mut self, key: &'static str, number: u64) {
        self.raw(key);
        pen::number(number, &mut self.bytes);
        self.bytes.push(b',');
    }

    #[inline(always)]
    fn maybe_number(&mut self, key: &'static str, number: Option<u64>) {
        if let Some(number) = number {
            self.number(key, number);
        }
    }

    fn hash(&mut self, key: &'static str, hash: &Hash) {
        self.raw(key);
        pen::hash(hash, &mut self.bytes);
        self.bytes.push(b',');
    }

    /// Writes a word that has nothing to escape.
    #[inline(always)]
    fn fixed(&mut self, key: &'static str, word: &'static str) {
        self.raw(key);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(word.as_bytes());
        self.raw(r#"","#);
    }

    #[inline(always)]
    fn word(&mut self, key: &'static str, word: &str) {
        self.raw(key);
        pen::text(word, &mut self.bytes);
        self.bytes.push(b',');
    }

    #[inline(always)]
    fn maybe_word(&mut self, key: &'static str, word: Option<&str>) {
        if let Some(word) = word {
            self.word(key, word);
        }
    }

    /// Writes a text that can be long.
    #[inline(always)]
    fn long(&mut self, key: &'static str, text: &Arc<str>) {
        self.raw(key);
        self.text(text);
        self.bytes.push(b',');
    }

    #[inline(always)]
    fn names(&mut self, key: &'static str, names: &[Arc<str>]) {
        self.list(key, names, |sheet, name| pen::text(name, &mut sheet.bytes));
    }

    #[inline(always)]
    fn words(&mut self, key: &'static str, words: &[String]) {
        if !words.is_empty() {
            self.list(key, words, |sheet, word| pen::text(word, &mut sheet.bytes));
        }
    }

    #[inline(always)]
    fn list<T>(&mut self, key: &'static str, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.raw(key);
        self.bytes.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            each(self, item);
        }
        self.raw("],");
    }

    /// Writes what is rare enough to be left to serde.
    fn serialized(&mut self, key: &'static str, value: &impl Serialize) {
        self.raw(key);
        let begin = self.bytes.len();
        // It is made of texts and numbers, and memory takes any amount of them.
        if serde_json::to_writer(&mut self.bytes, value).is_err() {
            self.bytes.truncate(begin);
            self.bytes.extend_from_slice(b"null");
        }
        self.bytes.push(b',');
    }

    fn maybe_serialized(&mut self, key: &'static str, value: Option<&impl Serialize>) {
        if let Some(value) = value {
            self.serialized(key, value);
        }
    }
}

/// How a dispatch begins, wherever that is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct First<'e> {
    pub(super) event: &'e Arc<str>,
    pub(super) dialect: &'e Cow<'static, str>,
    pub(super) about: Option<&'e Arc<str>>,
    pub(super) background: bool,
    pub(super) id: &'e str,
    pub(super) subject: Option<&'e str>,
    pub(super) depth: u32,
    pub(super) payload: &'e Arc<str>,
    pub(super) parent: Option<u64>,
    pub(super) session: u64,
    /// Taken where the record gets its place.
    pub(super) time: u64,
}

impl<'e> First<'e> {
    fn of_record(start: &'e Start) -> Self {
        Self {
            event: &start.event,
            dialect: &start.dialect,
            about: start.about.as_ref(),
            background: start.background,
            id: &start.id,
            subject: start.subject.as_deref(),
            depth: start.depth,
            payload: &start.payload,
            parent: start.parent,
            session: start.session,
            time: start.time,
        }
    }

    /// Makes a record of it.
    pub(super) fn to_record(self) -> Start {
        Start {
            event: Arc::clone(self.event),
            dialect: self.dialect.clone(),
            about: self.about.cloned(),
            background: self.background,
            id: self.id.to_owned(),
            subject: self.subject.map(str::to_owned),
            depth: self.depth,
            payload: Arc::clone(self.payload),
            parent: self.parent,
            session: self.session,
            time: self.time,
        }
    }
}

/// What a hook gets, wherever that is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'e> {
    pub(super) hook: &'e Arc<str>,
    pub(super) handler: &'e str,
    pub(super) payload: &'e Arc<str>,
    pub(super) collected: bool,
    pub(super) at_us: u64,
}

impl<'e> Call<'e> {
    fn of_record(one: &'e HookCall) -> Self {
        Self {
            hook: &one.hook,
            handler: &one.handler,
            payload: &one.payload,
            collected: one.collected,
            at_us: one.at_us,
        }
    }

    /// Makes a record of it.
    pub(super) fn to_record(self) -> HookCall {
        HookCall {
            hook: Arc::clone(self.hook),
            handler: self.handler.to_owned().into(),
            payload: Arc::clone(self.payload),
            collected: self.collected,
            at_us: self.at_us,
        }
    }
}

/// What was made of a hook's answer, wherever that is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Returned<'e> {
    pub(super) hook: &'e Arc<str>,
    pub(super) decision: Ruling,
    pub(super) reason: Option<&'e str>,
    pub(super) payload: Option<&'e Arc<str>>,
    pub(super) effects: &'e [Effect],
    pub(super) said: Option<&'e Said>,
    pub(super) last: bool,
    pub(super) failure: Option<&'e Fault>,
    pub(super) used: &'e Used,
}

impl<'e> Returned<'e> {
    fn of_record(one: &'e HookReturned) -> Self {
        Self {
            hook: &one.hook,
            decision: one.decision,
            reason: one.reason.as_deref(),
            payload: one.payload.as_ref(),
            effects: &one.effects,
            said: one.said.as_ref(),
            last: one.last,
            failure: one.failure.as_ref(),
            used: &one.used,
        }
    }

    /// Makes a record of it.
    pub(super) fn to_record(self) -> HookReturned {
        HookReturned {
            hook: Arc::clone(self.hook),
            decision: self.decision,
            reason: self.reason.map(str::to_owned),
            payload: self.payload.cloned(),
            effects: self.effects.to_vec(),
            said: self.said.cloned(),
            last: self.last,
            failure: self.failure.cloned(),
            used: self.used.clone(),
        }
    }
}

/// How a dispatch ended, wherever that is kept.
struct Final<'e> {
    decision: Ruling,
    reason: Option<&'e str>,
    hook: Option<&'e str>,
    said: Option<&'e Said>,
    raised: bool,
    payload: &'e Arc<str>,
    effects: &'e [Effect],
    warnings: &'e [String],
    stages: &'e Stages,
    trace: &'e [TraceRow],
    took_us: u64,
}

impl<'e> Final<'e> {
    fn of_record(end: &'e End) -> Self {
        Self {
            decision: end.decision,
            reason: end.reason.as_deref(),
            hook: end.hook.as_deref(),
            said: end.said.as_ref(),
            raised: end.raised,
            payload: &end.payload,
            effects: &end.effects,
            warnings: &end.warnings,
            stages: &end.stages,
            trace: &end.trace,
            took_us: end.took_us,
        }
    }

    fn of_outcome(outcome: &'e Outcome, payload: &'e Arc<str>, took_us: u64) -> Self {
        Self {
            decision: outcome.decision,
            reason: outcome.reason.as_deref(),
            hook: outcome.hook.as_deref(),
            said: outcome.said.as_ref(),
            raised: outcome.raised,
            payload,
            effects: &outcome.effects,
            warnings: &outcome.warnings,
            stages: &outcome.stages,
            trace: &outcome.trace,
            took_us,
        }
    }
}

impl Mark {
    /// Returns what has to be known of a record.
    pub(super) fn of(entry: &Entry) -> Self {
        match entry {
            Entry::Header(_) | Entry::Session(_) => Self::Session(Box::new(entry.clone())),
            Entry::Dispatch(start) => Self::Begin {
                parent: start.parent,
            },
            Entry::Outcome(_) => Self::End,
            Entry::Lost(lost) => Self::Lost(lost.dispatches.clone()),
            _ => Self::Middle,
        }
    }
}
