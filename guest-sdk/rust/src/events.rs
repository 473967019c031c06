//! Events of the hook's own making.

use serde::Serialize;
use serde_json::Value;

use crate::error::{HostError, Kind};
use crate::host;

/// Sends a `custom.*` event through its own chain and returns the payload that comes out.
///
/// # Errors
/// Returns `blocked` if a hook of that event blocked it, and `refused` if it was not
/// dispatched.
pub fn emit(name: &str, payload: impl Serialize) -> Result<Value, HostError> {
    let payload = serde_json::to_string(&payload).map_err(unusable)?;
    let payload = host::events::emit(name, &payload)?;
    serde_json::from_str(&payload).map_err(unusable)
}

fn unusable(error: serde_json::Error) -> HostError {
    HostError::new(Kind::Refused, format!("the payload is not JSON: {error}"))
}
