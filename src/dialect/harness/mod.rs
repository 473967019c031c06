//! AI Harness: Markdown files with Starlark in their frontmatter. Also the
//! native format of hookbox.

mod answer;
mod checks;
pub mod events;
mod fields;
pub mod frontmatter;
mod loader;
pub mod payload;

pub use loader::{Written, load, written};

use super::{Dialect, Loaded, PredicateFailure};
use crate::failure::{Cause, Failure};

/// The rules of AI Harness.
pub static DIALECT: Dialect = Dialect {
    name: "harness",
    rank: 0,
    predicate_failure,
    rewrite: payload::rewrite,
    command: answer::COMMAND,
};

/// A `when` that raises means that the hook does not apply. A `when` that was
/// stopped by a limit means that nobody knows, and then the hook has failed: a
/// payload made to exhaust the predicate must not switch the guard off.
fn predicate_failure(failure: &Failure) -> PredicateFailure {
    if failure.cause == Cause::HookError {
        PredicateFailure::Skip
    } else {
        PredicateFailure::Fail
    }
}
