//! All dialects in one project, and what was decided where their texts contradict each
//! other or say nothing.

mod support;

#[path = "dialects/answers.rs"]
mod answers;
#[path = "dialects/asking.rs"]
mod asking;
#[path = "dialects/failing.rs"]
mod failing;
#[path = "dialects/mixed.rs"]
mod mixed;
#[path = "dialects/running.rs"]
mod running;

use hookbox::runtime::{DispatchError, RuntimeBuilder};
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::Project;

/// A Polytoken project with one component on one event.
fn one_polytoken(event: &str, bytes: Vec<u8>) -> Project {
    let project = Project::new();
    project.file(".polytoken/x.wasm", bytes).file(
        ".polytoken/hooks.json",
        json!([{"name": "x", "event": event, "handler": {"wasm": "x.wasm"}}]).to_string(),
    );
    project
}

fn fire(
    project: &Project,
    dialect: &'static hookbox::dialect::Dialect,
    event: &str,
    payload: Value,
) -> Result<Outcome, DispatchError> {
    builder(project, dialect)
        .load()
        .unwrap_or_else(|error| panic!("{error}"))
        .dispatch(event, payload)
}

fn builder(project: &Project, dialect: &'static hookbox::dialect::Dialect) -> RuntimeBuilder {
    Runtime::builder(project.path()).dialect(dialect)
}
