//! What the whole chain comes to.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::capability::log::LogLine;
use crate::capability::metrics::Number;
use crate::decision::{Effect, Ruling, Said};
use crate::failure::Cause;
use crate::json::Json;

/// The final decision, the final payload, and how they came about.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The event's name.
    pub event: Arc<str>,
    /// What tells it from other events.
    pub id: String,
    /// The final decision.
    pub decision: Ruling,
    /// Why it was blocked, or what a person is asked.
    pub reason: Option<String>,
    /// The hook that blocked or asked.
    pub hook: Option<Arc<str>>,
    /// How the dialect of that hook puts it, where that says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
    /// Whether that hook failed in a dialect in which a failure is an error of the
    /// whole event: [`crate::Runtime::dispatch`] returns it as one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub raised: bool,
    /// The final payload, in the form of the dialect the event came in.
    pub payload: Json,
    /// What the hooks want beside their decisions, in order.
    pub effects: Vec<Effect>,
    /// All counters and gauges of the run, after this event.
    pub metrics: BTreeMap<String, Number>,
    /// The log lines of this event, in order.
    pub logs: Vec<LogLine>,
    /// What was odd, in order.
    pub warnings: Vec<String>,
    /// What each of the five steps left.
    pub stages: Stages,
    /// A row for each hook of the chain, in the order in which they run.
    pub trace: Vec<TraceRow>,
}

/// What each of the five steps of a chain left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stages {
    /// The hooks whose predicate matched, in the order of registration.
    pub filter: Vec<Arc<str>>,
    /// The same in the order in which they run.
    pub sort: Vec<Arc<str>>,
    /// The hooks that were called.
    pub dispatch: Vec<Arc<str>>,
    /// The hooks whose answer changed something.
    pub compose: Vec<Arc<str>>,
    /// The decision handed back.
    pub r#return: Option<Ruling>,
}

/// What one hook did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceRow {
    /// The hook's name.
    pub hook: Arc<str>,
    /// The dialect it is written in.
    pub dialect: Cow<'static, str>,
    /// Its priority.
    pub priority: i64,
    /// Whether its predicate matched.
    pub matched: bool,
    /// Whether it runs in the background, where nobody waits for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// What it decided; nothing if it was not called.
    pub decision: Option<Ruling>,
    /// Why it blocked, or what it asks.
    pub reason: Option<String>,
    /// How it failed.
    pub error: Option<String>,
    /// The kind of failure.
    pub cause: Option<Cause>,
    /// The guest's call stack at the failure.
    pub stack: Option<String>,
    /// The fuel its handler used; nothing if it was not called or trapped,
    /// because fuel at a trap means nothing.
    pub fuel: Option<u64>,
    /// The fuel its predicate used.
    pub when_fuel: Option<u64>,
    /// What it asked for and was refused, with the rule that refused it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
    /// The most linear memory it held.
    pub memory_bytes: u64,
    /// How long predicate and handler took.
    #[serde(rename = "duration_us", serialize_with = "microseconds")]
    pub duration: Duration,
}

fn microseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}
