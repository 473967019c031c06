//! The quick way to read a line: written by hand for the records of a dispatch, as they
//! are written here. A line that is written in another way, or says something rare, is
//! read by serde, which also knows what to say about one that is wrong.

use std::sync::Arc;
use std::time::Duration;

use super::convert::NATIVE;
use super::line::Kind;
use super::record::{
    Body, End, Entry, HookCall, HookReturned, HookVetoed, HostCall, Phase, Predicate, Record,
    Start, Used,
};
use super::scan::{Raw, Scan};
use super::seal::Hash;
use super::twin::{self, Twin};
use super::words::{Words, fixed};
use crate::capability::log::{Level, LogLine};
use crate::decision::Ruling;
use crate::outcome::{Stages, TraceRow};

/// A record, but for its long texts.
#[derive(Debug)]
pub(super) struct Quick {
    /// What it is.
    pub(super) kind: Kind,
    /// The hash of the record before it.
    pub(super) prev: Hash,
    /// What it says.
    pub(super) record: Record,
    /// Which texts are bodies, in the order in which they are looked for.
    pub(super) bodies: [Option<(Slot, Hash)>; 2],
    /// The hash that has to name the text of a body.
    pub(super) name: Option<Hash>,
}

/// A text that can be a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    About,
    Answer,
    Payload,
    Request,
}

/// Declares the fields that are read here, in the order of their names, with a bit each.
macro_rules! fields {
    ($($name:ident = $key:literal),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Field { $($name),* }

        impl Field {
            fn named(key: &str) -> Option<Self> {
                Some(match key {
                    $($key => Self::$name,)*
                    _ => return None,
                })
            }
        }
    };
}

fields! {
    About = "about",
    Answer = "answer",
    AtUs = "at_us",
    Background = "background",
    Body = "body",
    Capability = "capability",
    Collected = "collected",
    Decision = "decision",
    Depth = "depth",
    Derived = "derived",
    Dialect = "dialect",
    Event = "event",
    Fuel = "fuel",
    Handler = "handler",
    Hook = "hook",
    Id = "id",
    In = "in",
    Kind = "kind",
    Last = "last",
    LeftOut = "left_out",
    Logs = "logs",
    Matched = "matched",
    MemoryBytes = "memory_bytes",
    N = "n",
    Parent = "parent",
    Payload = "payload",
    Phase = "phase",
    Prev = "prev",
    Priority = "priority",
    Reason = "reason",
    Refusals = "refusals",
    Request = "request",
    Session = "session",
    Stack = "stack",
    Stages = "stages",
    Subject = "subject",
    Text = "text",
    Time = "time",
    TookUs = "took_us",
    Trace = "trace",
    Warnings = "warnings",
    WhenFuel = "when_fuel",
}

/// A set of fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Fields(u64);

