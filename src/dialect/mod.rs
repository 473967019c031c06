//! A hook format with its own rules. A dialect is data plus codecs: adding one
//! is adding a folder, and nothing in the chain asks which one a hook is from.

pub mod harness;

use std::sync::Arc;

use serde_json::Value;

use crate::config::Config;
use crate::decision::Answer;
use crate::diagnostic::Diagnostic;
use crate::event::Event;
use crate::failure::Failure;
use crate::handler::command::Finished;
use crate::hook::Hook;
use crate::sandbox::limits::Limits;

/// The rules of one dialect, as the chain needs them.
#[derive(Debug)]
pub struct Dialect {
    /// The name in traces.
    pub name: &'static str,
    /// Chains of several dialects run in this order.
    pub rank: u8,
    /// What a predicate that fails means.
    pub predicate_failure: fn(&Failure) -> PredicateFailure,
    /// Makes the new payload from the event as it stands and what a hook returned.
    pub rewrite: fn(&Event, Value) -> Result<Value, Failure>,
    /// How programs are spoken with.
    pub command: CommandCodec,
}

/// How a dialect speaks with a hook that is a program.
#[derive(Debug)]
pub struct CommandCodec {
    /// Writes what the program reads.
    pub stdin: fn(&Hook, &Event) -> String,
    /// Returns the environment variables the program sees beside granted ones.
    pub environment: fn(&Hook, &Event) -> Vec<(&'static str, String)>,
    /// Reads what the program answered.
    pub answer: fn(&Finished, &Limits) -> Result<Answer, Failure>,
}

/// What a dialect found in a project.
#[derive(Debug)]
pub struct Loaded {
    /// The hooks that can run, in the order of registration.
    pub hooks: Vec<Arc<Hook>>,
    /// What the project sets for all hooks.
    pub config: Config,
    /// What is wrong or odd.
    pub problems: Vec<Diagnostic>,
}

/// What a predicate that fails means for its hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredicateFailure {
    /// The hook sits this event out, with a warning.
    Skip,
    /// The hook counts as failed, so its `on_error` decides.
    Fail,
}
