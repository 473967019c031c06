//! The protected paths as they are on the disk at the moment of a call.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Disk, Found, Identity, identity, number};
use super::glob;
use super::held::Below;
use super::paths::{self, Base};
use super::protected::{Entry, Protected, folded};
use super::through::{Walked, Wild};

/// How many paths of one call are looked up on the disk.
const LOOKUPS: usize = 10_000;
/// How many files below protected folders are compared by identity.
const BELOW: usize = 2_000;

/// How a path relates to a protected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    /// The protected path, as it is shown.
    pub path: String,
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// The project, the home directory, or something above them.
    FarAbove,
    /// A folder such as `.claude` that exists for the sake of what is in it.
    Above,
    /// The protected path, or something below it.
    Inside,
}

pub(super) struct Known {
    pub entry: Arc<Entry>,
    /// Its names as the disk has it, if those are others.
    real: Option<Vec<String>>,
    pub there: bool,
    /// It and all that lies below it, and whether there may be more.
    pub below: OnceCell<(Vec<Below>, bool)>,
    /// Whether one of these names may be short for another one.
    shortened: bool,
}

impl Known {
    /// Returns its names, as configured and as the disk has it.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.entry.parts).chain(&self.real)
    }
}

/// Where a path ends, and what is there.
pub(super) struct End {
    pub path: PathBuf,
    pub found: Option<Metadata>,
}

