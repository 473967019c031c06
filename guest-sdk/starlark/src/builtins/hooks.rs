//! `hooks`: the hooks of the project, for hooks that watch over hooks.

use starlark::environment::GlobalsBuilder;
use starlark::values::dict::AllocDict;
use starlark::values::list::AllocList;
use starlark::values::none::NoneOr;
use starlark::values::{Heap, Value};

use crate::host::{self, Hook};
use crate::phase::require_handling;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Returns a dict for each hook, in the order of registration.
    fn list<'v>(heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        require_handling("hooks.list")?;
        let hooks = host::hooks().map_err(|what| raise(format!("hooks.list: {what}")))?;
        Ok(heap.alloc(AllocList(hooks.into_iter().map(|hook| shown(hook, heap)))))
    }

    /// Returns the text of the file a hook is written in, or None.
    fn source(name: &str) -> starlark::Result<NoneOr<String>> {
        require_handling("hooks.source")?;
        let source =
            host::hook_source(name).map_err(|what| raise(format!("hooks.source: {what}")))?;
        Ok(NoneOr::from_option(source))
    }
}

fn shown<'v>(hook: Hook, heap: Heap<'v>) -> Value<'v> {
    let when = hook
        .when
        .map_or_else(Value::new_none, |when| heap.alloc(when));
    heap.alloc(AllocDict([
        ("name", heap.alloc(hook.name)),
        ("event", heap.alloc(hook.event)),
        ("priority", heap.alloc(hook.priority)),
        ("explicit_priority", Value::new_bool(hook.explicit_priority)),
        ("when", when),
        ("handler", heap.alloc(hook.handler)),
        ("file", heap.alloc(hook.file)),
    ]))
}

/// Adds `hooks`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("hooks", functions);
}
