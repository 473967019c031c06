//! A server for as long as somebody needs it: it ends when nobody asked for long, and when
//! another hookbox took the place of its program.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::fault::Fault;

/// What makes a server temporary.
pub(super) struct Temporary {
    idle: Duration,
    asked: Mutex<Instant>,
    program: Option<Program>,
    replaced: Notify,
}

impl Temporary {
    /// Lets a server end when nobody asked for so long.
    pub(super) fn new(idle: Duration) -> Self {
        Self {
            idle,
            asked: Mutex::new(Instant::now()),
            program: std::env::current_exe().ok().and_then(Program::of),
            replaced: Notify::new(),
        }
    }

    /// Notes that somebody asks. Who asks a program that is not there any more should do
    /// without it.
    pub(super) fn asked(&self, allowed: Result<(), Fault>) -> Result<(), Fault> {
        let now = Instant::now();
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = now;
        let allowed = allowed.and_then(|()| match &self.program {
            Some(program) if program.is_there() => Ok(()),
            _ => Err(Fault::Replaced),
        });
        // Whoever is of another version is the newer one, or the next one will be.
        if let Err(Fault::Replaced | Fault::Version { .. }) = &allowed {
            self.replaced.notify_one();
        }
        allowed
    }

    /// Waits until it is over.
    pub(super) async fn over(&self, is_busy: impl Fn() -> bool) {
        let idle = async {
            loop {
                let asked = *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                let left = self.idle.saturating_sub(asked.elapsed());
                match left {
                    Duration::ZERO if !is_busy() => return,
                    // What is busy for that long ends by its own limits.
                    Duration::ZERO => tokio::time::sleep(Duration::from_secs(1)).await,
                    left => tokio::time::sleep(left).await,
                }
            }
        };
        super::server::either(idle, self.replaced.notified()).await;
    }
}

/// A program as it lay on the disk.
struct Program {
    path: PathBuf,
    print: Print,
}

/// What changes with every other program in the same place.
type Print = (u64, u64, u64, i64, i64);

impl Program {
    fn of(path: PathBuf) -> Option<Self> {
        let print = print(&path)?;
        Some(Self { path, print })
    }

    fn is_there(&self) -> bool {
        print(&self.path) == Some(self.print)
    }
}

fn print(path: &Path) -> Option<Print> {
    let found = fs::metadata(path).ok()?;
    Some((
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
    ))
}
