//! The time and random bytes for guests without `wasi:*`. Both are those that
//! `wasi:*` would give the same guest.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use wasmtime_wasi::WasiView as _;
use wasmtime_wasi::p2::bindings::random::random::Host as _;

use crate::failure::{Cause, Failure};
use crate::sandbox::bindings::{clock, random};
use crate::sandbox::instance::Call;

/// How many bytes there are at once.
const MAX_BYTES: u32 = 64 << 10;

impl clock::Host for Call {
    fn now(&mut self) -> wasmtime::Result<u64> {
        let border = self.enter()?;
        let (reel, granted) = (border.reel().clone(), border.grants().clock);
        let clock = Arc::clone(self.prepare_wasi().clock());
        let now = || u64::try_from(clock.wall().as_nanos()).unwrap_or(u64::MAX);
        let since = if granted {
            // The clock itself is on the tape.
            now()
        } else {
            reel.derive("clock.now", || json!({}), now)
        };
        Ok(since / 1_000_000)
    }
}

impl random::Host for Call {
    fn bytes(&mut self, count: u32) -> wasmtime::Result<Vec<u8>> {
        let border = self.enter()?;
        let (reel, granted) = (border.reel().clone(), border.grants().random);
        if count > MAX_BYTES {
            let message = format!(
                "the guest asked for {count} random bytes and may have {MAX_BYTES} at once"
            );
            return Err(Failure::new(Cause::Trap, message).into());
        }
        let mut draw = || self.ctx().ctx.random().get_random_bytes(count.into());
        if granted {
            return draw();
        }
        let bytes = draw()?;
        let text = || STANDARD.encode(&bytes);
        reel.derive("random.bytes", || json!({"count": count}), text);
        Ok(bytes)
    }
}
