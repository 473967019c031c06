//! The sandbox: wasmtime, a fresh instance for every call, and limits that are
//! always on.

pub mod bindings;
pub mod compiled;
pub mod component;
pub mod contract;
pub mod engine;
pub mod image;
pub mod instance;
pub mod lift;
pub mod limits;
mod upkeep;
