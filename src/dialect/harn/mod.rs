//! Harn: three surfaces of hooks — tools, personas and their steps, sessions — that
//! answer with values. What they cannot mean is an error of the whole event.

mod answer;
pub mod events;
mod glob;
mod loader;
mod native;
mod path;
pub mod pattern;
mod payload;
mod predicate;
mod program;
mod register;
mod reminder;
pub mod returned;
pub mod snip;
#[cfg(test)]
mod testing;

use super::{Dialect, PredicateFailure};
pub use register::{Handler, HarnError, Hooks, ToolHook};

/// The rules of Harn.
pub static DIALECT: Dialect = Dialect {
    name: "harn",
    title: "Harn",
    goes_first: false,
    events: payload::catalogue,
    find: payload::find,
    tells: false,
    load: loader::load,
    decode: payload::decode,
    view: payload::view,
    predicate_failure: |_| PredicateFailure::Fail,
    judge: answer::judge,
    returned: answer::returned,
    command: program::COMMAND,
    native: native::write,
};
