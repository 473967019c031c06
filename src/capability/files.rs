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
        let wanted = path.trim_end_matches('/');
        let found = self.grants().read.iter().find_map(|folder| {
            let rest = wanted.strip_prefix(&*folder.path)?;
            match rest.strip_prefix('/') {
                Some(rest) => Some((folder, rest)),
                None if rest.is_empty() => Some((folder, ".")),
                None => None,
            }
        });
        let Some((folder, rest)) = found else {
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
