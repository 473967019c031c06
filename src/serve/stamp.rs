//! Tells whether the files of a project changed since it was loaded, without reading
//! them.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::config::reads::Reads;

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

/// What hookbox itself writes there, and never loads.
const OWN: &str = ".hookbox/tapes";

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
    /// The folders on the way to files elsewhere, as they were when those were looked at.
    /// Agents write there, so that something new is in them says nothing later.
    ways: Vec<Look>,
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
        let settled =
            paths.all(|(_, seen)| seen.looks().all(is_settled)) && self.ways.iter().all(is_settled);
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

/// Looks at the files of a project, and at what else it was loaded from. None if there are
/// too many, or if something came or went meanwhile.
pub(super) fn stamp(root: &Path, reads: &Reads) -> Option<Stamp> {
    let own = Look::at(root)?;
    let mut list = List {
        skipped: root.join(OWN),
        paths: Vec::new(),
    };
    for source in SOURCES {
        list.add(root.join(source), DEEPEST)?;
    }
    for (_, seen) in &mut list.paths {
        if *seen == Seen::Gone {
            *seen = Seen::Absent;
        }
    }
    let mut ways = BTreeSet::new();
    for file in list.missing(root, &reads.there) {
        ways.extend(file.ancestors().skip(1).map(Path::to_owned));
        list.add(file, 0)?;
    }
    for path in list.missing(root, &reads.absent) {
        if !list.shows(&path) {
            list.add(path, 0)?;
        }
    }
    let there = list.there();
    let mut is_there = reads.there.iter().map(|path| root.join(path));
    let mut is_absent = reads.absent.iter().map(|path| root.join(path));
    let as_read =
        is_there.all(|path| there.contains(&path)) && is_absent.all(|path| !there.contains(&path));
    as_read.then_some(())?;
    let ways = ways
        .iter()
        .filter(|way| way.starts_with(root) && *way != root);
    Some(Stamp {
        root: own,
        ways: ways.filter_map(|way| Look::at(way)).collect(),
        paths: list.paths,
    })
}

/// What was looked at so far.
struct List {
    skipped: PathBuf,
    paths: Vec<(PathBuf, Seen)>,
}

impl List {
    /// Returns the paths at which there is something.
    fn there(&self) -> HashSet<PathBuf> {
        let there = self.paths.iter();
        let there = there.filter(|(_, seen)| !matches!(seen, Seen::Absent | Seen::Gone));
        there.map(|(path, _)| path.clone()).collect()
    }

    /// Returns those of some paths that were not looked at yet.
    fn missing(&self, root: &Path, paths: &BTreeSet<String>) -> Vec<PathBuf> {
        let known: HashSet<&Path> = self.paths.iter().map(|(path, _)| &**path).collect();
        let paths = paths.iter().map(|path| root.join(path));
        paths.filter(|path| !known.contains(&**path)).collect()
    }

    /// Says whether the folder is looked at in which a path would come into being: that shows
    /// it, if there is a folder.
    fn shows(&self, path: &Path) -> bool {
        let mut known = self.paths.iter();
        path.parent()
            .is_some_and(|folder| known.any(|(path, _)| path == folder))
    }

