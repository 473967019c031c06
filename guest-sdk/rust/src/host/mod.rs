//! What is on the other side of the border: hookbox in a component, stand-ins in a
//! native test.

#[cfg(target_arch = "wasm32")]
pub(crate) use crate::bindings::hookbox::hook::{
    cache, clock, environment, events, files, hooks, http, log, metrics, random, tools,
};

#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::*;
