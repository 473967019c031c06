//! A point in the agent's loop.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::json::Json;
use crate::timestamp;

/// An event on its way through a chain: decoded, checked and complete.
#[derive(Debug, Clone)]
pub struct Event {
    /// The name, valid in the dialect that decoded it.
    pub name: Arc<str>,
    /// What the event carries.
    pub payload: Json,
    /// Tells this event from every other one of the run.
    pub id: String,
    /// What the event is about, for example the name of the tool.
    pub subject: Option<String>,
    /// 0 for the agent's own events, one more for each event emitted by a hook.
    pub depth: u32,
}

impl Event {
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
