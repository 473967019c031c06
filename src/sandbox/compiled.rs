//! The store of compiled code. Compiling costs seconds for an interpreter, so it
//! is done once and the result is mapped into memory ever after.
//!
//! Compiled code is native code: whoever can write it can run as the user. So the
//! store is a directory of the user's own that nobody else can write to, checked
//! each time it is opened, and a file gets its name only when it is whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

use super::engine::{Engine, hex};
use super::upkeep;

/// How long compiling one component may take.
pub const COMPILE_TIME: Duration = Duration::from_secs(120);

/// How often a process that waits for another one's compiler looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A shorter wait is over before anybody could read about it.
const ANNOUNCE_AFTER: Duration = Duration::from_millis(500);

/// The SHA-256 digest of a component's bytes, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Digest(String);

impl std::fmt::Display for Digest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Digest {
    /// Computes the digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    /// Takes over a digest that was computed when the bytes were built.
    pub(crate) fn known(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Returns the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Something that takes long enough to be announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A component is being compiled, once for this machine.
    Compiling {
        /// What is compiled.
        what: String,
        /// Its size.
        bytes: usize,
    },
    /// Another process compiles the same component.
    Waiting {
        /// What is compiled.
        what: String,
    },
    /// The component is ready.
    Ready {
        /// What was compiled.
        what: String,
        /// How long it took.
        took: Duration,
    },
}

/// Hears about what takes long.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// Why there is no compiled code.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The bytes are not a component wasmtime accepts.
    #[error("{0}")]
    Invalid(String),
    /// It takes too long.
    #[error("compiling takes longer than {0:?}; the component is too large or was made to be slow")]
    TooSlow(Duration),
}

/// The store of compiled code, or the lack of one.
#[derive(Debug, Clone)]
pub struct CodeStore {
    directory: Option<PathBuf>,
}

impl CodeStore {
    /// Opens the user's own store: `HOOKBOX_CACHE_DIR`, or `hookbox` in the
    /// platform's cache directory.
    ///
    /// # Errors
    /// Returns why the directory is not safe to load code from.
    pub fn open_default() -> Result<Self, StoreError> {
        match cache_directory() {
            Some(base) => Self::open(&base),
            None => Err(StoreError::NoHome),
        }
    }

    /// Opens a store below `base`, making it if there is none.
    ///
    /// # Errors
    /// Returns why the directory is not safe to load code from.
    pub fn open(base: &Path) -> Result<Self, StoreError> {
        let unusable = |error| StoreError::Unusable {
            directory: base.to_owned(),
            error,
        };
        private::make(base).map_err(unusable)?;
        // With links resolved, every directory on the way can be looked at.
        let directory = fs::canonicalize(base).map_err(unusable)?.join("compiled");
        private::check_way(&directory)?;
        private::make(&directory).map_err(unusable)?;
        private::check(&directory)?;
        Ok(Self {
            directory: Some(directory),
        })
    }

    /// Reads a file that was kept beside the compiled code, if nobody else could have
    /// written it.
    pub(crate) fn read_beside(&self, path: &Path) -> Option<Vec<u8>> {
        let path = self.directory.as_ref()?.parent()?.join(path);
        private::check(path.parent()?).ok()?;
        private::check_file(&path).ok()?;
        fs::read(path).ok()
    }

    /// Keeps a file beside the compiled code, whole or not at all.
    pub(crate) fn write_beside(
        &self,
        path: &Path,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let base = self
            .directory
            .as_ref()
            .and_then(|directory| directory.parent());
        let path = base.ok_or(io::ErrorKind::NotFound)?.join(path);
        let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
        private::make(folder)?;
        let mut file = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(folder)?;
        write(file.as_file_mut())?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Removes the older half of the files in a folder beside the compiled code, if there are
    /// more than `most`.
    pub(crate) fn thin_out_beside(&self, folder: &Path, most: usize) -> io::Result<()> {
        let base = self.directory.as_ref().and_then(|code| code.parent());
        let folder = base.ok_or(io::ErrorKind::NotFound)?.join(folder);
        private::make(&folder)?;
        upkeep::halve(&folder, most)
    }

    /// Says whether the component with this digest was compiled before.
    pub(crate) fn has(&self, engine: &Engine, digest: &Digest) -> bool {
        let directory = self.directory.as_ref();
        directory.is_some_and(|directory| directory.join(file_name(engine, digest)).exists())
    }

    /// Makes a store that keeps nothing.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { directory: None }
    }