    fn add(&mut self, path: PathBuf, deep: usize) -> Option<()> {
        if path == self.skipped {
            return Some(());
        }
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

    fn there(path: &str) -> Reads {
        Reads {
            there: BTreeSet::from([path.to_owned()]),
            ..Reads::default()
        }
    }

    #[test]
    fn every_change_is_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut seen: Vec<Stamp> = Vec::new();
        let mut differs = |what: &str| {
            let next = stamp(root, &Reads::default())
                .unwrap()
                .settled(later())
                .unwrap();
            assert_eq!(
                Some(&next),
                stamp(root, &Reads::default()).as_ref(),
                "{what}"
            );
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
        let further = there("elsewhere.md");
        assert_eq!(stamp(root, &further), None, "it is not there");
        fs::write(&elsewhere, "a hook that the settings name").unwrap();
        let without = stamp(root, &Reads::default()).unwrap();
        let with = stamp(root, &further).unwrap();
        std::thread::sleep(TICK);
        fs::write(&elsewhere, "another hook").unwrap();
        assert!(without.holds(root));
        assert!(!with.holds(root));
        let with = stamp(root, &further).unwrap();
        fs::remove_file(&elsewhere).unwrap();
        assert!(!with.holds(root));
        fs::create_dir_all(root.join(".harness")).unwrap();
        let below = there(".harness/a.md");
        let file = root.join(".harness/a.md");
        fs::write(&file, "").unwrap();
        let plain = stamp(root, &Reads::default());
        assert_eq!(stamp(root, &below), plain, "it was seen already");
        fs::remove_file(&file).unwrap();
        assert_eq!(stamp(root, &below), None, "it is gone");
    }

    #[test]
    fn what_changed_just_now_may_change_again_unseen() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("hookbox.toml"), "").unwrap();
        let new = stamp(root, &Reads::default()).unwrap();
        assert_eq!(new.clone().settled(SystemTime::now()), None);
        assert_eq!(new.clone().settled(UNIX_EPOCH), None);
        assert!(new.settled(later()).is_some());
    }

    #[test]
    fn a_project_in_which_agents_write_need_not_be_loaded_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let old = stamp(root, &Reads::default())
            .unwrap()
            .settled(later())
            .unwrap();
        std::thread::sleep(TICK);
        fs::write(root.join("notes.txt"), "").unwrap();
        assert!(old.holds(root));
        fs::write(root.join("harn.toml"), "").unwrap();
        assert!(!old.holds(root));
    }

    #[test]
    fn what_was_looked_for_in_vain_must_not_come_into_being() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("lib")).unwrap();
        let reads = Reads {
            absent: BTreeSet::from(["lib/policy.wasm".to_owned()]),
            ..Reads::default()
        };
        let old = stamp(root, &reads).unwrap().settled(later()).unwrap();
        fs::write(root.join("lib/another"), "").unwrap();
        assert!(old.holds(root));
        fs::write(root.join("lib/policy.wasm"), "").unwrap();
        assert!(!old.holds(root));
        assert_eq!(
            stamp(root, &reads),
            None,
            "it came while the others were read"
        );
    }

    #[test]
    fn a_folder_shows_that_nothing_came_into_being_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("elsewhere/hooks")).unwrap();
        std::os::unix::fs::symlink("elsewhere", root.join(".harness")).unwrap();
        let reads = Reads {
            absent: BTreeSet::from([".harness/plugins".to_owned()]),
            ..Reads::default()
        };
        let old = stamp(root, &reads).unwrap();
        assert_eq!(old.paths, stamp(root, &Reads::default()).unwrap().paths);
        std::thread::sleep(TICK);
        fs::create_dir(root.join("elsewhere/plugins")).unwrap();
        assert!(!old.holds(root));
    }

    #[test]
    fn a_folder_behind_a_link_counts_where_it_was_listed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("elsewhere/hooks")).unwrap();
        std::os::unix::fs::symlink("elsewhere", root.join(".harness")).unwrap();
        let old = stamp(root, &there(".harness/hooks")).unwrap();
        assert!(old.holds(root));
        std::thread::sleep(TICK);
        fs::write(root.join("elsewhere/hooks/guard.md"), "").unwrap();
        assert!(!old.holds(root));
    }

    #[test]
    fn a_folder_that_was_changed_while_files_in_it_were_read_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("lib")).unwrap();
        fs::write(root.join("lib/policy.star"), "").unwrap();
        let file = Look::at(&root.join("lib/policy.star")).unwrap();
        let now = UNIX_EPOCH + Duration::new(file.changed.0.cast_unsigned(), 0);
        let moment = now + 2 * COARSE;
        let reads = there("lib/policy.star");
        let mut new = stamp(root, &reads).unwrap();
        assert!(new.clone().settled(moment).is_some());
        new.ways[0].changed.0 += 10;
        assert_eq!(new.settled(moment), None);
    }

    #[test]
    fn tapes_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join(OWN)).unwrap();
        let old = stamp(root, &Reads::default()).unwrap();
        fs::write(root.join(OWN).join("2026-01-01.tape"), "").unwrap();
        assert!(old.holds(root));
    }
}
