//! Randomness for `wasi:random`: without a grant the bytes follow from the event,
//! so that they are the same on every run.

use std::convert::Infallible;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::TryRng;
use rand::rngs::SysRng;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::tape::reel::Reel;

/// What the bytes follow from.
pub(super) type Seed = [u8; 32];

/// Bytes that follow from a seed: the digests of the seed and a counter.
pub(super) struct Seeded {
    seed: Seed,
    blocks: u64,
    block: Seed,
    used: usize,
}

impl Seeded {
    /// Makes a source; sources with different purposes are not related.
    pub(super) fn new(seed: &Seed, purpose: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(seed);
        hasher.update(purpose);
        Self {
            seed: hasher.finalize().into(),
            blocks: 0,
            block: Seed::default(),
            used: size_of::<Seed>(),
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.used == self.block.len() {
                let mut hasher = Sha256::new();
                hasher.update(self.seed);
                hasher.update(self.blocks.to_le_bytes());
                self.block = hasher.finalize().into();
                self.blocks += 1;
                self.used = 0;
            }
            *byte = self.block[self.used];
            self.used += 1;
        }
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Returns a number for `wasi:random/insecure-seed`.
    pub(super) fn number(&mut self) -> u128 {
        u128::from_le_bytes(self.array())
    }
}

impl TryRng for Seeded {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.array()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.array()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.fill(bytes);
        Ok(())
    }
}

/// Bytes nobody can foresee, for hooks that were granted them. A tape tells them again.
pub(super) struct Real {
    reel: Reel,
}

impl Real {
    pub(super) fn new(reel: &Reel) -> Self {
        Self { reel: reel.clone() }
    }

    /// Returns a number for `wasi:random/insecure-seed`.
    pub(super) fn number(&mut self) -> u128 {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        u128::from_le_bytes(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let count = bytes.len();
        let told = self.reel.cross(
            "random.bytes",
            || json!({"count": count}),
            || {
                let mut fresh = vec![0; count];
                // Every operating system has them; a hook is not to go on without.
                match SysRng.try_fill_bytes(&mut fresh) {
                    Ok(()) => STANDARD.encode(fresh),
                    Err(_) => String::new(),
                }
            },
        );
        // Where the tape has none, the call fails when it ends.
        let told = told.ok().and_then(|text| STANDARD.decode(text).ok());
        match told {
            Some(told) if told.len() == count => bytes.copy_from_slice(&told),
            _ => bytes.fill(0),
        }
    }
}

impl TryRng for Real {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.fill(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let bytes = |seed: u8, purpose| Seeded::new(&[seed; 32], purpose).array::<100>();
        assert_eq!(bytes(1, "a"), bytes(1, "a"));
        assert_ne!(bytes(1, "a"), bytes(2, "a"));
        assert_ne!(bytes(1, "a"), bytes(1, "b"));
        let mut source = Seeded::new(&[1; 32], "a");
        assert_ne!(source.array::<32>(), source.array::<32>());
    }
}
