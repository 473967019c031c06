//! The projects that are loaded: one runtime for each, loaded anew when its files change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::gate::Gate;
use super::stamp::{Stamp, stamp};
use crate::agent;
use crate::capability::metrics::Metric;
use crate::config::reads;
use crate::handler::Workshop;
use crate::runtime::{LoadError, Runtime};

/// How many projects stay loaded. The one that was not asked for the longest time goes.
const MOST: usize = 64;

/// How many are loaded at once.
const LOADS: usize = 4;

/// The metrics of one project's hooks.
pub(super) type Own = (String, std::collections::BTreeMap<String, Metric>);

/// All projects.
pub(super) struct Projects {
    workshop: Arc<Workshop>,
    known: Mutex<HashMap<PathBuf, Arc<Project>>>,
    /// Counts questions, to tell which project was asked last.
    turn: AtomicU64,
    loads: Gate,
    loaded: AtomicU64,
}

struct Project {
    root: PathBuf,
    asked: AtomicU64,
    /// Held while the project is loaded: whoever asks meanwhile waits for the new hooks.
    hooks: Mutex<Option<Hooks>>,
}

/// The hooks of a project, with what they were loaded from.
struct Hooks {
    /// What was loaded last. What it remembers outlives hooks that do not load.
    runtime: Runtime,
    /// What the files looked like; none if they have to be loaded again.
    stamp: Option<Stamp>,
}

impl Projects {
    pub(super) fn new(workshop: Arc<Workshop>) -> Self {
        Self {
            workshop,
            known: Mutex::default(),
            turn: AtomicU64::new(0),
            loads: Gate::new(LOADS),
            loaded: AtomicU64::new(0),
        }
    }

    /// Returns the hooks of a project as its files are now. The directory is a real one,
    /// without links.
    pub(super) fn get(&self, root: &Path) -> Result<Runtime, LoadError> {
        self.current(&self.project(root), false)
    }

    /// Loads a project again, whatever its files look like.
    pub(super) fn reload(&self, root: &Path) -> Result<Runtime, LoadError> {
        self.current(&self.project(root), true)
    }

    /// Makes ready what most projects need. Whoever needs what is missing says so.
    pub(super) fn warm_up(&self) {
        let _ = self.workshop.interpreter();
    }

    /// Returns the directories of all projects that are there.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> = lock(&self.known).keys().cloned().collect();
        roots.sort();
        roots
    }

    /// Returns how often a project was loaded.
    pub(super) fn loads(&self) -> u64 {
        self.loaded.load(Ordering::Relaxed)
    }

    /// Returns what hooks counted. A project that is being loaded is left out.
    pub(super) fn metrics(&self) -> Vec<Own> {
        let projects: Vec<Arc<Project>> = lock(&self.known).values().cloned().collect();
        let own = |project: &Arc<Project>| {
            let hooks = project.hooks.try_lock().ok()?;
            let metrics = hooks.as_ref()?.runtime.metrics().all();
            Some((project.root.display().to_string(), metrics))
        };
        let mut all: Vec<Own> = projects.iter().filter_map(own).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    fn project(&self, root: &Path) -> Arc<Project> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut known = lock(&self.known);
        if let Some(project) = known.get(root) {
            project.asked.store(turn, Ordering::Relaxed);
            return Arc::clone(project);
        }
        let oldest = if known.len() < MOST {
            None
        } else {
            let age = |project: &Arc<Project>| project.asked.load(Ordering::Relaxed);
            let oldest = known.iter().min_by_key(|(_, project)| age(project));
            oldest.map(|(root, _)| root.clone())
        };
        let gone = oldest.and_then(|oldest| known.remove(&oldest));
        let project = Arc::new(Project {
            root: root.to_owned(),
            asked: AtomicU64::new(turn),
            hooks: Mutex::default(),
        });
        known.insert(root.to_owned(), Arc::clone(&project));
        drop(known);
        // Waits for what runs in its background, and nobody else has to.
        drop(gone);
        project
    }

    fn current(&self, project: &Project, anew: bool) -> Result<Runtime, LoadError> {
        let mut hooks = lock(&project.hooks);
        if let Some(hooks) = &*hooks
            && !anew
            && let Some(stamp) = &hooks.stamp
            && stamp.holds(&project.root)
        {
            return Ok(hooks.runtime.clone());
        }
        self.load(project, &mut hooks)
    }

    fn load(&self, project: &Project, hooks: &mut Option<Hooks>) -> Result<Runtime, LoadError> {
        let _turn = self.loads.enter();
        let started = SystemTime::now();
        // Until it is loaded whole, nothing answers.
        if let Some(hooks) = hooks {
            hooks.stamp = None;
        }
        let old = hooks.as_ref().map(|hooks| hooks.runtime.clone());
        let (runtime, reads) = reads::remembering(|| match old {
            Some(mut runtime) => runtime.reload().map(|()| runtime),
            None => Runtime::builder(&project.root)
                .workshop(&self.workshop)
                .ask_agent(agent::hand_on)
                .self_defence(true)
                .load(),
        });
        self.loaded.fetch_add(1, Ordering::Relaxed);
        let runtime = runtime?;
        *hooks = Some(Hooks {
            runtime: runtime.clone(),
            stamp: stamp(&project.root, &reads).and_then(|stamp| stamp.settled(started)),
        });
        Ok(runtime)
    }
}

/// Nothing in here leaves anything half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
