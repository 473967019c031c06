//! `events.emit`, also spelled `emit`.

use starlark::environment::GlobalsBuilder;
use starlark::values::none::NoneOr;
use starlark::values::{Heap, Value};

use super::encode_arg;
use crate::host;
use crate::json_in::parse;
use crate::phase::require_handling;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Sends a `custom.*` event and returns the payload that comes out.
    fn emit<'v>(
        name: &str,
        #[starlark(default = NoneOr::None)] payload: NoneOr<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        require_handling("emit")?;
        if !name.starts_with("custom.") {
            return Err(raise("emit: event must start with \"custom.\"".to_owned()));
        }
        let payload = payload.into_option().unwrap_or_else(Value::new_none);
        let payload = encode_arg("emit", "payload", payload)?;
        let result = host::emit(name, &payload).map_err(|what| raise(format!("emit: {what}")))?;
        parse(&result, heap).map_err(|what| raise(format!("emit: {what}")))
    }
}

/// Adds `emit` and `events`.
pub fn register(builder: &mut GlobalsBuilder) {
    functions(builder);
    builder.namespace("events", functions);
}
