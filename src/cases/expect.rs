//! What a case expects.

use serde_json::{Map, Value};

use crate::decision::Ruling;

/// A text, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// Exactly this.
    Is(String),
    /// This is in it.
    Contains(String),
}

impl Text {
    /// Says whether a text is as expected.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Self::Is(expected) => expected == text,
            Self::Contains(part) => text.contains(part.as_str()),
        }
    }
}

/// A log line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its level, if that matters.
    pub level: Option<String>,
    /// What it says.
    pub message: Text,
}

/// How a hook fails.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failing {
    /// The name of the cause, for example `out-of-fuel`.
    pub cause: Option<String>,
    /// What it says.
    pub message: Option<Text>,
}

/// What a case expects. What is not said does not matter, but for one thing: that no
/// hook fails.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expectation {
    /// The final decision.
    pub decision: Option<Ruling>,
    /// Why it is blocked, or what a person is asked.
    pub reason: Option<Text>,
    /// The hook that blocks or asks.
    pub hook: Option<String>,
    /// Keys of the final payload, or the whole of it if it is no object.
    pub payload: Option<Value>,
    /// All effects, in order.
    pub effects: Option<Vec<Value>>,
    /// Lines that are logged, in this order; others may be between them.
    pub logs: Option<Vec<Line>>,
    /// Some of the metrics.
    pub metrics: Option<Map<String, Value>>,
    /// Some of what is in the cache afterwards; `null` for what is not.
    pub cache: Option<Map<String, Value>>,
    /// That a hook fails, and how.
    pub error: Option<Failing>,
}