impl Fields {
    const fn of(fields: &[Field]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < fields.len() {
            bits |= 1 << fields[index] as u64;
            index += 1;
        }
        Self(bits)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Adds a field that comes after all others.
    fn add(&mut self, field: Field) -> Option<()> {
        let bit = 1 << field as u64;
        (bit > self.0).then(|| self.0 |= bit)
    }

    fn has(self, field: Field) -> bool {
        self.0 & (1 << field as u64) != 0
    }

    /// Says whether these are all that must be there, and none but those that may.
    fn fit(self, must: Self, may: Self) -> bool {
        self.0 & must.0 == must.0 && self.0 & !(must.0 | may.0) == 0
    }
}

/// What every record of a dispatch has.
const EVERY: Fields = Fields::of(&[Field::In, Field::Kind, Field::N, Field::Prev]);
const USE: Fields = Fields::of(&[Field::AtUs, Field::MemoryBytes, Field::TookUs]);
const MAYBE_USE: Fields = Fields::of(&[Field::Fuel, Field::Logs, Field::Refusals, Field::Warnings]);

/// Returns what a record of a kind must have, and what it may have.
fn expected(kind: Kind) -> Option<(Fields, Fields)> {
    use Field::{
        About, Answer, AtUs, Background, Body, Capability, Collected, Decision, Depth, Derived,
        Dialect, Event, Handler, Hook, Id, Last, Matched, Parent, Payload, Phase, Reason, Request,
        Session, Stages, Subject, Text, Time, TookUs, Trace, Warnings,
    };
    let (must, may) = match kind {
        Kind::Dispatch => (
            Fields::of(&[Depth, Event, Id, Payload, Session, Time]),
            Fields::of(&[About, Background, Dialect, Parent, Subject]),
        ),
        Kind::Predicate => (Fields::of(&[Hook, Matched]).and(USE), MAYBE_USE),
        Kind::HookCall => (
            Fields::of(&[AtUs, Handler, Hook, Payload]),
            Fields::of(&[Collected]),
        ),
        Kind::HostCall => (
            Fields::of(&[Answer, AtUs, Capability, Hook, Phase, Request, TookUs]),
            Fields::of(&[Derived]),
        ),
        Kind::HookReturned => (
            Fields::of(&[Decision, Hook]).and(USE),
            Fields::of(&[Last, Payload, Reason]).and(MAYBE_USE),
        ),
        Kind::HookVetoed => (Fields::of(&[Decision, Hook, Reason]), Fields::default()),
        Kind::Outcome => (
            Fields::of(&[Decision, Payload, Stages, TookUs, Trace]),
            Fields::of(&[Hook, Reason, Warnings]),
        ),
        Kind::Body => {
            let all = Fields::of(&[Body, Field::Kind, Field::N, Field::Prev, Text]);
            return Some((all, Fields::of(&[Field::LeftOut])));
        }
        _ => return None,
    };
    Some((must.and(EVERY), may))
}

/// The fields of a line, as far as they were read.
#[derive(Default)]
struct Draft<'l> {
    seen: Fields,
    kind: Kind,
    n: u64,
    prev: Option<Hash>,
    dispatch: u64,
    about: Stored<'l>,
    answer: Stored<'l>,
    payload: Stored<'l>,
    request: Stored<'l>,
    at_us: u64,
    background: bool,
    body: Option<Hash>,
    capability: Raw<'l>,
    collected: bool,
    decision: Option<Ruling>,
    depth: u64,
    derived: bool,
    dialect: Raw<'l>,
    event: Raw<'l>,
    fuel: u64,
    handler: Raw<'l>,
    hook: Raw<'l>,
    id: Raw<'l>,
    last: bool,
    left_out: Option<Twin>,
    logs: Vec<LogLine>,
    matched: bool,
    memory_bytes: u64,
    parent: u64,
    phase: Option<Phase>,
    reason: Raw<'l>,
    refusals: Vec<String>,
    session: u64,
    stages: Stages,
    subject: Raw<'l>,
    text: Raw<'l>,
    time: u64,
    took_us: u64,
    trace: Vec<TraceRow>,
    warnings: Vec<String>,
}

/// A text as it stands in a line, or the hash of its body.
#[derive(Clone, Copy)]
enum Stored<'l> {
    Inline(Raw<'l>),
    Body(Hash),
}

impl Default for Stored<'_> {
    fn default() -> Self {
        Self::Inline(Raw::default())
    }
}

/// Reads a line the quick way, if that is possible.
pub(super) fn read(line: &str, words: &mut Words) -> Option<Quick> {
    let mut draft = Draft::default();
    let mut scan = Scan::new(line);
    scan.fields(|scan, key| draft.field(Field::named(key)?, scan, words))?;
    let (must, may) = expected(draft.kind)?;
    (scan.is_over() && draft.seen.fit(must, may)).then_some(())?;
    draft.finish(words)
}

