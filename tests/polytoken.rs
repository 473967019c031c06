//! Polytoken: `hooks.json`, with handlers that are Bash scripts or components. Whatever a
//! handler says, it has to mean the same as a program of this machine and in the sandbox.

mod support;

#[path = "polytoken/background.rs"]
mod background;
#[path = "polytoken/command_line.rs"]
mod command_line;
#[path = "polytoken/events.rs"]
mod events;
#[path = "polytoken/files.rs"]
mod files;
#[path = "polytoken/outcomes.rs"]
mod outcomes;
#[path = "polytoken/scripts.rs"]
mod scripts;
#[path = "polytoken/table.rs"]
mod table;
#[path = "polytoken/tapes.rs"]
mod tapes;

use std::path::{Path, PathBuf};

use hookbox::runtime::RuntimeBuilder;
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::Project;

/// A project with these hooks.
fn project(hooks: Value) -> Project {
    let project = Project::new();
    write(&project, hooks);
    project
}

fn write(project: &Project, hooks: Value) {
    project.file(".polytoken/hooks.json", hooks.to_string());
}

/// One that hooks may be programs in.
fn builder(project: &Project) -> RuntimeBuilder {
    Runtime::builder(project.path()).allow_process(true)
}

fn load(project: &Project) -> Runtime {
    builder(project)
        .load()
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A project with these hooks, and its runtime: scripts need the folder they run in.
fn loaded(hooks: Value) -> (Project, Runtime) {
    let project = project(hooks);
    let runtime = load(&project);
    (project, runtime)
}

/// A hook that is a Bash script.
fn bash(name: &str, event: &str, script: &str) -> Value {
    json!({"name": name, "event": event, "handler": {"bash": script}})
}

/// Sends an event of which everything that runs has to be over, and returns what came of
/// those hooks that it did not wait for.
fn fire(runtime: &Runtime, event: &str, payload: Value) -> (Outcome, Vec<Outcome>) {
    let outcome = runtime
        .dispatch(event, payload)
        .unwrap_or_else(|error| panic!("{event}: {error}"));
    (outcome, runtime.flush())
}

fn native(runtime: &Runtime, outcome: &Outcome) -> Value {
    serde_json::from_str(&runtime.native(outcome).unwrap()).unwrap()
}

/// The hooks that were called.
fn called(outcome: &Outcome) -> Vec<&str> {
    outcome.stages.dispatch.iter().map(|name| &**name).collect()
}

/// A call of a tool.
fn tool(name: &str, path: &str) -> Value {
    json!({"tool_name": name, "input": {"path": path}})
}

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/polytoken")
        .join(path)
}

/// The fourteen events, each with a payload.
fn every_event() -> Vec<(&'static str, Value)> {
    vec![
        ("session_start", json!({})),
        ("pre_user_prompt", json!({"prompt": "hello"})),
        ("pre_model_turn", json!({})),
        ("post_model_turn", json!({})),
        ("pre_tool_use", tool("file_read", "a.txt")),
        ("post_tool_use", tool("file_read", "a.txt")),
        ("post_tool_use_failure", tool("file_read", "a.txt")),
        ("stop", json!({})),
        ("pre_compaction", json!({})),
        ("post_compaction", json!({})),
        ("notification", json!({})),
        ("facet_switch", json!({})),
        ("subagent_start", json!({"subagent_type": "researcher"})),
        ("subagent_stop", json!({"subagent_type": "researcher"})),
    ]
}

/// A program for the sandbox that does what `body` says once it has read its input, of
/// which `$size` bytes are at 4096.
fn wasm(body: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
             (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
             (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
             (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
             (memory (export "memory") 4)
             (data (i32.const 1024) "\"path\":\"CHANGELOG.md\"")
             (data (i32.const 2048) "CHANGELOG.md is generated; do not edit it by hand.\n")
             (func $print (param $stream i32) (param $at i32) (param $size i32)
               (i32.store (i32.const 0) (local.get $at))
               (i32.store (i32.const 4) (local.get $size))
               (drop (call $fd_write (local.get $stream) (i32.const 0) (i32.const 1) (i32.const 8))))
             (func $input (result i32) (local $size i32) (local $read i32)
               (loop $more
                 (i32.store (i32.const 0) (i32.add (i32.const 4096) (local.get $size)))
                 (i32.store (i32.const 4) (i32.const 60000))
                 (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
                 (local.set $read (i32.load (i32.const 8)))
                 (local.set $size (i32.add (local.get $size) (local.get $read)))
                 (br_if $more (local.get $read)))
               (local.get $size))
             (func $has (param $size i32) (param $text i32) (param $length i32) (result i32)
               (local $at i32) (local $i i32)
               (block $no (loop $next
                 (br_if $no (i32.gt_u (i32.add (local.get $at) (local.get $length)) (local.get $size)))
                 (local.set $i (i32.const 0))
                 (block $other (loop $same
                   (if (i32.eq (local.get $i) (local.get $length)) (then (return (i32.const 1))))
                   (br_if $other (i32.ne
                     (i32.load8_u (i32.add (i32.const 4096) (i32.add (local.get $at) (local.get $i))))
                     (i32.load8_u (i32.add (local.get $text) (local.get $i)))))
                   (local.set $i (i32.add (local.get $i) (i32.const 1)))
                   (br $same)))
                 (local.set $at (i32.add (local.get $at) (i32.const 1)))
                 (br $next)))
               (i32.const 0))
             (func (export "_start") (local $size i32)
               (local.set $size (call $input))
               {body}))"#
    );
    wat::parse_str(text).unwrap()
}
