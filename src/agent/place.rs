//! Where things are: the project that an event belongs to, and paths inside of it.

use std::path::{Component, Path, PathBuf};

/// What makes a directory a project, in the order in which it is looked for.
const MARKS: [&str; 6] = [
    ".hookbox",
    "hookbox.toml",
    ".harness",
    "harness.md",
    ".polytoken",
    "harn.toml",
];

/// Says whether a directory has hooks, or settings for some.
#[must_use]
pub fn is_project(directory: &Path) -> bool {
    MARKS
        .iter()
        .any(|mark| directory.join(mark).symlink_metadata().is_ok())
        || has_framework_settings(directory)
}

/// A `settings.json` alone says little; one with a table of hooks by path is a project.
fn has_framework_settings(directory: &Path) -> bool {
    let path = directory.join("settings.json");
    let small = path
        .metadata()
        .is_ok_and(|file| file.is_file() && file.len() < 1 << 20);
    small
        && std::fs::read_to_string(path)
            .is_ok_and(|text| text.contains("\"hooks\"") && text.contains("\"path\""))
}

/// Finds the project that a directory lies in: the nearest one upwards.
#[must_use]
pub fn project(from: &Path) -> Option<PathBuf> {
    // What was there may be gone; what it lay in is still the project.
    let mut there = from.ancestors();
    let from = there.find_map(|place| std::fs::canonicalize(place).ok())?;
    from.ancestors()
        .find(|directory| is_project(directory))
        .map(Path::to_owned)
}

/// The variables in which agents say where they were started.
const STARTED_IN: [&str; 2] = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];

/// Returns the directory that an agent was started in, if it tells. That one counts before
/// all others: from there it may have gone to a place where nothing guards it.
#[must_use]
pub fn started_in() -> Option<PathBuf> {
    let told = STARTED_IN.iter().find_map(std::env::var_os);
    told.map(PathBuf::from).filter(|path| path.is_absolute())
}

/// A project's directory, under every name it goes by here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Where it really is.
    pub real: PathBuf,
    /// How the agent spells it, if there is a link on the way.
    alias: Option<PathBuf>,
    /// What the agent's relative paths are relative to: a directory below the project, or
    /// an absolute one elsewhere.
    works_in: PathBuf,
}

impl Root {
    /// Takes the directory of a project that some directory lies in.
    #[must_use]
    pub fn new(real: PathBuf, within: Option<&Path>) -> Self {
        let inner = match within {
            // Nearly always, and it was looked at just now.
            Some(within) if within.as_os_str() == real.as_os_str() => Some(real.clone()),
            Some(within) => std::fs::canonicalize(within).ok(),
            None => None,
        };
        let both = within.zip(inner.as_deref());
        let alias = both.and_then(|(within, inner)| alias(&real, within, inner));
        let works_in = within.map(|within| {
            // What is not there any more is taken at its word.
            let within = inner.as_deref().unwrap_or(within);
            within.strip_prefix(&real).unwrap_or(within).to_owned()
        });
        Self {
            real,
            alias,
            works_in: works_in.unwrap_or_default(),
        }
    }

    /// Says whether the agent works in a directory of the project, and not in its top one.
    #[must_use]
    pub fn works_below(&self) -> bool {
        !self.works_in.as_os_str().is_empty()
    }

    /// Returns a path relative to the project where it lies in it, and as it was
    /// elsewhere. Nothing on disk is looked at, so a path with `..` stays what it is: what
    /// it means depends on links.
    #[must_use]
    pub fn inside(&self, path: &str) -> String {
        let given = Path::new(path);
        let climbs = given.components().any(|part| part == Component::ParentDir);
        if climbs || path.is_empty() {
            return path.to_owned();
        }
        if !given.is_absolute() {
            let parts = self.works_in.join(given);
            return spelled(parts.components().as_path());
        }
        let names = std::iter::once(&self.real).chain(&self.alias);
        let rest = names
            .filter_map(|root| given.strip_prefix(root).ok())
            .next();
        rest.map_or_else(|| path.to_owned(), spelled)
    }
}

/// A path without what says nothing in it.
fn spelled(path: &Path) -> String {
    let kept: PathBuf = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    if kept.as_os_str().is_empty() {
        return ".".to_owned();
    }
    kept.display().to_string()
}

/// How a directory inside of the project spells the project.
fn alias(real: &Path, within: &Path, inner: &Path) -> Option<PathBuf> {
    let below = inner.strip_prefix(real).ok()?.components().count();
    let alias = within.ancestors().nth(below)?;
    (alias != real && std::fs::canonicalize(alias).ok()? == *real).then(|| alias.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_the_project_becomes_relative() {
        let root = Root::new(PathBuf::from("/w/p"), None);
        for (path, wanted) in [
            ("/w/p/a.rs", "a.rs"),
            ("/w/p/./x/a.rs", "x/a.rs"),
            ("/w/p/x/../a.rs", "/w/p/x/../a.rs"),
            ("/w/p", "."),
            ("/w/pq/a.rs", "/w/pq/a.rs"),
            ("/w/p/../q", "/w/p/../q"),
            ("/etc/passwd", "/etc/passwd"),
            ("a.rs", "a.rs"),
            ("./x//a.rs", "x/a.rs"),
            (".", "."),
            ("", ""),
            ("../a.rs", "../a.rs"),
        ] {
            assert_eq!(root.inside(path), wanted, "{path}");
        }
    }

    #[test]
    fn a_relative_path_of_an_agent_that_is_elsewhere_leads_there() {
        let root = Root::new(PathBuf::from("/w/p"), Some(Path::new("/etc")));
        assert_eq!(root.inside("passwd"), "/etc/passwd");
        assert_eq!(root.inside("/w/p/a.rs"), "a.rs");
        let gone = Root::new(PathBuf::from("/w/p"), Some(Path::new("/w/p/gone")));
        assert_eq!(gone.inside("a.rs"), "gone/a.rs");
    }

    #[test]
    #[cfg(unix)]
    fn a_project_behind_a_link_goes_by_both_names() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir_all(real.join("src")).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let root = Root::new(real.clone(), Some(&link.join("src")));
        for spelled in [&real, &link] {
            let path = spelled.join("src/a.rs").display().to_string();
            assert_eq!(root.inside(&path), "src/a.rs");
        }
        // The agent works in `src`.
        assert_eq!(root.inside("a.rs"), "src/a.rs");
    }

    #[test]
    fn the_nearest_project_upwards_is_the_one() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("a/b");
        std::fs::create_dir_all(inner.join("c")).unwrap();
        std::fs::create_dir(outer.path().join(".harness")).unwrap();
        let found = project(&inner.join("c")).unwrap();
        assert_eq!(found, outer.path().canonicalize().unwrap());
        std::fs::write(inner.join("hookbox.toml"), "").unwrap();
        let found = project(&inner.join("c")).unwrap();
        assert_eq!(found, inner.canonicalize().unwrap());
        let gone = project(&inner.join("c/gone/long ago")).unwrap();
        assert_eq!(gone, found);
        assert_eq!(project(Path::new("/no/such/place")), None);
    }
}
