//! Where the links lead that a pattern goes through. A shell fills patterns in from the disk,
//! and a name there can be another one of something protected.

use std::collections::HashSet;
use std::fs::{DirEntry, FileType};
use std::path::{Path, PathBuf};

use super::glob;
use super::paths::{self, Base};
use super::scene::{End, Hit, Nearer as _, Place, Scene};

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
    /// [`Scene::globbed`] says.
    pub(super) fn through_links(&self, pattern: &str, base: Base, dots: bool) -> Option<Hit> {
        if pattern.len() > LONGEST {
            return None;
        }
        let whole = paths::absolute(pattern, base);
        let names: Vec<&str> = whole.split('/').collect();
        let mut walk = Walk {
            scene: self,
            names: &names,
            dots,
            waiting: Vec::new(),
            seen: HashSet::new(),
            best: None,
        };
        walk.wait(PathBuf::from("/"), 0);
        walk.all();
        walk.best
    }

    /// Returns the folders that a pattern stands for, a few of them: a shell goes to one.
    pub(super) fn folders_like(&self, pattern: &str, base: Base, dots: bool) -> Vec<String> {
        if pattern.len() > LONGEST {
            return Vec::new();
        }
        let whole = paths::absolute(pattern, base);
        let mut folders = vec![PathBuf::from("/")];
        for name in whole.split('/') {
            let mut next = Vec::new();
            for folder in &folders {
                match name {
                    "" | "." => next.push(folder.clone()),
                    ".." => next.push(folder.parent().unwrap_or(folder).to_owned()),
                    name if glob::is_pattern(name) => {
                        next.extend(self.matching(folder, name, dots))
                    }
                    name => next.push(folder.join(name)),
                }
            }
            folders = next;
            folders.truncate(FOLDERS);
        }
        folders.retain(|folder| folder.is_dir());
        let names = folders.iter().map(|folder| folder.to_string_lossy());
        names.map(std::borrow::Cow::into_owned).collect()
    }

    fn matching(&self, folder: &Path, pattern: &str, dots: bool) -> Vec<PathBuf> {
        self.count();
        let pattern = paths::fold(pattern);
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let like = |entry: &DirEntry| {
            let name = entry.file_name();
            glob::one(&pattern, &paths::fold(&name.to_string_lossy()), dots)
        };
        let paths = entries.filter(like).map(|entry| entry.path());
        paths.filter(|path| path.is_dir()).take(FOLDERS).collect()
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
    /// Whether wildcards stand for names with a dot before them, too.
    dots: bool,
    /// Folders without links on the way to them, and which name comes next there.
    waiting: Vec<(PathBuf, usize)>,
    /// All that ever waited: patterns such as `*/../*` come to the same place often.
    seen: HashSet<(PathBuf, usize)>,
    best: Option<Hit>,
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
        self.best.as_ref().is_some_and(inside) || self.scene.exhausted()
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
                // Shells do not follow links for `**`.
                name if glob::is_deep(name) => return,
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
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !glob::one(&pattern, &paths::fold(&name.to_string_lossy()), self.dots) {
                continue;
            }
            if let Ok(kind) = entry.file_type() {
                self.at(entry.path(), kind, next);
            }
            if self.is_done() {
                break;
            }
        }
    }

    fn at(&mut self, path: PathBuf, kind: FileType, next: usize) {
        if kind.is_symlink() {
            self.scene.count();
            if let Some(real) = paths::physical(&path.to_string_lossy()) {
                self.behind(real, next);
            }
        } else if next >= self.names.len() {
            self.end(path);
        } else if kind.is_dir() {
            self.scene.count();
            self.wait(path, next);
        }
    }

    /// Goes on where a link leads.
    fn behind(&mut self, real: PathBuf, next: usize) {
        if self.seen.contains(&(real.clone(), next)) {
            return;
        }
        let rest = self.names.get(next..).unwrap_or_default();
        let whole = format!("{}/{}", real.to_string_lossy(), rest.join("/"));
        let names = paths::parts(&paths::fold(&whole));
        let named = self.scene.globbed(&names, self.dots);
        self.found(named);
        self.wait(real, next);
    }

    fn end(&mut self, path: PathBuf) {
        let found = path.metadata().ok();
        let hit = self.scene.identified(&End { path, found });
        self.found(hit);
    }
}
