//! What a shell knows at a point of a command.

use std::collections::{HashMap, HashSet};

use super::super::scene::Scene;
use super::Data;

/// How many values of a variable, and how many folders, are kept apart.
const MOST: usize = 12;

/// Where a shell may be, and what its variables may hold. Where a command may or may not
/// have run, there are several possibilities, and each of them counts.
#[derive(Debug, Clone)]
pub(in crate::defence) struct State {
    pub cwds: Vec<String>,
    /// Where it was before the last `cd`, and whether that `cd` is sure to have worked.
    pub before: Option<(Vec<String>, bool)>,
    pub home: Option<String>,
    pub variables: HashMap<String, Vec<String>>,
    /// Names that are functions or aliases now, whatever they were before.
    pub shadowed: HashSet<String>,
    /// Folders that the command makes.
    pub made: HashSet<String>,
    /// Links that the command makes, and where they lead.
    pub links: Vec<(String, String)>,
    /// What the command writes into files.
    pub files: HashMap<String, Data>,
    /// Wildcards match names that begin with a dot.
    pub dots: bool,
    /// What is named is taken away, so that a link at the end is meant itself.
    pub unlinks: bool,
    /// It went to a folder that is not known, so that wildcards mean nothing.
    pub lost: bool,
    /// Programs may not be the ones that their names say.
    pub suspect: bool,
}

impl State {
    pub(in crate::defence) fn new(scene: &Scene, cwd: &str) -> Self {
        let mut variables = HashMap::new();
        if let Some(home) = scene.home() {
            variables.insert("HOME".to_owned(), vec![home.clone()]);
            variables.insert("USERPROFILE".to_owned(), vec![home]);
        }
        for name in [
            "CLAUDE_PROJECT_DIR",
            "GEMINI_PROJECT_DIR",
            "HOOKBOX_PROJECT",
        ] {
            variables.insert(name.to_owned(), vec![scene.project()]);
        }
        Self {
            cwds: vec![cwd.to_owned()],
            before: None,
            home: scene.home(),
            variables,
            shadowed: HashSet::new(),
            made: HashSet::new(),
            links: Vec::new(),
            files: HashMap::new(),
            dots: false,
            unlinks: false,
            lost: false,
            suspect: false,
        }
    }

    /// Says about how much there is to copy.
    pub(in crate::defence) fn size(&self) -> usize {
        let values = self.variables.len() + self.files.len() + self.shadowed.len();
        let texts = self.variables.values().flatten().map(String::len);
        let files = self.files.values().map(|data| match data {
            Data::Known(text) => text.len(),
            _ => 0,
        });
        let bytes = texts.chain(files).sum::<usize>() / 64;
        bytes + values * 4 + self.links.len() + self.made.len() + self.cwds.len() + 1
    }

    /// Goes back, but remembers what a shell apart has done to the disk.
    pub(in crate::defence) fn restore(&mut self, saved: Self) {
        let apart = std::mem::replace(self, saved);
        self.files.extend(apart.files);
        self.made.extend(apart.made);
        for link in apart.links {
            self.link(link);
        }
    }

    /// Adds what holds if the commands since `other` did not run.
    pub(in crate::defence) fn merge(&mut self, other: &Self) {
        union(&mut self.cwds, &other.cwds);
        for (name, values) in &other.variables {
            union(self.variables.entry(name.clone()).or_default(), values);
        }
    }

    /// Adds the folder before the last `cd`, if that may have failed.
    pub(in crate::defence) fn doubt(&mut self, always: bool) {
        if let Some((before, sure)) = self.before.take()
            && (always || !sure)
        {
            union(&mut self.cwds, &before);
        }
    }

    pub(in crate::defence) fn assign(&mut self, name: &str, values: Vec<String>, perhaps: bool) {
        if is_suspect(name) {
            self.suspect = true;
        }
        let old = self.variables.entry(name.to_owned()).or_default();
        if !perhaps {
            old.clear();
        }
        union(old, &values);
    }

    pub(in crate::defence) fn link(&mut self, link: (String, String)) {
        if self.links.len() < 64 && !self.links.contains(&link) {
            self.links.push(link);
        }
    }
}

/// Says whether a variable decides which program a name stands for, or what it starts.
fn is_suspect(name: &str) -> bool {
    let exact = [
        "PATH", "BASH_ENV", "ENV", "LESSOPEN", "PAGER", "EDITOR", "VISUAL", "IFS",
    ];
    exact.contains(&name)
        || ["LD_", "DYLD_", "GIT_", "RIPGREP_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

fn union(to: &mut Vec<String>, from: &[String]) {
    for one in from {
        if to.len() < MOST && !to.contains(one) {
            to.push(one.clone());
        }
    }
}
