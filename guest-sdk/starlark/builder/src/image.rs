//! Turns the guest's module into a component that starts warm.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use anyhow::{Context as _, Result, anyhow};
use wasmtime::{Config, Engine, Linker, Store};
use wasmtime_wizer::Wizer;
use wit_component::ComponentEncoder;

/// The warm-up runs deep Rust frames; the host's own limit is for calls.
const STACK: usize = 8 << 20;

/// Runs the guest's warm-up, keeps the memory as it is then, and wraps the
/// module as a component.
pub fn prepare(module: &[u8]) -> Result<Vec<u8>> {
    let warm = warm_up(module).map_err(|error| anyhow!("the warm-up failed: {error:?}"))?;
    ComponentEncoder::default()
        .module(&warm)
        .context("the module does not describe its world")?
        .validate(true)
        .encode()
        .context("the module does not fit its world")
}

fn warm_up(module: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let mut config = Config::new();
    config.max_wasm_stack(STACK);
    config.async_stack_size(2 * STACK);
    let engine = Engine::new(&config)?;
    let mut store = Store::new(&engine, ());
    let wizer = Wizer::new();
    let work = wizer.run(&mut store, module, async |store, module| {
        // There is no host yet: the warm-up must get by without one.
        let mut linker = Linker::new(store.engine());
        linker.define_unknown_imports_as_traps(module)?;
        linker.instantiate_async(store, module).await
    });
    finish(work)
}

/// Nothing in the work waits for anything, so polling it is enough.
fn finish<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut context) {
            return result;
        }
    }
}
