//! Compiles the guest to a core module.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds the guest in `folder` and returns the bytes of its module.
pub fn compile(folder: &Path) -> Result<Vec<u8>> {
    let target = folder.join("target");
    // Paths end up in panic messages; without this the bytes would depend on
    // where the sources lie.
    let cargo_home = cargo_home()?;
    let mut prefixes = vec![
        (folder.to_path_buf(), "/hookbox/guest-sdk/starlark"),
        (sysroot()?, "/rust"),
        (cargo_home.clone(), "/cargo"),
    ];
    // The folder is named after the place the crates came from, which is not
    // the same everywhere. The last prefix that fits wins.
    for registry in std::fs::read_dir(cargo_home.join("registry").join("src"))? {
        prefixes.push((registry?.path(), "/crates"));
    }
    let flags: Vec<String> = prefixes
        .iter()
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect();
    let flags = format!("target.{TARGET}.rustflags={flags:?}");
    let status = Command::new(cargo())
        .current_dir(folder)
        .args([
            "build",
            "--locked",
            "--lib",
            "--package",
            "hookbox-starlark",
        ])
        .args(["--profile", "guest", "--target", TARGET, "--config", &flags])
        .arg("--target-dir")
        .arg(&target)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .context("failed to start cargo")?;
    ensure!(status.success(), "the guest does not compile");
    let module = target
        .join(TARGET)
        .join("guest")
        .join("hookbox_starlark.wasm");
    let mut bytes =
        std::fs::read(&module).with_context(|| format!("failed to read {}", module.display()))?;
    overwrite(&mut bytes, cargo_home.as_os_str().as_encoded_bytes());
    Ok(bytes)
}

/// A standard library that was compiled on this machine has this machine's
/// paths in it, and no flag reaches those. The length must stay.
fn overwrite(module: &mut [u8], cargo_home: &[u8]) {
    let prefix = [cargo_home, b"/registry/src/"].concat();
    for start in 0..module.len() {
        let Some(rest) = module[start..].strip_prefix(&*prefix) else {
            continue;
        };
        // The folder below is named after the place the crates came from.
        let folder = rest.iter().position(|&byte| byte == b'/').unwrap_or(0);
        module[start..start + prefix.len() + folder].fill(b'/');
    }
}

fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(PathBuf::from(home));
    }
    let home = std::env::home_dir().context("there is no home directory")?;
    Ok(home.join(".cargo"))
}

fn sysroot() -> Result<PathBuf> {
    let output = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .context("failed to start rustc")?;
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}