    /// Returns the component with this digest, compiled; compiles it first if
    /// the store does not have it.
    ///
    /// # Errors
    /// Returns why it cannot be compiled.
    pub fn load(
        &self,
        engine: &Engine,
        digest: &Digest,
        what: &str,
        bytes: impl FnOnce() -> Vec<u8>,
        on_progress: &OnProgress,
        compile_time: Duration,
    ) -> Result<Component, CompileError> {
        let Some(directory) = &self.directory else {
            let code = compile(engine, what, bytes(), on_progress, compile_time)?;
            return from_memory(engine, &code);
        };
        let path = directory.join(file_name(engine, digest));
        if let Some(component) = from_file(engine, &path) {
            upkeep::used(&path);
            return Ok(component);
        }
        let _turn = take_turn(&path, what, on_progress, compile_time);
        if let Some(component) = from_file(engine, &path) {
            return Ok(component);
        }
        let code = compile(engine, what, bytes(), on_progress, compile_time)?;
        let kept = keep(directory, &path, &code)
            .and_then(|()| upkeep::thin_out(directory, upkeep::MOST_BYTES, &path));
        if let Err(error) = kept {
            tracing::warn!(path = %path.display(), %error, "compiled code could not be kept");
        }
        match from_file(engine, &path) {
            Some(component) => Ok(component),
            None => from_memory(engine, &code),
        }
    }
}

/// Returns the user's own directory for what can be made again: `HOOKBOX_CACHE_DIR`,
/// or `hookbox` in the platform's cache directory.
pub(crate) fn cache_directory() -> Option<PathBuf> {
    std::env::var_os("HOOKBOX_CACHE_DIR")
        .filter(|given| !given.is_empty())
        .map(PathBuf::from)
        .or_else(|| dirs::cache_dir().map(|base| base.join("hookbox")))
}

/// Why the store of compiled code cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no place for it.
    #[error("there is no directory for compiled code: set HOOKBOX_CACHE_DIR to one of your own")]
    NoHome,
    /// The directory cannot be made or read.
    #[error("the directory for compiled code, {}, cannot be used: {error}; set HOOKBOX_CACHE_DIR to one of your own", directory.display())]
    Unusable {
        /// The directory.
        directory: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Somebody else could put code there.
    #[error("the directory for compiled code, {}, is not safe: {why}; set HOOKBOX_CACHE_DIR to a directory that only you can write to", directory.display())]
    Unsafe {
        /// The directory.
        directory: PathBuf,
        /// Who could write to it.
        why: String,
    },
}

fn file_name(engine: &Engine, digest: &Digest) -> String {
    let fingerprint = &engine.fingerprint()[..32];
    format!("{}-{fingerprint}.{}", digest.as_str(), upkeep::ENDING)
}

/// Compiles on a thread of its own, so that a component made to be slow costs no
/// more than the time allowed. The thread cannot be stopped, but nothing waits for it.
fn compile(
    engine: &Engine,
    what: &str,
    bytes: Vec<u8>,
    on_progress: &OnProgress,
    compile_time: Duration,
) -> Result<Vec<u8>, CompileError> {
    let started = Instant::now();
    on_progress(Progress::Compiling {
        what: what.to_owned(),
        bytes: bytes.len(),
    });
    let (sender, receiver) = channel();
    let engine = engine.wasmtime().clone();
    std::thread::spawn(move || {
        // Nobody listens any more if it took too long.
        let _ = sender.send(engine.precompile_component(&bytes));
    });
    let code = match receiver.recv_timeout(compile_time) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => return Err(CompileError::Invalid(format!("{error:#}"))),
        Err(RecvTimeoutError::Timeout) => return Err(CompileError::TooSlow(compile_time)),
        Err(RecvTimeoutError::Disconnected) => {
            return Err(CompileError::Invalid(
                "the compiler panicked on it".to_owned(),
            ));
        }
    };
    on_progress(Progress::Ready {
        what: what.to_owned(),
        took: started.elapsed(),
    });
    Ok(code)
}

