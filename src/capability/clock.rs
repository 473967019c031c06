//! The time and random bytes for guests without `wasi:*`. Both are those that
//! `wasi:*` would give the same guest.

use wasmtime_wasi::WasiView as _;
use wasmtime_wasi::p2::bindings::random::random::Host as _;

use crate::failure::{Cause, Failure};
use crate::sandbox::bindings::{clock, random};
use crate::sandbox::instance::Call;

/// How many bytes there are at once.
const MAX_BYTES: u32 = 64 << 10;

impl clock::Host for Call {
    fn now(&mut self) -> wasmtime::Result<u64> {
        self.enter()?;
        let since = self.prepare_wasi().clock().wall();
        Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl random::Host for Call {
    fn bytes(&mut self, count: u32) -> wasmtime::Result<Vec<u8>> {
        self.enter()?;
        if count > MAX_BYTES {
            let message = format!(
                "the guest asked for {count} random bytes and may have {MAX_BYTES} at once"
            );
            return Err(Failure::new(Cause::Trap, message).into());
        }
        self.ctx().ctx.random().get_random_bytes(count.into())
    }
}
