//! The time. Without a grant it is the event's own, so that a hook decides the same on
//! every run; `grant: { clock: real }` makes it the machine's.

use std::time::Duration;

use crate::host;

/// Returns the time since the start of 1970, in whole milliseconds.
#[must_use]
pub fn now() -> Duration {
    Duration::from_millis(host::clock::now())
}
