//! How a guest ends a call from the middle of a panic.

use crate::failure::{Cause, Failure};
use crate::sandbox::bindings::fatal as wit;
use crate::sandbox::bindings::types;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn stop(&mut self, failure: types::Failure) -> wasmtime::Result<()> {
        // Not counted: a guest that used up its calls may still say why it gives up.
        Err(Failure {
            cause: Cause::HookError,
            message: failure.message,
            stack: failure.stack,
        }
        .into())
    }
}
