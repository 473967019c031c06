//! What coding agents do with a finished hook process.
//!
//! Every module models one agent as a strict reader: given the event, the JSON the agent had sent and the three things a
//! process leaves behind, it says what happens to the guarded action. The facts and their sources are in the notes of the agents' own documents and sources.

pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod gemini;
pub mod goose;
pub mod kiro;
pub mod opencode;
pub mod shape;
pub mod windsurf;

use serde_json::{Map, Value};

/// What is left of a hook process once it has ended by itself.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    pub stdout: &'a str,
    pub stderr: &'a str,
    pub code: i32,
}

impl<'a> Finished<'a> {
    pub fn new(stdout: &'a str, stderr: &'a str, code: i32) -> Self {
        Self {
            stdout,
            stderr,
            code,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// the guarded action goes on as it was
    Proceeds,
    /// the agent read the answer as an error of the hook; the action goes on all the same
    FailsOpen(String),
    /// the action does not happen; on stop events: the agent goes on working; on events after an action: the reason
    /// is told in the place of (or next to) the result
    Blocked { reason: String },
    /// the person is asked
    Asks { reason: String },
    /// the whole tool input as the tool will get it; on events after a tool: the result as the model will get it
    Rewritten(Value),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    pub effect: Effect,
    /// texts the model gets in addition
    pub context: Vec<String>,
    /// messages for the user
    pub shown: Vec<String>,
    /// keys that had no effect
    pub ignored: Vec<String>,
    /// points on which versions or surfaces of the agent differ: a careful encoder leaves none
    pub doubts: Vec<String>,
}

impl Read {
    pub fn new(effect: Effect) -> Self {
        Self {
            effect,
            context: vec![],
            shown: vec![],
            ignored: vec![],
            doubts: vec![],
        }
    }
    pub fn proceeds() -> Self {
        Self::new(Effect::Proceeds)
    }
    pub fn fails_open(why: impl Into<String>) -> Self {
        Self::new(Effect::FailsOpen(why.into()))
    }
    pub fn blocked(reason: impl Into<String>) -> Self {
        Self::new(Effect::Blocked {
            reason: reason.into(),
        })
    }
    pub fn asks(reason: impl Into<String>) -> Self {
        Self::new(Effect::Asks {
            reason: reason.into(),
        })
    }
    pub fn doubt(mut self, what: impl Into<String>) -> Self {
        self.doubts.push(what.into());
        self
    }
    /// Did the action go on, as it was or changed?
    pub fn lets_pass(&self) -> bool {
        matches!(
            self.effect,
            Effect::Proceeds | Effect::FailsOpen(_) | Effect::Rewritten(_)
        )
    }
}

/// The agents this crate knows, by the names the command line uses.
pub const AGENTS: [&str; 10] = [
    "claude-code",
    "codex",
    "gemini",
    "cursor",
    "copilot",
    "windsurf",
    "kiro",
    "goose",
    "cline",
    "opencode",
];

/// `input` is the JSON the agent had sent. `None` for an agent nobody has modelled.
pub fn read(agent: &str, event: &str, input: &Value, finished: &Finished) -> Option<Read> {
    Some(match agent {
        "claude-code" => claude_code::read(event, input, finished),
        "codex" => codex::read(event, input, finished),
        "gemini" => gemini::read(event, input, finished),
        "cursor" => cursor::read(event, input, finished),
        "copilot" => copilot::read(event, input, finished),
        "windsurf" => windsurf::read(event, input, finished),
        "kiro" => kiro::read(event, input, finished),
        "goose" => goose::read(event, input, finished),
        "cline" => cline::read(event, input, finished),
        "opencode" => opencode::read(event, input, finished),
        _ => return None,
    })
}

/// Is `stdout` what the strictest known form of the event's answer allows? Exit code 0 is taken for granted.
pub fn accepts(agent: &str, event: &str, stdout: &str) -> Result<(), String> {
    if !events(agent).contains(&event) {
        return Err(format!("{agent} has no event {event}"));
    }
    match agent {
        "claude-code" => claude_code::accepts(event, stdout),
        "codex" => codex::accepts(event, stdout),
        "gemini" => gemini::accepts(event, stdout),
        "cursor" => cursor::accepts(event, stdout),
        "copilot" => copilot::accepts(event, stdout),
        "windsurf" => windsurf::accepts(event, stdout),
        "kiro" => kiro::accepts(event, stdout),
        "goose" => goose::accepts(event, stdout),
        "cline" => cline::accepts(event, stdout),
        _ => opencode::accepts(event, stdout),
    }
}

/// Every event name of an agent; empty for an unknown agent.
pub fn events(agent: &str) -> &'static [&'static str] {
    match agent {
        "claude-code" => claude_code::EVENTS,
        "codex" => codex::EVENTS,
        "gemini" => gemini::EVENTS,
        "cursor" => cursor::EVENTS,
        "copilot" => copilot::EVENTS,
        "windsurf" => windsurf::EVENTS,
        "kiro" => kiro::EVENTS,
        "goose" => goose::EVENTS,
        "cline" => cline::EVENTS,
        "opencode" => opencode::EVENTS,
        _ => &[],
    }
}

/// The string under `key`, if it is one.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// The string under `key`, if there is more than blanks in it.
pub(crate) fn filled<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    text(object, key).filter(|text| !text.trim().is_empty())
}

pub(crate) fn object(text: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(text.trim()) {
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    }
}
