//! Python: componentize-py, in an environment of the project's own, makes a component
//! of CPython and the hook, already imported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::fuse::fuse;
use crate::build::stamp::is_source_folder;
use crate::build::world::{BUILT, contract_for};
use crate::build::{BuildError, Job, make_folder, read, tool, write};

/// The package, and the version the SDK was written for.
const PACKAGE: &str = "componentize-py==0.25.1";
const PROGRAM: &str = "componentize-py";

pub(super) fn component(job: &Job<'_>) -> Result<Vec<u8>, BuildError> {
    let componentize = componentizer(job)?;
    let stage = job.scratch.join("stage");
    // What was deleted from the project must not be built in.
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(|error| BuildError::File {
            path: stage.clone(),
            done: "removed",
            error,
        })?;
    }
    let app = stage.join("app");
    copy_sources(&job.folder, &app)?;
    copy_sources(&job.sdk.join("python/src"), &app)?;
    let contract = contract_for(&job.project.hook.grants);
    write(&stage.join("wit/hook.wit"), contract.as_bytes())?;
    // The packages the hook depends on, and none else of the machine's.
    let packages = stage.join("packages");
    install_dependencies(job, &packages.join("lib/site-packages"))?;
    let out = job.scratch.join("component.wasm");
    let mut command = Command::new(componentize);
    command
        .arg("--quiet")
        .arg("--wit-path")
        .arg(stage.join("wit"))
        .args(["--world", BUILT, "componentize", "hookbox._entry"])
        .arg("--python-path")
        .arg(&app)
        .arg("--output")
        .arg(&out)
        .env("RUST_BACKTRACE", "0")
        .env("VIRTUAL_ENV", &packages);
    job.run("building with componentize-py", &mut command)?;
    let component = read(&out)?;
    // It is right either way; in one piece it is several times as fast.
    Ok(fuse(&component).unwrap_or(component))
}

/// Installs what `[project] dependencies` of pyproject.toml names.
fn install_dependencies(job: &Job<'_>, folder: &Path) -> Result<(), BuildError> {
    make_folder(folder)?;
    let dependencies = dependencies(&job.folder);
    if dependencies.is_empty() {
        return Ok(());
    }
    let python = job.tool("python3", install())?;
    let mut command = Command::new(python);
    command
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ])
        .arg("--target")
        .arg(folder)
        .args(dependencies);
    job.run("installing the hook's dependencies", &mut command)?;
    Ok(())
}

fn dependencies(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("pyproject.toml")).unwrap_or_default();
    let manifest: toml::Table = text.parse().unwrap_or_default();
    let listed = manifest
        .get("project")
        .and_then(|project| project.get("dependencies"))
        .and_then(toml::Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str)
        .filter(|name| !name.starts_with("hookbox"))
        .map(str::to_owned)
        .collect()
}

/// Finds componentize-py: in the active environment, or in the project's own, which is
/// made the first time.
fn componentizer(job: &Job<'_>) -> Result<PathBuf, BuildError> {
    if let Some(found) = tool::find(PROGRAM) {
        return Ok(found);
    }
    let venv = job.folder.join(".hookbox/venv");
    let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let own = bin.join(PROGRAM);
    if own.exists() {
        return Ok(own);
    }
    let python = job.tool("python3", install())?;
    let mut command = Command::new(python);
    command.args(["-m", "venv"]).arg(&venv);
    job.run("making a Python environment", &mut command)?;
    let mut command = Command::new(bin.join("python"));
    command.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        PACKAGE,
    ]);
    job.run("installing componentize-py", &mut command)?;
    Ok(own)
}

fn install() -> &'static str {
    match std::env::consts::OS {
        "macos" => "brew install python",
        "windows" => "winget install Python.Python.3.13",
        _ => "sudo apt-get install -y python3 python3-venv",
    }
}

/// Copies modules and what lies beside them, but nothing a tool left there.
fn copy_sources(from: &Path, to: &Path) -> Result<(), BuildError> {
    let unreadable = |error| BuildError::File {
        path: from.to_owned(),
        done: "read",
        error,
    };
    for entry in fs::read_dir(from).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() && is_source_folder(&name) {
            copy_sources(&entry.path(), &to.join(&*name))?;
        } else if kind.is_file() && name.ends_with(".py") {
            write(&to.join(&*name), &read(&entry.path())?)?;
        }
    }
    Ok(())
}
