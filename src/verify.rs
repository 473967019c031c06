//! Verification of delegated work: `delegation.post_verify` may send a sub-agent
//! back to its task, a bounded number of times.

use serde_json::Value;

use crate::decision::Ruling;
use crate::outcome::Outcome;
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

/// The verification of one delegation, an attempt at a time: for hosts whose sub-agents
/// can fail, or that act on what hooks say beside yes and no. [`until_verified`] is for
/// all others.
#[derive(Debug)]
pub struct Verification {
    attempt: u32,
    max_retries: u32,
}

/// What became of one attempt.
#[derive(Debug)]
pub enum Verified {
    /// The work is accepted; the outcome has it as the hooks left it.
    Accepted(Outcome),
    /// The sub-agent is sent back with the reason of the outcome.
    Again(Outcome),
    /// It was rejected once too often.
    Rejected(Outcome),
}

impl Verification {
    /// Starts with the first attempt.
    #[must_use]
    pub fn new(max_retries: u32) -> Self {
        Self {
            attempt: 1,
            max_retries,
        }
    }

    /// Returns the number of the attempt that is verified next, counted from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Asks the hooks about the payload of `delegation.post`, to which it adds the number
    /// of the attempt.
    ///
    /// # Errors
    /// Returns what kept hookbox from deciding: the work must not be used.
    pub fn ask(
        &mut self,
        runtime: &Runtime,
        mut payload: Value,
    ) -> Result<Verified, DispatchError> {
        if let Value::Object(object) = &mut payload {
            object.insert("attempt".to_owned(), self.attempt.into());
        }
        let outcome = runtime.dispatch("delegation.post_verify", payload)?;
        Ok(match outcome.decision {
            Ruling::Allow | Ruling::Modify => Verified::Accepted(outcome),
            // Nobody is there to be asked, so a question is a no.
            Ruling::Block | Ruling::Ask if self.attempt > self.max_retries => {
                Verified::Rejected(outcome)
            }
            Ruling::Block | Ruling::Ask => {
                self.attempt += 1;
                Verified::Again(outcome)
            }
        })
    }
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
    let mut verification = Verification::new(max_retries);
    let mut reason = None;
    loop {
        let payload = delegate(reason.as_deref());
        match verification.ask(runtime, payload)? {
            Verified::Accepted(outcome) => return Ok(outcome.payload.into_value()),
            Verified::Again(outcome) => reason = outcome.reason,
            Verified::Rejected(outcome) => {
                return Err(VerifyError::Rejected {
                    attempts: verification.attempt(),
                    reason: outcome.reason.unwrap_or_default(),
                });
            }
        }
    }
}
