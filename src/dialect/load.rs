//! Reads what a project has of every dialect, and reports all problems in one pass.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::kept::{self, Kept, Narrow};
use super::{ALL, Dialect, EventInfo, harn};
use crate::capability::grant::Kind;
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::handler::Workshop;
use crate::hook::{Hook, OnError};

/// What was found in a project.
#[derive(Debug)]
pub struct Loaded {
    /// The hooks that can run, in the order of registration.
    pub hooks: Vec<Arc<Hook>>,
    /// What the project sets for all hooks.
    pub config: Config,
    /// What is wrong or odd.
    pub problems: Vec<Diagnostic>,
    /// Whether these are only the hooks that one event can concern.
    pub(crate) narrowed: bool,
}

/// What a project is loaded with beside its own files.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether what a format tolerates is refused.
    pub strict: bool,
    /// Whether hooks may run outside of the sandbox, whatever the project says.
    pub allow_process: bool,
    /// Where hooks lie that hold in every project.
    pub config_dir: Option<PathBuf>,
    /// Hooks that the host registers itself.
    pub harn: harn::Hooks,
}

/// A project that is being loaded.
pub struct Loading<'a> {
    /// Its directory.
    pub project: &'a Path,
    /// The same, opened: no link leads out of it.
    pub root: &'a Dir,
    /// What makes handlers ready.
    pub workshop: &'a Workshop,
    /// What it is loaded with.
    pub options: &'a Options,
    /// What the project sets for all hooks.
    pub config: Config,
    /// What was found sound before, and has not changed.
    pub(crate) kept: Option<Kept>,
    /// What was found so far.
    pub hooks: Vec<Hook>,
    /// The grants that something found so far uses.
    pub used: BTreeSet<Kind>,
    /// What is wrong or odd.
    pub problems: Vec<Diagnostic>,
}

/// Loads all hooks of a project.
pub(crate) fn load(project: &Path, workshop: &Workshop, options: &Options) -> Loaded {
    load_from(project, workshop, options, None)
}

/// Loads the hooks that an event can concern: from what was kept of the project, or all of
/// them, which are then kept.
pub(crate) fn load_kept(
    project: &Path,
    workshop: &Workshop,
    options: &Options,
    narrow: &Narrow<'_>,
) -> Loaded {
    if let Some(kept) = kept::find(project, workshop, options, narrow) {
        let loaded = load_from(project, workshop, options, Some(kept));
        // What cannot be brought back is loaded.
        if loaded.problems.is_empty() {
            return loaded;
        }
    }
    kept::keep(project, workshop, options, || {
        load(project, workshop, options)
    })
}

fn load_from(project: &Path, workshop: &Workshop, options: &Options, kept: Option<Kept>) -> Loaded {
    let root = match Dir::open_ambient_dir(project, ambient_authority()) {
        Ok(root) => root,
        Err(error) => {
            let message = format!("the project directory cannot be opened: {error}");
            return Loaded {
                hooks: Vec::new(),
                config: Config::default(),
                narrowed: false,
                problems: vec![
                    Diagnostic::error(message)
                        .in_file(project.display().to_string())
                        .help("give the directory that holds `.harness/` with --project"),
                ],
            };
        }
    };
    let mut problems = Vec::new();
    let config = Config::load(&root, &mut problems);
    let order = config.order();
    let mut loading = Loading {
        project,
        root: &root,
        workshop,
        options,
        config,
        kept,
        hooks: Vec::new(),
        used: BTreeSet::new(),
        problems,
    };
    // The native one comes first wherever its hooks run: it can set what holds for all.
    for dialect in ALL {
        // Only the native one is ever kept.
        if loading.kept.is_some() && *dialect != super::harness::DIALECT {
            continue;
        }
        if let Some(place) = order.iter().position(|name| *name == dialect.name) {
            loading.read(dialect, place);
        }
    }
    loading.finish()
}

impl Loading<'_> {
    fn read(&mut self, dialect: &Dialect, place: usize) {
        let before = self.hooks.len();
        (dialect.load)(self);
        for hook in &mut self.hooks[before..] {
            hook.order = place;
        }
    }

    fn finish(mut self) -> Loaded {
        for (position, hook) in self.hooks.iter_mut().enumerate() {
            hook.position = position;
        }
        if self.kept.is_none() {
            self.unused_by_all();
        }
        Loaded {
            narrowed: self.kept.is_some(),
            hooks: self.hooks.into_iter().map(Arc::new).collect(),
            config: self.config,
            problems: self.problems,
        }
    }

    /// A grant that no hook uses is one somebody has to review for nothing.
    fn unused_by_all(&mut self) {
        for granted in &self.config.granted {
            if !self.used.contains(&granted.kind) {
                let message = format!("no hook uses the grant {}", granted.kind.key());
                self.problems.push(
                    Diagnostic::warning(message)
                        .at(&granted.source, granted.span.clone())
                        .help("remove it"),
                );
            }
        }
    }

    /// Returns what the failure of a hook means: what its file says, what the project
    /// says, or what its dialect says of the event.
    pub(super) fn on_error(&self, own: Option<OnError>, info: &EventInfo) -> OnError {
        own.or(self.config.on_error)
            .unwrap_or_else(|| info.default_on_error())
    }

    /// Says whether hooks may run outside of the sandbox.
    pub(super) fn allows_processes(&self) -> bool {
        self.options.allow_process || self.config.process.allow
    }
}
