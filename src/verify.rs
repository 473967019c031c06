//! Verification of delegated work: `delegation.post_verify` may send a sub-agent
//! back to its task, a bounded number of times.

use serde_json::Value;

use crate::decision::Ruling;
use crate::runtime::{DispatchError, Runtime};

/// How often a sub-agent is sent back unless the delegation says otherwise.
pub const MAX_VERIFY_RETRIES: u32 = 2;

/// Why delegated work was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Every attempt was rejected.
    #[error("verification failed after {attempts} attempts: {reason}")]
    Rejected {
        /// How many attempts there were.
        attempts: u32,
        /// Why the last one was rejected.
        reason: String,
    },
    /// The event could not be decided.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
}

/// Runs a delegation until its hooks accept the result.
///
/// `delegate` does the work and returns the payload of `delegation.post`; from the
/// second attempt on it gets the reason for which the one before was rejected.
/// Hooks see the payload with the number of the `attempt`, counted from 1.
///
/// # Errors
/// Returns the last reason when every attempt was rejected.
pub fn until_verified(
    runtime: &Runtime,
    max_retries: u32,
    mut delegate: impl FnMut(Option<&str>) -> Value,
) -> Result<Value, VerifyError> {
    let mut reason = None;
    let mut attempt = 1;
    loop {
        let mut payload = delegate(reason.as_deref());
        if let Value::Object(object) = &mut payload {
            object.insert("attempt".to_owned(), attempt.into());
        }
        let outcome = runtime.dispatch("delegation.post_verify", payload)?;
        match outcome.decision {
            Ruling::Allow | Ruling::Modify => return Ok(outcome.payload.into_value()),
            // Nobody is there to be asked, so a question is a no.
            Ruling::Block | Ruling::Ask if attempt > max_retries => {
                return Err(VerifyError::Rejected {
                    attempts: attempt,
                    reason: outcome.reason.unwrap_or_default(),
                });
            }
            Ruling::Block | Ruling::Ask => reason = outcome.reason,
        }
        attempt += 1;
    }
}