/// Lets one process compile while the others wait for its result. The lock goes
/// with its process; where there is no lock, everybody compiles, which is only slow.
fn take_turn(
    path: &Path,
    what: &str,
    on_progress: &OnProgress,
    compile_time: Duration,
) -> Option<File> {
    let lock = private::create(&path.with_extension("lock")).ok()?;
    let started = Instant::now();
    let mut announced = false;
    while matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)) {
        if started.elapsed() >= compile_time {
            return None;
        }
        if !announced && started.elapsed() >= ANNOUNCE_AFTER {
            announced = true;
            on_progress(Progress::Waiting {
                what: what.to_owned(),
            });
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Some(lock)
}

/// Writes a file whole or not at all, also when the machine loses power.
fn keep(directory: &Path, path: &Path, code: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .tempfile_in(directory)?;
    file.write_all(code)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn from_file(engine: &Engine, path: &Path) -> Option<Component> {
    let directory = path.parent()?;
    private::check(directory).ok()?;
    private::check_file(path).ok()?;
    unsafe_load(engine, Code::File(path)).ok()
}

fn from_memory(engine: &Engine, code: &[u8]) -> Result<Component, CompileError> {
    unsafe_load(engine, Code::Memory(code))
        .map_err(|error| CompileError::Invalid(format!("{error:#}")))
}

enum Code<'a> {
    File(&'a Path),
    Memory(&'a [u8]),
}

/// Loads compiled code: the one place of the crate that has to trust bytes.
#[expect(unsafe_code, reason = "wasmtime cannot verify compiled code")]
fn unsafe_load(engine: &Engine, code: Code<'_>) -> wasmtime::Result<Component> {
    // SAFETY: the bytes must be what `Engine::precompile_component` returned, and
    // must not change while they are mapped.
    // - In memory they come straight from that function, in this process.
    // - A file was written by `keep`: under a temporary name, synced, then renamed,
    //   so the name never stands for a part of it, and no code of ours opens it
    //   for writing again. Its directory and the file itself were just checked to
    //   belong to this user and to be writable by nobody else, so only processes
    //   of the same user could have put something else there; those can run any
    //   code as this user without it (SECURITY.md states this).
    // - Its name carries the engine's fingerprint, and wasmtime checks version and
    //   configuration again.
    unsafe {
        match code {
            Code::File(path) => Component::deserialize_file(engine.wasmtime(), path),
            Code::Memory(bytes) => Component::deserialize(engine.wasmtime(), bytes),
        }
    }
}

/// What only the user can write to.
#[cfg(unix)]
pub(crate) mod private {
    use super::{File, Path, StoreError, fs, io};
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};

    /// Write permission for the group or for everybody.
    const OTHERS_WRITE: u32 = 0o022;

    pub(crate) fn make(directory: &Path) -> io::Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
    }

    pub(crate) fn create(path: &Path) -> io::Result<File> {
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
    }

    pub(crate) fn check(directory: &Path) -> Result<(), StoreError> {
        let refuse = |why: &str| StoreError::Unsafe {
            directory: directory.to_owned(),
            why: why.to_owned(),
        };
        let metadata = fs::symlink_metadata(directory).map_err(|error| StoreError::Unusable {
            directory: directory.to_owned(),
            error,
        })?;
        if !metadata.is_dir() {
            return Err(refuse("it is not a directory"));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(refuse("it belongs to another user"));
        }
        if metadata.mode() & OTHERS_WRITE != 0 {
            return Err(refuse("other users can write to it"));
        }
        Ok(())
    }

    /// Refuses a directory that somebody else could put another one in the place
    /// of, by way of the directories above it.
    pub(crate) fn check_way(directory: &Path) -> Result<(), StoreError> {
        let own_group = rustix::process::getegid().as_raw();
        let own_user = rustix::process::geteuid().as_raw();
        for above in directory.ancestors().skip(1) {
            let metadata = fs::symlink_metadata(above).map_err(|error| StoreError::Unusable {
                directory: above.to_owned(),
                error,
            })?;
            // In a directory with this bit, entries belong to those who made them.
            let sticky = metadata.mode() & 0o1000 != 0;
            let foreign_group = metadata.mode() & 0o020 != 0 && metadata.gid() != own_group;
            let everybody = metadata.mode() & 0o002 != 0;
            let why = if ![0, own_user].contains(&metadata.uid()) {
                "belongs to another user"
            } else if (everybody || foreign_group) && !sticky {
                "can be written to by other users"
            } else {
                continue;
            };
            return Err(StoreError::Unsafe {
                directory: directory.to_owned(),
                why: format!("{} {why}", above.display()),
            });
        }
        Ok(())
    }

    pub(crate) fn check_file(path: &Path) -> io::Result<()> {
        let metadata = fs::symlink_metadata(path)?;
        let own = metadata.is_file()
            && metadata.uid() == rustix::process::geteuid().as_raw()
            && metadata.mode() & OTHERS_WRITE == 0;
        own.then_some(())
            .ok_or_else(|| io::ErrorKind::PermissionDenied.into())
    }
}

#[cfg(not(unix))]
pub(crate) mod private {
    //! The platform's cache directory is the user's own by its access list.

    use super::{File, Path, StoreError, fs, io};

    pub(crate) fn make(directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)
    }

    pub(crate) fn create(path: &Path) -> io::Result<File> {
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
    }

    pub(crate) fn check_way(_directory: &Path) -> Result<(), StoreError> {
        Ok(())
    }

    pub(crate) fn check(directory: &Path) -> Result<(), StoreError> {
        if fs::symlink_metadata(directory).is_ok_and(|metadata| metadata.is_dir()) {
            return Ok(());
        }
        Err(StoreError::Unsafe {
            directory: directory.to_owned(),
            why: "it is not a directory".to_owned(),
        })
    }

    pub(crate) fn check_file(path: &Path) -> io::Result<()> {
        let metadata = fs::symlink_metadata(path)?;
        metadata
            .is_file()
            .then_some(())
            .ok_or_else(|| io::ErrorKind::PermissionDenied.into())
    }
}
