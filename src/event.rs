//! A point in the agent's loop.

use std::sync::Arc;

use crate::json::Json;

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
}
