//! The project's hooks, for hooks that watch over hooks.

use super::grant::Kind;
use crate::sandbox::bindings::hooks as wit;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn all(&mut self) -> wasmtime::Result<Result<Vec<wit::Hook>, wit::Error>> {
        let border = self.enter()?;
        if !border.grants().hooks {
            let why = border.refuse(Kind::Hooks, "the list of hooks");
            return Ok(Err(wit::Error::NotGranted(why)));
        }
        Ok(Ok(border.pass.back.hooks()))
    }

    fn source(&mut self, name: String) -> wasmtime::Result<Result<Option<String>, wit::Error>> {
        let border = self.enter()?;
        if !border.grants().hooks {
            let why = border.refuse(Kind::Hooks, &format!("the source of hook {name:?}"));
            return Ok(Err(wit::Error::NotGranted(why)));
        }
        Ok(Ok(border.pass.back.hook_source(&name)))
    }
}
