//! A program that fires events at hookbox: Claude Code, Codex, … Each has its own words
//! for events, tools and answers, and its own way to ignore an answer it does not like.
//!
//! An agent is data plus a few functions. Adding one is adding a file and a line in
//! [`ALL`]; nothing behind this room knows which agent an event came from.

mod answer;
pub mod doctor;
mod front;
mod heard;
pub mod install;
mod patch;
mod place;
mod record;
mod reply;
pub mod table;
mod tool;
pub mod trust;
mod verdict;

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod goose;
mod kiro;
mod opencode;
mod windsurf;

use std::time::Duration;

use serde_json::{Map, Value};

use crate::dialect::{self, Dialect, EventInfo};

pub use answer::{AgentError, Asked, MAX_INPUT, Parsed, decide, directory, hand_on, refusal};
pub use front::{Answered, Setting, answer, deadline};
pub use heard::{Carries, Heard, HeardError, Place, WHOLE_PROMPT};
pub use place::{Root, is_project, project, started_in};
pub use record::{recorder, tape_of};
pub use reply::Reply;
pub use tool::{Call, Tool};
pub use verdict::{Decided, Said, Verdict};

/// All agents, in the order in which people read about them.
pub static ALL: [&Agent; 10] = [
    &claude_code::AGENT,
    &codex::AGENT,
    &gemini::AGENT,
    &cursor::AGENT,
    &copilot::AGENT,
    &windsurf::AGENT,
    &kiro::AGENT,
    &goose::AGENT,
    &cline::AGENT,
    &opencode::AGENT,
];

/// One agent.
pub struct Agent {
    /// The name in commands and settings.
    pub name: &'static str,
    /// The name people know.
    pub title: &'static str,
    /// Its events, in the order in which a session meets them.
    pub events: &'static [AgentEvent],
    /// The key under which a payload names its event.
    pub event_key: &'static str,
    /// Its tools that have a canonical form.
    pub tools: &'static [Tool],
    /// Returns the canonical name of a tool of an MCP server, where the agent has another.
    pub mcp: fn(&str, &Map<String, Value>) -> Option<String>,
    /// Whether it merges a rewritten input over the old one, so that nothing can be taken
    /// away.
    pub merges: bool,
    /// Writes an answer in its words.
    pub encode: fn(&AgentEvent, &Said) -> Reply,
    /// How it is wired.
    pub wiring: install::Wiring,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

/// One event of an agent: what it stands for, and what the agent can be told.
#[derive(Debug)]
pub struct AgentEvent {
    /// The agent's name for it.
    pub name: &'static str,
    /// The dialect whose event it stands for.
    pub dialect: &'static Dialect,
    /// The event of that dialect.
    pub event: &'static str,
    /// How its payload is read.
    pub carries: Carries,
    /// Whether something waits that a block keeps from happening. What cannot be
    /// decided is blocked then.
    pub guards: bool,
    /// How a block is encoded, where the agent has one.
    pub block: Option<&'static str>,
    /// How a rewritten payload is encoded, where the agent takes one.
    pub modify: Option<&'static str>,
    /// How a question is encoded, where the agent can ask.
    pub ask: Option<&'static str>,
    /// How a text for the model is encoded, where the agent hands one on.
    pub context: Option<&'static str>,
    /// Whether `install` registers it. Where the agent takes a hook for more than a
    /// question, it does not.
    pub wired: bool,
    /// How long the agent waits; `install` writes it into the agent's settings where
    /// that can be set.
    pub timeout: Duration,
}

impl AgentEvent {
    /// Returns what the dialect says of the event that this one stands for.
    #[must_use]
    pub fn info(&self) -> Option<&'static EventInfo> {
        (self.dialect.find)(self.event)
    }

    /// Says whether the hooks at a point hear of it.
    #[must_use]
    pub fn reaches(&self, point: &str) -> bool {
        let info = self.info();
        info.is_some_and(|info| info.point_of(self.event) == point)
            || matches!(self.carries, Carries::Prompt(_)) && point == WHOLE_PROMPT
    }
}

impl Agent {
    /// Finds one of its events.
    #[must_use]
    pub fn event(&self, name: &str) -> Option<&'static AgentEvent> {
        // Some spell an event in two ways.
        let same = |event: &&AgentEvent| event.name.eq_ignore_ascii_case(name);
        self.events.iter().find(same)
    }
}

/// Finds an agent by its name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Agent> {
    ALL.into_iter().find(|agent| agent.name == name)
}

/// An event of the native dialect, without any abilities.
const fn native(name: &'static str, event: &'static str, carries: Carries) -> AgentEvent {
    AgentEvent {
        name,
        dialect: &dialect::harness::DIALECT,
        event,
        carries,
        guards: false,
        block: None,
        modify: None,
        ask: None,
        context: None,
        wired: true,
        timeout: DEFAULT_TIMEOUT,
    }
}

/// An event that only another dialect has.
const fn foreign(
    name: &'static str,
    dialect: &'static Dialect,
    event: &'static str,
    carries: Carries,
) -> AgentEvent {
    AgentEvent {
        dialect,
        ..native(name, event, carries)
    }
}

/// How long an agent is told to wait where it can be told.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A tool with other names for its arguments.
const fn tool(
    own: &'static str,
    canonical: &'static str,
    keys: &'static [(&'static str, &'static str)],
) -> Tool {
    Tool {
        own,
        canonical,
        keys,
    }
}

/// The reason with the texts for the model behind it, for agents that take one text.
fn together(reason: &str, said: &Said) -> String {
    let texts = std::iter::once(reason.to_owned()).chain(said.context());
    texts.collect::<Vec<_>>().join("\n\n")
}
