//! The answer to crates that ask for random bytes.
//!
//! They want them as seeds for hash tables only. A fixed stream keeps every
//! run of a hook the same, and the host's limits bound what an attacker gains
//! from knowing the seed.

/// Fills the buffer with bytes that are the same in every run.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    target: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for index in 0..length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // SAFETY: the caller hands us `length` writable bytes.
        unsafe { target.add(index).write(state as u8) };
    }
    Ok(())
}
