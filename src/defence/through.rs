//! Where the links lead that a pattern goes through. A shell fills patterns in from the disk,
//! and a name there can be another one of something protected.

use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};

use super::glob;
use super::paths::{self, Base};
use super::scene::{End, Hit, Nearer as _, Place, Scene};

impl Scene<'_> {
    /// Looks at a pattern by the links on its way. What it means by its names alone,
    /// [`Scene::globbed`] says.
    pub(super) fn through_links(&self, pattern: &str, base: Base, dots: bool) -> Option<Hit> {
        let whole = paths::absolute(pattern, base);
        let names: Vec<&str> = whole.split('/').collect();
        let walk = Walk { scene: self, dots };
        walk.below(Path::new("/"), &names)
    }
}

impl Scene<'_> {
    /// Returns the folders that a pattern stands for, a few of them: a shell goes to one.
    pub(super) fn folders_like(&self, pattern: &str, base: Base, dots: bool) -> Vec<String> {
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

    /// Looks at where the links below a folder lead.
    pub(super) fn linked_below(&self, folder: &Path) -> Option<Hit> {
        let mut best = None;
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_symlink() {
                    let real = paths::physical(&entry.path().to_string_lossy());
                    let names =
                        real.map(|real| paths::parts(&paths::fold(&real.to_string_lossy())));
                    best = best.max_place(names.and_then(|names| self.judge(&names)));
                } else if kind.is_dir() {
                    waiting.push(entry.path());
                } else {
                    continue;
                }
                self.count();
                if self.exhausted() {
                    return best;
                }
            }
        }
        best
    }
}

/// How many folders a shell may be in at once.
const FOLDERS: usize = 24;

/// A way through the disk.
struct Walk<'s> {
    scene: &'s Scene<'s>,
    /// Whether wildcards stand for names with a dot before them, too.
    dots: bool,
}

impl Walk<'_> {
    /// Goes on from a folder without links on the way to it.
    fn below(&self, folder: &Path, names: &[&str]) -> Option<Hit> {
        let (name, rest) = names.split_first()?;
        match *name {
            "" | "." => self.below(folder, rest),
            ".." => self.below(folder.parent().unwrap_or(folder), rest),
            // Shells do not follow links for `**`.
            name if glob::is_deep(name) => None,
            name if glob::is_pattern(name) => self.matching(folder, name, rest),
            name => {
                let path = folder.join(name);
                let found = path.symlink_metadata().ok()?;
                self.at(path, found, rest)
            }
        }
    }

    /// Goes on from all that a pattern stands for in a folder.
    fn matching(&self, folder: &Path, pattern: &str, rest: &[&str]) -> Option<Hit> {
        let pattern = paths::fold(pattern);
        let mut best = None;
        for entry in folder.read_dir().ok()?.flatten() {
            let name = entry.file_name();
            if !glob::one(&pattern, &paths::fold(&name.to_string_lossy()), self.dots) {
                continue;
            }
            let Ok(found) = entry.metadata() else {
                continue;
            };
            best = best.max_place(self.at(entry.path(), found, rest));
            let inside = |hit: &Hit| hit.place == Place::Inside;
            if best.as_ref().is_some_and(inside) || self.scene.exhausted() {
                break;
            }
        }
        best
    }

    fn at(&self, path: PathBuf, found: Metadata, rest: &[&str]) -> Option<Hit> {
        if found.is_symlink() {
            self.scene.count();
            return self.behind(&paths::physical(&path.to_string_lossy())?, rest);
        }
        if rest.is_empty() {
            let found = Some(found);
            return self.scene.identified(&End { path, found });
        }
        if !found.is_dir() {
            return None;
        }
        self.scene.count();
        (!self.scene.exhausted())
            .then(|| self.below(&path, rest))
            .flatten()
    }

    /// Goes on where a link leads.
    fn behind(&self, real: &Path, rest: &[&str]) -> Option<Hit> {
        let whole = format!("{}/{}", real.to_string_lossy(), rest.join("/"));
        let names = paths::parts(&paths::fold(&whole));
        let named = self.scene.globbed(&names, self.dots);
        if rest.is_empty() {
            let found = real.metadata().ok();
            let path = real.to_owned();
            return named.max_place(self.scene.identified(&End { path, found }));
        }
        if self.scene.exhausted() {
            return named;
        }
        named.max_place(self.below(real, rest))
    }
}
