//! Records to lines and back. Every text goes through a function that knows how long
//! ones are stored.

use std::sync::Arc;

use super::line::{Kind, Line, LogRow, Row, effect_to_json};
use super::record::{
    Body, End, Entry, Footer, HookCall, HookReturned, HookVetoed, HostCall, Lost, Predicate,
    Project, Record, Seal, Start, Undecided, Used,
};
use super::seal::Hash;
use super::text::Text;
use crate::capability::log::LogLine;
use crate::decision::{Effect, Ruling};
use crate::outcome::TraceRow;

/// Makes the line of a record. `store` says how a text stands in it.
pub(super) fn to_line(
    number: u64,
    prev: Hash,
    dispatch: Option<u64>,
    entry: Entry,
    store: &mut impl FnMut(Arc<str>) -> Text,
) -> Line {
    let mut line = Line {
        n: number,
        prev: Some(prev),
        dispatch,
        ..Line::default()
    };
    match entry {
        Entry::Header(project) => {
            line.kind = Kind::Header;
            line.format = Some(super::Format::CURRENT.to_string());
            line.project = Some(Box::new(project));
        }
        Entry::Session(project) => {
            line.kind = Kind::Session;
            line.project = Some(Box::new(project));
        }
        Entry::Dispatch(start) => write_start(&mut line, start, store),
        Entry::Predicate(one) => {
            line.kind = Kind::Predicate;
            line.hook = Some(one.hook);
            line.matched = Some(one.matched);
            line.failure = one.failure.map(Box::new);
            write_used(&mut line, one.used);
        }
        Entry::HookCall(one) => {
            line.kind = Kind::HookCall;
            line.hook = Some(one.hook);
            line.handler = Some(one.handler);
            line.payload = Some(store(one.payload));
            line.collected = one.collected;
            line.at_us = Some(one.at_us);
        }
        Entry::HostCall(one) => write_host_call(&mut line, one, store),
        Entry::HookReturned(one) => write_returned(&mut line, one, store),
        Entry::HookVetoed(one) => {
            line.kind = Kind::HookVetoed;
            line.hook = Some(one.hook);
            line.decision = Some(one.decision);
            line.reason = Some(one.reason);
        }
        Entry::Outcome(end) => write_end(&mut line, end, store),
        Entry::Undecided(one) => {
            line.kind = Kind::Undecided;
            line.event = Some(one.event.into());
            line.error = Some(one.error);
            line.time = Some(one.time);
        }
        Entry::Lost(lost) => {
            line.kind = Kind::Lost;
            line.count = Some(lost.count);
            line.lost = lost.dispatches;
            line.error = Some(lost.error);
        }
        Entry::Body(body) => {
            line.kind = Kind::Body;
            line.body = Some(body.hash);
            line.text = Some(body.text);
        }
        Entry::Redaction(seal) => {
            line.kind = Kind::Redaction;
            line.count = Some(seal.count);
            line.lines = Some(seal.lines);
        }
        Entry::Footer(footer) => {
            line.kind = Kind::Footer;
            line.count = Some(footer.count);
            line.dispatches = Some(footer.dispatches);
            line.head = Some(footer.head);
            line.sessions = Some(footer.sessions);
        }
    }
    line
}

fn write_start(line: &mut Line, start: Start, store: &mut impl FnMut(Arc<str>) -> Text) {
    line.kind = Kind::Dispatch;
    line.event = Some(start.event);
    // Tapes of the native dialect alone need not say so on every line.
    line.dialect = (start.dialect != NATIVE).then_some(start.dialect);
    line.about = start.about.map(&mut *store);
    line.background = start.background;
    line.id = Some(start.id);
    line.subject = start.subject;
    line.depth = Some(start.depth);
    line.payload = Some(store(start.payload));
    line.parent = start.parent;
    line.session = Some(start.session);
    line.time = Some(start.time);
}

fn write_used(line: &mut Line, used: Used) {
    line.fuel = used.fuel;
    line.memory_bytes = Some(used.memory_bytes);
    line.at_us = Some(used.at_us);
    line.took_us = Some(used.took_us);
    line.logs = used.logs.into_iter().map(LogRow::from).collect();
    line.warnings = used.warnings;
    line.refusals = used.refusals;
}

fn write_host_call(line: &mut Line, one: HostCall, store: &mut impl FnMut(Arc<str>) -> Text) {
    line.kind = Kind::HostCall;
    line.hook = Some(one.hook);
    line.phase = Some(one.phase);
    line.capability = Some(one.capability);
    line.request = Some(store(one.request));
    line.answer = Some(store(one.answer));
    line.derived = one.derived;
    line.at_us = Some(one.at_us);
    line.took_us = Some(one.took_us);
}

