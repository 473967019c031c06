//! A hook that is a closure of the host: trusted, and as fast as the host itself.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::Occasion;
use crate::capability::Left;
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
    pub(super) fn handle(&self, occasion: &Occasion<'_>) -> Ran<Answer> {
        let started = Instant::now();
        let payload = occasion.seen.payload.value();
        // A panic is the hook's failure, not that of whoever fired the event.
        let returned = catch_unwind(AssertUnwindSafe(|| (self.call)(payload)));
        let result = match returned {
            Ok(Ok(value)) => (occasion.hook.dialect.returned)(occasion.hook, occasion.event, value),
            Ok(Err(message)) => Err(Failure::new(Cause::HookError, message)),
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
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the closure panicked: {}", text.unwrap_or("without a word"))
}
