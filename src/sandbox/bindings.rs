//! The contract of `wit/` as Rust types. Both worlds share the types and the
//! imports of the first.

#![allow(
    missing_docs,
    unreachable_pub,
    reason = "the documentation is in `wit/`"
)]
/// The world of a component hook.
pub mod hook {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "hookbox:hook/hook",
        imports: { default: trappable },
        exports: { default: async },
    });
}

/// The world of the Starlark interpreter.
pub mod starlark {
    wasmtime::component::bindgen!({
        path: ["wit", "guest-sdk/starlark/wit"],
        world: "hookbox:starlark/starlark",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            "hookbox:hook/types": super::hook::hookbox::hook::types,
            "hookbox:hook/log": super::hook::hookbox::hook::log,
            "hookbox:hook/metrics": super::hook::hookbox::hook::metrics,
            "hookbox:hook/cache": super::hook::hookbox::hook::cache,
            "hookbox:hook/http": super::hook::hookbox::hook::http,
            "hookbox:hook/events": super::hook::hookbox::hook::events,
            "hookbox:hook/tools": super::hook::hookbox::hook::tools,
            "hookbox:hook/environment": super::hook::hookbox::hook::environment,
            "hookbox:hook/files": super::hook::hookbox::hook::files,
            "hookbox:hook/hooks": super::hook::hookbox::hook::hooks,
            "hookbox:hook/clock": super::hook::hookbox::hook::clock,
            "hookbox:hook/random": super::hook::hookbox::hook::random,
        },
    });
}

pub use hook::hookbox::hook::{
    cache, clock, environment, events, fatal, files, hooks, http, log, metrics, random, tools,
    types,
};