impl<'l> Draft<'l> {
    fn field(&mut self, field: Field, scan: &mut Scan<'l>, words: &mut Words) -> Option<()> {
        self.seen.add(field)?;
        match field {
            Field::About => self.about = stored(scan)?,
            Field::Answer => self.answer = stored(scan)?,
            Field::AtUs => self.at_us = scan.number()?,
            Field::Background => self.background = scan.truth()?,
            Field::Body => self.body = Some(scan.hash()?),
            Field::Capability => self.capability = scan.text()?,
            Field::Collected => self.collected = scan.truth()?,
            Field::Decision => self.decision = Some(ruling(scan)?),
            Field::Depth => self.depth = scan.number()?,
            Field::Derived => self.derived = scan.truth()?,
            Field::Dialect => self.dialect = scan.text()?,
            Field::Event => self.event = scan.text()?,
            Field::Fuel => self.fuel = scan.number()?,
            Field::Handler => self.handler = scan.text()?,
            Field::Hook => self.hook = scan.text()?,
            Field::Id => self.id = scan.text()?,
            Field::In => self.dispatch = scan.number()?,
            Field::Kind => self.kind = kind(scan)?,
            Field::Last => self.last = scan.truth()?,
            Field::LeftOut => self.left_out = Some(Twin::named(scan.text()?.written)?),
            Field::Logs => self.logs = scan.list(|scan| log_line(scan, words))?,
            Field::Matched => self.matched = scan.truth()?,
            Field::MemoryBytes => self.memory_bytes = scan.number()?,
            Field::N => self.n = scan.number()?,
            Field::Parent => self.parent = scan.number()?,
            Field::Payload => self.payload = stored(scan)?,
            Field::Phase => self.phase = Some(phase(scan)?),
            Field::Prev => self.prev = Some(scan.hash()?),
            Field::Reason => self.reason = scan.text()?,
            Field::Refusals => self.refusals = scan.list(owned)?,
            Field::Request => self.request = stored(scan)?,
            Field::Session => self.session = scan.number()?,
            Field::Stages => self.stages = stages(scan, words)?,
            Field::Subject => self.subject = scan.text()?,
            Field::Text => self.text = scan.text()?,
            Field::Time => self.time = scan.number()?,
            Field::TookUs => self.took_us = scan.number()?,
            Field::Trace => self.trace = scan.list(|scan| row(scan, words))?,
            Field::Warnings => self.warnings = scan.list(owned)?,
            // Those of a row.
            Field::Priority | Field::Stack | Field::WhenFuel => return None,
        }
        Some(())
    }

    fn finish(mut self, words: &mut Words) -> Option<Quick> {
        let (mut bodies, mut name) = ([None; 2], None);
        let entry = match self.kind {
            Kind::Dispatch => self.start(words, &mut bodies)?,
            Kind::Predicate => Entry::Predicate(Predicate {
                hook: words.name(self.hook)?,
                matched: self.matched,
                failure: None,
                used: self.used(),
            }),
            Kind::HookCall => Entry::HookCall(HookCall {
                hook: words.name(self.hook)?,
                handler: fixed(self.handler)?,
                payload: self.payload.text(Slot::Payload, words, &mut bodies)?,
                collected: self.collected,
                at_us: self.at_us,
            }),
            Kind::HostCall => Entry::HostCall(HostCall {
                hook: words.name(self.hook)?,
                phase: self.phase?,
                capability: fixed(self.capability)?,
                request: self.request.text(Slot::Request, words, &mut bodies)?,
                answer: self.answer.text(Slot::Answer, words, &mut bodies)?,
                derived: self.derived,
                at_us: self.at_us,
                took_us: self.took_us,
            }),
            Kind::HookReturned => self.returned(words, &mut bodies)?,
            Kind::HookVetoed => Entry::HookVetoed(HookVetoed {
                hook: words.name(self.hook)?,
                decision: self.decision.filter(|one| *one != Ruling::Modify)?,
                reason: self.reason.plain()?.into_owned(),
            }),
            Kind::Outcome => self.end(words, &mut bodies)?,
            Kind::Body => {
                let (text, hash) = self.whole()?;
                name = Some(hash);
                Entry::Body(Body {
                    hash: self.body?,
                    text,
                })
            }
            _ => return None,
        };
        Some(Quick {
            kind: self.kind,
            prev: self.prev?,
            record: Record {
                number: self.n,
                dispatch: self.number(Field::In, self.dispatch),
                redacted: None,
                entry,
            },
            bodies,
            name,
        })
    }

    /// Returns the text of a body, with what was left out of it, and the hash that names it.
    fn whole(&self) -> Option<(Arc<str>, Hash)> {
        let Some(twin) = self.left_out else {
            let text = self.text.plain()?;
            let name = Hash::of(text.as_bytes());
            return Some((text.into(), name));
        };
        let mut text = String::with_capacity(2 * self.text.written.len());
        self.text.append_to(&mut text)?;
        let (text, name) = twin::put_back(twin, text)?;
        Some((text.into(), name))
    }

