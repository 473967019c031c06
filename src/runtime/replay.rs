//! Runs today's hooks in the world of a tape.

use std::sync::Arc;

use super::Runtime;
use super::inner::{Caller, Inner};
use super::taping::print;
use crate::dialect;
use crate::event::{About, Event};
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
        let damaged = |why: String| TapeError::Damaged {
            record: dispatch.first_record(),
            why,
        };
        let payload = Json::recorded(&start.payload)
            .map_err(|error| damaged(format!("the payload cannot be used: {error}")))?;
        let dialect = dialect::named(&start.dialect)
            .ok_or_else(|| damaged(format!("there is no dialect {:?}", start.dialect)))?;
        let info = (dialect.find)(&start.event)
            .ok_or_else(|| damaged(format!("{} has no event {:?}", dialect.title, start.event)))?;
        let about = match &start.about {
            None => About::default(),
            Some(text) => serde_json::from_str(text)
                .map_err(|error| damaged(format!("what came with it cannot be used: {error}")))?,
        };
        let event = Event {
            name: Arc::clone(&start.event),
            point: info.point_of(&start.event).into(),
            dialect,
            payload,
            about: Arc::new(about),
            background: start.background,
            id: start.id.clone(),
            subject: start.subject.clone(),
            depth: start.depth,
        };
        let tools: Arc<[String]> = dispatch.project.tools.clone().into();
        let track = Arc::new(Track::kept());
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
