//! One subscription: what runs, when, in which order, and what happens if it fails.

use std::sync::Arc;

use crate::capability::grant::Grants;
use crate::diagnostic::Source;
use crate::dialect::Dialect;
use crate::event::Event;
use crate::handler::Handler;
use crate::sandbox::limits::Limits;

/// A hook, loaded and checked.
#[derive(Debug)]
pub struct Hook {
    /// The name in messages, logs and the trace.
    pub name: Arc<str>,
    /// The event it subscribes to, as its dialect calls it.
    pub event: Arc<str>,
    /// The point in the agent's loop that this event stands for.
    pub point: Arc<str>,
    /// The place of its dialect among those of the project.
    pub order: usize,
    /// Lower numbers run first.
    pub priority: i64,
    /// Breaks ties of priority: the place in the order of sources.
    pub position: usize,
    /// What narrows it.
    pub predicate: Predicate,
    /// What runs.
    pub handler: Handler,
    /// What it may use up.
    pub limits: Limits,
    /// What it may reach.
    pub grants: Grants,
    /// What a failure means for the event.
    pub on_error: OnError,
    /// Whether the event waits for it, or it runs in the background.
    pub waits: bool,
    /// Whether its predicate is asked when its turn comes, or before any hook runs.
    pub live: bool,
    /// Whether it still runs after another hook of its dialect refused the event, for
    /// what it has to say.
    pub collects: bool,
    /// The rules it plays by.
    pub dialect: &'static Dialect,
    /// Where it was written.
    pub origin: Origin,
}

/// Where a hook was written, for people.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The file, relative to the project.
    pub file: Arc<str>,
    /// The first line of its prose.
    pub summary: Option<String>,
    /// Whether the priority was written down or is the default.
    pub explicit_priority: bool,
    /// The file itself.
    pub source: Arc<Source>,
    /// Whether the file is the hook's own and gives it its name. Names of other hooks
    /// are chosen by whoever wrote the file, and need not be the only one of their kind.
    pub own_file: bool,
}

/// What narrows a hook.
#[derive(Debug, Clone)]
pub enum Predicate {
    /// Matches every event of its name.
    Always,
    /// A Starlark expression over `event` and `payload`.
    When(Arc<crate::handler::starlark::Text>),
    /// A rule of its dialect: a glob, an expression, fields that have to be equal.
    Rule(Arc<dyn Rule>),
}

/// What narrows a hook without running any code of its author's.
pub trait Rule: std::fmt::Debug + Send + Sync {
    /// Says whether it matches an event, which has its native form.
    fn matches(&self, event: &Event) -> bool;
    /// Returns it as it was written; nothing if nothing was.
    fn text(&self) -> Option<String>;
}

/// What the failure of a hook means for the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// The event is blocked: a guard that cannot decide does not let it pass.
    Block,
    /// The event passes, with a warning.
    Allow,
    /// The whole event fails.
    Raise,
}

impl Hook {
    /// Returns what tells the hook from every other one of the project, also from one
    /// of the same name in another file: no file name has a slash.
    #[must_use]
    pub fn identity(&self) -> String {
        if self.origin.own_file {
            return self.name.to_string();
        }
        format!("{}/{}", self.origin.file, self.name)
    }

    /// Returns the Starlark expression that narrows the hook, if there is one.
    #[must_use]
    pub fn when(&self) -> Option<&str> {
        match &self.predicate {
            Predicate::Always | Predicate::Rule(_) => None,
            Predicate::When(text) => Some(&text.code),
        }
    }

    /// Returns what narrows the hook, as it was written.
    #[must_use]
    pub fn condition(&self) -> Option<String> {
        match &self.predicate {
            Predicate::Always => None,
            Predicate::When(text) => Some(text.code.clone()),
            Predicate::Rule(rule) => rule.text(),
        }
    }
}

impl OnError {
    /// Returns the word in a hook file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Allow => "allow",
            Self::Raise => "raise",
        }
    }
}
