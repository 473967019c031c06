//! What hooks hold while nothing happens, and while one runs.

use std::fmt::Write as _;

use hookbox::Runtime;
use serde_json::json;

use crate::projects::{SCRIPT, tool_call};

/// How many hooks the idle project has.
const HOOKS: u64 = 2_000;

pub fn report() {
    println!("\nmemory");
    let Some(before) = resident() else {
        println!("(only measured on Linux)");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let hooks = folder.path().join(".harness/hooks");
    std::fs::create_dir_all(&hooks).expect("a folder for hooks");
    let script: String = SCRIPT.lines().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "  {line}");
        text
    });
    for index in 0..HOOKS {
        let event = if index == 0 { "tool.pre" } else { "turn.start" };
        let hook = format!("---\nevent: {event}\npriority: 1\nscript: |\n{script}---\n");
        std::fs::write(hooks.join(format!("h{index}.md")), hook).expect("a hook file");
    }
    let runtime = Runtime::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let idle = resident().unwrap_or(before);
    println!(
        "{HOOKS} idle Starlark hooks: {} bytes each",
        idle.saturating_sub(before) / HOOKS
    );
    let outcome = runtime
        .dispatch("tool.pre", tool_call("ls"))
        .expect("decided");
    println!(
        "a Starlark call: {} KiB of linear memory",
        outcome.trace[0].memory_bytes / 1024
    );
    let loaded = resident().unwrap_or(before);
    for _ in 0..1_000 {
        runtime
            .dispatch("tool.pre", tool_call("ls"))
            .expect("decided");
    }
    let after = resident().unwrap_or(before);
    println!(
        "a thousand calls later: {} KiB more resident",
        after.saturating_sub(loaded) / 1024
    );
    runtime.dispatch("turn.end", json!({})).expect("decided");
}

/// The resident memory of this process, in bytes.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