    fn start(&self, words: &mut Words, bodies: &mut Bodies) -> Option<Entry> {
        let about = self.seen.has(Field::About).then_some(self.about);
        let about = match about {
            Some(about) => Some(about.text(Slot::About, words, bodies)?),
            None => None,
        };
        Some(Entry::Dispatch(Start {
            event: words.name(self.event)?,
            dialect: if self.seen.has(Field::Dialect) {
                fixed(self.dialect)?
            } else {
                NATIVE.into()
            },
            about,
            background: self.background,
            id: self.id.plain()?.into_owned(),
            subject: self.string(Field::Subject, self.subject)?,
            depth: u32::try_from(self.depth).ok()?,
            payload: self.payload.text(Slot::Payload, words, bodies)?,
            parent: self.number(Field::Parent, self.parent),
            session: self.session,
            time: self.time,
        }))
    }

    fn returned(&mut self, words: &mut Words, bodies: &mut Bodies) -> Option<Entry> {
        let payload = if self.seen.has(Field::Payload) {
            Some(self.payload.text(Slot::Payload, words, bodies)?)
        } else {
            None
        };
        Some(Entry::HookReturned(HookReturned {
            hook: words.name(self.hook)?,
            decision: self.decision?,
            reason: self.string(Field::Reason, self.reason)?,
            payload,
            effects: Vec::new(),
            said: None,
            last: self.last,
            failure: None,
            used: self.used(),
        }))
    }

    fn end(&mut self, words: &mut Words, bodies: &mut Bodies) -> Option<Entry> {
        let hook = if self.seen.has(Field::Hook) {
            Some(words.name(self.hook)?)
        } else {
            None
        };
        Some(Entry::Outcome(End {
            decision: self.decision?,
            reason: self.string(Field::Reason, self.reason)?,
            hook,
            said: None,
            raised: false,
            payload: self.payload.text(Slot::Payload, words, bodies)?,
            effects: Vec::new(),
            warnings: std::mem::take(&mut self.warnings),
            stages: std::mem::take(&mut self.stages),
            trace: std::mem::take(&mut self.trace),
            took_us: self.took_us,
        }))
    }

    fn used(&mut self) -> Used {
        Used {
            fuel: self.number(Field::Fuel, self.fuel),
            memory_bytes: self.memory_bytes,
            at_us: self.at_us,
            took_us: self.took_us,
            logs: std::mem::take(&mut self.logs),
            warnings: std::mem::take(&mut self.warnings),
            refusals: std::mem::take(&mut self.refusals),
        }
    }

    /// Returns a number that may be absent.
    fn number(&self, field: Field, number: u64) -> Option<u64> {
        self.seen.has(field).then_some(number)
    }

    /// Returns a text that may be absent.
    fn string(&self, field: Field, raw: Raw<'l>) -> Option<Option<String>> {
        if !self.seen.has(field) {
            return Some(None);
        }
        Some(Some(raw.plain()?.into_owned()))
    }
}

type Bodies = [Option<(Slot, Hash)>; 2];

impl Stored<'_> {
    /// Returns the text, or keeps in mind that it has to be looked for.
    fn text(self, slot: Slot, words: &mut Words, bodies: &mut Bodies) -> Option<Arc<str>> {
        match self {
            Self::Inline(raw) => words.text(raw),
            Self::Body(hash) => {
                let free = bodies.iter_mut().find(|body| body.is_none())?;
                *free = Some((slot, hash));
                Some(words.nothing())
            }
        }
    }
}

impl Quick {
    /// Puts a body at its place.
    pub(super) fn put(&mut self, slot: Slot, text: Arc<str>) {
        let place = match (&mut self.record.entry, slot) {
            (Entry::Dispatch(start), Slot::About) => {
                start.about = Some(text);
                return;
            }
            (Entry::HookReturned(one), Slot::Payload) => {
                one.payload = Some(text);
                return;
            }
            (Entry::Dispatch(start), Slot::Payload) => &mut start.payload,
            (Entry::HookCall(one), Slot::Payload) => &mut one.payload,
            (Entry::Outcome(end), Slot::Payload) => &mut end.payload,
            (Entry::HostCall(one), Slot::Request) => &mut one.request,
            (Entry::HostCall(one), Slot::Answer) => &mut one.answer,
            // No other record has such a text.
            _ => return,
        };
        *place = text;
    }
}

fn stored<'l>(scan: &mut Scan<'l>) -> Option<Stored<'l>> {
    if !scan.at_object() {
        return scan.text().map(Stored::Inline);
    }
    let mut found = None;
    scan.fields(|scan, key| {
        (key == "body" && found.is_none()).then_some(())?;
        found = Some(scan.hash()?);
        Some(())
    })?;
    found.map(Stored::Body)
}

