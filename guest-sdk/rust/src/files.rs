//! Files below granted directories: `grant: { read: ["docs/"] }`.
//!
//! Paths start at the project, as they do in the grant. Nothing can be written.

use crate::error::{HostError, Kind};
use crate::host;

/// Returns what a file holds.
///
/// # Errors
/// Returns `not-granted`, `not-found`, `too-large` or `failed`.
pub fn read(path: &str) -> Result<Vec<u8>, HostError> {
    Ok(host::files::read(path)?)
}

/// Returns what a file holds, as text.
///
/// # Errors
/// Returns what [`read`] does, and `failed` if the file is not UTF-8.
pub fn read_to_string(path: &str) -> Result<String, HostError> {
    String::from_utf8(read(path)?)
        .map_err(|error| HostError::new(Kind::Failed, format!("{path} is not text: {error}")))
}

/// Returns the names in a directory, sorted; those of directories end in `/`.
///
/// # Errors
/// Returns `not-granted`, `not-found` or `failed`.
pub fn list(path: &str) -> Result<Vec<String>, HostError> {
    Ok(host::files::entries(path)?)
}
