//! When there has to be an answer.

use std::time::{Duration, Instant};

/// A time to answer in, and what is left of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    /// How long it may take in all.
    pub(super) given: Duration,
    begun: Instant,
}

impl Deadline {
    /// Begins now.
    pub(super) fn within(given: Duration) -> Self {
        Self {
            given,
            begun: Instant::now(),
        }
    }

    /// Returns what is left.
    pub(super) fn left(&self) -> Duration {
        self.given.saturating_sub(self.begun.elapsed())
    }
}
