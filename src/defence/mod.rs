//! Keeps agents from changing what watches them.
//!
//! An agent that can edit its hooks has no hooks. [`refuse`] says whether a tool call would
//! change a protected path: through a structured argument, a patch, or a shell command in
//! any spelling. It looks at texts and at the disk, and runs nothing.

mod absent;
mod code;
mod disk;
mod glob;
mod held;
mod hook;
mod own;
mod patch;
mod paths;
mod protected;
mod refusal;
mod scene;
mod shell;
mod structured;
mod through;
mod tree;

use std::path::Path;

use serde_json::Value;

pub(crate) use hook::{NAME, hook};
pub use protected::Protected;
pub use refusal::Refusal;

/// A tool call, before it runs.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    /// The canonical name of the tool, or the agent's own.
    pub name: &'a str,
    /// Its arguments.
    pub args: &'a Value,
    /// Where the agent works.
    pub cwd: &'a Path,
}

/// Says why a call must not run, or nothing.
#[must_use]
pub fn refuse(protected: &Protected, call: &ToolCall) -> Option<Refusal> {
    refuse_from(protected, call, &[call.cwd])
}

/// Says why a call must not run from any of several directories, or nothing.
#[must_use]
pub fn refuse_from(protected: &Protected, call: &ToolCall, places: &[&Path]) -> Option<Refusal> {
    let scene = scene::Scene::new(protected);
    places.iter().find_map(|cwd| {
        let judged = structured::look(&scene, &ToolCall { cwd, ..*call });
        let too_much = || scene.exhausted().then(|| refusal::too_much(call.name));
        judged.err().or_else(too_much)
    })
}

#[cfg(test)]
mod tests;
