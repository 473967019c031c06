//! Where the records of a run come together before anybody writes or compares them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::ink::{Call, First, Returned};
use super::lock::lock;
use super::record::{End, Entry};
use super::scene::now;
use super::sheet::Sheet;
use crate::outcome::Outcome;

/// A record that has no number yet.
pub(crate) type Loose = (Option<u64>, Entry);

/// With this many records waiting, or this many bytes of them, the track is full.
const MOST_WAITING: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;

/// Takes records from all threads, in the order in which they come.
#[derive(Debug)]
pub(crate) struct Track {
    waiting: Mutex<Waiting>,
    /// Wakes the thread that writes, if there is to be one.
    bell: Option<Bell>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Records that are written down.
    sheet: Sheet,
    /// Records that came later and are not.
    loose: Vec<Loose>,
    /// Whether records are kept as they are: somebody compares them, or there are
    /// secrets to be taken out, and no event waits for that.
    keeps: bool,
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
    /// The thread looks for records by itself.
    #[default]
    Awake,
    /// It waits to be rung for.
    Asleep,
    /// Nobody writes any more.
    Over,
}

impl Track {
    /// Makes a track that keeps its records for whoever compares them.
    pub(crate) fn kept() -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                keeps: true,
                ..Waiting::default()
            }),
            bell: None,
        }
    }

    /// Makes a track for a file, whose dispatches are numbered from the one after `last`.
    pub(super) fn after(last: u64) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                dispatches: last,
                ..Waiting::default()
            }),
            bell: Some(Bell::default()),
        }
    }

    /// Keeps all further records as they are.
    pub(super) fn keep(&self) {
        lock(&self.waiting).keeps = true;
    }

    /// Takes the first record of a new dispatch and returns its number. The time is taken
    /// here, so that numbers and times are in the order of the tape.
    pub(super) fn begin(&self, mut start: First<'_>) -> u64 {
        let mut waiting = lock(&self.waiting);
        waiting.dispatches += 1;
        let number = waiting.dispatches;
        start.time = now();
        if waiting.keeps {
            let entry = Entry::Dispatch(start.to_record());
            self.add(waiting, Some(number), entry);
        } else {
            let first = waiting.is_empty();
            waiting.sheet.push_start(number, &start);
            drop(waiting);
            self.ring(first);
        }
        number
    }

    /// Takes a record.
    #[inline]
    pub(crate) fn push(&self, dispatch: Option<u64>, entry: Entry) {
        self.add(lock(&self.waiting), dispatch, entry);
    }

    /// Takes what a hook gets.
    pub(super) fn call(&self, dispatch: u64, call: &Call<'_>) {
        self.put(
            dispatch,
            |sheet| sheet.push_call(dispatch, call),
            || Entry::HookCall(call.to_record()),
        );
    }

    /// Takes what a hook said.
    pub(super) fn returned(&self, dispatch: u64, returned: &Returned<'_>) {
        self.put(
            dispatch,
            |sheet| sheet.push_returned(dispatch, returned),
            || Entry::HookReturned(returned.to_record()),
        );
    }

    /// Takes the last record of a dispatch.
    pub(super) fn end_dispatch(&self, dispatch: u64, outcome: &Outcome, took_us: u64) {
        self.put(
            dispatch,
            |sheet| sheet.push_end(dispatch, outcome, took_us),
            || Entry::Outcome(End::of(outcome, took_us)),
        );
    }

    /// Takes a record that is made only where it is kept.
    #[inline]
    fn put(&self, dispatch: u64, write: impl FnOnce(&mut Sheet), make: impl FnOnce() -> Entry) {
        let mut waiting = lock(&self.waiting);
        if waiting.keeps {
            self.add(waiting, Some(dispatch), make());
            return;
        }
        let first = waiting.is_empty();
        write(&mut waiting.sheet);
        drop(waiting);
        self.ring(first);
    }

    /// Rings for the first record that waits; the others are written with it. Inlined,
    /// because records are large and each call would move them.
    #[inline]
    fn add(&self, mut waiting: MutexGuard<'_, Waiting>, dispatch: Option<u64>, entry: Entry) {
        let first = waiting.is_empty();
        if waiting.keeps {
            waiting.loose.push((dispatch, entry));
        } else {
            waiting.sheet.push(dispatch, &entry);
        }
        drop(waiting);
        self.ring(first);
    }

    fn ring(&self, first: bool) {
        if let Some(bell) = self.bell.as_ref().filter(|_| first) {
            bell.ring();
        }
    }

    /// Says whether more waits than should.
    pub(super) fn is_full(&self) -> bool {
        let waiting = lock(&self.waiting);
        waiting.sheet.items.len() + waiting.loose.len() > MOST_WAITING
            || waiting.sheet.size() > MOST_BYTES
    }

    /// Returns how many bytes of records wait.
    pub(super) fn size(&self) -> usize {
        lock(&self.waiting).sheet.size()
    }

    /// Says whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.waiting).is_empty()
    }

    /// Hands over the records that are kept.
    pub(crate) fn take(&self) -> Vec<Loose> {
        std::mem::take(&mut lock(&self.waiting).loose)
    }

    /// Hands over all records for an empty sheet: those that are written down, and those
    /// after them. A sheet that was used before has room already, and nobody waits while
    /// a new one grows.
    pub(super) fn swap(&self, empty: Sheet) -> (Sheet, Vec<Loose>) {
        let mut waiting = lock(&self.waiting);
        let sheet = std::mem::replace(&mut waiting.sheet, empty);
        (sheet, std::mem::take(&mut waiting.loose))
    }

    /// Waits for records, and says whether anybody is to write them.
    pub(super) fn wait(&self) -> bool {
        let bell = self.bell.as_ref();
        bell.is_some_and(|bell| bell.wait(|| self.is_empty()))
    }

    /// Says whether nobody is to write any more.
    pub(super) fn is_over(&self) -> bool {
        let bell = self.bell.as_ref();
        bell.is_none_or(|bell| *lock(&bell.state) == State::Over)
    }

    /// Lets nobody wait any more.
    pub(super) fn end(&self) {
        if let Some(bell) = &self.bell {
            bell.end();
        }
    }
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.sheet.items.is_empty() && self.loose.is_empty()
    }
}

impl Bell {
    /// Wakes the thread, unless it is awake: waking one takes longer than recording.
    fn ring(&self) {
        let mut state = lock(&self.state);
        if *state == State::Asleep {
            *state = State::Awake;
            self.rung.notify_one();
        }
    }

    fn end(&self) {
        *lock(&self.state) = State::Over;
        self.rung.notify_one();
    }

    /// Sleeps as long as there is nothing to do.
    fn wait(&self, nothing: impl FnOnce() -> bool) -> bool {
        let mut state = lock(&self.state);
        // Whoever adds a record after this look finds the thread asleep, and rings.
        if *state == State::Awake && nothing() {
            *state = State::Asleep;
        }
        let waited = self.rung.wait_while(state, |state| *state == State::Asleep);
        *waited.unwrap_or_else(PoisonError::into_inner) != State::Over
    }
}
