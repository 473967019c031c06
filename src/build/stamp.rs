//! Tells whether anything has changed since the last build.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{BuildError, BuildProject, FOLDER, write as write_file};
use crate::sandbox::engine::hex;

/// The file that remembers the last build.
const STAMP: &str = "build/stamp";

/// Folders whose contents no build depends on.
const PASSED_OVER: [&str; 10] = [
    FOLDER,
    "target",
    "node_modules",
    "__pycache__",
    "cases",
    "venv",
    "zig-out",
    "zig-cache",
    "tests",
    "dist",
];

/// Returns a digest of everything the build of a project depends on.
///
/// # Errors
/// Returns the file that cannot be read.
pub fn inputs(project: &BuildProject) -> Result<String, BuildError> {
    let mut hasher = Sha256::new();
    let about = format!(
        "hookbox {}\n{:?}\n",
        env!("CARGO_PKG_VERSION"),
        project.settings
    );
    hasher.update(about);
    hasher.update(super::world::contract_for(&project.hook.grants));
    let mut folders = vec![project.folder.clone()];
    let needed = super::sdk::folders(project.settings.language);
    if project.settings.sdk.is_none() {
        for (path, text) in super::sdk::files(project.settings.language) {
            hasher.update(path);
            hasher.update(text);
        }
    }
    if let Some(sdk) = &project.settings.sdk {
        folders.extend(
            needed
                .iter()
                .map(|name| project.folder.join(sdk).join(name)),
        );
    }
    for folder in folders {
        let mut paths = Vec::new();
        files(&folder, &mut paths).map_err(|error| unreadable(&folder, error))?;
        paths.sort();
        for path in paths {
            let bytes = fs::read(&path).map_err(|error| unreadable(&path, error))?;
            let name = path.strip_prefix(&folder).unwrap_or(&path);
            hasher.update(name.to_string_lossy().as_bytes());
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(&bytes);
        }
    }
    Ok(hex(&hasher.finalize()))
}

fn unreadable(path: &Path, error: io::Error) -> BuildError {
    BuildError::File {
        path: path.to_owned(),
        done: "read",
        error,
    }
}

fn files(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if is_source_folder(&name) {
                files(&entry.path(), paths)?;
            }
        } else if kind.is_file() && !name.ends_with(".wasm") && !name.ends_with(".md") {
            paths.push(entry.path());
        }
    }
    Ok(())
}

/// Says whether a folder of this name may hold sources.
pub(super) fn is_source_folder(name: &str) -> bool {
    let hidden = name.starts_with('.') && name != ".cargo";
    let left = name.ends_with(".egg-info") || name.ends_with(".cases");
    !hidden && !left && !PASSED_OVER.contains(&name)
}

/// Says whether the component is what these inputs gave the last time. What was built
/// for release does for everything else too: its code is the same.
pub(super) fn is_fresh(project: &BuildProject, inputs: &str, release: bool, output: &Path) -> bool {
    let Ok(stamp) = fs::read_to_string(project.folder.join(FOLDER).join(STAMP)) else {
        return false;
    };
    let Ok(component) = fs::read(output) else {
        return false;
    };
    stamp == line(inputs, &component, true) || !release && stamp == line(inputs, &component, false)
}

/// Remembers a build.
pub(super) fn write(
    project: &BuildProject,
    inputs: &str,
    component: &[u8],
    release: bool,
) -> Result<(), BuildError> {
    let path = project.folder.join(FOLDER).join(STAMP);
    write_file(&path, line(inputs, component, release).as_bytes())
}

fn line(inputs: &str, component: &[u8], release: bool) -> String {
    let kind = if release { "release" } else { "debug" };
    format!("{inputs} {} {kind}\n", hex(&Sha256::digest(component)))
}
