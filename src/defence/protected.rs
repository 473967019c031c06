//! What may not be changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::absent::Absences;
use super::paths;
use super::tree::{Place, Tree};

/// Paths below the project.
const IN_PROJECT: &[&str] = &[
    ".hookbox/",
    "hookbox.toml",
    ".harness/",
    "harness.md",
    ".polytoken/",
    "harn.toml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".github/hooks/",
    ".github/copilot/",
    ".windsurf/hooks.json",
    ".kiro/hooks/",
    ".clinerules/hooks/",
    ".cline/hooks/",
    ".opencode/plugin/",
    ".opencode/plugins/",
    "opencode.json",
    ".agents/plugins/",
];

/// Paths below the project that mean something only where they are already.
const IN_PROJECT_IF_THERE: &[&str] = &["settings.json"];

/// Paths below the home directory.
const IN_HOME: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".copilot/hooks/",
    ".codeium/windsurf/hooks.json",
    ".kiro/hooks/",
    ".agents/plugins/",
    ".config/hookbox/",
    ".cache/hookbox/",
    ".local/share/hookbox/",
    ".local/state/hookbox/",
    ".config/opencode/plugin/",
    ".config/opencode/plugins/",
];

/// The paths that an agent may not change: files, and folders with everything below them.
#[derive(Debug, Clone)]
pub struct Protected {
    pub(super) project: PathBuf,
    pub(super) home: Option<PathBuf>,
    pub(super) entries: Vec<Arc<Entry>>,
    pub(super) tree: Tree,
    pub(super) absences: Absences,
}

/// One protected path.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// How it is called in a refusal.
    pub shown: String,
    pub path: PathBuf,
    pub place: Place,
    /// The folded names along it.
    pub parts: Vec<String>,
    pub only_if_there: bool,
}

impl Protected {
    /// Returns the hooks and settings of hookbox and of the agents it knows, in a project
    /// and in a home directory.
    #[must_use]
    pub fn new(project: &Path, home: Option<&Path>) -> Self {
        let mut all = Self {
            project: project.to_owned(),
            home: home.map(Path::to_owned),
            entries: Vec::new(),
            tree: Tree::default(),
            absences: Absences::default(),
        };
        for name in IN_PROJECT {
            all.add((*name).to_owned(), project.join(name), false);
        }
        for name in IN_PROJECT_IF_THERE {
            all.add((*name).to_owned(), project.join(name), true);
        }
        for name in IN_HOME {
            if let Some(home) = home {
                all.add(format!("~/{name}"), home.join(name), false);
            }
        }
        all
    }

    /// Protects one more path, absolute or below the project.
    #[must_use]
    pub fn with(mut self, path: PathBuf) -> Self {
        // What others know is of other paths.
        self.absences = Absences::default();
        let shown = path.display().to_string();
        let path = self.project.join(path);
        self.add(shown, path, false);
        self
    }

    fn add(&mut self, shown: String, path: PathBuf, only_if_there: bool) {
        let parts = folded(&path);
        let place = self.tree.add(&path);
        self.entries.push(Arc::new(Entry {
            shown,
            place,
            path,
            parts,
            only_if_there,
        }));
    }
}

/// Returns the folded names along an absolute path.
pub(super) fn folded(path: &Path) -> Vec<String> {
    let text = path.to_string_lossy();
    paths::folded_parts(
        &text,
        paths::Base {
            cwd: "/",
            home: None,
        },
    )
}
