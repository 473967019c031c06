//! Finds the cases of a project.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read::Case;
use crate::diagnostic::{Diagnostic, Source};

/// The folders whose cases are for the whole chain.
const WHOLE: [&str; 2] = ["cases", ".harness/cases"];

/// What the folder of one hook's cases ends in.
const OWN: &str = ".cases";

/// How large a case may be.
const MAX_BYTES: u64 = 16 << 20;

/// How deep folders of cases may be nested.
const MAX_DEPTH: usize = 8;

/// A case, or what is wrong with it.
#[derive(Debug)]
pub struct Found {
    /// Where it is, below the project.
    pub path: PathBuf,
    /// The hook file it is for, relative to the project; nothing if it is for all.
    pub hook: Option<String>,
    /// The case.
    pub case: Result<Case, Vec<Diagnostic>>,
}

/// Finds the cases of a project: `cases/`, `.harness/cases/`, and `NAME.cases/` beside
/// each of the given hook files.
///
/// # Errors
/// Returns the folder that cannot be read.
pub fn find<'f>(
    project: &Path,
    hook_files: impl IntoIterator<Item = &'f str>,
) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for folder in WHOLE {
        collect(project, Path::new(folder), None, &mut found)?;
    }
    let mut files: Vec<&str> = hook_files.into_iter().collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let folder = Path::new(file).with_extension(OWN.trim_start_matches('.'));
        collect(project, &folder, Some(file), &mut found)?;
    }
    Ok(found)
}

fn collect(
    project: &Path,
    folder: &Path,
    hook: Option<&str>,
    found: &mut Vec<Found>,
) -> io::Result<()> {
    let mut paths = Vec::new();
    walk(project, folder, 0, &mut paths)?;
    paths.sort();
    for path in paths {
        found.push(Found {
            case: read(project, &path, folder),
            hook: hook.map(str::to_owned),
            path,
        });
    }
    Ok(())
}

fn walk(project: &Path, folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(project.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(project, &path, depth + 1, paths)?;
        } else if kind.is_file() && is_case(&path) {
            paths.push(path);
        }
    }
    Ok(())
}

fn is_case(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending == "yaml" || ending == "yml")
}

fn read(project: &Path, path: &Path, folder: &Path) -> Result<Case, Vec<Diagnostic>> {
    let shown = path.display().to_string();
    let text = bounded(&project.join(path)).map_err(|error| {
        vec![Diagnostic::error(format!("cannot be read: {error}")).in_file(shown.clone())]
    })?;
    let name = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    Case::read(&name.display().to_string(), &Source::new(shown, text))
}

fn bounded(path: &Path) -> io::Result<Arc<str>> {
    if fs::metadata(path)?.len() > MAX_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {} MiB", MAX_BYTES >> 20),
        ));
    }
    fs::read_to_string(path).map(Arc::from)
}