fn write_returned(line: &mut Line, one: HookReturned, store: &mut impl FnMut(Arc<str>) -> Text) {
    line.kind = Kind::HookReturned;
    line.hook = Some(one.hook);
    line.decision = Some(one.decision);
    line.reason = one.reason;
    line.payload = one.payload.map(store);
    line.effects = one.effects.iter().map(effect_to_json).collect();
    line.said = one.said.map(Box::new);
    line.last = one.last;
    line.failure = one.failure.map(Box::new);
    write_used(line, one.used);
}

fn write_end(line: &mut Line, end: End, store: &mut impl FnMut(Arc<str>) -> Text) {
    line.kind = Kind::Outcome;
    line.decision = Some(end.decision);
    line.reason = end.reason;
    line.hook = end.hook;
    line.said = end.said.map(Box::new);
    line.raised = end.raised;
    line.payload = Some(store(end.payload));
    line.effects = end.effects.iter().map(effect_to_json).collect();
    line.warnings = end.warnings;
    line.stages = Some(Box::new(end.stages.into()));
    line.trace = Some(end.trace.into_iter().map(Row::from).collect());
    line.took_us = Some(end.took_us);
}

/// The dialect of events that come without one.
pub(super) const NATIVE: &str = "harness";

/// Why a line is no record.
pub(super) type Wrong = String;

/// Makes the record of a line. `load` finds the text that stands in it.
pub(super) fn from_line(
    line: &mut Line,
    load: &mut impl FnMut(Text) -> Result<Arc<str>, Wrong>,
) -> Result<Record, Wrong> {
    let entry = match line.kind {
        Kind::Header => {
            // Its version was looked at before anything else was.
            line.format.take();
            Entry::Header(read_project(line)?)
        }
        Kind::Session => Entry::Session(read_project(line)?),
        Kind::Dispatch => Entry::Dispatch(Start {
            event: must(line.event.take(), "event")?,
            dialect: line.dialect.take().unwrap_or(NATIVE.into()),
            about: line.about.take().map(&mut *load).transpose()?,
            background: std::mem::take(&mut line.background),
            id: must(line.id.take(), "id")?,
            subject: line.subject.take(),
            depth: must(line.depth.take(), "depth")?,
            payload: load(must(line.payload.take(), "payload")?)?,
            parent: line.parent.take(),
            session: must(line.session.take(), "session")?,
            time: must(line.time.take(), "time")?,
        }),
        Kind::Predicate => Entry::Predicate(Predicate {
            hook: must(line.hook.take(), "hook")?,
            matched: must(line.matched.take(), "matched")?,
            failure: line.failure.take().map(|fault| *fault),
            used: read_used(line)?,
        }),
        Kind::HookCall => Entry::HookCall(HookCall {
            hook: must(line.hook.take(), "hook")?,
            handler: must(line.handler.take(), "handler")?,
            payload: load(must(line.payload.take(), "payload")?)?,
            collected: std::mem::take(&mut line.collected),
            at_us: must(line.at_us.take(), "at_us")?,
        }),
        Kind::HostCall => Entry::HostCall(read_host_call(line, load)?),
        Kind::HookReturned => Entry::HookReturned(read_returned(line, load)?),
        Kind::HookVetoed => Entry::HookVetoed(HookVetoed {
            hook: must(line.hook.take(), "hook")?,
            decision: veto(must(line.decision.take(), "decision")?)?,
            reason: must(line.reason.take(), "reason")?,
        }),
        Kind::Outcome => Entry::Outcome(read_end(line, load)?),
        Kind::Undecided => Entry::Undecided(Undecided {
            event: must(line.event.take(), "event")?.to_string(),
            error: must(line.error.take(), "error")?,
            time: must(line.time.take(), "time")?,
        }),
        Kind::Lost => Entry::Lost(Lost {
            count: must(line.count.take(), "count")?,
            dispatches: std::mem::take(&mut line.lost),
            error: must(line.error.take(), "error")?,
        }),
        Kind::Body => Entry::Body(Body {
            hash: must(line.body.take(), "body")?,
            text: must(line.text.take(), "text")?,
        }),
        Kind::Redaction => Entry::Redaction(Seal {
            count: must(line.count.take(), "count")?,
            lines: must(line.lines.take(), "lines")?,
        }),
        Kind::Footer => Entry::Footer(Footer {
            count: must(line.count.take(), "count")?,
            dispatches: must(line.dispatches.take(), "dispatches")?,
            head: must(line.head.take(), "head")?,
            sessions: must(line.sessions.take(), "sessions")?,
        }),
    };
    finish(line, entry)
}

