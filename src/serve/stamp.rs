//! Tells whether the files of a project changed since it was loaded, without reading
//! them.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a project is loaded from.
const SOURCES: [&str; 8] = [
    "hookbox.toml",
    ".hookbox",
    "harness.md",
    ".harness",
    ".polytoken",
    "harn.toml",
    "settings.json",
    "hooks",
];

/// How deep below a source is looked: deeper than anything that is loaded.
const DEEPEST: usize = 16;

/// How many entries are looked at. A project with more is loaded anew for each event,
/// which is slow and never wrong.
const MOST: usize = 20_000;

/// How coarse the clocks of file systems are. A file that was changed this short before
/// it was looked at can change again and look the same.
const COARSE: Duration = Duration::from_secs(2);

/// What the files of a project looked like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The project's own folder: where that is the same, nothing appeared in it.
    root: Look,
    paths: Vec<(PathBuf, Seen)>,
}

/// What was seen at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    /// Nothing, right in the project.
    Absent,
    /// Nothing, somewhere else.
    Gone,
    /// A file or a folder.
    Plain(Look),
    /// A link, and what it leads to. It says nothing of that itself.
    Link(Look, Option<Look>),
}

/// What tells one version of a file from another. A folder is another one wherever something
/// was added to it or taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    device: u64,
    number: u64,
    mode: u32,
    owner: u32,
    size: u64,
    /// Seconds and nanoseconds since 1970. Only the second of these cannot be set at will.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Look {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            number: metadata.ino(),
            mode: metadata.mode(),
            owner: metadata.uid(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn at(path: &Path) -> Option<Self> {
        Some(Self::of(&fs::metadata(path).ok()?))
    }
}

impl Seen {
    fn at(path: &Path) -> (Self, Option<Metadata>) {
        let Ok(metadata) = fs::symlink_metadata(path) else {
            return (Self::Gone, None);
        };
        let look = Look::of(&metadata);
        let seen = if metadata.is_symlink() {
            Self::Link(look, Look::at(path))
        } else {
            Self::Plain(look)
        };
        (seen, Some(metadata))
    }

    fn looks(&self) -> impl Iterator<Item = &Look> {
        let (one, other) = match self {
            Self::Absent | Self::Gone => (None, None),
            Self::Plain(look) => (Some(look), None),
            Self::Link(link, target) => (Some(link), target.as_ref()),
        };
        one.into_iter().chain(other)
    }
}

impl Stamp {
    /// Returns it if everything that happened since some moment would show.
    pub(super) fn settled(self, since: SystemTime) -> Option<Self> {
        let before = since.checked_sub(COARSE)?;
        let before = before.duration_since(UNIX_EPOCH).ok()?;
        let before = (
            i64::try_from(before.as_secs()).ok()?,
            i64::from(before.subsec_nanos()),
        );
        let is_settled = |look: &Look| look.changed < before;
        let mut paths = self.paths.iter();
        let settled = paths.all(|(_, seen)| seen.looks().all(is_settled));
        (settled && is_settled(&self.root)).then_some(self)
    }

    /// Says whether everything looks like that still. Folders are not read again: they show
    /// themselves that something in them is new.
    pub(super) fn holds(&self, root: &Path) -> bool {
        let same_root = Look::at(root).as_ref() == Some(&self.root);
        self.paths.iter().all(|(path, seen)| match seen {
            Seen::Absent if same_root => true,
            Seen::Absent => Seen::at(path).0 == Seen::Gone,
            seen => Seen::at(path).0 == *seen,
        })
    }
}

/// Looks at the files of a project, and at further ones that it was loaded from. None if
/// there are too many, or if one is gone.
pub(super) fn stamp(root: &Path, further: &[PathBuf]) -> Option<Stamp> {
    let own = Look::at(root)?;
    let mut list = List::default();
    for source in SOURCES {
        list.add(root.join(source), DEEPEST)?;
    }
    for (_, seen) in &mut list.paths {
        if *seen == Seen::Gone {
            *seen = Seen::Absent;
        }
    }
    // Most of them lie below a source.
    let mut there = list.there();
    let others = further.iter().filter(|file| !there.contains(*file));
    let others: Vec<PathBuf> = others.cloned().collect();
    for file in others {
        list.add(file, 0)?;
    }
    there = list.there();
    further
        .iter()
        .all(|file| there.contains(file))
        .then_some(())?;
    Some(Stamp {
        root: own,
        paths: list.paths,
    })
}