/// What one call is judged against.
pub(super) struct Scene<'a> {
    pub protected: &'a Protected,
    disk: OnceCell<Disk>,
    known: OnceCell<Vec<Known>>,
    roots: OnceCell<Vec<Vec<String>>>,
    /// Few, so that looking through all of them is the fastest way to find one.
    identities: OnceCell<Vec<(Identity, Arc<Entry>, Place)>>,
    below: OnceCell<HashMap<Identity, String>>,
    names: OnceCell<HashSet<String>>,
    lookups: Cell<usize>,
    /// How many files below protected paths were looked at.
    pub listed: Cell<usize>,
    seen: RefCell<HashMap<String, Option<Hit>>>,
    /// How many folders and links patterns led through.
    pub walked: Cell<usize>,
    /// What patterns came to, and whether there was more than was looked at.
    pub walks: RefCell<HashMap<(String, Wild), Walked>>,
    /// There was more than was looked at, since somebody asked.
    pub cut: Cell<bool>,
    numbers: OnceCell<HashSet<u64>>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(protected: &'a Protected) -> Self {
        Self {
            protected,
            disk: OnceCell::new(),
            known: OnceCell::new(),
            roots: OnceCell::new(),
            identities: OnceCell::new(),
            below: OnceCell::new(),
            names: OnceCell::new(),
            lookups: Cell::new(0),
            listed: Cell::new(0),
            seen: RefCell::default(),
            walked: Cell::new(0),
            walks: RefCell::default(),
            cut: Cell::new(false),
            numbers: OnceCell::new(),
        }
    }

    /// Says whether more paths were looked up than one call may.
    pub(super) fn exhausted(&self) -> bool {
        self.lookups.get() > LOOKUPS
    }

    /// Counts a path that is looked up.
    pub(super) fn count(&self) {
        self.lookups.set(self.lookups.get() + 1);
    }

    pub(super) fn home(&self) -> Option<String> {
        let home = self.protected.home.as_ref()?;
        Some(home.to_string_lossy().into_owned())
    }

    pub(super) fn project(&self) -> String {
        self.protected.project.to_string_lossy().into_owned()
    }

    fn disk(&self) -> &Disk {
        self.disk
            .get_or_init(|| Disk::look(&self.protected.tree, &self.protected.absences))
    }

    pub(super) fn known(&self) -> &[Known] {
        self.known.get_or_init(|| {
            let known = |entry: &Arc<Entry>| {
                let found = self.disk().at(entry.place)?;
                let real = found.moved.as_deref().map(folded);
                let real = real.filter(|real| *real != entry.parts);
                (found.there || !entry.only_if_there).then(|| Known {
                    entry: Arc::clone(entry),
                    shortened: shortened(&entry.parts) || real.as_deref().is_some_and(shortened),
                    real,
                    there: found.there,
                    below: OnceCell::new(),
                })
            };
            self.protected.entries.iter().filter_map(known).collect()
        })
    }

    fn roots(&self) -> &[Vec<String>] {
        self.roots.get_or_init(|| {
            let given = [Some(&self.protected.project), self.protected.home.as_ref()];
            let given = given.into_iter().flatten();
            given
                .flat_map(|path| {
                    let found = self.found(path);
                    let moved = found.and_then(|found| found.moved.as_deref());
                    [Some(folded(path)), moved.map(folded)]
                })
                .flatten()
                .collect()
        })
    }

    /// Returns what is at a path, if that was looked at anyway.
    fn found(&self, path: &Path) -> Option<&Found> {
        self.disk().at(self.protected.tree.find(path)?)
    }

    /// Says whether a name occurs in a protected path, below the project or home.
    pub(super) fn is_telling(&self, name: &str) -> bool {
        let names = self.names.get_or_init(|| {
            let all = self.known().iter().flat_map(Known::spellings);
            all.filter_map(|parts| parts.last().cloned()).collect()
        });
        names.contains(name) || name.contains('~')
    }

    /// Looks at a path by its spelling alone.
    pub(super) fn spelled(&self, path: &str, base: Base) -> Option<Hit> {
        self.judge(&paths::folded_parts(path, base))
    }

    /// Looks at a path by its spelling, and at where it leads on the disk.
    pub(super) fn reached(&self, path: &str, base: Base) -> Option<Hit> {
        let whole = paths::absolute(path, base);
        if let Some(found) = self.seen.borrow().get(&whole) {
            return found.clone();
        }
        let found = self.look_up(path, &whole, base);
        self.seen.borrow_mut().insert(whole, found.clone());
        found
    }

    fn look_up(&self, path: &str, whole: &str, base: Base) -> Option<Hit> {
        let parts = paths::folded_parts(path, base);
        let spelled = self.judge(&parts);
        let inside = |hit: &Hit| hit.place == Place::Inside;
        if spelled.as_ref().is_some_and(inside) {
            return spelled;
        }
        self.count();
        if self.exhausted() {
            return spelled;
        }
        let Some(end) = self.resolve(whole) else {
            return spelled;
        };
        let names = folded(&end.path);
        // Mostly there was no link on the way.
        let by_name = (names != parts).then(|| self.judge(&names)).flatten();
        let found = by_name.max_place(self.identified(&end));
        spelled.max_place(found)
    }

    /// Follows the links of a path. Most lie in a folder that was looked at anyway.
    fn resolve(&self, whole: &str) -> Option<End> {
        let path = Path::new(whole);
        let plain = !whole.contains("/.") && !whole.contains("//") && !whole.ends_with('/');
        let folder = path.parent().filter(|_| plain);
        let straight = folder
            .and_then(|folder| self.found(folder))
            .is_some_and(|found| found.there && found.moved.is_none());
        if straight {
            let found = path.symlink_metadata().ok();
            if !found.as_ref().is_some_and(Metadata::is_symlink) {
                let path = path.to_owned();
                return Some(End { path, found });
            }
        }
        let path = paths::physical(whole)?;
        let found = path.metadata().ok();
        Some(End { path, found })
    }

    /// Looks at names along a path.
    pub(super) fn judge(&self, parts: &[String]) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        let short = shortened(parts);
        for known in self.known() {
            // Nearly all names stand for themselves.
            let begins = match short || known.shortened {
                true => starts_with,
                false => <[String]>::starts_with,
            };
            for spelling in known.spellings() {
                if begins(parts, spelling) {
                    return Some(Hit::new(&known.entry.shown, Place::Inside));
                }
                if best.is_none() && begins(spelling, parts) {
                    best = Some(Hit::new(&known.entry.shown, self.how_far(parts)));
                }
            }
        }
        best
    }

    pub(super) fn how_far(&self, parts: &[String]) -> Place {
        let roots = self.roots();
        let below = |root: &Vec<String>| parts.len() > root.len() && starts_with(parts, root);
        // The home directory may hold the project, whose parents are not special.
        let holds = roots.iter().any(|root| starts_with(root, parts));
        if !holds && roots.iter().any(below) {
            Place::Above
        } else {
            Place::FarAbove
        }
    }

    /// Looks at a pattern whose names may hold wildcards.
    pub(super) fn globbed(&self, pattern: &[String], dots: bool) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        for known in self.known() {
            for spelling in known.spellings() {
                let Some(found) = glob::along(pattern, spelling, dots) else {
                    continue;
                };
                let prefix = spelling.get(..found.length).unwrap_or(spelling);
                if found.from_the_disk && !known.there && !is_there(prefix) {
                    continue;
                }
                let place = if found.length == spelling.len() {
                    Place::Inside
                } else {
                    self.how_far(prefix)
                };
                best = best.max_place(Some(Hit::new(&known.entry.shown, place)));
            }
        }
        if pattern.iter().any(|name| glob::is_deep(name)) {
            return best.max_place(self.globbed_below(pattern, dots));
        }
        best
    }

    /// Says which protected paths a folder holds, as far as they exist, relative to it.
    pub(super) fn held_by(&self, folder: &[String]) -> Vec<(String, Vec<String>, bool)> {
        let mut out = Vec::new();
        for known in self.known() {
            for spelling in known.spellings() {
                if starts_with(spelling, folder) {
                    let rest = spelling.get(folder.len()..).unwrap_or_default().to_vec();
                    out.push((known.entry.shown.clone(), rest, known.there));
                }
            }
        }
        out
    }

    /// Looks a path up by what it is on the disk: hard links, bind mounts, other cases.
    pub(super) fn identified(&self, end: &End) -> Option<Hit> {
        let identities = self.identities.get_or_init(|| self.identify());
        let own = end.found.as_ref().and_then(number);
        let mut best: Option<Hit> = None;
        for (up, folder) in end.path.ancestors().enumerate().take(64) {
            let id = match self.found(folder) {
                Some(found) => found.identity,
                None if up == 0 => own,
                None => identity(folder),
            };
            let known = |id| identities.iter().find(|(known, ..)| *known == id);
            let Some((_, entry, place)) = id.and_then(known) else {
                continue;
            };
            // Below a folder that holds a protected path is everything else, too.
            if up == 0 || *place == Place::Inside {
                best = best.max_place(Some(Hit::new(&entry.shown, *place)));
            }
        }
        if best.is_none() && end.found.as_ref().is_some_and(has_more_names) {
            let below = self.below.get_or_init(|| self.identify_below());
            let shown = own.and_then(|id| below.get(&id));
            best = shown.map(|shown| Hit::new(shown, Place::Inside));
        }
        best
    }

    /// Says whether something protected has a number on its device, or a file below it.
    pub(super) fn is_numbered(&self, number: u64) -> bool {
        let numbers = self.numbers.get_or_init(|| {
            let own = self.identities.get_or_init(|| self.identify());
            let below = self.below.get_or_init(|| self.identify_below());
            let own = own.iter().map(|((_, number), ..)| *number);
            own.chain(below.keys().map(|(_, number)| *number)).collect()
        });
        numbers.contains(&number)
    }

    fn identify(&self) -> Vec<(Identity, Arc<Entry>, Place)> {
        let mut out = Vec::<(Identity, Arc<Entry>, Place)>::new();
        let mut folders = vec![false; self.protected.tree.nodes().len()];
        for entry in &self.protected.entries {
            for (up, (at, node)) in self.protected.tree.upwards(entry.place).enumerate() {
                // What holds several of them is called after the first.
                if up > 0
                    && let Some(seen) = folders.get_mut(at)
                    && std::mem::replace(seen, true)
                {
                    break;
                }
                let Some(id) = self.disk().at(at).and_then(|found| found.identity) else {
                    continue;
                };
                let place = match up {
                    0 => Place::Inside,
                    _ => self.how_far(&folded(&node.path)),
                };
                match out.iter_mut().find(|(known, ..)| *known == id) {
                    Some(known) if place > known.2 => *known = (id, Arc::clone(entry), place),
                    Some(_) => {}
                    None => out.push((id, Arc::clone(entry), place)),
                }
            }
        }
        out
    }

    fn identify_below(&self) -> HashMap<Identity, String> {
        let mut out = HashMap::new();
        for entry in &self.protected.entries {
            let mut waiting = vec![entry.path.clone()];
            while let Some(folder) = waiting.pop() {
                for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                    if out.len() >= BELOW {
                        return out;
                    }
                    let path = file.path();
                    if file.file_type().is_ok_and(|kind| kind.is_dir()) {
                        waiting.push(path);
                    } else if let Some(id) = identity(&path) {
                        out.insert(id, entry.shown.clone());
                    }
                }
            }
        }
        out
    }
}

