//! A hook that is a closure of the host: trusted, and as fast as the host itself.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::Occasion;
use crate::capability::{Border, Left};
use crate::chain::{Ran, Usage};
use crate::decision::Answer;
use crate::failure::{Cause, Failure};

/// A closure: it sees the payload in its dialect's form, and returns a value that the
/// dialect understands.
pub type Closure = Arc<dyn Fn(&Value) -> Result<Value, String> + Send + Sync>;

/// A closure of the host.
#[derive(Clone)]
pub struct NativeHook {
    /// The word for it: `native`, or `declarative` for a rule.
    pub kind: &'static str,
    /// What runs.
    pub call: Closure,
    /// What its answer stands for on a tape, if that depends on more than the payload: then
    /// a check hears it again, and nothing runs.
    pub capability: Option<&'static str>,
}

impl fmt::Debug for NativeHook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("NativeHook")
            .field(&self.kind)
            .finish()
    }
}

impl NativeHook {
    pub(super) fn handle(
        &self,
        occasion: &Occasion<'_>,
        border: impl FnOnce() -> Border,
    ) -> Ran<Answer> {
        let started = Instant::now();
        // A panic is the hook's failure, not that of whoever fired the event.
        let returned = catch_unwind(AssertUnwindSafe(|| self.returned(occasion, border)));
        let result = match returned {
            Ok(Ok(Ok(value))) => {
                (occasion.hook.dialect.returned)(occasion.hook, occasion.event, value)
            }
            Ok(Ok(Err(message))) => Err(Failure::new(Cause::HookError, message)),
            Ok(Err(failure)) => Err(failure),
            Err(panic) => Err(Failure::new(Cause::Trap, said(&*panic))),
        };
        Ran {
            result,
            usage: Usage {
                duration: started.elapsed(),
                ..Usage::default()
            },
            left: Left::default(),
        }
    }

    /// Calls the closure, unless a tape knows what came of it.
    fn returned(
        &self,
        occasion: &Occasion<'_>,
        border: impl FnOnce() -> Border,
    ) -> Result<Result<Value, String>, Failure> {
        let call = || (self.call)(occasion.seen.payload.value());
        match self.capability {
            // The payload stands before it on the tape.
            Some(capability) => border().reel().cross_result(capability, || json!({}), call),
            None => Ok(call()),
        }
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the closure panicked: {}", text.unwrap_or("without a word"))
}
