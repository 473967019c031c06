//! What lies on the disk along the protected paths at the moment of a call.

use std::path::{Path, PathBuf};

use super::paths;
use super::tree::{Place, Tree};

/// A device and a number on it: the same for every name of a file.
pub(super) type Identity = (u64, u64);

/// What was found at a path.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Whether there is anything, if only a link to nowhere.
    pub there: bool,
    /// The path without links, if that is another one.
    pub moved: Option<PathBuf>,
    /// What the path leads to.
    pub identity: Option<Identity>,
}

/// All that was found along a tree.
#[derive(Debug)]
pub(super) struct Disk(Vec<Found>);

impl Disk {
    pub(super) fn look(tree: &Tree) -> Self {
        let mut all: Vec<Found> = Vec::with_capacity(tree.nodes().len());
        for node in tree.nodes() {
            let folder = node.above.and_then(|above| all.get(above));
            let found = find(&node.path, folder);
            all.push(found);
        }
        Self(all)
    }

    pub(super) fn at(&self, place: Place) -> Option<&Found> {
        self.0.get(place)
    }
}

fn find(path: &Path, folder: Option<&Found>) -> Found {
    // In a folder that is not there, nothing is.
    let possible = folder.is_none_or(|folder| folder.there);
    let metadata = possible.then(|| path.symlink_metadata().ok()).flatten();
    let is_link = metadata.as_ref().is_some_and(|found| found.is_symlink());
    let moved = match (is_link, folder, path.file_name()) {
        (false, Some(folder), Some(name)) => folder.moved.as_ref().map(|real| real.join(name)),
        // A link, the root, or a path that ends in dots.
        _ => paths::physical(&path.to_string_lossy()).filter(|real| real != path),
    };
    Found {
        there: metadata.is_some(),
        moved,
        identity: match is_link {
            true => identity(path),
            false => metadata.as_ref().and_then(number),
        },
    }
}

/// Returns what a path leads to.
pub(super) fn identity(path: &Path) -> Option<Identity> {
    number(&path.metadata().ok()?)
}

#[cfg(unix)]
fn number(found: &std::fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn number(_: &std::fs::Metadata) -> Option<Identity> {
    None
}
