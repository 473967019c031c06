//! Files below granted directories, for hooks without `wasi:filesystem`.

use std::io::{self, Read as _};

use cap_std::fs::{Dir, OpenOptions};

use super::Border;
use super::grant::Kind;
use crate::sandbox::bindings::files as wit;
use crate::sandbox::instance::Call;

/// How many names a directory may have.
const MAX_ENTRIES: usize = 10_000;

impl wit::Host for Call {
    fn read(&mut self, path: String) -> wasmtime::Result<Result<Vec<u8>, wit::Error>> {
        let border = self.enter()?;
        Ok(border.within(&path, |dir, rest| read(dir, rest, border.limits().payload)))
    }

    fn entries(&mut self, path: String) -> wasmtime::Result<Result<Vec<String>, wit::Error>> {
        let border = self.enter()?;
        Ok(border.within(&path, entries))
    }
}

impl Border {
    /// Finds the granted directory a path lies in. What is below it is looked up
    /// through its handle, so that neither `..` nor a link leads out of it.
    fn within<T>(
        &self,
        path: &str,
        look: impl FnOnce(&Dir, &str) -> io::Result<T>,
    ) -> Result<T, wit::Error> {
        let folders = self.grants().read.iter();
        let mut found = folders.filter_map(|folder| Some((folder, below(&folder.path, path)?)));
        let Some((folder, rest)) = found.next() else {
            let why = self.refuse(Kind::Read, &format!("the path {path:?}"));
            return Err(wit::Error::NotGranted(why));
        };
        look(&folder.dir, rest).map_err(|error| self.in_wit_words(path, &error))
    }

    fn in_wit_words(&self, path: &str, error: &io::Error) -> wit::Error {
        let message = format!("{path}: {error}");
        match error.kind() {
            io::ErrorKind::NotFound => wit::Error::NotFound(message),
            io::ErrorKind::FileTooLarge => wit::Error::TooLarge(message),
            // What leads out of the directory is refused by its handle.
            io::ErrorKind::PermissionDenied => {
                self.refusals().push(format!("read: {message}"));
                wit::Error::NotGranted(message)
            }
            _ => wit::Error::Failed(message),
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
