//! `json.encode` and `json.decode`.

use starlark::environment::GlobalsBuilder;
use starlark::values::{Heap, Value};

use super::encode_arg;
use crate::json_in::parse;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Returns a value as JSON text.
    fn encode<'v>(val: Value<'v>) -> starlark::Result<String> {
        encode_arg("json.encode", "value", val)
    }

    /// Reads JSON text.
    fn decode<'v>(s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        parse(s, heap).map_err(|what| raise(format!("json.decode: {what}")))
    }
}

/// Adds `json`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("json", functions);
}
