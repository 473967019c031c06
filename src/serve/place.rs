//! Where a server and its clients meet: a directory that only the user can write to.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::ServeError;
use crate::sandbox::compiled::{StoreError, cache_directory, private};

/// The directory below the user's own one.
const DIRECTORY: &str = "run";

/// The socket in it.
const SOCKET: &str = "serve.sock";

/// What others must not be able to do to a directory or a socket.
const OTHERS_WRITE: u32 = 0o022;

/// Returns the user's own socket.
#[must_use]
pub fn default_socket() -> Option<PathBuf> {
    Some(cache_directory()?.join(DIRECTORY).join(SOCKET))
}

/// Returns the file beside a socket that has the token of its server.
#[must_use]
pub fn token_beside(socket: &Path) -> PathBuf {
    socket.with_extension("token")
}

/// Says whether a socket is there, and only this user can have put it there.
#[must_use]
pub fn is_own(socket: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let own =
        |metadata: &fs::Metadata| metadata.uid() == user && metadata.mode() & OTHERS_WRITE == 0;
    let found = fs::symlink_metadata(socket).is_ok_and(|it| it.file_type().is_socket() && own(&it));
    let directory = socket.parent().and_then(|it| fs::symlink_metadata(it).ok());
    found && directory.is_some_and(|it| it.is_dir() && own(&it))
}

/// The place of one server, as long as it lives.
#[derive(Debug)]
pub(super) struct Place {
    /// The socket, in a directory without links on the way.
    pub(super) socket: PathBuf,
    /// Goes with its process, however that ends.
    _lock: File,
}

impl Place {
    /// Takes the place, unless another server has it.
    pub(super) fn take(socket: Option<&Path>) -> Result<Self, ServeError> {
        let socket = match socket {
            Some(given) => std::path::absolute(given)?,
            None => default_socket().ok_or(ServeError::NoHome)?,
        };
        let unusable = |error| ServeError::Unusable {
            path: socket.clone(),
            error,
        };
        let (Some(directory), Some(name)) = (socket.parent(), socket.file_name()) else {
            return Err(unusable(io::ErrorKind::InvalidFilename.into()));
        };
        private::make(directory).map_err(unusable)?;
        let directory = fs::canonicalize(directory).map_err(unusable)?;
        private::check_way(&directory)
            .and_then(|()| private::check(&directory))
            .map_err(refused)?;
        let own = directory.join(name);
        let lock = private::create(&own.with_extension("lock")).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ServeError::Running(own)),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        Ok(Self {
            socket: own,
            _lock: lock,
        })
    }

    /// Takes away what clients would knock at in vain.
    pub(super) fn leave(&self) {
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(token_beside(&self.socket));
    }
}

fn refused(error: StoreError) -> ServeError {
    match error {
        StoreError::NoHome => ServeError::NoHome,
        StoreError::Unusable { directory, error } => ServeError::Unusable {
            path: directory,
            error,
        },
        StoreError::Unsafe { directory, why } => ServeError::Unsafe { directory, why },
    }
}
