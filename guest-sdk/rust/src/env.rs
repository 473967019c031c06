//! The environment, as far as it is granted: `grant: { env: [CI] }`.

use crate::error::HostError;
use crate::host;

/// Returns a variable; none if it is granted but not set.
///
/// # Errors
/// Returns `not-granted` if the variable is not on the list.
pub fn get(name: &str) -> Result<Option<String>, HostError> {
    Ok(host::environment::get(name)?)
}
