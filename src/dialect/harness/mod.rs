//! AI Harness: Markdown files with Starlark in their frontmatter. Also the
//! native format of hookbox.

mod checks;
pub mod events;
mod fields;
pub mod frontmatter;
mod loader;
pub mod payload;

pub use loader::load;

use super::{Dialect, Loaded, PredicateFailure};
use crate::failure::{Cause, Failure};

/// The rules of AI Harness.
pub static DIALECT: Dialect = Dialect {
    name: "harness",
    rank: 0,
    predicate_failure,
    rewrite: payload::rewrite,
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
