//! Times to live of values that outlive the process.

use std::time::{Duration, SystemTime};

/// The longest time to live, some two thousand years. Together with the time
/// of day it is exact as a 64-bit float, which is what Redis keeps.
const MAX_MILLIS: u64 = 1 << 46;

/// Returns a time to live in milliseconds, rounded up; nothing for one that is
/// longer than anything that is kept.
pub(super) fn millis(ttl: Option<Duration>) -> Option<u64> {
    let millis = ttl?.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis)
        .ok()
        .filter(|&millis| millis <= MAX_MILLIS)
}

/// Returns the time of day in milliseconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}
