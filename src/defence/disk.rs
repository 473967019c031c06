//! What lies on the disk along the protected paths at the moment of a call.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::absent::{Absences, Look};
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
    /// What it looks like, if it is a folder.
    pub folder: Option<Look>,
}

/// All that was found along a tree.
#[derive(Debug)]
pub(super) struct Disk(Vec<Found>);

impl Disk {
    /// Looks at all paths, but for those that were not there before in a folder that has not
    /// changed since.
    pub(super) fn look(tree: &Tree, absences: &Absences) -> Self {
        Self::look_at(tree, absences, SystemTime::now())
    }

    fn look_at(tree: &Tree, absences: &Absences, now: SystemTime) -> Self {
        let mut known = absences.known();
        known.resize(tree.nodes().len(), None);
        let mut all: Vec<Found> = Vec::with_capacity(tree.nodes().len());
        for (node, absent_in) in tree.nodes().iter().zip(known.iter_mut()) {
            let folder = node.above.and_then(|above| all.get(above));
            let holds = folder.and_then(|folder| folder.folder);
            // In a folder that is not there, nothing is.
            let possible = folder.is_none_or(|folder| folder.there)
                && (absent_in.is_none() || *absent_in != holds);
            let metadata = possible.then(|| node.path.symlink_metadata().ok());
            let found = find(&node.path, folder, metadata.flatten());
            let lasts = holds.filter(|look| !found.there && look.is_settled(now));
            *absent_in = lasts;
            all.push(found);
        }
        absences.keep(known);
        Self(all)
    }

    pub(super) fn at(&self, place: Place) -> Option<&Found> {
        self.0.get(place)
    }
}

fn find(path: &Path, folder: Option<&Found>, metadata: Option<Metadata>) -> Found {
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
        folder: metadata.as_ref().and_then(Look::of_folder),
    }
}

/// Returns what a path leads to.
pub(super) fn identity(path: &Path) -> Option<Identity> {
    number(&path.metadata().ok()?)
}

/// Returns what tells a file from others.
#[cfg(unix)]
pub(super) fn number(found: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
pub(super) fn number(_: &Metadata) -> Option<Identity> {
    None
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    /// Long enough for every clock of a file system to go on.
    const TICK: Duration = Duration::from_millis(50);
    const LATER: Duration = Duration::from_secs(60);

    struct Case {
        folder: tempfile::TempDir,
        tree: Tree,
        absences: Absences,
        file: Place,
    }

    impl Case {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut tree = Tree::default();
            let file = tree.add(&folder.path().join("below/file"));
            let absences = Absences::default();
            Self {
                folder,
                tree,
                absences,
                file,
            }
        }

        fn is_there(&self, now: SystemTime) -> bool {
            std::thread::sleep(TICK);
            let disk = Disk::look_at(&self.tree, &self.absences, now);
            disk.at(self.file).unwrap().there
        }

        fn is_remembered(&self) -> bool {
            self.absences.known()[self.file].is_some()
        }
    }

    #[test]
    fn what_appears_is_seen_though_it_was_not_there() {
        let case = Case::new();
        let below = case.folder.path().join("below");
        let later = SystemTime::now() + LATER;
        assert!(!case.is_there(later));
        fs::create_dir(&below).unwrap();
        assert!(!case.is_there(later));
        assert!(case.is_remembered());
        assert!(!case.is_there(later), "which is known now");
        fs::write(below.join("file"), "").unwrap();
        assert!(case.is_there(later));
        fs::remove_file(below.join("file")).unwrap();
        assert!(!case.is_there(later));
        std::os::unix::fs::symlink("nowhere", below.join("file")).unwrap();
        assert!(case.is_there(later), "a link to nowhere is something");
        fs::remove_file(below.join("file")).unwrap();
        assert!(!case.is_there(later));
        let other = case.folder.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("file"), "").unwrap();
        fs::rename(&below, case.folder.path().join("gone")).unwrap();
        fs::rename(&other, &below).unwrap();
        assert!(case.is_there(later), "another folder took its place");
    }

    #[test]
    fn nothing_is_remembered_of_a_folder_that_changed_just_now() {
        let case = Case::new();
        fs::create_dir(case.folder.path().join("below")).unwrap();
        assert!(!case.is_there(SystemTime::now()));
        assert!(!case.is_remembered());
        assert!(!case.is_there(SystemTime::UNIX_EPOCH));
        assert!(!case.is_remembered(), "nor by a clock that went backwards");
    }
}
