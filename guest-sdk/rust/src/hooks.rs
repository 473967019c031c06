//! The hooks of the project, for hooks that watch over hooks: `grant: { hooks: read }`.

pub use crate::bindings::hookbox::hook::hooks::Hook;
use crate::error::HostError;
use crate::host;

/// Returns all hooks, in the order of registration.
///
/// # Errors
/// Returns `not-granted` without the grant.
pub fn list() -> Result<Vec<Hook>, HostError> {
    Ok(host::hooks::all()?)
}

/// Returns the text of the file a hook is written in; none if there is no hook of this
/// name.
///
/// # Errors
/// Returns `not-granted` without the grant.
pub fn source(name: &str) -> Result<Option<String>, HostError> {
    Ok(host::hooks::source(name)?)
}