/// Takes the fields that every kind has, and refuses those that belong to another one.
fn finish(line: &mut Line, entry: Entry) -> Result<Record, Wrong> {
    let record = Record {
        number: line.n,
        dispatch: line.dispatch.take(),
        redacted: line.redacted.take().map(|redacted| *redacted),
        entry,
    };
    let belongs = record.dispatch.is_some();
    let must_belong = matches!(
        record.entry,
        Entry::Dispatch(_)
            | Entry::Predicate(_)
            | Entry::HookCall(_)
            | Entry::HostCall(_)
            | Entry::HookReturned(_)
            | Entry::HookVetoed(_)
            | Entry::Outcome(_)
    );
    if belongs != must_belong {
        let (has, kind) = (
            if belongs { "has an" } else { "has no" },
            record.entry.kind(),
        );
        return Err(format!("a {kind} that {has} `in`"));
    }
    if !line.is_used_up() {
        return Err(format!(
            "a {} with fields that belong to another kind of record",
            record.entry.kind()
        ));
    }
    Ok(record)
}

fn must<T>(field: Option<T>, name: &str) -> Result<T, Wrong> {
    field.ok_or_else(|| format!("`{name}` is missing"))
}

fn veto(ruling: Ruling) -> Result<Ruling, Wrong> {
    match ruling {
        Ruling::Block | Ruling::Ask | Ruling::Allow => Ok(ruling),
        Ruling::Modify => Err("a veto that changes the payload".to_owned()),
    }
}

fn read_project(line: &mut Line) -> Result<Project, Wrong> {
    must(line.project.take(), "project").map(|project| *project)
}

fn read_used(line: &mut Line) -> Result<Used, Wrong> {
    Ok(Used {
        fuel: line.fuel.take(),
        memory_bytes: must(line.memory_bytes.take(), "memory_bytes")?,
        at_us: must(line.at_us.take(), "at_us")?,
        took_us: must(line.took_us.take(), "took_us")?,
        logs: std::mem::take(&mut line.logs)
            .into_iter()
            .map(LogLine::from)
            .collect(),
        warnings: std::mem::take(&mut line.warnings),
        refusals: std::mem::take(&mut line.refusals),
    })
}

fn read_host_call(
    line: &mut Line,
    load: &mut impl FnMut(Text) -> Result<Arc<str>, Wrong>,
) -> Result<HostCall, Wrong> {
    Ok(HostCall {
        hook: must(line.hook.take(), "hook")?,
        phase: must(line.phase.take(), "phase")?,
        capability: must(line.capability.take(), "capability")?,
        request: load(must(line.request.take(), "request")?)?,
        answer: load(must(line.answer.take(), "answer")?)?,
        derived: std::mem::take(&mut line.derived),
        at_us: must(line.at_us.take(), "at_us")?,
        took_us: must(line.took_us.take(), "took_us")?,
    })
}

fn read_returned(
    line: &mut Line,
    load: &mut impl FnMut(Text) -> Result<Arc<str>, Wrong>,
) -> Result<HookReturned, Wrong> {
    Ok(HookReturned {
        hook: must(line.hook.take(), "hook")?,
        decision: must(line.decision.take(), "decision")?,
        reason: line.reason.take(),
        payload: line.payload.take().map(&mut *load).transpose()?,
        effects: read_effects(line)?,
        said: line.said.take().map(|said| *said),
        last: std::mem::take(&mut line.last),
        failure: line.failure.take().map(|fault| *fault),
        used: read_used(line)?,
    })
}

fn read_end(
    line: &mut Line,
    load: &mut impl FnMut(Text) -> Result<Arc<str>, Wrong>,
) -> Result<End, Wrong> {
    Ok(End {
        decision: must(line.decision.take(), "decision")?,
        reason: line.reason.take(),
        hook: line.hook.take(),
        said: line.said.take().map(|said| *said),
        raised: std::mem::take(&mut line.raised),
        payload: load(must(line.payload.take(), "payload")?)?,
        effects: read_effects(line)?,
        warnings: std::mem::take(&mut line.warnings),
        stages: (*must(line.stages.take(), "stages")?).into(),
        trace: must(line.trace.take(), "trace")?
            .into_iter()
            .map(TraceRow::from)
            .collect(),
        took_us: must(line.took_us.take(), "took_us")?,
    })
}

fn read_effects(line: &mut Line) -> Result<Vec<Effect>, Wrong> {
    std::mem::take(&mut line.effects)
        .into_iter()
        .map(|value| {
            serde_json::from_value(value).map_err(|error| format!("an effect is none: {error}"))
        })
        .collect()
}
