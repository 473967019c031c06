//! Tells whether the checked-in component was built from the sources beside it.
//!
//! Needs nothing but `sha2`, so that tests elsewhere can include this file.

use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// What the component is made from, seen from the component's folder.
const INPUTS: &[&str] = &[
    "../../wit",
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "builder/Cargo.toml",
    "builder/src",
    "src",
    "wit",
];

/// Returns the digest of all inputs in lower-case hexadecimal. `folder` is
/// `guest-sdk/starlark`.
pub fn digest(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for input in INPUTS {
        collect(folder, input, &mut files)?;
    }
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        let contents = std::fs::read(folder.join(&file))?;
        // The lengths keep two different sets of files from reading the same.
        hasher.update((file.len() as u64).to_le_bytes());
        hasher.update(file.as_bytes());
        hasher.update((contents.len() as u64).to_le_bytes());
        hasher.update(&contents);
    }
    Ok(hex(&hasher.finalize()))
}

fn collect(folder: &Path, relative: &str, files: &mut Vec<String>) -> io::Result<()> {
    let path = folder.join(relative);
    if !path.is_dir() {
        files.push(relative.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let name = entry?.file_name();
        let name = name.to_str().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "a file name is not UTF-8")
        })?;
        collect(folder, &format!("{relative}/{name}"), files)?;
    }
    Ok(())
}

/// Writes bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
