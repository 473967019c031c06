//! Test cases: small files beside a hook that say what it decides about an event.
//!
//! A case is a YAML file. `NAME.cases/` beside the hook file `NAME.md` holds cases for
//! that hook alone; `cases/` in the project, or in its `.harness/`, those for the whole
//! chain. The same format serves hooks in every language.

mod check;
mod expect;
mod find;
pub mod junit;
mod measure;
mod read;
mod run;
mod update;
mod world;

pub use check::Difference;
pub use expect::{Expectation, Text};
pub use find::{Found, find};
pub use measure::{MeasureError, Measured, measure};
pub use read::Case;
pub use run::{Report, Used, run};
pub use update::update;
