//! The protected paths with the folders above them, each of which is there once: they have
//! most of their folders in common, and an agent waits for every look at the disk.

use std::path::{Path, PathBuf};

/// Where a path is in the tree.
pub(super) type Place = usize;

/// Paths, each behind the folder that holds it.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree(Vec<Node>);

/// A path, and the folder that holds it.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub path: PathBuf,
    pub above: Option<Place>,
}

impl Tree {
    /// Adds a path and the folders above it.
    pub(super) fn add(&mut self, path: &Path) -> Place {
        if let Some(place) = self.find(path) {
            return place;
        }
        let above = path.parent().map(|folder| self.add(folder));
        self.0.push(Node {
            path: path.to_owned(),
            above,
        });
        self.0.len() - 1
    }

    /// Looks for a path by its spelling.
    pub(super) fn find(&self, path: &Path) -> Option<Place> {
        let path = path.as_os_str();
        self.0.iter().position(|node| node.path.as_os_str() == path)
    }

    /// Returns all nodes, folders before what they hold.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.0
    }

    /// Walks from a path up to the root.
    pub(super) fn upwards(&self, from: Place) -> impl Iterator<Item = (Place, &Node)> {
        let node = |place: Place| Some((place, self.0.get(place)?));
        std::iter::successors(node(from), move |(_, at)| at.above.and_then(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_is_there_once_and_before_what_it_holds() {
        let mut tree = Tree::default();
        let deep = tree.add(Path::new("/a/b/c"));
        let beside = tree.add(Path::new("/a/b/d"));
        assert_eq!(tree.add(Path::new("/a/b/c")), deep);
        let paths: Vec<&str> = tree
            .nodes()
            .iter()
            .filter_map(|node| node.path.to_str())
            .collect();
        assert_eq!(paths, ["/", "/a", "/a/b", "/a/b/c", "/a/b/d"]);
        let way: Vec<Place> = tree.upwards(beside).map(|(place, _)| place).collect();
        assert_eq!(way, [4, 2, 1, 0]);
        assert_eq!(tree.find(Path::new("/a/b/e")), None);
    }
}
