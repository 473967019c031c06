//! Where the records of a run come together before anybody writes or compares them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::Entry;

/// A record that has no number yet.
pub(crate) type Loose = (Option<u64>, Entry);

/// Takes records from all threads, in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct Track {
    loose: Mutex<Vec<Loose>>,
    dispatches: AtomicU64,
}

impl Track {
    /// Makes a track whose dispatches are numbered from the one after `last`.
    pub(crate) fn after(last: u64) -> Self {
        Self {
            loose: Mutex::default(),
            dispatches: AtomicU64::new(last),
        }
    }

    /// Returns the number of a new dispatch.
    pub(crate) fn number(&self) -> u64 {
        self.dispatches.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Takes a record.
    pub(crate) fn push(&self, dispatch: Option<u64>, entry: Entry) {
        self.lock().push((dispatch, entry));
    }

    /// Returns how many records wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().len()
    }

    /// Hands over all records.
    pub(crate) fn take(&self) -> Vec<Loose> {
        std::mem::take(&mut *self.lock())
    }

    /// Nothing in here can panic while the lock is held.
    fn lock(&self) -> MutexGuard<'_, Vec<Loose>> {
        self.loose.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
