//! Whether files are what they were, without reading them.
//!
//! A file that was changed has another size, another time of its last change, or is
//! another file. That last time is the kernel's own and cannot be set back like the time of
//! modification. What changed within the grain of the clock before it was looked at cannot
//! be told by its times, so such a look does not count.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Everything a project can be made of beside the files that these lead to. What is not
/// there must not come into being unseen.
const PLACES: [&str; 12] = [
    "hookbox.toml",
    ".hookbox",
    ".hookbox/config.toml",
    "harness.md",
    ".harness",
    ".harness/hooks",
    ".harness/plugins",
    ".harness/builtins",
    ".harness/overrides",
    ".polytoken",
    "harn.toml",
    "settings.json",
];

/// Those that have hooks of other dialects, which are not kept.
const FOREIGN: [&str; 3] = [".polytoken", "harn.toml", "settings.json"];

/// The folders with files of hooks.
const FOLDERS: [&str; 4] = [
    ".harness/hooks",
    ".harness/plugins",
    ".harness/builtins",
    ".harness/overrides",
];

/// Coarser than the clock of any file system in use.
const GRAIN: Duration = Duration::from_secs(2);

/// What tells a file from another one in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// The files that a project was loaded from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Watched(Vec<(String, Option<Identity>)>);

impl Watched {
    /// Looks at a project; nothing if it is of a kind that is not kept, or was changed just
    /// now.
    pub(super) fn look(project: &Path) -> Option<Self> {
        if FOREIGN
            .iter()
            .any(|name| project.join(name).symlink_metadata().is_ok())
        {
            return None;
        }
        let mut watched = Self(Vec::new());
        for place in PLACES {
            watched.also(project, place);
        }
        for folder in FOLDERS {
            for entry in std::fs::read_dir(project.join(folder))
                .into_iter()
                .flatten()
            {
                let name = entry.ok()?.file_name();
                watched.also(project, &format!("{folder}/{}", name.to_str()?));
            }
        }
        Some(watched)
    }

    /// Also watches a file.
    pub(super) fn also(&mut self, project: &Path, path: &str) {
        if !self.0.iter().any(|(known, _)| known == path) {
            self.0
                .push((path.to_owned(), identity(&project.join(path))));
        }
    }

    /// Says whether nothing changed.
    pub(super) fn unchanged(&self, project: &Path) -> bool {
        let mut files = self.0.iter();
        files.all(|(name, known)| identity(&project.join(name)) == *known)
    }

    /// Says whether nothing changed, and nothing was changed so recently that another change
    /// could look the same.
    pub(super) fn is_as_it_was(&self, project: &Path) -> bool {
        let mut known = self.0.iter().filter_map(|(_, identity)| *identity);
        known.all(|identity| identity.is_settled()) && self.unchanged(project)
    }
}

impl Identity {
    /// Returns the identity of what lies at a path.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        identity(path)
    }

    /// Says whether the last change is so long ago that another one could not look the same.
    pub(crate) fn is_settled(&self) -> bool {
        let settled = SystemTime::now()
            .checked_sub(GRAIN)
            .and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        settled.is_some_and(|settled| i128::from(self.changed.0) < i128::from(settled.as_secs()))
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(path).ok()?;
    Some(Identity {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

/// Without the kernel's own time of a change nothing is ever known to be unchanged.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().map(|metadata| Identity {
        device: 0,
        inode: 0,
        size: metadata.len(),
        modified: (0, 0),
        changed: (i64::MAX, 0),
    })
}
