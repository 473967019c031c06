//! How a kept project is written down: an index that is read whole, and for each file a
//! part that is read only if the event can concern it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::identity::Watched;
use super::narrow::names_of;
use crate::dialect::harness::frontmatter::split;
use crate::hook::Hook;
use crate::yaml::{self, Node};

/// What comes first in a kept project.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Index<'a> {
    pub(super) version: &'a str,
    pub(super) watched: Watched,
    #[serde(borrow)]
    pub(super) entries: Vec<Entry<'a>>,
}

/// Which place a file has in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// It has one hook, which has its name.
    Hook,
    /// It has a list of hooks.
    Bundle,
}

/// A file, before it is looked at.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry<'a> {
    pub(super) path: &'a str,
    pub(super) kind: Kind,
    /// The point that all its hooks subscribe to; nothing if it always counts.
    pub(super) point: Option<&'a str>,
    /// The only tools that its hook can match, where its predicate says so first.
    pub(super) names: Option<Vec<String>>,
    digest: [u8; 32],
    bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    pub(super) fn new(
        path: &'a str,
        hooks: &[&'a Hook],
        narrows: bool,
        digest: [u8; 32],
        bytes: &'a [u8],
    ) -> Self {
        let own = hooks.first().filter(|hook| hook.origin.own_file);
        let alone = own.filter(|_| narrows && hooks.len() == 1);
        Self {
            path,
            kind: if own.is_some() {
                Kind::Hook
            } else {
                Kind::Bundle
            },
            point: alone.map(|hook| &*hook.point),
            names: alone.and_then(|hook| names_of(hook.when()?)),
            digest,
            bytes,
        }
    }

    /// Reads the file's part, unless something happened to it.
    pub(super) fn open(&self) -> Option<KeptFile> {
        let digest: [u8; 32] = Sha256::digest(self.bytes).into();
        (digest == self.digest).then_some(())?;
        postcard::from_bytes(self.bytes).ok()
    }
}

/// One file of hooks, parsed and found sound.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptFile {
    /// Its text, for messages.
    pub(crate) text: String,
    /// Its frontmatter.
    pub(crate) node: Node,
    /// Its components, by their paths as they are written.
    pub(crate) components: BTreeMap<String, KeptComponent>,
}

/// A component that was checked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeptComponent {
    /// Where it lies in the project.
    pub(crate) path: String,
    /// The digest of its bytes.
    pub(crate) digest: String,
    /// Whether it is a program.
    pub(crate) command: bool,
}

impl KeptFile {
    pub(super) fn of_text(text: String) -> Option<Self> {
        let parts = split(&text).ok()?;
        let node = yaml::parse(&text, parts.yaml).ok()?;
        node.as_map()?;
        Some(Self {
            text,
            node,
            components: BTreeMap::new(),
        })
    }

    /// Returns the component that a hook names.
    pub(super) fn component_of(&self, hook: &str) -> Option<String> {
        let own = self.node.get("component").and_then(Node::as_str);
        let listed = || {
            let hooks = self.node.get("hooks")?.as_list()?;
            let entry = hooks
                .iter()
                .find(|entry| entry.get("handler").and_then(Node::as_str) == Some(hook))?;
            entry.get("component")?.as_str()
        };
        own.or_else(listed).map(str::to_owned)
    }
}

/// What was brought back of a project.
#[derive(Debug)]
pub(crate) struct Kept {
    files: RefCell<BTreeMap<String, (Kind, KeptFile)>>,
    components: BTreeMap<String, KeptComponent>,
}

impl Kept {
    pub(super) fn new(files: BTreeMap<String, (Kind, KeptFile)>) -> Self {
        let components = files
            .values()
            .flat_map(|(_, file)| file.components.values());
        Self {
            components: components
                .map(|component| (component.path.clone(), component.clone()))
                .collect(),
            files: RefCell::new(files),
        }
    }

    /// Returns the paths of the files of one kind.
    pub(crate) fn paths(&self, kind: Kind) -> Vec<String> {
        let files = self.files.borrow();
        let wanted = files.iter().filter(|(_, (found, _))| *found == kind);
        wanted.map(|(path, _)| path.clone()).collect()
    }

    /// Says whether a file was brought back.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.borrow().contains_key(path)
    }

    /// Gives a file away.
    pub(crate) fn take(&self, path: &str) -> Option<KeptFile> {
        Some(self.files.borrow_mut().remove(path)?.1)
    }

    /// Returns a component by its place in the project.
    pub(crate) fn component(&self, path: &str) -> Option<&KeptComponent> {
        self.components.get(path)
    }
}
