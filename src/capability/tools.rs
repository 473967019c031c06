//! The agent's tools. No grant covers a call yet, so every one is refused.

use crate::sandbox::bindings::tools as wit;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn call(
        &mut self,
        name: String,
        _args: String,
    ) -> wasmtime::Result<Result<String, wit::Error>> {
        self.enter()?;
        Ok(Err(wit::Error::NotGranted(format!(
            "no hook is granted tools in this version of hookbox (tool={name})"
        ))))
    }
}
