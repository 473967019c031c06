//! Harn from end to end: hooks that a host registers and hooks of `harn.toml`, as
//! closures, Starlark functions, components and programs, through the public interface.

mod support;

#[path = "harn/manifest.rs"]
mod manifest;
#[path = "harn/misuse.rs"]
mod misuse;
#[path = "harn/mixed.rs"]
mod mixed;
#[path = "harn/returns.rs"]
mod returns;
#[path = "harn/sessions.rs"]
mod sessions;
#[path = "harn/surfaces.rs"]
mod surfaces;
#[path = "harn/taped.rs"]
mod taped;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hookbox::dialect::harn::{DIALECT, Handler, Hooks};
use hookbox::runtime::DispatchError;
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::Project;

/// Where the cases lie.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/harn")
        .join(name)
}

/// A project with a manifest and a module `policy`.
fn policy(manifest: &str, module: &str) -> Project {
    let project = Project::new();
    project
        .file("harn.toml", manifest)
        .file("policy.star", module);
    project
}

/// One entry of a manifest.
fn entry(event: &str, pattern: &str, handler: &str) -> String {
    format!("[[hooks]]\nevent = {event:?}\npattern = {pattern:?}\nhandler = {handler:?}\n\n")
}

/// A runtime of a project that has only the hooks that the host registers.
fn registered(hooks: &Hooks) -> Runtime {
    runtime(&Project::new(), hooks)
}

/// A runtime of a project and of the hooks that the host registers.
fn runtime(project: &Project, hooks: &Hooks) -> Runtime {
    Runtime::builder(project.path())
        .harn(hooks.clone())
        .dialect(&DIALECT)
        .load()
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Registers hooks.
fn hooks(register: impl FnOnce(&mut Hooks)) -> Hooks {
    let mut hooks = Hooks::new();
    register(&mut hooks);
    hooks
}

/// A handler that always returns the same.
fn returns(value: Value) -> Handler {
    Handler::from(move |_: &Value| value.clone())
}

/// What hooks were told, in order.
#[derive(Debug, Clone, Default)]
struct Diary(Arc<Mutex<Vec<Value>>>);

impl Diary {
    /// A handler that writes down what it is told, and returns a value.
    fn keeper(&self, value: Value) -> Handler {
        let diary = self.clone();
        Handler::from(move |payload: &Value| {
            diary.write(payload.clone());
            value.clone()
        })
    }

    fn write(&self, what: Value) {
        self.0.lock().unwrap().push(what);
    }

    fn read(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }
}

/// The outcome of an event that a hook's failure ended.
fn raised(dispatched: Result<Outcome, DispatchError>) -> Outcome {
    match dispatched {
        Err(DispatchError::Raised(outcome)) => {
            assert!(outcome.raised);
            *outcome
        }
        other => panic!("not raised: {other:?}"),
    }
}

/// The answer in Harn's own form, as JSON.
fn native(runtime: &Runtime, outcome: &Outcome) -> Value {
    serde_json::from_str(&runtime.native(outcome).unwrap()).unwrap()
}

/// The effects as JSON.
fn effects(outcome: &Outcome) -> Value {
    serde_json::to_value(&outcome.effects).unwrap()
}

/// The bodies of the reminders.
fn bodies(outcome: &Outcome) -> Vec<String> {
    let effects = effects(outcome);
    let body = |effect: &Value| effect["body"].as_str().unwrap().to_owned();
    effects.as_array().unwrap().iter().map(body).collect()
}

/// A call of a tool.
fn call(tool: &str, args: Value) -> Value {
    json!({"tool": {"name": tool, "args": args, "tool_call_id": "c1"}})
}
