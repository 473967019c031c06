//! What lies on the way to the protected paths and below them, file by file.

use std::collections::HashSet;
use std::fs::FileType;
use std::path::{Path, PathBuf};

use super::glob;
use super::paths;
use super::scene::{Hit, Known, Place, Scene, starts_with};

/// How many files below the protected paths are looked at in one call.
const MOST: usize = 50_000;

/// What something is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    File,
    Folder,
    Link,
    Other,
}

/// Something below a protected path, or the path itself.
#[derive(Debug)]
pub(super) struct Below {
    /// The names along it from the protected path, as the disk has them.
    pub names: Vec<String>,
    pub path: PathBuf,
    pub sort: Sort,
}

/// Something that is protected, or a folder on the way to it, seen from another folder.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub names: Vec<String>,
    pub path: PathBuf,
    pub sort: Sort,
    /// Nothing, if it is only on the way to a link.
    pub hit: Option<Hit>,
}

/// What a folder holds of all that.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub items: Vec<Item>,
    /// There were too many files to look at all of them.
    pub cut: bool,
}

impl Scene<'_> {
    /// Returns what exists of what a folder holds of protected paths and below them, and the
    /// folders on the way there.
    pub(super) fn held(&self, folder: &[String]) -> Held {
        let mut held = Held::default();
        let mut ways = HashSet::new();
        for known in self.known().iter().filter(|known| known.there) {
            for (spelling, shown) in known.spellings().zip([Some(&known.entry.path), None]) {
                let names = shown.and_then(|path| names_of(path, spelling));
                let names = names.unwrap_or_else(|| spelling.clone());
                if starts_with(spelling, folder) {
                    for length in folder.len()..spelling.len() {
                        let way = names.get(..length).unwrap_or_default();
                        if ways.insert(way.to_vec()) {
                            let place = self.how_far(spelling.get(..length).unwrap_or_default());
                            let hit = Hit::new(&known.entry.shown, place);
                            held.items.push(Item::on_the_way(way, folder.len(), hit));
                        }
                    }
                    let before = names.get(folder.len()..).unwrap_or_default();
                    held.cut |= self.add_below(known, before, &[], &mut held.items);
                } else if starts_with(folder, spelling) {
                    let inside = folder.get(spelling.len()..).unwrap_or_default();
                    held.cut |= self.add_below(known, &[], inside, &mut held.items);
                }
            }
        }
        held
    }

    /// Returns the paths that a pattern stands for, as far as they lead to what is protected.
    pub(super) fn ways_like(&self, pattern: &[String], dots: bool) -> Vec<PathBuf> {
        let mut out = Vec::new();
        for item in self.held(&[]).items {
            let names: Vec<String> = item.names.iter().map(|name| paths::fold(name)).collect();
            let found = glob::along(pattern, &names, dots);
            let length = found.map_or(0, |found| found.length);
            let deep = pattern.iter().any(|name| glob::is_deep(name));
            if length == 0 || length < pattern.len() && !deep {
                continue;
            }
            let names = item.names.get(..length).unwrap_or_default();
            let way = PathBuf::from(format!("/{}", names.join("/")));
            if !out.contains(&way) {
                out.push(way);
            }
        }
        out
    }

    /// Adds what the links below a folder lead to that is protected, and says whether there
    /// may be more.
    pub(super) fn add_linked(
        &self,
        folder: &Path,
        most: Option<usize>,
        items: &mut Vec<Item>,
    ) -> bool {
        let links = self.links_below(folder, most);
        let mut cut = links.cut;
        for link in links.all {
            let parts = paths::parts(&paths::fold(&link.target.to_string_lossy()));
            let Some(hit) = self.judge(&parts) else {
                continue;
            };
            for length in 0..link.names.len() {
                let names = link.names.get(..length).unwrap_or_default().to_vec();
                items.push(Item::passed(names, folder));
            }
            items.push(Item {
                names: link.names.clone(),
                path: folder.join(link.names.join("/")),
                sort: Sort::Link,
                hit: Some(hit),
            });
            let behind = self.held(&parts);
            cut |= behind.cut;
            items.extend(
                behind
                    .items
                    .into_iter()
                    .filter(|item| !item.names.is_empty())
                    .map(|item| Item {
                        names: [link.names.as_slice(), &item.names].concat(),
                        ..item
                    }),
            );
        }
        cut
    }

    /// Adds what lies below a protected path and in a folder there, and says whether there
    /// may be more.
    fn add_below(
        &self,
        known: &Known,
        before: &[String],
        inside: &[String],
        items: &mut Vec<Item>,
    ) -> bool {
        let (all, cut) = self.below(known);
        for below in all {
            let folded = below.names.iter().map(|name| paths::fold(name));
            if !folded.take(inside.len()).eq(inside.iter().cloned()) {
                continue;
            }
            let rest = below.names.get(inside.len()..).unwrap_or_default();
            items.push(Item {
                names: [before, rest].concat(),
                path: below.path.clone(),
                sort: below.sort,
                hit: Some(Hit::new(&known.entry.shown, Place::Inside)),
            });
        }
        *cut
    }

    /// Returns a protected path and all that lies below it, and whether there may be more.
    fn below<'k>(&self, known: &'k Known) -> &'k (Vec<Below>, bool) {
        known.below.get_or_init(|| self.list(&known.entry.path))
    }

    fn list(&self, path: &Path) -> (Vec<Below>, bool) {
        let sort = path
            .symlink_metadata()
            .map(|found| found.file_type().into());
        let mut out = vec![Below {
            names: Vec::new(),
            path: path.to_owned(),
            sort: sort.unwrap_or(Sort::Other),
        }];
        let mut next = 0;
        while let Some(folder) = out.get(next) {
            next += 1;
            if folder.sort != Sort::Folder && next > 1 {
                continue;
            }
            let names = folder.names.clone();
            for entry in folder.path.read_dir().into_iter().flatten().flatten() {
                if self.listed.get() >= MOST {
                    return (out, true);
                }
                self.listed.set(self.listed.get() + 1);
                let name = entry.file_name().to_string_lossy().into_owned();
                out.push(Below {
                    names: [names.as_slice(), &[name]].concat(),
                    path: entry.path(),
                    sort: entry.file_type().map_or(Sort::Other, Sort::from),
                });
            }
        }
        (out, false)
    }

    /// Looks for a protected path below which something ends as a pattern of any depth does.
    pub(super) fn globbed_below(&self, pattern: &[String], dots: bool) -> Option<Hit> {
        let plain = |name: &&String| !glob::is_pattern(name);
        let start: Vec<String> = pattern.iter().take_while(plain).cloned().collect();
        let there = self.known().iter().filter(|known| known.there);
        for known in there {
            for spelling in known.spellings() {
                if !starts_with(spelling, &start) && !starts_with(&start, spelling) {
                    continue;
                }
                let ends = |below: &Below| {
                    let names = below.names.iter().map(|name| paths::fold(name));
                    let parts: Vec<String> = spelling.iter().cloned().chain(names).collect();
                    let found = glob::along(pattern, &parts, dots);
                    found.is_some_and(|found| found.length == parts.len())
                };
                if self.below(known).0.iter().any(ends) {
                    return Some(Hit::new(&known.entry.shown, Place::Inside));
                }
            }
        }
        None
    }
}

impl Item {
    /// A folder that is only on the way to something.
    fn passed(names: Vec<String>, from: &Path) -> Self {
        Self {
            path: from.join(names.join("/")),
            names,
            sort: Sort::Folder,
            hit: None,
        }
    }

    fn on_the_way(names: &[String], from: usize, hit: Hit) -> Self {
        Self {
            names: names.get(from..).unwrap_or_default().to_vec(),
            path: PathBuf::from(format!("/{}", names.join("/"))),
            sort: Sort::Folder,
            hit: Some(hit),
        }
    }
}

impl From<FileType> for Sort {
    fn from(kind: FileType) -> Self {
        match kind {
            kind if kind.is_symlink() => Self::Link,
            kind if kind.is_dir() => Self::Folder,
            kind if kind.is_file() => Self::File,
            _ => Self::Other,
        }
    }
}

/// Returns the names along a path as they are written, if they are those that were folded.
fn names_of(path: &Path, spelling: &[String]) -> Option<Vec<String>> {
    let text = path.to_string_lossy();
    let names = text.split('/').filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let same = names.iter().map(|name| paths::fold(name));
    same.eq(spelling.iter().cloned()).then_some(names)
}
