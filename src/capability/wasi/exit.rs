//! How a guest ends itself.

use wasmtime::component::Linker;
use wasmtime_wasi::p2::bindings::cli::exit;

use crate::sandbox::instance::Call;
use crate::sandbox::lift;

/// The guest ended itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the guest exited")]
pub(crate) struct Exited {
    /// With which code. Nothing if it only said that it failed: that is all that
    /// programs for wasm32-wasip2 can say.
    pub(crate) code: Option<u8>,
}

/// In the place of wasmtime's own, which makes a code of a failure without one.
impl exit::Host for Call {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        let code = status.is_ok().then_some(0);
        Err(Exited { code }.into())
    }

    fn exit_with_code(&mut self, code: u8) -> wasmtime::Result<()> {
        Err(Exited { code: Some(code) }.into())
    }
}

/// Adds the exit of programs that were made components here, with its code.
pub(crate) fn add_exit_to_linker(linker: &mut Linker<Call>) -> wasmtime::Result<()> {
    let mut instance = linker.instance(lift::EXIT)?;
    instance.func_wrap(
        lift::EXIT_WITH_CODE,
        |_, (code,): (u8,)| -> wasmtime::Result<()> { Err(Exited { code: Some(code) }.into()) },
    )
}
