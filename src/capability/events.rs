//! Events of a hook's own making. What dispatches them lives in a room above,
//! so it arrives here as a function.

use std::sync::Arc;
use std::time::Instant;

use super::MAX_WARNINGS;
use super::log::LogLine;
use crate::json::Json;
use crate::sandbox::bindings::events as wit;
use crate::sandbox::instance::Call;

/// An event a hook wants to send.
#[derive(Debug)]
pub struct Emitted {
    /// The event's name.
    pub name: String,
    /// What it carries.
    pub payload: Json,
    /// When the call that emits it has to be over.
    pub latest: Instant,
}

/// What came of an emitted event.
#[derive(Debug)]
pub struct Echo {
    /// The payload that came out, or why none did.
    pub result: Result<Json, Refusal>,
    /// What its hooks logged.
    pub logs: Vec<LogLine>,
    /// What was odd about it.
    pub warnings: Vec<String>,
}

/// Why an emitted event gave no payload back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A hook of its chain blocked it or asks.
    Blocked(String),
    /// It was not dispatched.
    Refused(String),
}

/// Dispatches an emitted event.
pub type Emit = Arc<dyn Fn(Emitted) -> Echo + Send + Sync>;

impl wit::Host for Call {
    fn emit(
        &mut self,
        name: String,
        payload: String,
    ) -> wasmtime::Result<Result<String, wit::Error>> {
        let border = self.enter()?;
        let payload = match Json::parse(payload.as_bytes(), border.limits.payload) {
            Ok(payload) => payload,
            Err(error) => {
                return Ok(Err(wit::Error::Refused(format!(
                    "the payload cannot be used: {error}"
                ))));
            }
        };
        let emitted = Emitted {
            name,
            payload,
            latest: border.deadline,
        };
        let echo = (border.emit)(emitted);
        border.logs.append(echo.logs);
        let room = MAX_WARNINGS.saturating_sub(border.warnings.len());
        border.warnings.extend(echo.warnings.into_iter().take(room));
        Ok(match echo.result {
            Ok(payload) => Ok(payload.text().to_owned()),
            Err(Refusal::Blocked(reason)) => Err(wit::Error::Blocked(reason)),
            Err(Refusal::Refused(why)) => Err(wit::Error::Refused(why)),
        })
    }
}
