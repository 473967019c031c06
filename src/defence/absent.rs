//! What was not there when it was looked for, and need not be looked for again: most
//! protected paths are those of agents that nobody uses here.
//!
//! Nothing appears in a folder without changing the folder's times. What is there is looked
//! at each time, since something else can be mounted over it.

use std::fs::Metadata;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How coarse the clocks of file systems are. A folder that was changed this short before it
/// was looked at can change again and look the same.
const COARSE: Duration = Duration::from_secs(2);

/// What a folder looks like: another one wherever something was added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    device: u64,
    number: u64,
    /// Seconds and nanoseconds since 1970. Only the second of these cannot be set at will.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Look {
    /// Looks at a folder; nothing if it is none.
    #[cfg(unix)]
    pub(super) fn of_folder(found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        found.is_dir().then(|| Self {
            device: found.dev(),
            number: found.ino(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// Elsewhere a folder does not tell enough of itself.
    #[cfg(not(unix))]
    pub(super) fn of_folder(_: &Metadata) -> Option<Self> {
        None
    }

    /// Says whether everything that happens to the folder from now on will show.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let before = now.checked_sub(COARSE);
        let before = before.and_then(|before| before.duration_since(UNIX_EPOCH).ok());
        let newest = self.modified.0.max(self.changed.0);
        // A file system that keeps no times shows nothing.
        newest > 0 && before.is_some_and(|before| newest.cast_unsigned() < before.as_secs())
    }
}

/// For each path, the folder in which it was not. Clones share what they know.
#[derive(Debug, Clone, Default)]
pub(super) struct Absences(Arc<Mutex<Vec<Option<Look>>>>);

impl Absences {
    /// Returns what is known by now.
    pub(super) fn known(&self) -> Vec<Option<Look>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Keeps what was seen.
    pub(super) fn keep(&self, seen: Vec<Option<Look>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }
}
