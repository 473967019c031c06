//! Go: its own compiler for WASI's first preview. The runtime is started at build time,
//! so that no call has to wait for it.

use std::process::Command;

use crate::build::componentize::{Wasi, componentize};
use crate::build::module::{arena, preinit, quiet};
use crate::build::{BuildError, Job, read};

pub(super) fn component(job: &Job<'_>) -> Result<Vec<u8>, BuildError> {
    let go = job.tool("go", install())?;
    let core = job.scratch.join("core.wasm");
    job.run(
        "compiling with go",
        Command::new(go)
            .args(["build", "-trimpath", "-buildmode=c-shared"])
            .arg("-o")
            .arg(&core)
            .arg(".")
            .env("GOOS", "wasip1")
            .env("GOARCH", "wasm")
            .env("GOFLAGS", "-mod=mod"),
    )?;
    let failed = |error: String| BuildError::Componentize {
        language: job.language(),
        error,
    };
    let module = quiet::inject(&read(&core)?).map_err(|error| failed(error.to_string()))?;
    let module = arena::inject(&module).map_err(|error| failed(error.to_string()))?;
    job.step("starting the Go runtime, once for all calls");
    let prepared = preinit::run(&module).map_err(|error| failed(error.to_string()))?;
    for line in prepared.printed.lines() {
        job.step(&format!("initialisation: {line}"));
    }
    componentize(prepared.module, Wasi::Preview1, job.language())
}

fn install() -> &'static str {
    match std::env::consts::OS {
        "macos" => "brew install go",
        "windows" => "winget install GoLang.Go",
        _ => "sudo snap install go --classic",
    }
}
