//! `tools.call`: the agent's tools.

use starlark::collections::SmallMap;
use starlark::environment::GlobalsBuilder;
use starlark::values::dict::Dict;
use starlark::values::none::NoneOr;
use starlark::values::{Heap, Value};

use super::encode_arg;
use crate::host;
use crate::json_in::parse;
use crate::phase::require_handling;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Calls a tool and returns its decoded result.
    fn call<'v>(
        name: &str,
        #[starlark(default = NoneOr::None)] args: NoneOr<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        require_handling("tools.call")?;
        let args = args
            .into_option()
            .unwrap_or_else(|| heap.alloc(Dict::new(SmallMap::new())));
        let args = encode_arg("tools.call", "args", args)?;
        let fault = |what: String| raise(format!("tools.call: {what}"));
        let result = host::call_tool(name, &args).map_err(fault)?;
        parse(&result, heap).map_err(fault)
    }
}

/// Adds `tools`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("tools", functions);
}
