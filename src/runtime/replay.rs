//! Runs today's hooks in the world of a tape.

use std::sync::Arc;

use super::Runtime;
use super::inner::{Caller, Inner};
use super::taping::print;
use crate::event::Event;
use crate::json::Json;
use crate::outcome::Outcome;
use crate::tape::part::Part;
use crate::tape::scene::Scene;
use crate::tape::track::{Loose, Track};
use crate::tape::{Dispatch, HookPrint, TapeError};

impl Runtime {
    /// Sends a recorded event through the chain again. Whatever the hooks ask of the
    /// world, the tape answers.
    pub(crate) fn rerun(&self, dispatch: &Dispatch) -> Result<(Outcome, Vec<Loose>), TapeError> {
        let start = dispatch.start();
        let payload = Json::parse(start.payload.as_bytes(), usize::MAX).map_err(|error| {
            TapeError::Damaged {
                record: dispatch.first_record(),
                why: format!("the payload cannot be used: {error}"),
            }
        })?;
        let event = Event {
            name: Arc::clone(&start.event),
            payload,
            id: start.id.clone(),
            subject: start.subject.clone(),
            depth: start.depth,
        };
        let tools: Arc<[String]> = dispatch.project.tools.clone().into();
        let track = Arc::new(Track::default());
        let scene = Scene::play(&track, Part::of(dispatch, &tools), &event);
        let caller = Caller::agent(Some(Arc::clone(&scene)));
        let mut outcome = Inner::dispatch(&self.inner, &event, &caller);
        self.inner.warn_of_nothing(&mut outcome);
        scene.close(&outcome);
        Ok((outcome, track.take()))
    }

    /// Returns what tells today's hooks from other versions of them.
    pub(crate) fn prints(&self) -> Vec<HookPrint> {
        self.hooks().iter().map(|hook| print(hook)).collect()
    }
}
