//! The agent's tools. Which ones there are is up to the host; which of them a hook
//! may call is up to its grant.

use serde_json::json;

use super::back::Refusal;
use super::grant::Kind;
use crate::sandbox::bindings::tools as wit;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn call(&mut self, name: String, args: String) -> wasmtime::Result<Result<String, wit::Error>> {
        let border = self.enter()?;
        if !border.grants().tools.contains(&name) {
            let why = border.refuse(Kind::Tools, &format!("the tool {name:?}"));
            let request = || json!({"name": name, "args": args});
            border.reel().refused("tools.call", request, &why);
            return Ok(Err(wit::Error::NotGranted(why)));
        }
        let call = match border.entering(name, &args, "arguments") {
            Ok(call) => call,
            Err(why) => return Ok(Err(wit::Error::Failed(why))),
        };
        let reel = border.reel().clone();
        let request = || json!({"name": call.name, "args": call.payload});
        let request = reel.runs().then(request);
        let result = reel.derive_result(
            "tools.call",
            || request.unwrap_or_default(),
            || {
                let echo = border.pass.back.call_tool(call);
                border.hear(echo)
            },
        );
        Ok(match result {
            Ok(result) => Ok(result.text().to_owned()),
            Err(Refusal::Blocked(reason)) => Err(wit::Error::Blocked(reason)),
            Err(Refusal::UnknownTool(why)) => Err(wit::Error::UnknownTool(why)),
            Err(Refusal::Refused(why) | Refusal::Failed(why)) => Err(wit::Error::Failed(why)),
        })
    }
}
