//! Files below granted directories, for hooks without `wasi:filesystem`.

use std::io::{self, Read as _};

use cap_std::fs::{Dir, OpenOptions};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Border;
use super::grant::Kind;
use crate::sandbox::bindings::files as wit;
use crate::sandbox::instance::Call;
use crate::tape::bytes::Bytes;

/// How many names a directory may have.
const MAX_ENTRIES: usize = 10_000;

impl wit::Host for Call {
    fn read(&mut self, path: String) -> wasmtime::Result<Result<Vec<u8>, wit::Error>> {
        let border = self.enter()?;
        let limit = border.limits().payload;
        border
            .within("files.read", &path, |dir, rest| {
                read(dir, rest, limit).map(Bytes)
            })
            .map(|found| found.map(|bytes| bytes.0))
    }

    fn entries(&mut self, path: String) -> wasmtime::Result<Result<Vec<String>, wit::Error>> {
        let border = self.enter()?;
        border.within("files.entries", &path, entries)
    }
}

impl Border {
    /// Finds the granted directory a path lies in. What is below it is looked up
    /// through its handle, so that neither `..` nor a link leads out of it.
    fn within<T: Serialize + DeserializeOwned>(
        &self,
        capability: &'static str,
        path: &str,
        look: impl FnOnce(&Dir, &str) -> io::Result<T>,
    ) -> wasmtime::Result<Result<T, wit::Error>> {
        let request = || json!({"path": path});
        let folders = self.grants().read.iter();
        let mut found = folders.filter_map(|folder| Some((folder, below(&folder.path, path)?)));
        let Some((folder, rest)) = found.next() else {
            let why = self.refuse(Kind::Read, &format!("the path {path:?}"));
            self.reel().refused(capability, request, &why);
            return Ok(Err(wit::Error::NotGranted(why)));
        };
        let found = self.reel().cross_result(capability, request, || {
            look(&folder.dir, rest).map_err(|error| Trouble::new(path, &error))
        })?;
        Ok(found.map_err(|trouble| self.in_wit_words(trouble)))
    }

    fn in_wit_words(&self, trouble: Trouble) -> wit::Error {
        match trouble {
            Trouble::NotFound(message) => wit::Error::NotFound(message),
            Trouble::TooLarge(message) => wit::Error::TooLarge(message),
            Trouble::LeadsOut(message) => {
                self.refusals().push(format!("read: {message}"));
                wit::Error::NotGranted(message)
            }
            Trouble::Failed(message) => wit::Error::Failed(message),
        }
    }
}

/// Why something was not read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Trouble {
    NotFound(String),
    TooLarge(String),
    /// It leads out of the directory, which is refused by its handle.
    LeadsOut(String),
    Failed(String),
}

impl Trouble {
    fn new(path: &str, error: &io::Error) -> Self {
        let message = format!("{path}: {error}");
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound(message),
            io::ErrorKind::FileTooLarge => Self::TooLarge(message),
            io::ErrorKind::PermissionDenied => Self::LeadsOut(message),
            _ => Self::Failed(message),
        }
    }
}

/// Returns the rest of a path below a granted directory, which may be the project
/// itself. Both are spelled from the project, with or without `./`.
fn below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let wanted = match path {
        "." => "",
        // A path from the root of the machine is never below the project.
        path if path.is_empty() || path.starts_with('/') => return None,
        path => path.trim_start_matches("./").trim_end_matches('/'),
    };
    let rest = match folder {
        "." => wanted,
        folder => match wanted.strip_prefix(folder)? {
            "" => "",
            rest => rest.strip_prefix('/')?,
        },
    };
    Some(if rest.is_empty() { "." } else { rest })
}

fn read(dir: &Dir, path: &str, limit: usize) -> io::Result<Vec<u8>> {
    let file = open(dir, path)?;
    // A pipe would never end, and a directory is no text.
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {limit} bytes; raise `payload` under `limits:`"),
        ));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn open(dir: &Dir, path: &str) -> io::Result<cap_std::fs::File> {
    use cap_std::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    // Opening a pipe would otherwise wait until somebody writes to it.
    options
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    dir.open_with(path, &options)
}

#[cfg(not(unix))]
fn open(dir: &Dir, path: &str) -> io::Result<cap_std::fs::File> {
    dir.open_with(path, OpenOptions::new().read(true))
}

fn entries(dir: &Dir, path: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in dir.read_dir(path)? {
        if names.len() == MAX_ENTRIES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it has more than {MAX_ENTRIES} entries"),
            ));
        }
        let entry = entry?;
        let mut name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            name.push('/');
        }
        names.push(name);
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn paths_start_at_the_project() {
        for (folder, path, rest) in [
            ("docs", "docs/a", Some("a")),
            ("docs", "./docs/a", Some("a")),
            ("docs", "docs/", Some(".")),
            ("docs", "docs/../a", Some("../a")),
            ("docs", "docs-not/a", None),
            ("docs", "a", None),
            ("docs", ".", None),
            ("docs", "", None),
            ("a/b", "a/b/c", Some("c")),
            ("a/b", "a", None),
            (".", "a/b", Some("a/b")),
            (".", "./a", Some("a")),
            (".", ".env", Some(".env")),
            (".", ".", Some(".")),
            (".", "/etc/passwd", None),
            (".", "", None),
        ] {
            assert_eq!(below(folder, path), rest, "{path} below {folder}");
        }
    }
}
