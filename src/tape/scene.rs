//! One dispatch as the tape sees it: what happens goes on the track, and in a replay
//! what happened before comes from the part.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use super::ink::{Call, First, Returned};
use super::line::microseconds;
use super::part::Part;
use super::record::{Entry, Fault, HookVetoed, Phase, Predicate, Used};
use super::reel::Reel;
use super::track::Track;
use crate::capability::Left;
use crate::chain::{Control, Ran, Usage};
use crate::decision::{Answer, Ruling};
use crate::event::{About, Event};
use crate::hook::Hook;
use crate::json::Json;
use crate::outcome::{Outcome, TraceRow};

/// A dispatch that is recorded, replayed, or both.
#[derive(Debug)]
pub(crate) struct Scene {
    track: Arc<Track>,
    number: u64,
    session: u64,
    began: Instant,
    part: Option<Arc<Part>>,
}

impl Scene {
    /// Opens a dispatch that is recorded.
    pub(crate) fn record(track: &Arc<Track>, session: u64, event: &Event) -> Arc<Self> {
        Self::open(track, session, None, None, event)
    }

    /// Opens a dispatch whose world is on a tape.
    pub(crate) fn play(track: &Arc<Track>, part: Arc<Part>, event: &Event) -> Arc<Self> {
        Self::open(track, 0, None, Some(part), event)
    }

    /// Opens a dispatch that a hook of this one caused.
    pub(crate) fn child(&self, event: &Event) -> Arc<Self> {
        let part = self.part.as_ref().map(|part| part.child(&event.name));
        Self::open(&self.track, self.session, Some(self.number), part, event)
    }

    fn open(
        track: &Arc<Track>,
        session: u64,
        parent: Option<u64>,
        part: Option<Arc<Part>>,
        event: &Event,
    ) -> Arc<Self> {
        let number = track.begin(First {
            event: &event.name,
            dialect: &event.dialect.name.into(),
            about: about(event).as_ref(),
            background: event.background,
            id: &event.id,
            subject: event.subject.as_deref(),
            depth: event.depth,
            payload: &event.payload.shared_text(),
            parent,
            session,
            time: 0,
        });
        Arc::new(Self {
            track: Arc::clone(track),
            number,
            session,
            began: Instant::now(),
            part,
        })
    }

    /// Returns what was recorded of this dispatch, in a replay.
    pub(crate) fn part(&self) -> Option<&Arc<Part>> {
        self.part.as_ref()
    }

    /// Returns the microseconds since the dispatch began.
    pub(super) fn elapsed(&self) -> u64 {
        microseconds(self.began.elapsed())
    }

    #[inline]
    pub(super) fn push(&self, entry: Entry) {
        self.track.push(Some(self.number), entry);
    }

    /// Returns what stands at the border for one call of a hook.
    pub(crate) fn reel(self: &Arc<Self>, hook: &Hook, phase: Phase) -> Reel {
        Reel::new(Arc::clone(self), Arc::clone(&hook.name), phase)
    }

    /// Runs a predicate, unless the tape says that its time was up.
    pub(crate) fn matches(
        &self,
        hook: &Hook,
        reel: &Reel,
        run: impl FnOnce() -> Ran<bool>,
    ) -> Ran<bool> {
        let at_us = self.elapsed();
        let ran = self.run(reel, run);
        self.push(Entry::Predicate(Predicate {
            hook: Arc::clone(&hook.name),
            matched: matches!(ran.result, Ok(true)),
            failure: ran.result.as_ref().err().map(Fault::from),
            used: used(&ran.usage, &ran.left, at_us),
        }));
        ran
    }

    /// Runs a handler, unless the tape says that its time was up. What is made of its
    /// answer comes later, through [`Scene::returned`].
    pub(crate) fn handle(
        &self,
        hook: &Hook,
        event: &Event,
        reel: &Reel,
        collected: bool,
        run: impl FnOnce() -> Ran<Answer>,
    ) -> (Ran<Answer>, Used) {
        let at_us = self.elapsed();
        let call = Call {
            hook: &hook.name,
            handler: hook.handler.kind(),
            payload: &event.payload.shared_text(),
            collected,
            at_us,
        };
        self.track.call(self.number, &call);
        let ran = self.run(reel, run);
        let used = used(&ran.usage, &ran.left, at_us);
        (ran, used)
    }

    fn run<T>(&self, reel: &Reel, run: impl FnOnce() -> Ran<T>) -> Ran<T> {
        if let Some((failure, usage, left)) = reel.honoured() {
            return Ran {
                result: Err(failure),
                usage,
                left,
            };
        }
        let mut ran = run();
        // A hook may keep to itself that it got no answer.
        if let Some(failure) = reel.unanswered() {
            ran.result = Err(failure);
        }
        ran
    }

    /// Records what was made of a hook's answer. `used` is nothing if its handler was
    /// not even called.
    pub(crate) fn returned(
        &self,
        hook: &Hook,
        row: &TraceRow,
        control: &Control<'_>,
        used: Option<Used>,
    ) {
        let reason = row.reason.as_deref();
        if let Some(used) = &used {
            let payload = control.payload.map(Json::shared_text);
            let failure = control.failure.map(Fault::from);
            let returned = Returned {
                hook: &hook.name,
                decision: control.ruling,
                reason,
                payload: payload.as_ref(),
                effects: control.effects,
                said: control.said,
                last: control.last,
                failure: failure.as_ref(),
                used,
            };
            self.track.returned(self.number, &returned);
        }
        if control.last || matches!(control.ruling, Ruling::Block | Ruling::Ask) {
            self.push(Entry::HookVetoed(HookVetoed {
                hook: Arc::clone(&hook.name),
                decision: control.ruling,
                reason: reason.unwrap_or_default().to_owned(),
            }));
        }
    }

    /// Closes the dispatch.
    pub(crate) fn close(&self, outcome: &Outcome) {
        self.track
            .end_dispatch(self.number, outcome, self.elapsed());
    }
}

/// What came with an event, if anything did.
fn about(event: &Event) -> Option<Arc<str>> {
    let about = &*event.about;
    if *about == About::default() {
        return None;
    }
    // Texts and JSON always are JSON.
    Some(serde_json::to_string(about).unwrap_or_default().into())
}

fn used(usage: &Usage, left: &Left, at_us: u64) -> Used {
    Used {
        fuel: usage.fuel,
        memory_bytes: usage.memory_bytes,
        at_us,
        took_us: microseconds(usage.duration),
        logs: copied(&left.logs),
        warnings: copied(&left.warnings),
        refusals: copied(&left.refusals),
    }
}

/// Copies what is nearly always empty, and then takes no call.
#[inline]
fn copied<T: Clone>(list: &[T]) -> Vec<T> {
    if list.is_empty() {
        return Vec::new();
    }
    list.to_vec()
}

/// Returns the milliseconds since 1970. A clock before that tells none.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
