//! The project's hooks, for hooks that watch over hooks.

use serde_json::json;

use super::grant::Kind;
use crate::sandbox::bindings::hooks as wit;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn all(&mut self) -> wasmtime::Result<Result<Vec<wit::Hook>, wit::Error>> {
        let border = self.enter()?;
        if !border.grants().hooks {
            let why = border.refuse(Kind::Hooks, "the list of hooks");
            border.reel().refused("hooks.all", || json!({}), &why);
            return Ok(Err(wit::Error::NotGranted(why)));
        }
        let hooks = border.pass.back.hooks();
        let names = || hooks.iter().map(|hook| &hook.name).collect::<Vec<_>>();
        border.reel().derive("hooks.all", || json!({}), names);
        Ok(Ok(hooks))
    }

    fn source(&mut self, name: String) -> wasmtime::Result<Result<Option<String>, wit::Error>> {
        let border = self.enter()?;
        if !border.grants().hooks {
            let why = border.refuse(Kind::Hooks, &format!("the source of hook {name:?}"));
            border
                .reel()
                .refused("hooks.source", || json!({"name": name}), &why);
            return Ok(Err(wit::Error::NotGranted(why)));
        }
        let reel = border.reel();
        Ok(Ok(reel.derive(
            "hooks.source",
            || json!({"name": name}),
            || border.pass.back.hook_source(&name),
        )))
    }
}
