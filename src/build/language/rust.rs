//! Rust: cargo, for wasm32-unknown-unknown, so that nothing of WASI is in it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::build::componentize::{Wasi, componentize};
use crate::build::{BuildError, Job, read, tool};

/// What hooks are compiled for.
const TARGET: &str = "wasm32-unknown-unknown";

pub(super) fn component(job: &Job<'_>) -> Result<Vec<u8>, BuildError> {
    let cargo = job.tool(
        "cargo",
        "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh",
    )?;
    require_target(job)?;
    let printed = job.run(
        "compiling with cargo",
        Command::new(&cargo)
            .args(["build", "--release", "--target", TARGET])
            .args(["--message-format", "json-render-diagnostics"])
            .env("CARGO_ENCODED_RUSTFLAGS", flags(job))
            .env_remove("RUSTFLAGS"),
    )?;
    let Some(module) = artifact(&printed) else {
        return Err(BuildError::Componentize {
            language: job.language(),
            error: "cargo built no .wasm file; Cargo.toml needs `crate-type = [\"cdylib\"]` under `[lib]`".to_owned(),
        });
    };
    componentize(read(&module)?, Wasi::None, job.language())
}

/// The stack of the module. Recursion without end then reaches the sandbox's own limit
/// first, which has a name.
const STACK: &str = "-Clink-arg=-zstack-size=4194304";

/// The same sources give the same bytes in every folder, and nobody's home is in them.
fn flags(job: &Job<'_>) -> String {
    let mut flags = vec![
        STACK.to_owned(),
        format!("--remap-path-prefix={}=.", job.folder.display()),
        format!("--remap-path-prefix={}=sdk", job.sdk.display()),
    ];
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| dirs::home_dir().map(|home| home.join(".cargo")));
    // Each registry has a folder whose name is nobody's business either.
    let sources = cargo_home.and_then(|home| std::fs::read_dir(home.join("registry/src")).ok());
    for folder in sources.into_iter().flatten().flatten() {
        flags.push(format!(
            "--remap-path-prefix={}=crates",
            folder.path().display()
        ));
    }
    flags.join("\x1f")
}

fn require_target(job: &Job<'_>) -> Result<(), BuildError> {
    let Some(rustc) = tool::find("rustc") else {
        return Ok(());
    };
    let root = job.ask(
        "looking for the target",
        Command::new(rustc).args(["--print", "sysroot"]),
    )?;
    let target = PathBuf::from(root.trim()).join("lib/rustlib").join(TARGET);
    if target.is_dir() {
        return Ok(());
    }
    let install = format!("rustup target add {TARGET}");
    Err(job
        .missing(&format!("the target {TARGET}"), &install)
        .into())
}

/// Finds the library among what cargo says it built. The last one is the project's own.
fn artifact(printed: &str) -> Option<PathBuf> {
    printed
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter_map(|message| {
            let files = message["filenames"].as_array()?.clone();
            files
                .iter()
                .filter_map(Value::as_str)
                .find(|file| file.ends_with(".wasm"))
                .map(PathBuf::from)
        })
        .next_back()
}
