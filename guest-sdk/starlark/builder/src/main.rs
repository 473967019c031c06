//! Builds the Starlark component:
//!
//! - `build` compiles it and writes `starlark.wasm`, `starlark.digest` and
//!   `starlark.inputs`,
//! - `check` says whether those belong to the sources beside them,
//! - `bench` measures calls in fresh instances,
//! - `try SCRIPT [PAYLOAD]` checks and calls the script in a file.

mod bench;
mod guest;
mod host;
mod image;
mod inputs;
mod order;
mod samples;
mod trace;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use sha2::{Digest as _, Sha256};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(PathBuf::from)
        .context("the builder has no parent folder")?;
    let component = folder.join("starlark.wasm");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let guest_error = |error| anyhow!("{error:?}");
    match arguments.as_slice() {
        [] | ["build"] => build(&folder),
        ["check" | "--check"] => check(&folder),
        ["bench"] => bench::run(&component).map_err(guest_error),
        ["try", script, rest @ ..] => {
            let script = std::fs::read_to_string(script).context("failed to read the script")?;
            let payload = rest.first().unwrap_or(&"{}");
            bench::try_out(&component, &script, payload).map_err(guest_error)
        }
        _ => bail!("expected build, check, bench, or try SCRIPT [PAYLOAD]"),
    }
}

fn build(folder: &Path) -> Result<()> {
    // Read first: what is edited while the compiler runs must show as out of
    // date.
    let inputs = inputs::digest(folder)?;
    let module = by_use(&guest::compile(folder)?)?;
    let component = image::prepare(&module)?;
    let digest = inputs::hex(&Sha256::digest(&component));
    replace(&folder.join("starlark.wasm"), &component)?;
    replace(
        &folder.join("starlark.digest"),
        format!("{digest}\n").as_bytes(),
    )?;
    replace(
        &folder.join("starlark.inputs"),
        format!("{inputs}\n").as_bytes(),
    )?;
    println!(
        "starlark.wasm: {} bytes (module {} bytes), sha256 {digest}",
        component.len(),
        module.len()
    );
    Ok(())
}

/// Puts the functions that calls use next to each other.
fn by_use(module: &[u8]) -> Result<Vec<u8>> {
    let marked = order::mark(module)?;
    let uses = trace::run(&image::prepare(&marked.module)?, &marked)
        .map_err(|error| anyhow!("the samples do not run: {error:?}"))?;
    let count = |when| uses.iter().filter(|used| **used == when).count();
    println!(
        "{} functions are called, {} more load, {} are not used by the samples",
        count(order::Use::Calling),
        count(order::Use::Loading),
        count(order::Use::Never)
    );
    order::sort(module, &uses)
}

fn check(folder: &Path) -> Result<()> {
    let recorded = std::fs::read_to_string(folder.join("starlark.inputs")).unwrap_or_default();
    if recorded.trim() != inputs::digest(folder)? {
        bail!("the checked-in Starlark component is out of date: run guest-sdk/starlark/build");
    }
    Ok(())
}

/// Readers see the old file or the new one, never half of one.
fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    std::fs::write(&temporary, contents)
        .and_then(|()| std::fs::rename(&temporary, path))
        .with_context(|| format!("failed to write {}", path.display()))
}
