//! Random bytes. Without a grant they follow from the event and the hook's name;
//! `grant: { random: real }` makes them the machine's.

use crate::host;

/// Returns so many bytes, 65,536 at most.
#[must_use]
pub fn bytes(count: u32) -> Vec<u8> {
    host::random::bytes(count)
}
