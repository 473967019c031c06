//! JavaScript and TypeScript: npm brings the bundler and the engine, and a script of
//! the SDK runs them.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::granted;
use crate::build::world::{BUILT, contract_for};
use crate::build::{BuildError, Job, make_folder, read, write};

pub(super) fn component(job: &Job<'_>) -> Result<Vec<u8>, BuildError> {
    let node = job.tool("node", install())?;
    let npm = job.tool("npm", install())?;
    let engine = if job.project.settings.spidermonkey {
        "spidermonkey"
    } else {
        "quickjs"
    };
    if !is_installed(&job.folder) {
        let mut command = Command::new(npm);
        command.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]);
        job.run("installing packages with npm", &mut command)?;
    }
    let wit = job.scratch.join("wit");
    make_folder(&wit)?;
    let contract = contract_for(&job.project.hook.grants);
    write(&wit.join("hook.wit"), contract.as_bytes())?;
    let out = job.scratch.join("component.wasm");
    let mut command = Command::new(node);
    command
        .arg(job.sdk.join("js/build.js"))
        .args(["--world", BUILT, "--engine", engine])
        // A third smaller, and a call takes a fifth longer.
        .args(["--optimize", "size"])
        .args(["--grants", &granted(job).join(",")])
        .arg("--project")
        .arg(&job.folder)
        .arg("--wit")
        .arg(&wit)
        .arg("--out")
        .arg(&out);
    if let Some(source) = &job.project.settings.source {
        command.args(["--entry", source]);
    }
    job.run(&format!("building with {engine}"), &mut command)?;
    read(&out)
}

/// npm writes this file when it is done.
fn is_installed(folder: &Path) -> bool {
    let modified = |path: &str| fs::metadata(folder.join(path)).and_then(|file| file.modified());
    match (
        modified("node_modules/.package-lock.json"),
        modified("package.json"),
    ) {
        (Ok(installed), Ok(asked)) => installed >= asked,
        _ => false,
    }
}

fn install() -> &'static str {
    match std::env::consts::OS {
        "macos" => "brew install node",
        "windows" => "winget install OpenJS.NodeJS.LTS",
        _ => "sudo apt-get install -y nodejs npm",
    }
}
