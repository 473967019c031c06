//! A point in the agent's loop.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::dialect::{Dialect, harness};
use crate::hook::Hook;
use crate::json::Json;
use crate::timestamp;

/// An event on its way through a chain: decoded, checked and complete.
#[derive(Debug, Clone)]
pub struct Event {
    /// The name, in the dialect that it came in.
    pub name: Arc<str>,
    /// The point in the agent's loop, whatever the dialects call it.
    pub point: Arc<str>,
    /// The dialect that it came in.
    pub dialect: &'static Dialect,
    /// What the event carries, in the native form of its point.
    pub payload: Json,
    /// What the event comes with beside that.
    pub about: Arc<About>,
    /// Whether the hooks run that nobody waits for, or the others.
    pub background: bool,
    /// Tells this event from every other one of the run.
    pub id: String,
    /// What the event is about, for example the name of the tool.
    pub subject: Option<String>,
    /// 0 for the agent's own events, one more for each event emitted by a hook.
    pub depth: u32,
}

/// What an event comes with that belongs to no point in particular.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct About {
    /// Whether somebody can be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<bool>,
    /// The project's directory, for hooks whose dialect tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What only the dialect that the event came in knows what to do with.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub rest: Map<String, Value>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where the transcript of the session is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
}

impl About {
    /// Returns how many bytes a payload brought along beside its native form.
    pub(crate) fn size(&self) -> usize {
        let texts = [&self.session, &self.transcript];
        let rest = if self.rest.is_empty() {
            0
        } else {
            serde_json::to_string(&self.rest).map_or(usize::MAX / 2, |text| text.len())
        };
        texts.into_iter().flatten().map(String::len).sum::<usize>() + rest
    }
}

impl Event {
    /// Returns an event in the native format, of the agent's own.
    #[must_use]
    pub fn native(name: &str, id: impl Into<String>, payload: Json) -> Self {
        Self {
            name: name.into(),
            point: name.into(),
            dialect: &harness::DIALECT,
            payload,
            about: Arc::default(),
            background: false,
            id: id.into(),
            subject: None,
            depth: 0,
        }
    }

    /// Returns the event as a hook of some dialect sees it: under the name it
    /// subscribed to, with the payload in its dialect's form.
    #[must_use]
    pub fn seen_by(&self, hook: &Hook) -> Self {
        Self {
            name: Arc::clone(&hook.event),
            payload: (hook.dialect.view)(&hook.event, self),
            ..self.clone()
        }
    }

    /// Returns the same event with another payload.
    #[must_use]
    pub fn with_payload(&self, payload: Json) -> Self {
        Self {
            payload,
            ..self.clone()
        }
    }

    /// Returns the event's own time: what its payload says under `timestamp` or
    /// `time`, and the start of the year 2000 if it says nothing. A hook that is not
    /// granted the clock sees this one, and so decides the same on every run.
    #[must_use]
    pub fn time(&self) -> SystemTime {
        time_of(self.payload.value())
    }

    /// Returns what the randomness of a hook that is not granted any follows from.
    #[must_use]
    pub fn seed(&self, hook: &str) -> [u8; 32] {
        let mut hasher = Sha256::new();
        for part in [&*self.name, hook, self.payload.text()] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().into()
    }
}

/// Returns the time a payload says.
pub(crate) fn time_of(payload: &Value) -> SystemTime {
    let said = ["timestamp", "time"]
        .iter()
        .filter_map(|key| payload.get(key))
        .find_map(|value| match value {
            Value::String(text) => timestamp::parse(text),
            Value::Number(number) => number.as_f64().and_then(timestamp::from_number),
            _ => None,
        });
    SystemTime::UNIX_EPOCH + said.unwrap_or(YEAR_2000)
}

/// The start of the year 2000.
const YEAR_2000: Duration = Duration::from_secs(946_684_800);
