//! One file for each language: how its tools make a component.

mod go;
mod javascript;
mod python;
mod rust;
mod zig;

use super::{BuildError, Job};
use crate::build::world::GRANTED;
use crate::config::Language;

/// Builds the component of a project.
pub(super) fn component(job: &Job<'_>) -> Result<Vec<u8>, BuildError> {
    match job.language() {
        Language::Rust => rust::component(job),
        Language::JavaScript | Language::TypeScript => javascript::component(job),
        Language::Python => python::component(job),
        Language::Go => go::component(job),
        Language::C => zig::c(job),
        Language::Zig => zig::zig_hook(job),
        Language::Starlark => Err(BuildError::WhichHook(
            "a hook in starlark needs no building: its `script:` is all there is".to_owned(),
        )),
    }
}

/// Returns the interfaces of the contract that the hook's file grants.
fn granted(job: &Job<'_>) -> Vec<&'static str> {
    let grants = &job.project.hook.grants;
    let granted = GRANTED.iter().filter(|(_, kind)| grants.has(*kind));
    granted.map(|(name, _)| *name).collect()
}
