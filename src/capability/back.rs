//! The way back into the runtime, which lives in a room above: a hook's own events,
//! its calls of tools, and the list of hooks.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::log::LogLine;
use crate::json::Json;
use crate::sandbox::bindings::hooks::Hook;
use crate::tape::reel::Reel;

/// What goes back in.
#[derive(Debug)]
pub struct Entering {
    /// The name of the event or of the tool.
    pub name: String,
    /// What the event carries, or the tool's arguments.
    pub payload: Json,
    /// When the call that causes it has to be over.
    pub latest: Instant,
    /// The tape of the call that causes it.
    pub(crate) reel: Reel,
}

/// What came of it.
#[derive(Debug)]
pub struct Echo {
    /// What came out, or why nothing did.
    pub result: Result<Json, Refusal>,
    /// What the hooks on the way logged.
    pub logs: Vec<LogLine>,
    /// What was odd about it.
    pub warnings: Vec<String>,
    /// What the hooks on the way were refused.
    pub refusals: Vec<String>,
}

/// Why nothing came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// A hook of the chain blocked it or asks.
    Blocked(String),
    /// It was not dispatched.
    Refused(String),
    /// The host has no such tool.
    UnknownTool(String),
    /// The tool failed.
    Failed(String),
}

impl From<Result<Json, Refusal>> for Echo {
    fn from(result: Result<Json, Refusal>) -> Self {
        Self {
            result,
            logs: Vec::new(),
            warnings: Vec::new(),
            refusals: Vec::new(),
        }
    }
}

/// The way back in. The runtime is one, nowhere is another.
pub trait Back: Send + Sync {
    /// Sends an event of a hook's own through its chain.
    fn emit(&self, event: Entering) -> Echo;
    /// Calls a tool, through `tool.pre` and `tool.post`.
    fn call_tool(&self, call: Entering) -> Echo;
    /// Returns all hooks of the project.
    fn hooks(&self) -> Vec<Hook>;
    /// Returns the text of the file a hook is written in.
    fn hook_source(&self, name: &str) -> Option<String>;
}

/// No way back: code is looked at, and no event is on its way.
#[derive(Debug)]
pub struct Nowhere;

impl Nowhere {
    fn refuse() -> Echo {
        Err(Refusal::Refused("no event is on its way".to_owned())).into()
    }
}

impl Back for Nowhere {
    fn emit(&self, _event: Entering) -> Echo {
        Self::refuse()
    }

    fn call_tool(&self, _call: Entering) -> Echo {
        Self::refuse()
    }

    fn hooks(&self) -> Vec<Hook> {
        Vec::new()
    }

    fn hook_source(&self, _name: &str) -> Option<String> {
        None
    }
}
