//! Where the links lead that a pattern goes through. A shell fills patterns in from the disk,
//! and a name there can be another one of something protected.

use std::collections::HashSet;
use std::fs::{DirEntry, FileType};
use std::path::{Path, PathBuf};

use super::glob;
use super::paths::{self, Base};
use super::scene::{End, Hit, Nearer as _, Place, Scene};
use super::shell::marks;

/// How a shell fills wildcards in, and what is then done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Wild {
    /// They stand for names with a dot before them, too.
    pub dots: bool,
    /// A link at the end is meant itself, and not what it leads to.
    pub itself: bool,
}

/// What a pattern came to, and whether there was more than may be looked at.
pub(super) type Walked = (Option<Hit>, bool);

/// How many folders and links are gone through in one call.
const WALKED: usize = 60_000;
/// How many names are read in one folder.
const ENTRIES: usize = 1_000_000;
/// How many paths are looked up one by one; of others only their numbers are compared.
const LOOKED: usize = 256;
/// How many paths a pattern of things to copy may stand for.
const PATHS: usize = 512;
/// How many folders a shell may be in at once.
const FOLDERS: usize = 24;
/// No shell finds anything by a longer pattern: systems take no longer paths.
const LONGEST: usize = 4096;
/// How many folders and links are looked at below one that is searched through its links.
const BELOW: usize = 20_000;

/// The links below a folder.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub all: Vec<Link>,
    /// There were too many folders to look at all of them.
    pub cut: bool,
}

/// A link, the names that lead to it, and where it leads.
#[derive(Debug)]
pub(super) struct Link {
    pub names: Vec<String>,
    pub target: PathBuf,
}

impl Scene<'_> {
    /// Looks at a pattern by the links on its way. What it means by its names alone,
    /// [`Scene::globbed`] says. If there was too much to look at all of it, that is noted.
    pub(super) fn through_links(&self, pattern: &str, base: Base, wild: Wild) -> Option<Hit> {
        if pattern.len() > LONGEST {
            return None;
        }
        let whole = paths::absolute(pattern, base);
        let known = self.walks.borrow().get(&(whole.clone(), wild)).cloned();
        let (hit, cut) = known.unwrap_or_else(|| {
            let found = self.walk(&whole, wild);
            let mut walks = self.walks.borrow_mut();
            walks.insert((whole, wild), found.clone());
            found
        });
        self.cut.set(self.cut.get() || cut);
        hit
    }

    fn walk(&self, whole: &str, wild: Wild) -> Walked {
        let names: Vec<&str> = whole.split('/').collect();
        let mut walk = Walk {
            scene: self,
            names: &names,
            wild,
            waiting: Vec::new(),
            seen: HashSet::new(),
            best: None,
            cut: false,
            looked: 0,
        };
        walk.wait(PathBuf::from("/"), 0);
        walk.all();
        (walk.best, walk.cut)
    }

    /// Returns the folders that a pattern stands for, a few of them: a shell goes to one.
    pub(super) fn folders_like(&self, pattern: &str, base: Base, dots: bool) -> Vec<String> {
        let mut folders = self.like(pattern, base, dots, FOLDERS);
        folders.retain(|folder| folder.is_dir());
        let names = folders.iter().map(|folder| folder.to_string_lossy());
        names.map(std::borrow::Cow::into_owned).collect()
    }

    /// Returns the paths that a pattern stands for, unless they are many.
    pub(super) fn paths_like(&self, pattern: &str, base: Base, dots: bool) -> Option<Vec<String>> {
        let mut paths = self.like(pattern, base, dots, PATHS);
        paths.retain(|path| path.symlink_metadata().is_ok());
        let ends = if pattern.ends_with("/.") { "/." } else { "" };
        let names = paths.iter().map(|path| path.to_string_lossy());
        let names = names.map(|name| marks::clean(&name) + ends).collect();
        (paths.len() < PATHS).then_some(names)
    }

    fn like(&self, pattern: &str, base: Base, dots: bool, most: usize) -> Vec<PathBuf> {
        if pattern.len() > LONGEST {
            return Vec::new();
        }
        let whole = paths::absolute(pattern, base);
        let mut all = vec![PathBuf::from("/")];
        for name in whole.split('/') {
            let mut next = Vec::new();
            for folder in &all {
                match name {
                    "" | "." => next.push(folder.clone()),
                    ".." => next.push(folder.parent().unwrap_or(folder).to_owned()),
                    name if glob::is_pattern(name) => {
                        next.extend(self.matching(folder, name, dots, most));
                    }
                    name => next.push(folder.join(name)),
                }
            }
            all = next;
            all.truncate(most);
        }
        all
    }

    fn matching(&self, folder: &Path, pattern: &str, dots: bool, most: usize) -> Vec<PathBuf> {
        self.walked.set(self.walked.get() + 1);
        if self.walked.get() > WALKED {
            return Vec::new();
        }
        let pattern = paths::fold(pattern);
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let like = |entry: &DirEntry| {
            let name = entry.file_name();
            glob::one(&pattern, &paths::fold(&name.to_string_lossy()), dots)
        };
        let found = entries.take(ENTRIES).filter(like);
        found.map(|entry| entry.path()).take(most).collect()
    }

    /// Returns the links below a folder, down to some depth.
    pub(super) fn links_below(&self, folder: &Path, most: Option<usize>) -> Links {
        let mut links = Links::default();
        let mut left = BELOW;
        let mut waiting = vec![(folder.to_owned(), Vec::new())];
        while let Some((folder, names)) = waiting.pop() {
            if most.is_some_and(|most| names.len() >= most) {
                continue;
            }
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if !kind.is_symlink() && !kind.is_dir() {
                    continue;
                }
                let name = entry.file_name().to_string_lossy().into_owned();
                let names = [names.as_slice(), &[name]].concat();
                if kind.is_dir() {
                    waiting.push((entry.path(), names));
                } else if let Some(target) = paths::physical(&entry.path().to_string_lossy()) {
                    links.all.push(Link { names, target });
                }
                left -= 1;
                if left == 0 {
                    links.cut = true;
                    return links;
                }
            }
        }
        links
    }
}

