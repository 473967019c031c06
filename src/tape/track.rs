//! Where the records of a run come together before anybody writes or compares them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::lock::lock;
use super::record::Entry;

/// A record that has no number yet.
pub(crate) type Loose = (Option<u64>, Entry);

/// Takes records from all threads, in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct Track {
    waiting: Mutex<Waiting>,
    bell: Bell,
}

#[derive(Debug, Default)]
struct Waiting {
    loose: Vec<Loose>,
    /// The number of the last dispatch.
    dispatches: u64,
}

/// Wakes the thread that writes.
#[derive(Debug, Default)]
struct Bell {
    state: Mutex<State>,
    rung: Condvar,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing to do.
    #[default]
    Idle,
    /// Records wait.
    Rung,
    /// Nobody writes any more.
    Over,
}

impl Track {
    /// Makes a track whose dispatches are numbered from the one after `last`.
    pub(crate) fn after(last: u64) -> Self {
        let track = Self::default();
        lock(&track.waiting).dispatches = last;
        track
    }

    /// Takes the first record of a new dispatch and returns its number. The record is
    /// made here, so that numbers and times are in the order of the tape.
    pub(crate) fn begin(&self, entry: impl FnOnce() -> Entry) -> u64 {
        let mut waiting = lock(&self.waiting);
        waiting.dispatches += 1;
        let number = waiting.dispatches;
        self.add(waiting, Some(number), entry());
        number
    }

    /// Takes a record.
    pub(crate) fn push(&self, dispatch: Option<u64>, entry: Entry) {
        self.add(lock(&self.waiting), dispatch, entry);
    }

    /// Rings for the first record that waits; the others are written with it.
    fn add(&self, mut waiting: MutexGuard<'_, Waiting>, dispatch: Option<u64>, entry: Entry) {
        let first = waiting.loose.is_empty();
        waiting.loose.push((dispatch, entry));
        drop(waiting);
        if first {
            self.bell.ring();
        }
    }

    /// Returns how many records wait.
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.waiting).loose.len()
    }

    /// Hands over all records.
    pub(crate) fn take(&self) -> Vec<Loose> {
        self.swap(Vec::new())
    }

    /// Hands over all records for an empty list. One that was used before has room
    /// already, and nobody waits while a new one grows.
    pub(super) fn swap(&self, empty: Vec<Loose>) -> Vec<Loose> {
        std::mem::replace(&mut lock(&self.waiting).loose, empty)
    }

    /// Waits for records, and says whether anybody is to write them.
    pub(super) fn wait(&self) -> bool {
        self.bell.wait()
    }

    /// Lets nobody wait any more.
    pub(super) fn end(&self) {
        self.bell.end();
    }
}

impl Bell {
    /// Wakes the thread, unless it is awake.
    fn ring(&self) {
        let mut state = lock(&self.state);
        if *state == State::Idle {
            *state = State::Rung;
            self.rung.notify_one();
        }
    }

    fn end(&self) {
        *lock(&self.state) = State::Over;
        self.rung.notify_one();
    }

    fn wait(&self) -> bool {
        let state = lock(&self.state);
        let waited = self.rung.wait_while(state, |state| *state == State::Idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if *state == State::Over {
            return false;
        }
        *state = State::Idle;
        true
    }
}