/// What was looked at so far.
#[derive(Default)]
struct List {
    paths: Vec<(PathBuf, Seen)>,
}

impl List {
    /// Returns the paths at which there is something.
    fn there(&self) -> HashSet<PathBuf> {
        let there = self.paths.iter();
        let there = there.filter(|(_, seen)| !matches!(seen, Seen::Absent | Seen::Gone));
        there.map(|(path, _)| path.clone()).collect()
    }

    fn add(&mut self, path: PathBuf, deep: usize) -> Option<()> {
        if self.paths.len() >= MOST {
            return None;
        }
        let (seen, metadata) = Seen::at(&path);
        let below = metadata.is_some_and(|metadata| metadata.is_dir()) && deep > 0;
        self.paths.push((path.clone(), seen));
        if !below {
            return Some(());
        }
        // One that cannot be read says nothing of what is in it.
        let entries = fs::read_dir(path).ok()?;
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in entries {
            paths.push(entry.ok()?.path());
        }
        paths.sort();
        paths
            .into_iter()
            .try_for_each(|path| self.add(path, deep - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than the grain of the clock of files.
    const TICK: Duration = Duration::from_millis(50);

    fn later() -> SystemTime {
        SystemTime::now() + 2 * COARSE
    }

    #[test]
    fn every_change_is_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut seen: Vec<Stamp> = Vec::new();
        let mut differs = |what: &str| {
            let next = stamp(root, &[]).unwrap().settled(later()).unwrap();
            assert_eq!(Some(&next), stamp(root, &[]).as_ref(), "{what}");
            assert!(next.holds(root), "{what}");
            for old in &seen {
                assert!(!old.holds(root), "{what}");
                assert_ne!(*old, next, "{what}");
            }
            seen.push(next);
            std::thread::sleep(TICK);
        };
        let deep = root.join(".harness/hooks/deep");
        differs("nothing");
        fs::create_dir_all(&deep).unwrap();
        differs("a directory");
        fs::write(deep.join("a.md"), "one").unwrap();
        differs("a file in it");
        fs::write(deep.join("a.md"), "three").unwrap();
        differs("other bytes");
        fs::rename(deep.join("a.md"), deep.join("b.md")).unwrap();
        differs("another name");
        fs::write(root.join("hookbox.toml"), "").unwrap();
        differs("settings");
        std::os::unix::fs::symlink("nowhere", root.join("harn.toml")).unwrap();
        differs("a link to nowhere");
        fs::write(root.join("nowhere"), "").unwrap();
        differs("which leads somewhere now");
        fs::write(root.join("nowhere"), "more").unwrap();
        differs("what it leads to");
        fs::set_permissions(&deep, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        differs("who may read it");
    }

    #[test]
    fn a_file_elsewhere_counts_where_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let elsewhere = root.join("elsewhere.md");
        let further = [elsewhere.clone()];
        assert_eq!(stamp(root, &further), None, "it is not there");
        fs::write(&elsewhere, "a hook that the settings name").unwrap();
        let without = stamp(root, &[]).unwrap();
        let with = stamp(root, &further).unwrap();
        std::thread::sleep(TICK);
        fs::write(&elsewhere, "another hook").unwrap();
        assert!(without.holds(root));
        assert!(!with.holds(root));
        let with = stamp(root, &further).unwrap();
        fs::remove_file(&elsewhere).unwrap();
        assert!(!with.holds(root));
        fs::create_dir_all(root.join(".harness")).unwrap();
        let below = [root.join(".harness/a.md")];
        fs::write(&below[0], "").unwrap();
        let plain = stamp(root, &[]);
        assert_eq!(stamp(root, &below), plain, "it was seen already");
        fs::remove_file(&below[0]).unwrap();
        assert_eq!(stamp(root, &below), None, "it is gone");
    }

    #[test]
    fn what_changed_just_now_may_change_again_unseen() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("hookbox.toml"), "").unwrap();
        let new = stamp(root, &[]).unwrap();
        assert_eq!(new.clone().settled(SystemTime::now()), None);
        assert_eq!(new.clone().settled(UNIX_EPOCH), None);
        assert!(new.settled(later()).is_some());
    }

    #[test]
    fn a_project_in_which_agents_write_need_not_be_loaded_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let old = stamp(root, &[]).unwrap().settled(later()).unwrap();
        std::thread::sleep(TICK);
        fs::write(root.join("notes.txt"), "").unwrap();
        assert!(old.holds(root));
        fs::write(root.join("harn.toml"), "").unwrap();
        assert!(!old.holds(root));
    }
}
