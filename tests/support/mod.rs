//! What several test programs need: projects in temporary folders, components
//! from text, and the binary.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test program uses a part of it"
)]

pub mod programs;
#[path = "../../src/capability/cache/tests/server.rs"]
pub mod redis;
pub mod server;
#[cfg(unix)]
pub mod serving;
pub mod tape;
pub mod wasi;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use hookbox::{Outcome, Runtime};
use serde_json::Value;
use tempfile::TempDir;

/// A project in a folder of its own.
pub struct Project(TempDir);

impl Project {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Makes a project with hook files, given as name and text.
    pub fn with(hooks: &[(&str, &str)]) -> Self {
        let project = Self::new();
        for (name, text) in hooks {
            project.hook(name, text);
        }
        project
    }

    /// Makes a project with one hook on `tool.pre` that runs this script.
    pub fn script(script: &str) -> Self {
        Self::with(&[("probe", &hook_file("tool.pre", "priority: 10", script))])
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn hook(&self, name: &str, text: &str) -> &Self {
        self.file(&format!(".harness/hooks/{name}.md"), text)
    }

    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Loads the project for a process that lives on.
    pub fn runtime(&self) -> Runtime {
        Runtime::load(self.path()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Loads the project and sends one event through it.
    pub fn dispatch(&self, event: &str, payload: Value) -> Outcome {
        self.runtime().dispatch(event, payload).unwrap()
    }

    /// The errors and warnings of the project, as `file:line:column: message`.
    pub fn problems(&self) -> Vec<String> {
        let loaded = Runtime::builder(self.path()).inspect().unwrap();
        loaded.problems.iter().map(one_line).collect()
    }

    /// Only the errors.
    pub fn errors(&self) -> Vec<String> {
        let loaded = Runtime::builder(self.path()).inspect().unwrap();
        loaded
            .problems
            .iter()
            .filter(|problem| problem.is_error())
            .map(one_line)
            .collect()
    }
}

fn one_line(problem: &hookbox::diagnostic::Diagnostic) -> String {
    let place = |number: Option<usize>| {
        number
            .map(|number| format!(":{number}"))
            .unwrap_or_default()
    };
    format!(
        "{}{}{}: {}",
        problem.file,
        place(problem.line()),
        place(problem.column()),
        problem.message
    )
}

/// The text of a hook file.
pub fn hook_file(event: &str, more: &str, script: &str) -> String {
    let script: String = script.lines().map(|line| format!("  {line}\n")).collect();
    format!("---\nevent: {event}\n{more}\nscript: |\n{script}---\nA hook.\n")
}

/// A `tool.pre` payload for a shell command.
pub fn command(command: &str) -> Value {
    serde_json::json!({"id": "call_1", "name": "run_command", "args": {"command": command}})
}

/// Turns the text of a core module into a component of the world `hook`.
pub fn component(wat: &str) -> Vec<u8> {
    encoder(wat).encode().unwrap()
}

/// The same for a module that imports `wasi_snapshot_preview1`, in the way of the
/// toolchains that do: an adapter turns that into imports of `wasi:*`.
pub fn wasi_component(wat: &str) -> Vec<u8> {
    use wasi_preview1_component_adapter_provider::{
        WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
    };
    encoder(wat)
        .adapter(
            WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
            WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
        )
        .unwrap()
        .encode()
        .unwrap()
}

fn encoder(wat: &str) -> wit_component::ComponentEncoder {
    let mut module = wat::parse_str(wat).unwrap();
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve
        .push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("wit"))
        .unwrap();
    let world = resolve.select_world(&[package], Some("hook")).unwrap();
    wit_component::embed_component_metadata(
        &mut module,
        &resolve,
        world,
        wit_component::StringEncoding::UTF8,
    )
    .unwrap();
    wit_component::ComponentEncoder::default()
        .module(&module)
        .unwrap()
}

/// A hook of tests/guests, as it is checked in.
pub fn guest(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests/components");
    std::fs::read(folder.join(format!("{name}.wasm"))).unwrap()
}

/// The text of a core module whose `handle` has this body. Memory, an allocator
/// and a place for the answer at 1024 are there; strings can be put from 2048 on.
pub fn module(imports: &str, data: &str, body: &str) -> String {
    format!(
        r#"(module
  {imports}
  (memory (export "memory") 2)
  (global $next (mut i32) (i32.const 8192))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (block $fits
      (br_if $fits (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
      (br_if $fits (i32.ne (i32.const -1) (memory.grow
        (i32.add (i32.const 1) (i32.shr_u (local.get 3) (i32.const 16))))))
      unreachable)
    (local.get $at))
  {data}
  (func $handle (export "hookbox:hook/handler@1.1.0#handle")
    (param $name i32) (param $name_len i32) (param $payload i32) (param $payload_len i32)
    (param $id i32) (param $id_len i32) (param $has_subject i32) (param $subject i32)
    (param $subject_len i32) (param $hook i32) (param $hook_len i32) (param $depth i32)
    (result i32)
    {body}
    (i32.const 1024)))"#
    )
}

/// The body of a `handle` that answers `decision` (0 allow, 1 block, 2 modify,
/// 3 ask) with a text.
pub fn answer(decision: u32, text: &str) -> String {
    let escaped: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    module(
        "",
        &format!("(data (i32.const 2048) \"{escaped}\")"),
        &format!(
            "(i32.store8 (i32.const 1028) (i32.const {decision}))
             (i32.store (i32.const 1032) (i32.const 2048))
             (i32.store (i32.const 1036) (i32.const {}))",
            text.len()
        ),
    )
}

/// A project with one component hook on `tool.pre`.
pub fn component_project(bytes: &[u8], more: &str) -> Project {
    let project = Project::with(&[(
        "probe",
        &format!("---\nevent: tool.pre\npriority: 10\ncomponent: probe.wasm\n{more}\n---\n"),
    )]);
    project.file(".harness/hooks/probe.wasm", bytes);
    project
}

/// Compiles the interpreter if this machine has not done so yet: the binary would
/// say that it does, in the middle of what is compared.
pub fn warm_up() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        drop(Project::script("def handle(event, payload):\n    return allow()").runtime())
    });
}

/// Runs the binary.
pub fn hookbox(arguments: &[&str]) -> Output {
    warm_up();
    Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs the binary in a folder and shows all a person would see of it.
pub fn session(folder: &Path, arguments: &[&str]) -> String {
    warm_up();
    let output = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    if !stderr.is_empty() {
        text += &format!("--- stderr ---\n{stderr}");
    }
    text + &format!("[exit code {}]\n", output.status.code().unwrap())
}
