//! Lets a few threads do something at once, and the others wait for their turn.

use std::sync::{Condvar, Mutex, PoisonError};

/// So many at once.
pub(super) struct Gate {
    free: Mutex<usize>,
    changed: Condvar,
}

/// A turn, until it goes.
pub(super) struct Turn<'g>(&'g Gate);

impl Gate {
    pub(super) fn new(places: usize) -> Self {
        Self {
            free: Mutex::new(places),
            changed: Condvar::new(),
        }
    }

    /// Waits for a turn.
    pub(super) fn enter(&self) -> Turn<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self
                .changed
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.changed.notify_one();
    }
}