fn owned(scan: &mut Scan<'_>) -> Option<String> {
    Some(scan.text()?.plain()?.into_owned())
}

fn kind(scan: &mut Scan<'_>) -> Option<Kind> {
    Some(match scan.text()?.written {
        "dispatch" => Kind::Dispatch,
        "predicate" => Kind::Predicate,
        "hook_call" => Kind::HookCall,
        "host_call" => Kind::HostCall,
        "hook_returned" => Kind::HookReturned,
        "hook_vetoed" => Kind::HookVetoed,
        "outcome" => Kind::Outcome,
        "body" => Kind::Body,
        _ => return None,
    })
}

fn ruling(scan: &mut Scan<'_>) -> Option<Ruling> {
    let word = scan.text()?.written;
    let all = [Ruling::Allow, Ruling::Block, Ruling::Modify, Ruling::Ask];
    all.into_iter().find(|ruling| ruling.name() == word)
}

fn phase(scan: &mut Scan<'_>) -> Option<Phase> {
    match scan.text()?.written {
        "when" => Some(Phase::When),
        "handle" => Some(Phase::Handle),
        _ => None,
    }
}

fn log_line(scan: &mut Scan<'_>, words: &mut Words) -> Option<LogLine> {
    let (mut event, mut hook, mut level, mut message) = (None, None, None, None);
    let mut next = 0;
    scan.fields(|scan, key| {
        let place = match key {
            "event" => {
                event = Some(words.name(scan.text()?)?);
                0
            }
            "hook" => {
                hook = Some(words.name(scan.text()?)?);
                1
            }
            "level" => {
                let word = scan.text()?.written;
                let all = [Level::Debug, Level::Info, Level::Warn, Level::Error];
                level = Some(all.into_iter().find(|level| level.name() == word)?);
                2
            }
            "message" => {
                message = Some(owned(scan)?);
                3
            }
            _ => return None,
        };
        (place == next).then(|| next += 1)
    })?;
    Some(LogLine {
        hook: hook?,
        event: event?,
        level: level?,
        message: message?,
    })
}

fn stages(scan: &mut Scan<'_>, words: &mut Words) -> Option<Stages> {
    let mut stages = Stages::default();
    let mut next = 0;
    scan.fields(|scan, key| {
        let mut names = |scan: &mut Scan<'_>| scan.list(|scan| words.name(scan.text()?));
        let place = match key {
            "compose" => {
                stages.compose = names(scan)?;
                0
            }
            "dispatch" => {
                stages.dispatch = names(scan)?;
                1
            }
            "filter" => {
                stages.filter = names(scan)?;
                2
            }
            "return" => {
                if scan.null().is_none() {
                    stages.r#return = Some(ruling(scan)?);
                }
                3
            }
            "sort" => {
                stages.sort = names(scan)?;
                4
            }
            _ => return None,
        };
        (place == next).then(|| next += 1)
    })?;
    (next == 5).then_some(stages)
}

fn row(scan: &mut Scan<'_>, words: &mut Words) -> Option<TraceRow> {
    const MUST: Fields = Fields::of(&[
        Field::Dialect,
        Field::Hook,
        Field::Matched,
        Field::MemoryBytes,
        Field::Priority,
        Field::TookUs,
    ]);
    let mut row = TraceRow::empty(words.nothing(), "".into());
    let mut seen = Fields::default();
    scan.fields(|scan, key| {
        let field = Field::named(key)?;
        seen.add(field)?;
        match field {
            Field::Background => row.background = scan.truth()?,
            Field::Decision => row.decision = Some(ruling(scan)?),
            Field::Dialect => row.dialect = fixed(scan.text()?)?,
            Field::Fuel => row.fuel = Some(scan.number()?),
            Field::Hook => row.hook = words.name(scan.text()?)?,
            Field::Matched => row.matched = scan.truth()?,
            Field::MemoryBytes => row.memory_bytes = scan.number()?,
            Field::Priority => row.priority = scan.signed()?,
            Field::Reason => row.reason = Some(owned(scan)?),
            Field::Refusals => row.refusals = scan.list(owned)?,
            Field::Stack => row.stack = Some(owned(scan)?),
            Field::TookUs => row.duration = Duration::from_micros(scan.number()?),
            Field::WhenFuel => row.when_fuel = Some(scan.number()?),
            _ => return None,
        }
        Some(())
    })?;
    (seen.0 & MUST.0 == MUST.0).then_some(row)
}