impl Hit {
    pub(super) fn new(path: &str, place: Place) -> Self {
        let path = path.to_owned();
        Self { path, place }
    }
}

/// Keeps the nearer of two hits.
pub(super) trait Nearer {
    fn max_place(self, other: Option<Hit>) -> Option<Hit>;
}

impl Nearer for Option<Hit> {
    fn max_place(self, other: Option<Hit>) -> Option<Hit> {
        match (self, other) {
            (Some(one), Some(two)) if two.place > one.place => Some(two),
            (Some(one), _) => Some(one),
            (None, other) => other,
        }
    }
}

/// Says whether a name may be the short one that Windows gives to a long one.
fn shortened(parts: &[String]) -> bool {
    parts.iter().any(|part| part.contains('~'))
}

pub(super) fn starts_with(long: &[String], short: &[String]) -> bool {
    long.len() >= short.len() && long.iter().zip(short).all(|(one, two)| same_name(one, two))
}

/// Compares two names, one of which may be the short one that Windows gives to the other.
fn same_name(one: &str, two: &str) -> bool {
    one == two || is_short_for(one, two) || is_short_for(two, one)
}

fn is_short_for(short: &str, long: &str) -> bool {
    let Some((stem, number)) = short.split_once('~') else {
        return false;
    };
    let digits = number.split('.').next().unwrap_or_default();
    let long: String = long.chars().filter(|c| *c != '.').collect();
    stem.len() >= 3
        && !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_digit())
        && long.starts_with(stem)
}

fn is_there(parts: &[String]) -> bool {
    Path::new(&format!("/{}", parts.join("/"))).exists()
}

#[cfg(unix)]
fn has_more_names(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.is_file() && found.nlink() > 1
}

#[cfg(not(unix))]
fn has_more_names(_: &Metadata) -> bool {
    false
}
