//! How an agent is wired: where its settings lie, and what one entry looks like.

use serde_json::Value;

use super::super::AgentEvent;
use super::super::doctor::{Finding, Look};
use super::{Command, Scope};

/// How an agent is wired.
pub struct Wiring {
    /// Its settings, below a project.
    pub project: &'static str,
    /// Where it keeps what is the user's.
    pub home: Home,
    /// Its settings there.
    pub user: &'static str,
    /// What the settings are.
    pub form: Form,
    /// What only a person can approve.
    pub approve: Approve,
    /// Whether it runs the entries of a user and those of a project side by side.
    pub doubles: bool,
    /// Looks for whatever else keeps the agent from running hooks.
    pub checks: fn(&Look<'_>) -> Vec<Finding>,
}

/// The folder where an agent keeps what is the user's.
pub struct Home {
    /// The variable that names another one, and the folder below that.
    pub variable: Option<(&'static str, &'static str)>,
    /// The folder, below the user's home.
    pub folder: &'static str,
}

/// What the settings of an agent are.
pub enum Form {
    /// A JSON file with an entry for each event.
    Settings(Settings),
    /// A folder with a script for each event.
    Scripts,
    /// A program that the agent loads.
    Plugin,
}

/// A JSON file with an entry for each event.
pub struct Settings {
    /// Where the entries stand in it.
    pub shape: Shape,
    /// What the file has to say of its version.
    pub version: Option<Version>,
    /// Returns the entry for an event.
    pub entry: fn(&AgentEvent, &Command) -> Value,
    /// A file that has to be beside the folder of the settings: its name and text.
    pub beside: Option<(&'static str, &'static str)>,
    /// Whether the agent takes `//` for a comment wherever it is.
    pub eats_slashes: bool,
}

impl Settings {
    /// Settings of a shape, and nothing more.
    pub(in crate::agent) const fn of(
        shape: Shape,
        entry: fn(&AgentEvent, &Command) -> Value,
    ) -> Self {
        Self {
            shape,
            version: None,
            entry,
            beside: None,
            eats_slashes: false,
        }
    }
}

/// Where entries stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `hooks.EVENT[].hooks[]`, in groups that can have a matcher.
    Groups,
    /// `hooks.EVENT[]`.
    Lists,
    /// `hooks[]`, each with its `trigger`.
    Triggers,
}

/// What a file says of its version.
#[derive(Debug, Clone, Copy)]
pub enum Version {
    /// A number.
    Number(u8),
    /// A word.
    Word(&'static str),
}

impl Version {
    pub(super) fn value(self) -> Value {
        match self {
            Self::Number(number) => number.into(),
            Self::Word(word) => word.into(),
        }
    }
}

/// What only a person can approve.
#[derive(Debug)]
pub struct Approve {
    /// For the hooks of a project.
    pub project: &'static [&'static str],
    /// For the hooks of a user.
    pub user: &'static [&'static str],
    /// Whether the agent's checks see if it was done.
    pub seen: bool,
}

impl Approve {
    /// Nothing.
    pub(in crate::agent) const NOTHING: Self = Self {
        project: &[],
        user: &[],
        seen: true,
    };

    /// Returns what to approve in one place.
    #[must_use]
    pub fn texts(&self, scope: Scope) -> &'static [&'static str] {
        match scope {
            Scope::Project => self.project,
            Scope::User => self.user,
        }
    }
}