/// A way through the disk. What is left of it is kept in a list, not on the stack: whoever
/// writes the pattern chooses how many names it has.
struct Walk<'s> {
    scene: &'s Scene<'s>,
    names: &'s [&'s str],
    wild: Wild,
    /// Folders without links on the way to them, and which name comes next there.
    waiting: Vec<(PathBuf, usize)>,
    /// All that ever waited: patterns such as `*/../*` come to the same place often.
    seen: HashSet<(PathBuf, usize)>,
    best: Option<Hit>,
    /// There was more than may be looked at.
    cut: bool,
    /// How many paths were looked up where the pattern ends.
    looked: usize,
}

impl Walk<'_> {
    fn all(&mut self) {
        while let Some((folder, next)) = self.waiting.pop() {
            if self.is_done() {
                break;
            }
            self.below(folder, next);
        }
    }

    fn is_done(&self) -> bool {
        let inside = |hit: &Hit| hit.place == Place::Inside;
        self.best.as_ref().is_some_and(inside) || self.cut
    }

    fn count(&mut self) {
        let walked = self.scene.walked.get() + 1;
        self.scene.walked.set(walked);
        self.cut |= walked > WALKED;
    }

    fn wait(&mut self, folder: PathBuf, next: usize) {
        let place = (folder, next);
        if !self.seen.contains(&place) {
            self.seen.insert(place.clone());
            self.waiting.push(place);
        }
    }

    fn found(&mut self, hit: Option<Hit>) {
        self.best = self.best.take().max_place(hit);
    }

    /// Goes on in a folder, up to a name that has to be looked up.
    fn below(&mut self, mut folder: PathBuf, mut next: usize) {
        while let Some(name) = self.names.get(next) {
            next += 1;
            match *name {
                "" | "." => {}
                ".." => {
                    folder.pop();
                }
                // `**` is gone through as `*`, which it is to most shells. The others do not
                // follow links for it.
                name if glob::is_pattern(name) => return self.matching(&folder, name, next),
                name => {
                    let path = folder.join(name);
                    let found = path.symlink_metadata();
                    return found.map_or((), |found| self.at(path, found.file_type(), next));
                }
            }
        }
        self.end(folder);
    }

    /// Goes on from all that a pattern stands for in a folder.
    fn matching(&mut self, folder: &Path, pattern: &str, next: usize) {
        let pattern = paths::fold(pattern);
        let last = next >= self.names.len();
        let entries = folder.read_dir().into_iter().flatten().flatten();
        for (read, entry) in entries.enumerate() {
            self.cut |= read > ENTRIES;
            let name = entry.file_name();
            if !glob::one(
                &pattern,
                &paths::fold(&name.to_string_lossy()),
                self.wild.dots,
            ) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if last && kind.is_file() && !self.is_telling(&entry) => {}
                Ok(kind) => self.at(entry.path(), kind, next),
                Err(_) => {}
            }
            if self.is_done() {
                break;
            }
        }
    }

    /// Says whether a file has to be looked up: of many only those that have the number of
    /// something protected.
    fn is_telling(&mut self, entry: &DirEntry) -> bool {
        self.looked += 1;
        self.looked <= LOOKED || number(entry).is_none_or(|number| self.scene.is_numbered(number))
    }

    fn at(&mut self, path: PathBuf, kind: FileType, next: usize) {
        let last = next >= self.names.len();
        if kind.is_symlink() {
            self.count();
            if last && self.wild.itself {
                return;
            }
            if let Some(real) = paths::physical(&path.to_string_lossy()) {
                self.behind(real, next);
            }
        } else if last {
            self.end(path);
        } else if kind.is_dir() {
            self.count();
            self.wait(path, next);
        }
    }

    /// Goes on where a link leads.
    fn behind(&mut self, real: PathBuf, next: usize) {
        if self.seen.contains(&(real.clone(), next)) {
            return;
        }
        let rest = self.names.get(next..).unwrap_or_default();
        // Whatever else is behind it is gone through.
        if rest.iter().any(|name| glob::is_deep(name)) {
            let whole = format!("{}/{}", real.to_string_lossy(), rest.join("/"));
            let names = paths::parts(&paths::fold(&whole));
            let named = self.scene.globbed(&names, self.wild.dots);
            self.found(named);
        }
        self.wait(real, next);
    }

    fn end(&mut self, path: PathBuf) {
        let named = self
            .scene
            .judge(&paths::parts(&paths::fold(&path.to_string_lossy())));
        let found = path.metadata().ok();
        let hit = self.scene.identified(&End { path, found });
        self.found(named.max_place(hit));
    }
}

/// Returns what tells a file from others on its device, which reading a folder tells.
#[cfg(unix)]
fn number(entry: &DirEntry) -> Option<u64> {
    use std::os::unix::fs::DirEntryExt as _;
    Some(entry.ino())
}

#[cfg(not(unix))]
fn number(_: &DirEntry) -> Option<u64> {
    None
}
