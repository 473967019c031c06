//! What one hook answers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A hook's ruling.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Lets the event pass unchanged.
    Allow,
    /// Refuses it; the agent reads the reason.
    Block(String),
    /// Lets it pass with another payload, or with parts of it replaced.
    Modify(Value),
    /// Leaves it to a person.
    Ask(String),
}

/// A ruling without what it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ruling {
    /// The event passes unchanged.
    Allow,
    /// The event is refused.
    Block,
    /// The event passes, changed.
    Modify,
    /// A person decides.
    Ask,
}

impl Ruling {
    /// Returns the word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Modify => "modify",
            Self::Ask => "ask",
        }
    }
}

impl Decision {
    /// Returns the ruling alone.
    #[must_use]
    pub fn ruling(&self) -> Ruling {
        match self {
            Self::Allow => Ruling::Allow,
            Self::Block(_) => Ruling::Block,
            Self::Modify(_) => Ruling::Modify,
            Self::Ask(_) => Ruling::Ask,
        }
    }

    /// Returns the reason of a block or the question of an ask.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Block(reason) | Self::Ask(reason) => Some(reason),
            Self::Allow | Self::Modify(_) => None,
        }
    }
}

/// A decision with its effects.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The ruling.
    pub decision: Decision,
    /// What the hook wants beside it.
    pub effects: Vec<Effect>,
    /// How the hook's own dialect puts it, where that says more.
    pub said: Option<Said>,
    /// Whether no later hook is asked, though nothing is refused.
    pub last: bool,
    /// What was odd about it.
    pub warnings: Vec<String>,
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Self {
        Self {
            decision,
            effects: Vec::new(),
            said: None,
            last: false,
            warnings: Vec::new(),
        }
    }
}

/// A decision in the words of a dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// Why it lets the event pass, where it has the last word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a program wrote to standard error beside its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// What it wrote to standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// The word, for example `retry` or `suppress`.
    pub verb: Cow<'static, str>,
}

impl Said {
    /// Makes a word of a dialect.
    #[must_use]
    pub fn verb(verb: &'static str) -> Self {
        Self {
            verb: verb.into(),
            ..Self::default()
        }
    }
}

/// Something a hook wants beside its decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Effect {
    /// A text for the model.
    Context {
        /// What it says.
        text: String,
        /// Where it is put.
        placement: Placement,
    },
    /// A text for the model that stays for some turns.
    Reminder(Reminder),
}

impl Effect {
    /// Adds effects to others. A newer reminder takes the place of an older one with its
    /// key.
    pub fn gather(all: &mut Vec<Self>, new: Vec<Self>) {
        for effect in new {
            if let Some(key) = effect.dedupe_key() {
                let key = key.to_owned();
                all.retain(|earlier| earlier.dedupe_key() != Some(&key));
            }
            all.push(effect);
        }
    }

    fn dedupe_key(&self) -> Option<&str> {
        match self {
            Self::Context { .. } => None,
            Self::Reminder(reminder) => reminder.dedupe_key.as_deref(),
        }
    }
}

/// Where a text for the model is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// As a reminder by the system.
    SystemReminder,
    /// As a message of the system.
    SystemMessage,
    /// Before the user's prompt.
    PrependToPrompt,
    /// After the tool's output.
    AppendToOutput,
}

/// A text for the model that stays for some turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// What it says.
    pub body: String,
    /// Labels.
    pub tags: Vec<String>,
    /// A newer reminder with this key takes the older one's place.
    pub dedupe_key: Option<String>,
    /// How many turns it stays; for ever without a number.
    pub ttl_turns: Option<u32>,
    /// Whether it outlives a compaction.
    pub preserve_on_compact: bool,
    /// How far it travels.
    pub propagate: Propagation,
    /// In whose voice it speaks.
    pub role_hint: RoleHint,
}

/// How far a reminder travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Propagation {
    /// To every session.
    All,
    /// Within its session.
    Session,
    /// Nowhere.
    None,
}

/// In whose voice a reminder speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleHint {
    /// The system.
    System,
    /// The developer.
    Developer,
    /// A block in the user's message.
    UserBlock,
    /// The short-lived part of the prompt cache.
    EphemeralCache,
}
