//! The files of a project that decide.

use std::path::{Path, PathBuf};

use super::TrustError;

/// Folders all of whose files count.
const FOLDERS: [&str; 3] = [".hookbox", ".harness", ".polytoken"];

/// What hookbox itself writes there.
const OWN: [&str; 1] = [".hookbox/tapes"];

/// Files that count if they are there.
const FILES: [&str; 4] = ["hookbox.toml", "harness.md", "harn.toml", "settings.json"];

/// Where modules of Harn lie.
const MODULES: [&str; 2] = ["", "src"];

/// More than any project has; what has more is not looked through on every call.
const MOST: usize = 20_000;

/// Lists the files of a project that decide, in order.
///
/// # Errors
/// Returns what cannot be listed.
pub fn reviewed_files(project: &Path) -> Result<Vec<PathBuf>, TrustError> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        walk(project, &project.join(folder), &mut files)?;
    }
    let single = FILES.iter().map(|name| project.join(name));
    files.extend(single.filter(|path| path.is_file()));
    if project.join("harn.toml").is_file() {
        for folder in MODULES {
            modules(&project.join(folder), &mut files)?;
        }
    }
    files.sort();
    Ok(files)
}

fn walk(project: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), TrustError> {
    if OWN.iter().any(|own| folder == project.join(own)) {
        return Ok(());
    }
    for path in entries(folder)? {
        if path.is_dir() && !path.is_symlink() {
            walk(project, &path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
        if files.len() > MOST {
            return Err(TrustError::TooMany(folder.to_owned()));
        }
    }
    Ok(())
}

fn modules(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), TrustError> {
    let code = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("star" | "wasm")) && path.is_file()
    };
    files.extend(entries(folder)?.into_iter().filter(code));
    Ok(())
}

/// What lies in a folder; nothing if there is none.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, TrustError> {
    let unreadable = |error| TrustError::Unreadable {
        path: folder.to_owned(),
        error,
    };
    let listed = match std::fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let paths: Result<Vec<PathBuf>, _> = listed.map(|entry| Ok(entry?.path())).collect();
    paths.map_err(unreadable)
}
