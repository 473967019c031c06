//! Events of a hook's own making.

use serde_json::json;

use super::Border;
use super::back::{Entering, Refusal};
use crate::json::Json;
use crate::sandbox::bindings::events as wit;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn emit(
        &mut self,
        name: String,
        payload: String,
    ) -> wasmtime::Result<Result<String, wit::Error>> {
        let border = self.enter()?;
        let event = match border.entering(name, &payload, "payload") {
            Ok(event) => event,
            Err(why) => return Ok(Err(wit::Error::Refused(why))),
        };
        let reel = border.reel().clone();
        let request = || json!({"name": event.name, "payload": event.payload});
        let request = reel.runs().then(request);
        let result = reel.derive_result(
            "events.emit",
            || request.unwrap_or_default(),
            || {
                let echo = border.pass.back.emit(event);
                border.hear(echo)
            },
        );
        Ok(match result {
            Ok(payload) => Ok(payload.text().to_owned()),
            Err(Refusal::Blocked(reason)) => Err(wit::Error::Blocked(reason)),
            Err(Refusal::Refused(why) | Refusal::UnknownTool(why) | Refusal::Failed(why)) => {
                Err(wit::Error::Refused(why))
            }
        })
    }
}

impl Border {
    /// Makes what goes back in: checked JSON, with the deadline of this call.
    pub(super) fn entering(
        &self,
        name: String,
        text: &str,
        what: &str,
    ) -> Result<Entering, String> {
        match Json::parse(text.as_bytes(), self.limits().payload) {
            Ok(payload) => Ok(Entering {
                name,
                payload,
                latest: self.deadline(),
                reel: self.reel().clone(),
            }),
            Err(error) => Err(format!("the {what} cannot be used: {error}")),
        }
    }
}
