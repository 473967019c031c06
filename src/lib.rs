//! hookbox runs AI-agent hooks, written in any language, inside a WebAssembly
//! sandbox, and gives the same answer every time.

pub mod capability;
pub mod chain;
#[doc(hidden)]
pub mod cli;
pub mod decision;
pub mod diagnostic;
pub mod dialect;
pub mod event;
pub mod failure;
pub mod handler;
pub mod hook;
pub mod json;
pub mod outcome;
pub mod runtime;
pub mod sandbox;
pub mod yaml;

pub use decision::{Decision, Ruling};
pub use outcome::Outcome;
pub use runtime::Runtime;
