//! A hook format with its own rules. A dialect is data plus codecs: adding one
//! is adding a folder, and nothing in the chain asks which one a hook is from.

pub mod harness;

use std::io::Read as _;
use std::sync::Arc;

use cap_std::fs::Dir;
use serde_json::Value;

use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::event::Event;
use crate::failure::Failure;
use crate::hook::Hook;

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

/// Reads a file that is one, and not a large one.
pub(crate) fn read_bounded(root: &Dir, path: &str, limit: u64) -> std::io::Result<Vec<u8>> {
    use std::io::{Error, ErrorKind};
    let metadata = root.metadata(path)?;
    if metadata.is_dir() {
        return Err(Error::new(
            ErrorKind::IsADirectory,
            "it is a directory, not a file",
        ));
    }
    // A pipe would never end, and never start either.
    if !metadata.is_file() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    let mut bytes = Vec::new();
    root.open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("it is larger than {} KiB", limit >> 10),
        ));
    }
    Ok(bytes)
}
