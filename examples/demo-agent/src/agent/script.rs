//! What the user and the model do, as data.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The tools the model knows at the start.
    #[serde(default)]
    pub tools: Vec<String>,
    /// What happens, in order.
    pub session: Vec<Step>,
}

/// One thing that happens.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The user says something, and the model works on it.
    User(User),
    /// The conversation has become too long.
    Compact(Compact),
    /// The user is to be told something.
    Notify(String),
    /// The agent takes on another facet.
    Facet(String),
    /// There is nothing to do for so many milliseconds.
    Idle(u64),
    /// A persona works through its steps.
    Persona(Persona),
    /// The agent makes a tool for itself.
    Register(String),
    /// A tool emits an event of its own.
    Emit(Custom),
    /// A pipeline comes to its end.
    Finish(Finish),
    /// An error that nothing can be done about.
    Fail(String),
}

/// What the user says, and what the model makes of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// The prompt.
    pub prompt: String,
    /// What the model answers, call by call.
    #[serde(default)]
    pub model: Vec<Answer>,
}

/// One answer of the model. Without calls it would hand the turn back.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Its text.
    pub say: String,
    /// What it wants done.
    #[serde(default)]
    pub calls: Vec<Call>,
}

/// Something the model wants done.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// A tool is to run.
    Tool(Tool),
    /// A sub-agent is to work.
    Delegate(Delegate),
}

/// A call of a tool, and what would come of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// What it returns.
    #[serde(default)]
    pub result: Value,
    /// How it fails, if it does.
    pub error: Option<String>,
    /// The files it edits.
    #[serde(default)]
    pub edits: Vec<String>,
    /// Whether the policy does not know if it may run.
    #[serde(default)]
    pub permission: bool,
    /// What the user says when asked about it.
    #[serde(default)]
    pub approve: bool,
}

/// Work for a sub-agent, and what would come of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegate {
    /// The kind of sub-agent.
    pub agent: String,
    /// Its task.
    pub prompt: String,
    /// What it brings back, attempt by attempt.
    pub results: Vec<String>,
    /// Whether its work is verified.
    #[serde(default)]
    pub verify: bool,
}

/// A compaction.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compact {
    /// What makes it necessary.
    pub trigger: String,
    /// What is left of the conversation.
    pub summary: String,
}

/// A persona and its work.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    /// Its name.
    pub name: String,
    /// What it does.
    pub steps: Vec<PersonaStep>,
    /// To whom it hands its work over at the end.
    pub handoff: Option<String>,
}

/// One step of a persona.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonaStep {
    /// Its name.
    pub step: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Value,
    /// What comes of it.
    pub output: String,
    /// How much of the budget is spent after it, in percent.
    pub spent: u32,
    /// What it needs an approval for.
    pub approval: Option<String>,
    /// Why the persona pauses after it.
    pub pause: Option<String>,
}

/// An event that a tool emits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Custom {
    /// Its name.
    pub name: String,
    /// What it carries.
    #[serde(default)]
    pub payload: Value,
}

/// The end of a pipeline.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// What it returns.
    pub value: String,
    /// What is still open.
    #[serde(default)]
    pub unsettled: Vec<String>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(serde_json::from_str(text)?)
    }

    /// Returns the session beside this example, in which everything happens.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub fn default_session() -> anyhow::Result<Self> {
        Self::parse(include_str!("../../session.json"))
    }
}
