//! What is measured: projects, payloads and a component.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The check all contestants make: no pattern occurs in the payload.
pub const PATTERNS: [&str; 5] = ["rm -rf /", ":(){ :|:& };:", "mkfs", "dd if=", "shutdown"];

/// The check in Starlark.
pub const SCRIPT: &str = r#"
def handle(event, payload):
    cmd = payload.get("args", {}).get("command", "")
    dangerous = [
        "rm -rf /",
        ":(){ :|:& };:",
        "mkfs",
        "dd if=",
        "shutdown",
    ]
    for d in dangerous:
        if d in cmd:
            return block("dangerous command pattern blocked: '" + d + "'")
    return allow()
"#;

pub fn tool_call(command: &str) -> Value {
    json!({"id": "call_1", "name": "run_command", "args": {"command": command}})
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn governed_agent() -> PathBuf {
    root().join("examples/governed-agent")
}

fn project(hook: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let hooks = folder.path().join(".harness/hooks");
    std::fs::create_dir_all(&hooks).expect("a folder for hooks");
    std::fs::write(hooks.join("guard.md"), hook).expect("a hook file");
    folder
}

pub fn script_project() -> TempDir {
    let script: String = SCRIPT.lines().map(|line| format!("  {line}\n")).collect();
    project(&format!(
        "---\nevent: tool.pre\npriority: 10\nscript: |\n{script}---\n"
    ))
}

pub fn component_project(component: &[u8]) -> TempDir {
    component_project_with(component, "")
}

/// A component hook with more in its frontmatter.
pub fn component_project_with(component: &[u8], more: &str) -> TempDir {
    let folder = project(&format!(
        "---\nevent: tool.pre\npriority: 10\ncomponent: guard.wasm\n{more}\n---\n"
    ));
    std::fs::write(folder.path().join(".harness/hooks/guard.wasm"), component)
        .expect("a component");
    folder
}

/// The text of a module that lets everything pass after it has run `body`.
pub fn module(imports: &str, data: &str, body: &str) -> String {
    include_str!("caller.wat")
        .replace("{imports}", imports)
        .replace("{data}", data)
        .replace("{body}", body)
}

/// A component that searches the payload's text for the patterns.
pub fn scanner_component() -> Vec<u8> {
    let mut data = String::new();
    let mut table = String::new();
    let mut at = 2048;
    for (index, pattern) in PATTERNS.iter().enumerate() {
        let bytes: String = pattern
            .bytes()
            .map(|byte| format!("\\{byte:02x}"))
            .collect();
        data += &format!("(data (i32.const {at}) \"{bytes}\")\n");
        table += &format!(
            "(call $search (local.get $payload) (local.get $payload_len) (i32.const {at}) (i32.const {}))",
            pattern.len()
        );
        if index > 0 {
            table += " i32.or";
        }
        at += 64;
    }
    let module = include_str!("scanner.wat")
        .replace("{data}", &data)
        .replace("{search}", &table);
    componentise(&wat::parse_str(module).expect("valid text"))
}

pub fn componentise(module: &[u8]) -> Vec<u8> {
    let mut module = module.to_vec();
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve.push_dir(root().join("wit")).expect("the contract");
    let world = resolve
        .select_world(&[package], Some("hook"))
        .expect("the world");
    let encoding = wit_component::StringEncoding::UTF8;
    wit_component::embed_component_metadata(&mut module, &resolve, world, encoding)
        .expect("metadata");
    wit_component::ComponentEncoder::default()
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .expect("a component")
}
