//! One line of a tape: the canonical JSON of a record.
//!
//! The fields of every struct here stand in the order of their names and none holds a
//! fraction, so that what serde writes is canonical (RFC 8785) without sorting anything.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::record::{Fault, Phase, Project, Redacted};
use super::seal::Hash;
use super::text::Text;
use super::twin::{self, Twin};
use crate::capability::log::{Level, LogLine};
use crate::decision::{Effect, Ruling, Said};
use crate::failure::Cause;
use crate::outcome::{Stages, TraceRow};

/// The kinds of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    #[default]
    Header,
    Session,
    Dispatch,
    Predicate,
    HookCall,
    HostCall,
    HookReturned,
    HookVetoed,
    Outcome,
    Undecided,
    Lost,
    Body,
    Redaction,
    Footer,
}

/// Every field a record can have. Which ones it must have follows from its kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at_us: Option<u64>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) background: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) capability: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) collected: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Ruling>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<u32>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) derived: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) dialect: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) dispatches: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) effects: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<Box<Fault>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fuel: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) handler: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) head: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hook: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub(super) dispatch: Option<u64>,
    pub(super) kind: Kind,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) last: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) left_out: Option<Twin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lines: Option<Hash>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) logs: Vec<LogRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lost: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) matched: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) memory_bytes: Option<u64>,
    pub(super) n: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) payload: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<Phase>,
    pub(super) prev: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<Box<Project>>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) raised: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redacted: Option<Box<Redacted>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) refusals: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<Box<Said>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sessions: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stages: Option<Box<StageRow>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) took_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<Vec<Row>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<String>,
}

impl Line {
    /// Puts back what was left out of the text of a body, and returns the hash that has to
    /// name it; nothing if it is no body.
    pub(super) fn put_back(&mut self) -> Result<Option<Hash>, String> {
        // On another kind of record the fields are refused later.
        let Some(text) = self.text.as_deref().filter(|_| self.kind == Kind::Body) else {
            return Ok(None);
        };
        let Some(twin) = self.left_out.take() else {
            return Ok(Some(Hash::of(text.as_bytes())));
        };
        match twin::put_back(twin, text.to_owned()) {
            Some((whole, name)) => {
                self.text = Some(whole.into());
                Ok(Some(name))
            }
            // What it was made of may have been taken out.
            None if self.redacted.is_some() => Ok(None),
            None => Err(format!(
                "{:?} was left out of its text, which has no {:?} to make it of",
                twin.name(),
                twin.other()
            )),
        }
    }

    /// Says whether every field was taken but those that all records have. Written out,
    /// because comparing with an empty line takes as long as reading one.
    pub(super) fn is_used_up(&self) -> bool {
        self.about.is_none()
            && self.answer.is_none()
            && self.at_us.is_none()
            && self.body.is_none()
            && self.capability.is_none()
            && self.count.is_none()
            && self.decision.is_none()
            && self.depth.is_none()
            && self.dispatches.is_none()
            && self.error.is_none()
            && self.event.is_none()
            && self.failure.is_none()
            && self.format.is_none()
            && self.fuel.is_none()
            && self.handler.is_none()
            && self.head.is_none()
            && self.hook.is_none()
            && self.id.is_none()
            && self.dispatch.is_none()
            && self.left_out.is_none()
            && self.lines.is_none()
            && self.matched.is_none()
            && self.memory_bytes.is_none()
            && self.parent.is_none()
            && self.payload.is_none()
            && self.phase.is_none()
            && self.project.is_none()
            && self.reason.is_none()
            && self.redacted.is_none()
            && self.request.is_none()
            && self.session.is_none()
            && self.sessions.is_none()
            && self.stages.is_none()
            && self.subject.is_none()
            && self.text.is_none()
            && self.time.is_none()
            && self.took_us.is_none()
            && self.trace.is_none()
            && self.effects.is_empty()
            && self.logs.is_empty()
            && self.lost.is_empty()
            && self.refusals.is_empty()
            && self.warnings.is_empty()
            && self.dialect.is_none()
            && self.said.is_none()
            && !self.background
            && !self.collected
            && !self.derived
            && !self.last
            && !self.raised
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn is_false(truth: &bool) -> bool {
    !truth
}

/// A log line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogRow {
    event: Arc<str>,
    hook: Arc<str>,
    level: Level,
    message: String,
}

impl From<LogLine> for LogRow {
    fn from(line: LogLine) -> Self {
        Self {
            event: line.event,
            hook: line.hook,
            level: line.level,
            message: line.message,
        }
    }
}

impl From<LogRow> for LogLine {
    fn from(row: LogRow) -> Self {
        Self {
            hook: row.hook,
            event: row.event,
            level: row.level,
            message: row.message,
        }
    }
}

/// What each of the five steps left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageRow {
    compose: Vec<Arc<str>>,
    dispatch: Vec<Arc<str>>,
    filter: Vec<Arc<str>>,
    r#return: Option<Ruling>,
    sort: Vec<Arc<str>>,
}

impl From<Stages> for StageRow {
    fn from(stages: Stages) -> Self {
        Self {
            compose: stages.compose,
            dispatch: stages.dispatch,
            filter: stages.filter,
            r#return: stages.r#return,
            sort: stages.sort,
        }
    }
}

impl From<StageRow> for Stages {
    fn from(row: StageRow) -> Self {
        Self {
            filter: row.filter,
            sort: row.sort,
            dispatch: row.dispatch,
            compose: row.compose,
            r#return: row.r#return,
        }
    }
}

/// A row of the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(default, skip_serializing_if = "is_false")]
    background: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<Ruling>,
    dialect: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fuel: Option<u64>,
    hook: Arc<str>,
    matched: bool,
    memory_bytes: u64,
    priority: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refusals: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stack: Option<String>,
    took_us: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when_fuel: Option<u64>,
}

impl From<TraceRow> for Row {
    fn from(row: TraceRow) -> Self {
        Self {
            background: row.background,
            cause: row.cause,
            decision: row.decision,
            dialect: row.dialect,
            error: row.error,
            fuel: row.fuel,
            hook: row.hook,
            matched: row.matched,
            memory_bytes: row.memory_bytes,
            priority: row.priority,
            reason: row.reason,
            refusals: row.refusals,
            stack: row.stack,
            took_us: microseconds(row.duration),
            when_fuel: row.when_fuel,
        }
    }
}

impl From<Row> for TraceRow {
    fn from(row: Row) -> Self {
        Self {
            hook: row.hook,
            dialect: row.dialect,
            priority: row.priority,
            matched: row.matched,
            background: row.background,
            decision: row.decision,
            reason: row.reason,
            error: row.error,
            cause: row.cause,
            stack: row.stack,
            fuel: row.fuel,
            when_fuel: row.when_fuel,
            refusals: row.refusals,
            memory_bytes: row.memory_bytes,
            duration: Duration::from_micros(row.took_us),
        }
    }
}

/// Returns whole microseconds.
pub(super) fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Writes an effect with its keys in order.
pub(super) fn effect_to_json(effect: &Effect) -> Value {
    let mut entries: Vec<(String, Value)> = match serde_json::to_value(effect) {
        Ok(Value::Object(map)) => map.into_iter().collect(),
        // Effects are structs of texts and small numbers, which always are objects.
        _ => Vec::new(),
    };
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Value::Object(Map::from_iter(entries))
}
