//! What a hook is asked about.

use serde_json::Value;

/// A point in the agent's loop at which the hook is asked.
///
/// `P` is the type of the payload: anything that implements `serde::Deserialize`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event<P = Value> {
    /// The event's name, for example `tool.pre`.
    pub name: String,
    /// What the event carries; its shape depends on the name.
    pub payload: P,
    /// Tells this event from every other one of the same run.
    pub id: String,
    /// What the event is about, for example the name of the tool.
    pub subject: Option<String>,
    /// The name this hook is registered under.
    pub hook: String,
    /// 0 for an event of the agent; one more for each `events::emit` or `tools::call`
    /// that it took to get here.
    pub depth: u32,
}

impl<P> Event<P> {
    /// Makes an event, as a test needs one; the other fields can be set afterwards.
    pub fn new(name: impl Into<String>, payload: P) -> Self {
        Self {
            name: name.into(),
            payload,
            id: String::new(),
            subject: None,
            hook: String::new(),
            depth: 0,
        }
    }
}
