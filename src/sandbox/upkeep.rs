//! Keeps the store of compiled code, and what lies beside it, from growing for ever: what was
//! not used for the longest time goes first.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How much compiled code is kept: that of about a hundred interpreters.
pub(super) const MOST_BYTES: u64 = 2 << 30;

/// How exactly it is known when something was used. Noting it more often would cost more
/// than it tells.
const GRAIN: Duration = Duration::from_secs(60 * 60);

/// The ending of a file with compiled code.
pub(super) const ENDING: &str = "cwasm";

/// Notes that compiled code was used.
pub(super) fn used(path: &Path) {
    let modified = fs::metadata(path).and_then(|known| known.modified());
    let since = modified.ok().and_then(|modified| modified.elapsed().ok());
    if since.is_some_and(|since| since > GRAIN) {
        // Where that cannot be noted, it is compiled once more some day.
        let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
    }
}

/// Removes compiled code until there is half as much as there may be, if there is more. What
/// was compiled just now stays, whatever the clocks say.
pub(super) fn thin_out(directory: &Path, most: u64, new: &Path) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        // Another process may thin out at the same time.
        if path.extension().is_some_and(|ending| ending == ENDING)
            && let Ok(known) = fs::symlink_metadata(&path)
        {
            all.push((known.modified()?, known.len(), path));
        }
    }
    let mut bytes: u64 = all.iter().map(|(_, size, _)| size).sum();
    if bytes <= most {
        return Ok(());
    }
    all.sort();
    for (_, size, path) in all {
        if bytes <= most / 2 {
            break;
        }
        if path == new {
            continue;
        }
        let _ = fs::remove_file(path.with_extension("lock"));
        let _ = fs::remove_file(path);
        bytes -= size;
    }
    Ok(())
}

/// Removes the older half of the files in a folder, if there are more than `most`.
pub(super) fn halve(folder: &Path, most: usize) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?);
    }
    if files.len() <= most {
        return Ok(());
    }
    files.sort_by_cached_key(|file| file.metadata().and_then(|known| known.modified()).ok());
    for file in &files[..files.len() / 2] {
        // Another process may do the same at the same time.
        let _ = fs::remove_file(file.path());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// Makes a file of a size that was used so long ago.
    fn put(folder: &Path, name: &str, size: usize, ago: Duration) {
        let path = folder.join(name);
        fs::write(&path, vec![0; size]).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - ago).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        for (name, size, days) in [
            ("a.cwasm", 20, 1),
            ("b.cwasm", 30, 4),
            ("b.lock", 0, 4),
            ("c.cwasm", 30, 2),
            ("d.cwasm", 30, 3),
            ("else", 1_000, 9),
        ] {
            put(folder.path(), name, size, DAY * days);
        }
        let whole = names(folder.path());
        let new = folder.path().join("d.cwasm");
        thin_out(folder.path(), 110, &new).unwrap();
        assert_eq!(names(folder.path()), whole);
        thin_out(folder.path(), 109, &new).unwrap();
        assert_eq!(names(folder.path()), ["a.cwasm", "d.cwasm", "else"]);
        thin_out(folder.path(), 1, &new).unwrap();
        assert_eq!(names(folder.path()), ["d.cwasm", "else"]);
        thin_out(folder.path(), 0, &new).unwrap();
        assert_eq!(names(folder.path()), ["d.cwasm", "else"]);
    }

    #[test]
    fn a_use_is_noted_once_in_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cwasm");
        let age = || fs::metadata(&path).unwrap().modified().unwrap().elapsed();
        put(folder.path(), "a.cwasm", 1, GRAIN / 2);
        used(&path);
        assert!(age().unwrap() >= GRAIN / 2);
        put(folder.path(), "a.cwasm", 1, DAY);
        used(&path);
        assert!(age().unwrap() < GRAIN);
        used(&folder.path().join("gone"));
    }
}
