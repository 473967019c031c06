//! What is made ready while the question is still being read: the engine, and the Starlark
//! interpreter that most hooks run in. Nothing is compiled for it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};

use super::watch;
use crate::handler::Workshop;
use crate::sandbox::compiled::CodeStore;
use crate::sandbox::engine::{Engine, Lifetime};

/// A workshop that another thread makes ready.
pub(super) struct Ahead {
    workshop: Receiver<Arc<Workshop>>,
    project: Arc<OnceLock<PathBuf>>,
}

impl Ahead {
    /// Begins; nothing if there is no thread for it, which is only slower.
    pub(super) fn start() -> Option<Self> {
        let (sender, workshop) = channel();
        let project = Arc::new(OnceLock::new());
        let compiled_for = Arc::clone(&project);
        std::thread::Builder::new()
            .name("hookbox-ahead".to_owned())
            .spawn(move || {
                let Some(workshop) = open(compiled_for) else {
                    return;
                };
                // Nobody listens if the question was not worth a dispatch.
                let _ = sender.send(Arc::clone(&workshop));
                workshop.get_ready();
            })
            .ok()?;
        Some(Self { workshop, project })
    }

    /// Returns the workshop, for the hooks of a project; nothing if it cannot be opened, and
    /// whoever opens one then hears why.
    pub(super) fn workshop(self, project: PathBuf) -> Option<Arc<Workshop>> {
        let _ = self.project.set(project);
        self.workshop.recv().ok()
    }
}

fn open(project: Arc<OnceLock<PathBuf>>) -> Option<Arc<Workshop>> {
    let store = CodeStore::open_default().ok()?;
    let engine = Engine::new(Lifetime::OneShot).ok()?;
    let on_progress = Arc::new(move |progress| {
        if let Some(project) = project.get() {
            watch::compiling(&progress, project);
        }
    });
    Some(Arc::new(Workshop::new(engine, store, on_progress)))
}
