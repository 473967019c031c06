//! Zig and C: one compiler for both, and nothing of WASI. For C, clang does as well.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::componentize::{Wasi, componentize};
use crate::build::{BuildError, Job, read, tool};

/// The one command that installs the compiler.
const INSTALL: &str = "pip install ziglang";

/// The version of Zig the SDK is written for.
const VERSION: &str = "0.17";

/// What the compiler writes.
const CORE: &str = ".hookbox/build/core.wasm";

/// The stack: small, because every page of it that is touched costs the host.
const STACK: &str = "65536";

/// Builds a hook in C.
pub(super) fn c(job: &Job<'_>) -> Result<Vec<u8>, BuildError> {
    let sdk = job.near_sdk.join("c");
    let mut command = match (zig(job), tool::find("clang")) {
        (Some(mut zig), _) => {
            zig.args(["cc", "-target", "wasm32-freestanding"]);
            zig
        }
        (None, Some(clang)) if tool::find("wasm-ld").is_some() => {
            let mut command = Command::new(clang);
            command.args(["--target=wasm32-unknown-unknown", "-Wl,--stack-first"]);
            command
        }
        _ => return Err(job.missing("a C compiler for WebAssembly", INSTALL).into()),
    };
    command
        .args(["-std=c11", "-O2", "-flto", "-mbulk-memory"])
        .args(["-fsanitize=undefined", "-fsanitize-trap=undefined"])
        .args(["-Wall", "-Wextra", "-Werror=return-type", "-nostdlib"])
        .args(["-Wl,--no-entry", "-Wl,--gc-sections", "-Wl,--strip-all"])
        .arg(format!("-Wl,-z,stack-size={STACK}"))
        .arg("-I")
        .arg(&sdk)
        .args(["-o", CORE])
        .args(c_files(job, Path::new("src"))?)
        .args(c_files(job, &sdk)?);
    job.run("compiling C", &mut command)?;
    componentize(read(&job.folder.join(CORE))?, Wasi::None, job.language())
}

/// Builds a hook in Zig.
pub(super) fn zig_hook(job: &Job<'_>) -> Result<Vec<u8>, BuildError> {
    let Some(mut command) = zig(job) else {
        return Err(job.missing("zig", INSTALL).into());
    };
    require_version(job, &mut command)?;
    let source = job.project.settings.source.as_deref();
    let source = Path::new(source.unwrap_or("src/hook.zig"));
    let module = |name: &str, path: &Path| format!("-M{name}={}", path.display());
    command
        .args(["build-exe", "-target", "wasm32-freestanding"])
        .args(["-OReleaseSafe", "-fstrip", "-fno-entry", "-rdynamic"])
        .args(["--stack", STACK])
        .arg(format!("-femit-bin={CORE}"))
        .args(["--dep", "hookbox"])
        .arg(module("root", source))
        .arg(module("hookbox", &job.near_sdk.join("zig/hookbox.zig")));
    job.run("compiling Zig", &mut command)?;
    componentize(read(&job.folder.join(CORE))?, Wasi::None, job.language())
}

/// The language still changes with every version, and the SDK is written for one.
fn require_version(job: &Job<'_>, zig: &mut Command) -> Result<(), BuildError> {
    let mut asks = Command::new(zig.get_program());
    asks.args(zig.get_args()).arg("version");
    let version = job.ask("looking for zig", &mut asks)?;
    if version.trim().starts_with(VERSION) {
        return Ok(());
    }
    let tool = format!("zig {VERSION} (there is {})", version.trim());
    let install = format!("{INSTALL}=={VERSION}");
    Err(job.missing(&tool, &install).into())
}

/// Finds the compiler: on its own, or as the Python package.
fn zig(job: &Job<'_>) -> Option<Command> {
    let mut command = match tool::find("zig") {
        Some(zig) => Command::new(zig),
        None => {
            let mut pythons = ["python3", "python"].into_iter();
            let python = pythons.find(|python| has_ziglang(Path::new(python)))?;
            let mut command = Command::new(python);
            command.args(["-m", "ziglang"]);
            command
        }
    };
    command.env("ZIG_LOCAL_CACHE_DIR", job.scratch.join("zig"));
    Some(command)
}

fn has_ziglang(python: &Path) -> bool {
    let found = Command::new(python)
        .args(["-c", "import ziglang"])
        .stderr(std::process::Stdio::null())
        .status();
    found.is_ok_and(|status| status.success())
}

/// Lists the C files of a folder, as seen from the project.
fn c_files(job: &Job<'_>, folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let unreadable = |error| BuildError::File {
        path: folder.to_owned(),
        done: "read",
        error,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(job.folder.join(folder)).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let path = folder.join(name);
        if path.extension().is_some_and(|ending| ending == "c") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
