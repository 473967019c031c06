//! What is made ready while the question is still being read: the engine, and the Starlark
//! interpreter that most hooks run in. Nothing is compiled for it.

use std::hint::black_box;
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
                let _end = make_room();
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

/// Grows the memory that this thread allocates from in a few large steps: otherwise the C
/// library asks the system for every page. What is returned lies behind the room that was made.
fn make_room() -> Box<[u8; 64]> {
    // A larger piece would get a mapping of its own.
    const STEP: usize = 100 << 10;
    let steps = black_box([(); 5].map(|()| Vec::<u8>::with_capacity(STEP)));
    let end = black_box(Box::new([0; 64]));
    drop(steps);
    end
}

fn open(project: Arc<OnceLock<PathBuf>>) -> Option<Arc<Workshop>> {
    let store = CodeStore::open_default().ok()?;
    let engine = Engine::new(Lifetime::OneShot).ok()?;
    let on_progress = Arc::new(move |progress| {
        if let Some(project) = project.get() {
            watch::compiling(&progress, project);
        }
    });
    let workshop = Workshop::new(engine, store, on_progress).with_shared_images();
    Some(Arc::new(workshop))
}
