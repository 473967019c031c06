//! A hook format with its own rules. A dialect is data plus codecs: adding one
//! is adding a folder and a line in [`ALL`], and nothing in the chain asks which one
//! a hook is from.
//!
//! Events travel in the native form of their point, which is that of AI Harness where
//! it has the event. A dialect decodes what comes in into that form, shows it to its
//! hooks in its own, and takes their answers back.

mod checks;
pub mod flat;
pub mod framework;
pub mod harn;
pub mod harness;
pub(crate) mod kept;
mod load;
pub mod polytoken;
mod program;
mod source;

use serde::Serialize;
use serde_json::Value;

use crate::decision::Answer;
use crate::diagnostic::did_you_mean;
use crate::event::{About, Event};
use crate::failure::Failure;
use crate::handler::command::Finished;
use crate::hook::{Hook, OnError};
use crate::json::Json;
use crate::outcome::Outcome;
use harness::payload::PayloadError;
pub use load::{Loaded, Loading, Options};
pub(crate) use load::{load, load_kept};

/// All dialects, in the order in which their hooks run unless the project says
/// otherwise.
pub static ALL: [&Dialect; 4] = [
    &harness::DIALECT,
    &polytoken::DIALECT,
    &harn::DIALECT,
    &framework::DIALECT,
];

/// The rules of one dialect.
pub struct Dialect {
    /// The name in commands, settings and traces.
    pub name: &'static str,
    /// The name of the system it comes from.
    pub title: &'static str,
    /// Whether a name means its event where other dialects have one of that name.
    pub goes_first: bool,
    /// Returns its events, in the order in which a session meets them.
    pub events: fn() -> &'static [EventInfo],
    /// Finds the event that a name stands for.
    pub find: fn(&str) -> Option<&'static EventInfo>,
    /// Whether its programs are told where the project is, and whether anybody can be
    /// asked.
    pub tells: bool,
    /// Reads what a project has of it.
    pub load: fn(&mut Loading<'_>),
    /// Brings a payload into the native form of its point.
    pub decode: fn(&EventInfo, Incoming) -> Result<Decoded, PayloadError>,
    /// Shows an event to hooks that subscribed to it under this name.
    pub view: fn(&str, &Event) -> Json,
    /// What a predicate that fails means.
    pub predicate_failure: fn(&Failure) -> PredicateFailure,
    /// Takes an answer in the words of the contract: what it means in this dialect, with
    /// a modified payload in the native form.
    pub judge: fn(&Hook, &Event, Answer) -> Result<Answer, Failure>,
    /// Takes a value that a function of a script or of the host returned.
    pub returned: fn(&Hook, &Event, Value) -> Result<Answer, Failure>,
    /// How programs are spoken with.
    pub command: CommandCodec,
    /// Writes an outcome in the dialect's own form.
    pub native: fn(&EventInfo, &Outcome) -> String,
}

impl std::fmt::Debug for Dialect {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// One event of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EventInfo {
    /// The name, or the prefix of names.
    pub name: &'static str,
    /// The point in the agent's loop that it stands for.
    pub point: &'static str,
    /// When it fires.
    pub fires: &'static str,
    /// What it carries.
    pub payload: &'static str,
    /// Whether an operation waits for the answer, so that a hook that fails
    /// blocks it.
    pub gates: bool,
    /// Whether the event waits for its hooks at all.
    pub waits: bool,
    /// Whether it may still change.
    pub experimental: bool,
}

/// A payload as it came in.
#[derive(Debug)]
pub struct Incoming {
    /// The name the event was fired under.
    pub name: String,
    /// What tells the event from others, unless its payload says so itself.
    pub id: String,
    /// What came in.
    pub payload: Value,
}

/// A payload in the native form of its point.
#[derive(Debug, Default)]
pub struct Decoded {
    /// The payload.
    pub payload: Value,
    /// What came with it.
    pub about: About,
}

/// How a dialect speaks with a hook that is a program.
#[derive(Debug)]
pub struct CommandCodec {
    /// Writes what the program reads. The event is the one the hook sees.
    pub stdin: fn(&Hook, &Event) -> String,
    /// Returns the environment variables the program sees beside granted ones.
    pub environment: fn(&Hook, &Event) -> Vec<(&'static str, String)>,
    /// Reads what the program answered. The event is in its native form.
    pub answer: fn(&Hook, &Event, &Finished) -> Result<Answer, Failure>,
}

/// What a predicate that fails means for its hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredicateFailure {
    /// The hook sits this event out, with a warning.
    Skip,
    /// The hook counts as failed, so its `on_error` decides.
    Fail,
}

/// Finds a dialect by its name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Dialect> {
    ALL.into_iter().find(|dialect| dialect.name == name)
}

/// Returns the dialects that have an event of this name.
pub fn knowing(event: &str) -> impl Iterator<Item = &'static Dialect> {
    ALL.into_iter()
        .filter(move |dialect| (dialect.find)(event).is_some())
}

/// Says what to write instead of a name that is no event of any dialect.
#[must_use]
pub fn advice(event: &str) -> String {
    let names = ALL
        .into_iter()
        .skip(1)
        .flat_map(|dialect| (dialect.events)())
        .map(|info| info.name);
    match did_you_mean(event, names) {
        Some(guess) => format!("did you mean `{guess}`?"),
        None => harness::events::advice(event),
    }
}

impl EventInfo {
    /// Returns the point that an event of this name stands for, which is its own where
    /// the name is one of many.
    #[must_use]
    pub fn point_of<'n>(&self, name: &'n str) -> &'n str
    where
        Self: 'n,
    {
        if self.point.ends_with('*') {
            name
        } else {
            self.point
        }
    }

    /// Returns what the failure of a hook means, unless somebody says otherwise: closed
    /// where an operation waits for the answer, open where it is over already.
    #[must_use]
    pub fn default_on_error(&self) -> OnError {
        if self.gates {
            OnError::Block
        } else {
            OnError::Allow
        }
    }
}
