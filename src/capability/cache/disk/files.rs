//! The files of a store on disk: the database and the lock beside it.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::CacheError;
use super::tables::Fault;

/// How long a call waits between two looks at the lock, at first and at most.
const WAITS: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(2));

/// The paths of a store.
#[derive(Debug)]
pub(super) struct Files {
    database: PathBuf,
    lock: PathBuf,
    new: PathBuf,
}

/// Who else may have the lock.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lock {
    /// Others that only read.
    Shared,
    /// Nobody.
    Exclusive,
}

impl Files {
    pub(super) fn new(path: &Path) -> Result<Self, CacheError> {
        let files = Self {
            database: path.to_owned(),
            lock: beside(path, ".lock"),
            new: beside(path, ".new"),
        };
        if let Some(directory) = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            private_directory(directory).map_err(|error| unusable(directory, &error))?;
        }
        files.open_lock()?;
        Ok(files)
    }

    pub(super) fn database(&self) -> &Path {
        &self.database
    }

    pub(super) fn exist(&self) -> bool {
        self.database.exists()
    }

    /// Makes the database beside its place and moves it there when it is
    /// whole, so that a process that is killed leaves no half of one.
    pub(super) fn create(&self, fill: impl FnOnce(File) -> Result<(), Fault>) -> Result<(), Fault> {
        match fs::remove_file(&self.new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        fill(private_file().create_new(true).open(&self.new)?)?;
        Ok(fs::rename(&self.new, &self.database)?)
    }

    /// Waits for the lock, which is given back when the file is dropped.
    pub(super) fn lock(&self, lock: Lock, until: Instant) -> Result<File, CacheError> {
        let file = self.open_lock()?;
        let mut wait = WAITS.0;
        loop {
            let tried = match lock {
                Lock::Shared => file.try_lock_shared(),
                Lock::Exclusive => file.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(unusable(&self.lock, &error)),
                Err(TryLockError::WouldBlock) => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.held());
            }
            std::thread::sleep(wait.min(left));
            wait = (wait * 2).min(WAITS.1);
        }
    }

    pub(super) fn fault(&self, fault: Fault) -> CacheError {
        match fault {
            Fault::Cache(error) => error,
            Fault::File(error) => unusable(&self.database, &error),
            Fault::Damaged => unusable(&self.database, &"it is damaged"),
        }
    }

    fn open_lock(&self) -> Result<File, CacheError> {
        private_file()
            .create(true)
            .open(&self.lock)
            .map_err(|error| unusable(&self.lock, &error))
    }

    fn held(&self) -> CacheError {
        CacheError::Unavailable(format!(
            "another process or thread held the lock {} until the time was up; try again, or look for a process that hangs",
            self.lock.display(),
        ))
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn unusable(path: &Path, error: &dyn Display) -> CacheError {
    CacheError::Unavailable(format!(
        "{} cannot be used: {error}; check who may write there, or delete it to start with an empty cache",
        path.display(),
    ))
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
