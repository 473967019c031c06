//! Where `find` comes to what is protected.

use std::path::{Path, PathBuf};

use super::super::super::held::{Item, Sort};
use super::super::super::scene::{Hit, Place};
use super::super::super::{glob, paths};
use super::super::{Judged, Shell, marks};
use super::expression::Query;
use super::meet::{self, Root};

/// How many folders on the way to something protected are kept apart.
const FOLDERS: usize = 16;

/// A folder that is searched.
struct Start {
    parts: Vec<String>,
    path: PathBuf,
    /// How it was called, if that is known.
    spelled: Option<String>,
}

impl Start {
    fn at(path: &Path, spelled: Option<String>) -> Self {
        Self {
            parts: paths::parts(&paths::fold(&path.to_string_lossy())),
            path: path.to_owned(),
            spelled,
        }
    }
}

/// Something that an action may be done to.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub hit: Hit,
    pub path: String,
}

/// What an action may be done to, as far as that is protected.
#[derive(Debug, Clone, Default)]
pub(super) struct Reached {
    pub inside: Option<Found>,
    /// Folders that hold something protected.
    pub above: Vec<Found>,
}

impl Found {
    /// Returns the folder that it lies in.
    pub(super) fn folder(&self) -> String {
        let up = Path::new(&self.path).parent();
        up.unwrap_or(Path::new("/")).to_string_lossy().into_owned()
    }
}

impl Shell<'_> {
    /// Goes through what a folder holds that is protected, and says whether there may be more.
    pub(super) fn search(
        &mut self,
        root: &str,
        hit: &Hit,
        query: &Query,
        reached: &mut [Reached],
    ) -> Judged<bool> {
        if root.contains([marks::UNKNOWN, marks::TAINTED]) {
            let hit = Hit::new(&hit.path, Place::Inside);
            self.meet(None, query, &[itself(root, hit)], reached)?;
            return Ok(false);
        }
        let mut cut = false;
        let mut some = false;
        for start in self.starts(root) {
            let mut held = self.scene.held(&start.parts);
            cut |= held.cut;
            some |= !held.items.is_empty();
            if query.follows {
                cut |= self
                    .scene
                    .add_linked(&start.path, query.most, &mut held.items);
            }
            self.meet(start.spelled.as_deref(), query, &held.items, reached)?;
        }
        // It is another name of something protected.
        if !some && hit.place == Place::Inside {
            let only = [itself(root, hit.clone())];
            self.meet(None, query, &only, reached)?;
        }
        Ok(cut)
    }

    /// Goes through the links below a folder that holds nothing protected itself.
    pub(super) fn search_links(
        &mut self,
        root: &str,
        query: &Query,
        reached: &mut [Reached],
    ) -> Judged<bool> {
        let mut cut = false;
        for start in self.starts(root) {
            let mut items = Vec::new();
            cut |= self.scene.add_linked(&start.path, query.most, &mut items);
            self.meet(start.spelled.as_deref(), query, &items, reached)?;
        }
        Ok(cut)
    }

    /// Returns the folders that a word may stand for.
    fn starts(&self, root: &str) -> Vec<Start> {
        let mut out: Vec<Start> = Vec::new();
        let mut add = |start: Start| {
            if !out.iter().any(|known| known.parts == start.parts) {
                out.push(start);
            }
        };
        for cwd in &self.state.cwds {
            let base = self.base(cwd);
            let parts = paths::folded_parts(root, base);
            if glob::is_pattern(root) {
                let ways = self.scene.ways_like(&parts, self.state.dots);
                ways.iter().for_each(|way| add(Start::at(way, None)));
                continue;
            }
            let path = paths::absolute(root, base);
            let spelled = Some(marks::plain(root));
            if let Some(real) = paths::physical(&path) {
                add(Start::at(&real, spelled.clone()));
            }
            add(Start {
                parts,
                path: path.into(),
                spelled,
            });
        }
        out
    }

    fn meet(
        &mut self,
        spelled: Option<&str>,
        query: &Query,
        items: &[Item],
        reached: &mut [Reached],
    ) -> Judged<()> {
        self.spend(query.size * items.len() / 8 + 100, "find")?;
        let name = spelled.unwrap_or_default();
        let root = Root {
            spelled,
            name: match name.trim_end_matches('/') {
                "" if name.is_empty() => "",
                "" => "/",
                name => name.rsplit('/').next().unwrap_or(name),
            },
            follows: query.follows,
        };
        let all = meet::met(query, &root, items);
        for (reached, items) in reached.iter_mut().zip(all) {
            for item in items {
                reached.add(item, &root);
            }
        }
        Ok(())
    }
}

impl Reached {
    fn add(&mut self, item: &Item, root: &Root) {
        let Some(hit) = item.hit.clone() else { return };
        let inside = hit.place == Place::Inside;
        if inside && self.inside.is_some() || !inside && self.above.len() >= FOLDERS {
            return;
        }
        let spelled = root.spelled.filter(|_| !inside);
        let path = match spelled {
            Some(root) if item.names.is_empty() => root.to_owned(),
            Some(root) => format!("{}/{}", root.trim_end_matches('/'), item.names.join("/")),
            None => item.path.to_string_lossy().into_owned(),
        };
        let found = Found { hit, path };
        match inside {
            true => self.inside = Some(found),
            false => self.above.push(found),
        }
    }
}

/// Makes an item of what is searched, of which nothing else is known.
fn itself(root: &str, hit: Hit) -> Item {
    Item {
        names: Vec::new(),
        path: marks::plain(root).into(),
        sort: Sort::Other,
        hit: Some(hit),
    }
}
