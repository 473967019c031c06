//! Tells whether the files of a project changed since it was loaded, without reading
//! them.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
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
    hash: u64,
    /// When anything changed last, in nanoseconds since 1970.
    newest: i128,
}

impl Stamp {
    /// Says whether everything that happened since some moment would show.
    pub(super) fn is_settled(&self, since: SystemTime) -> bool {
        let since = since
            .checked_sub(COARSE)
            .and_then(|since| since.duration_since(UNIX_EPOCH).ok());
        since.is_some_and(|since| self.newest < since.as_nanos().cast_signed())
    }
}

/// Looks at the files of a project, and at further ones that it was loaded from. None if
/// there are too many, or if one is gone.
pub(super) fn stamp(root: &Path, further: &[PathBuf]) -> Option<Stamp> {
    let mut look = Look {
        hash: DefaultHasher::new(),
        newest: i128::MIN,
        left: MOST,
        further: further.iter().map(|file| file.as_os_str()).collect(),
    };
    for source in SOURCES {
        look.at(&root.join(source), DEEPEST)?;
    }
    for file in further {
        if look.further.contains(file.as_os_str()) {
            look.at(file, 0)?;
        }
    }
    // What was not seen by now is gone.
    if !look.further.is_empty() {
        return None;
    }
    Some(Stamp {
        hash: look.hash.finish(),
        newest: look.newest,
    })
}

struct Look<'f> {
    hash: DefaultHasher,
    newest: i128,
    left: usize,
    /// The further files that were not come by yet: most of them lie below a source. By their
    /// spelling, since taking paths apart takes longer than looking at them.
    further: HashSet<&'f OsStr>,
}

impl Look<'_> {
    fn at(&mut self, path: &Path, deep: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        path.as_os_str().hash(&mut self.hash);
        let Ok(metadata) = fs::symlink_metadata(path) else {
            0_u8.hash(&mut self.hash);
            return Some(());
        };
        self.further.remove(path.as_os_str());
        self.add(&metadata);
        if metadata.is_symlink() {
            // A link says nothing of what it leads to.
            match fs::metadata(path) {
                Ok(metadata) => self.add(&metadata),
                Err(_) => 0_u8.hash(&mut self.hash),
            }
        }
        if metadata.is_dir() && deep > 0 {
            self.below(path, deep - 1)?;
        }
        Some(())
    }

    fn below(&mut self, directory: &Path, deep: usize) -> Option<()> {
        let Ok(entries) = fs::read_dir(directory) else {
            1_u8.hash(&mut self.hash);
            return Some(());
        };
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in entries {
            paths.push(entry.ok()?.path());
        }
        paths.sort();
        paths.iter().try_for_each(|path| self.at(path, deep))
    }

    fn add(&mut self, metadata: &Metadata) {
        let kept = (
            metadata.dev(),
            metadata.ino(),
            metadata.mode(),
            metadata.uid(),
            metadata.size(),
        );
        let changed = (
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        );
        (kept, changed).hash(&mut self.hash);
        let touched = i128::from(metadata.ctime()) * 1_000_000_000;
        let touched = touched + i128::from(metadata.ctime_nsec());
        self.newest = self.newest.max(touched);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut seen = Vec::new();
        let mut differs = |what: &str, further: &[PathBuf]| {
            let next = stamp(root, further);
            assert!(!seen.contains(&next), "{what}");
            assert_eq!(next, stamp(root, further), "{what}");
            seen.push(next);
        };
        let deep = root.join(".harness/hooks/deep");
        let elsewhere = [root.join("elsewhere.md")];
        differs("nothing", &[]);
        fs::create_dir_all(&deep).unwrap();
        differs("a directory", &[]);
        fs::write(deep.join("a.md"), "one").unwrap();
        differs("a file in it", &[]);
        fs::write(deep.join("a.md"), "three").unwrap();
        differs("other bytes", &[]);
        fs::rename(deep.join("a.md"), deep.join("b.md")).unwrap();
        differs("another name", &[]);
        fs::write(root.join("hookbox.toml"), "").unwrap();
        differs("settings", &[]);
        fs::write(&elsewhere[0], "a hook that the settings name").unwrap();
        differs("a file elsewhere", &elsewhere);
        fs::remove_file(&elsewhere[0]).unwrap();
        differs("which is gone", &elsewhere);
        let twice = [deep.join("b.md")];
        let plain = stamp(root, &[]);
        assert!(plain.is_some());
        assert_eq!(stamp(root, &twice), plain, "it was seen already");
        fs::remove_file(&twice[0]).unwrap();
        assert_eq!(stamp(root, &twice), None, "it is gone");
    }

    #[test]
    fn what_changed_just_now_may_change_again_unseen() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hookbox.toml"), "").unwrap();
        let stamp = stamp(folder.path(), &[]).unwrap();
        let now = SystemTime::now();
        assert!(!stamp.is_settled(now));
        assert!(!stamp.is_settled(UNIX_EPOCH));
        assert!(stamp.is_settled(now + 2 * COARSE));
    }
}
