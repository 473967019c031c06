//! HTTP. No grant covers a request yet, so every one is refused.

use crate::sandbox::bindings::http as wit;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn send(
        &mut self,
        request: wit::Request,
    ) -> wasmtime::Result<Result<wit::Response, wit::Error>> {
        self.enter()?;
        Ok(Err(wit::Error::NotGranted(format!(
            "no hook is granted HTTP in this version of hookbox (url={})",
            request.url
        ))))
    }
}
