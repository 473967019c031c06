//! One way to take a lock. Nothing in this room panics while one is held; if it did, what
//! is behind it is still whole records.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
