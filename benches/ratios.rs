//! Measures hookbox beside what else one could do, all in one run, and prints
//! ratios: absolute times belong to a machine, ratios mostly do not.
//!
//! Run it with `cargo run --release -p hookbox-benches`.

mod bare;
mod capabilities;
mod measure;
mod memory;
mod native;
mod parallel;
mod processes;
mod projects;

use hookbox::Runtime;
use hookbox::decision::Ruling;
use serde_json::{Value, json};

use measure::{Contest, Row};

fn main() {
    component_against_bare_wasmtime();
    script_against_native_starlark();
    chain_against_processes();
    one_shot_against_processes();
    capabilities::cache_get();
    capabilities::log_line();
    capabilities::http_get();
    parallel::report();
    memory::report();
}

/// How often the quick ones are measured.
const ROUNDS: usize = 3_000;

/// (a) A component hook against the bare instantiate, call and drop.
fn component_against_bare_wasmtime() {
    let component = projects::scanner_component();
    let project = projects::component_project(&component);
    let runtime = load(project.path());
    let bare = bare::Bare::new(&component);
    let payload = projects::tool_call("git status --short");
    let event = bare::event(&payload);
    // Both contestants get what they are called with ready made.
    let mut payloads = std::iter::repeat(payload)
        .take(2 * ROUNDS)
        .collect::<Vec<_>>();
    Contest::new("(a) a component hook, fresh instance", ROUNDS).run(&mut [
        Row::new("bare wasmtime: instantiate, call, drop", || {
            bare.call(&event)
        }),
        Row::new("hookbox dispatch", || {
            let payload = payloads.pop().expect("enough payloads");
            let outcome = runtime.dispatch("tool.pre", payload).expect("decided");
            assert_eq!(outcome.decision, Ruling::Allow);
        }),
    ]);
}

/// (b) A Starlark hook against the same script run natively.
fn script_against_native_starlark() {
    let project = projects::script_project();
    let runtime = load(project.path());
    let payload = projects::tool_call("git status --short");
    let text = payload.to_string();
    let frozen = native::Frozen::new();
    Contest::new("(b) a Starlark hook, fresh instance", 2_000).run(&mut [
        Row::new("native starlark, parsed per call", || {
            native::parse_and_call(&text)
        }),
        Row::new("native starlark, frozen once", || frozen.call(&text)),
        Row::new("hookbox dispatch", || {
            expect(&runtime, "tool.pre", &payload, Ruling::Allow)
        }),
    ]);
}

/// (c) The seven hooks of governed-agent against seven processes.
fn chain_against_processes() {
    let runtime = load(&projects::governed_agent());
    let payload = projects::tool_call("git status --short");
    let text = payload.to_string();
    let result = json!({"name": "run_command", "result": {"stdout": "ok", "exit_code": 0}});
    let turn = json!({"text": "done", "tool_calls": [], "usage": {}});
    Contest::new("(c) the seven hooks of governed-agent", 40).run(&mut [
        Row::new("seven bash processes", || {
            (0..7).for_each(|_| processes::bash(&text))
        }),
        Row::new("seven node processes", || {
            (0..7).for_each(|_| processes::node(&text))
        }),
        Row::new("hookbox: tool.pre, tool.post and turn.end", || {
            expect(&runtime, "tool.pre", &payload, Ruling::Allow);
            expect(&runtime, "tool.post", &result, Ruling::Allow);
            expect(&runtime, "turn.end", &turn, Ruling::Allow);
        }),
    ]);
}

/// (d) `hookbox run` as a process against others doing one check.
fn one_shot_against_processes() {
    let text = projects::tool_call("git status --short").to_string();
    processes::hookbox(&text); // compiles whatever is not compiled yet
    Contest::new("(d) one process", 40).run(&mut [
        Row::new("node", || processes::node(&text)),
        Row::new("bash -c", || processes::bash(&text)),
        Row::new("hookbox run on governed-agent", || {
            processes::hookbox(&text)
        }),
    ]);
}

fn load(project: &std::path::Path) -> Runtime {
    Runtime::load(project).unwrap_or_else(|error| panic!("{error}"))
}

fn expect(runtime: &Runtime, event: &str, payload: &Value, ruling: Ruling) {
    let outcome = runtime
        .dispatch(event, payload.clone())
        .expect("the event is decided");
    assert_eq!(outcome.decision, ruling, "{:?}", outcome.reason);
}
