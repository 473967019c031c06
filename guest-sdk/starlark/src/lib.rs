//! The Starlark interpreter that hookbox runs Markdown hooks in.
//!
//! It is a component like any other hook: the contract is `wit/interpreter.wit`.
//! The builder next door runs [`warm_up`] once and ships the memory as it is
//! then, because building the interpreter's tables costs thirty times more
//! than a call.

mod bindings {
    wit_bindgen::generate!({
        world: "hookbox:starlark/starlark",
        path: ["../../wit", "wit"],
        generate_all,
        // Written by hand in `image.rs`: what was put must not be taken for an argument.
        skip: ["put"],
    });
}

mod builtins;
mod check;
mod decision;
#[cfg(target_arch = "wasm32")]
mod entropy;
mod host;
#[cfg(target_arch = "wasm32")]
mod image;
mod json_in;
mod json_out;
mod pattern;
mod phase;
mod problem;
mod scope;
mod script;
#[cfg(test)]
mod tests;
mod warm_up;
mod when;

use bindings::exports::hookbox::starlark::interpreter::{
    Guest, Problem, Report, ScriptReport, Verdict,
};
use bindings::hookbox::hook::types::Event;

struct Interpreter;

impl Guest for Interpreter {
    fn check_script(script: String) -> ScriptReport {
        check::script(script)
    }

    fn check_when(condition: String) -> Report {
        check::condition(&condition)
    }

    fn load_when(condition: String) -> Result<(), Problem> {
        when::load(condition)
    }

    fn matches(event: Event) -> Result<bool, Problem> {
        when::matches(&event)
    }

    fn load(script: String) -> Result<(), Problem> {
        script::load(script)
    }

    fn handle(event: Event) -> Result<Verdict, Problem> {
        script::handle(&event)
    }
}

#[cfg(target_arch = "wasm32")]
bindings::export!(Interpreter with_types_in bindings);
