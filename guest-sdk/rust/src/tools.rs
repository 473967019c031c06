//! The agent's tools, by name: `grant: { tools: [lookup] }`.

use serde::Serialize;
use serde_json::Value;

use crate::error::{HostError, Kind};
use crate::host;

/// Calls a tool and returns its result. The call passes `tool.pre` and `tool.post`
/// like any call of the model's.
///
/// # Errors
/// Returns `not-granted`, `unknown-tool`, `blocked` with the blocking hook's reason, or
/// `failed`.
pub fn call(name: &str, args: impl Serialize) -> Result<Value, HostError> {
    let args = serde_json::to_string(&args).map_err(unusable)?;
    let result = host::tools::call(name, &args)?;
    serde_json::from_str(&result).map_err(unusable)
}

fn unusable(error: serde_json::Error) -> HostError {
    HostError::new(Kind::Failed, format!("not JSON: {error}"))
}
