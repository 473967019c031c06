//! From the raw export to the hook's function and back.

use std::error::Error as StdError;
use std::fmt;

use serde::de::DeserializeOwned;

use crate::bindings::hookbox::hook::types;
use crate::decision::Decision;
use crate::effects;
use crate::event::Event;
use crate::misfit;

/// Exports a function as the component's handler. `#[hook]` writes this.
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($hook:path) => {
        const _: () = {
            struct Hook;

            impl $crate::bindings::exports::hookbox::hook::handler::Guest for Hook {
                fn handle(
                    event: $crate::bindings::hookbox::hook::types::Event,
                ) -> ::core::result::Result<
                    $crate::bindings::hookbox::hook::types::Answer,
                    $crate::bindings::hookbox::hook::types::Failure,
                > {
                    $crate::__handle!($hook, event)
                }
            }

    $crate::bindings::export_handler!(Hook with_types_in $crate::bindings);
        };
    };
}

/// Calls a hook's function with a raw event.
///
/// A macro and not a function, because only where the function's own types are known
/// can the compiler choose the best way to describe its error.
#[doc(hidden)]
#[macro_export]
macro_rules! __handle {
    ($hook:path, $event:expr) => {{
        #[allow(unused_imports, reason = "one of them describes the error")]
        use $crate::__private::{HookResult, ViaBox, ViaDisplay, ViaSendBox, ViaStdError};

        match $crate::__private::call($hook, $event) {
            Ok(result) => match HookResult::into_result(result) {
                Ok(decision) => $crate::__private::answer(decision),
                Err(error) => Err((&&&&$crate::__private::Described(&error)).failure()),
            },
            Err(failure) => Err(failure),
        }
    }};
}

/// Reads the payload and calls the hook's function.
///
/// # Errors
/// Returns where the payload does not fit the function's type.
pub fn call<P: DeserializeOwned, R: HookResult>(
    hook: fn(Event<P>) -> R,
    event: types::Event,
) -> Result<R, types::Failure> {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(stop));
    match serde_json::from_str(&event.payload) {
        Ok(payload) => Ok(hook(Event {
            name: event.name,
            payload,
            id: event.id,
            subject: event.subject,
            hook: event.hook,
            depth: event.depth,
        })),
        Err(error) => Err(plain(misfit::describe(&event.payload, &error))),
    }
}

/// Ends the call from the middle of a panic: nothing can be returned from there.
#[cfg(target_arch = "wasm32")]
fn stop(panic: &std::panic::PanicHookInfo<'_>) {
    let payload = panic.payload();
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    crate::bindings::hookbox::hook::fatal::stop(&types::Failure {
        message: format!("the hook panicked: {message}"),
        stack: panic.location().map(|place| format!("at {place}")),
    });
}

/// Puts a decision and what was queued beside it into the words of the contract.
///
/// # Errors
/// Returns why a payload cannot be written as JSON.
pub fn answer(decision: Decision) -> Result<types::Answer, types::Failure> {
    let decision = match decision {
        Decision::Allow => types::Decision::Allow,
        Decision::Block(reason) => types::Decision::Block(reason),
        Decision::Ask(message) => types::Decision::Ask(message),
        Decision::Modify(payload) => match payload.into_text() {
            Ok(text) => types::Decision::Modify(text),
            Err(error) => {
                return Err(plain(format!(
                    "the payload given to modify() cannot be written as JSON: {error}"
                )));
            }
        },
    };
    Ok(types::Answer {
        decision,
        effects: effects::take(),
    })
}

fn plain(message: String) -> types::Failure {
    types::Failure {
        message,
        stack: None,
    }
}

/// What a hook's function may return.
#[diagnostic::on_unimplemented(
    message = "a hook must return a decision, not `{Self}`",
    label = "this hook",
    note = "return `Decision`, or `Result<Decision, E>` with an error that implements `Display`"
)]
pub trait HookResult {
    /// The error, if the function has one.
    type Error;

    /// Returns the decision or the error.
    ///
    /// # Errors
    /// Returns the hook's own error.
    fn into_result(self) -> Result<Decision, Self::Error>;
}

impl HookResult for Decision {
    type Error = std::convert::Infallible;

    fn into_result(self) -> Result<Decision, Self::Error> {
        Ok(self)
    }
}

impl<E: fmt::Display> HookResult for Result<Decision, E> {
    type Error = E;

    fn into_result(self) -> Result<Decision, E> {
        self
    }
}

/// A hook's error on its way out. Which of the four traits below describes it depends
/// on how much its type tells; the compiler takes the first that fits, because it
/// tries a receiver with more references first.
#[derive(Debug)]
pub struct Described<'a, E>(pub &'a E);

/// For errors in a box, like `Box<dyn Error>`, `anyhow::Error` and this crate's own.
pub trait ViaBox {
    /// Describes the error with its causes.
    fn failure(&self) -> types::Failure;
}

impl<E: AsRef<dyn StdError + 'static>> ViaBox for &&&Described<'_, E> {
    fn failure(&self) -> types::Failure {
        let error = self.0.as_ref();
        failure(error, error.source())
    }
}

/// For errors in a box that can be sent to another thread.
pub trait ViaSendBox {
    /// Describes the error with its causes.
    fn failure(&self) -> types::Failure;
}

impl<E: AsRef<dyn StdError + Send + Sync + 'static>> ViaSendBox for &&Described<'_, E> {
    fn failure(&self) -> types::Failure {
        let error = self.0.as_ref();
        failure(error, error.source())
    }
}

/// For a hook author's own error types.
pub trait ViaStdError {
    /// Describes the error with its causes.
    fn failure(&self) -> types::Failure;
}

impl<E: StdError> ViaStdError for &Described<'_, E> {
    fn failure(&self) -> types::Failure {
        failure(self.0, self.0.source())
    }
}

/// For everything else that can be displayed, like a `String`.
pub trait ViaDisplay {
    /// Describes the error.
    fn failure(&self) -> types::Failure;
}

impl<E: fmt::Display> ViaDisplay for Described<'_, E> {
    fn failure(&self) -> types::Failure {
        failure(self.0, None)
    }
}

fn failure(error: &dyn fmt::Display, cause: Option<&(dyn StdError + 'static)>) -> types::Failure {
    let mut causes = Vec::new();
    let mut next = cause;
    while let Some(cause) = next {
        causes.push(format!("caused by: {cause}"));
        next = cause.source();
    }
    types::Failure {
        message: error.to_string(),
        stack: (!causes.is_empty()).then(|| causes.join("\n")),
    }
}
