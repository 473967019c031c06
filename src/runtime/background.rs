//! Hooks that nobody waits for: one after the other, in the order of their events, on
//! a thread that is there as long as there is something to do.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::inner::{Caller, Inner};
use crate::event::Event;
use crate::outcome::Outcome;
use crate::tape::scene::Scene;

/// How many events wait at most. A hook that falls behind further is left out: it must
/// neither hold up the agent nor take its memory.
const MOST_WAITING: usize = 100;

/// How many outcomes are kept for whoever asks.
const MOST_KEPT: usize = 1_000;

/// What runs in the background.
#[derive(Debug, Default)]
pub(super) struct Background {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    working: bool,
    done: Vec<Outcome>,
}

#[derive(Debug)]
struct Job {
    inner: Arc<Inner>,
    event: Event,
    scene: Option<Arc<Scene>>,
}

/// Waits for the background when the last runtime that shares it goes.
#[derive(Debug)]
pub(super) struct Joined(pub(super) Arc<Background>);

impl Drop for Joined {
    fn drop(&mut self) {
        self.0.flush();
    }
}

impl Inner {
    /// Lets the hooks run that the event did not wait for, if there are any.
    pub(super) fn go_on_in_background(inner: &Arc<Self>, event: &Event, outcome: &mut Outcome) {
        if !outcome.trace.iter().any(|row| row.background) {
            return;
        }
        let state = inner.background.lock();
        if state.jobs.len() >= MOST_WAITING {
            outcome.warnings.push(format!(
                "{MOST_WAITING} events wait for hooks in the background, so this one's do not run"
            ));
            return;
        }
        let event = Event {
            background: true,
            payload: outcome.payload.clone(),
            ..event.clone()
        };
        // The event has its place on the tape before anything else happens.
        let scene = inner.scene(&event);
        let job = Job {
            inner: Arc::clone(inner),
            event,
            scene,
        };
        Background::take(&inner.background, state, job);
    }
}

impl Background {
    /// Nothing in here can panic while the lock is held.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(this: &Arc<Self>, mut state: MutexGuard<'_, State>, job: Job) {
        state.jobs.push_back(job);
        if state.working {
            return;
        }
        state.working = true;
        drop(state);
        let background = Arc::clone(this);
        let started = std::thread::Builder::new()
            .name("hookbox-background".to_owned())
            .spawn(move || background.work());
        // Without a thread to spare the hooks run here and now.
        if started.is_err() {
            this.work();
        }
    }

    fn work(&self) {
        loop {
            let mut state = self.lock();
            let Some(job) = state.jobs.pop_front() else {
                state.working = false;
                self.changed.notify_all();
                return;
            };
            drop(state);
            // Whoever waits for the rest must not wait for ever.
            let outcome = catch_unwind(AssertUnwindSafe(|| job.run()));
            let mut state = self.lock();
            state.done.extend(outcome.ok());
            let over = state.done.len().saturating_sub(MOST_KEPT);
            state.done.drain(..over);
        }
    }

    /// Waits until nothing is left to do, and hands over what came of it.
    pub(super) fn flush(&self) -> Vec<Outcome> {
        let mut state = self.lock();
        while state.working || !state.jobs.is_empty() {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut state.done)
    }
}

impl Job {
    fn run(self) -> Outcome {
        let inner = &self.inner;
        let taping = &inner.origin.taping;
        // Whether it had to be recorded was decided when the event came in.
        let losses = taping.losses();
        let caller = Caller::agent(self.scene.clone());
        let mut outcome = Inner::dispatch(inner, &self.event, &caller);
        inner.logs.remember(&outcome.logs);
        if let Some(scene) = self.scene {
            scene.close(&outcome);
            if let Err(error) = taping.settle(&inner.loaded.config, losses, &mut outcome) {
                outcome.warnings.push(error.to_string());
            }
        }
        outcome
    }
}
