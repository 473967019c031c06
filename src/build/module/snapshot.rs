//! Reads the memory and the globals of an instance into a new module.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wasmtime::{Extern, Instance, Store, Val};
use wasmtime_wizer::{InstanceState, ModuleContext, SnapshotVal, ValType, Wizer};

use super::system::System;

/// An instance whose globals and memories are looked at from outside.
pub(crate) struct State {
    store: Store<System>,
    instance: Instance,
    /// A global or memory that was not there. Whoever asks has exported all of them and
    /// leaves no room for an error in the answer.
    missing: Option<String>,
}

impl State {
    /// Takes an instance that was initialised.
    pub(crate) fn new(store: Store<System>, instance: Instance) -> Self {
        Self {
            store,
            instance,
            missing: None,
        }
    }

    /// Returns what the instance left behind on the host's side.
    pub(crate) fn system(&self) -> &System {
        self.store.data()
    }

    /// Writes the module anew, as it is now.
    ///
    /// # Errors
    /// Returns what of the instance cannot be read.
    pub(crate) fn snapshot(
        &mut self,
        wizer: &Wizer,
        context: &ModuleContext<'_>,
    ) -> wasmtime::Result<Vec<u8>> {
        let module = finish(wizer.snapshot(context, self))?;
        match self.missing.take() {
            Some(name) => Err(wasmtime::format_err!("{name} is gone")),
            None => Ok(module),
        }
    }
}

impl InstanceState for State {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        let global = self.instance.get_global(&mut self.store, name);
        match global.map(|global| global.get(&mut self.store)) {
            Some(Val::I32(bits)) => SnapshotVal::I32(bits),
            Some(Val::I64(bits)) => SnapshotVal::I64(bits),
            Some(Val::F32(bits)) => SnapshotVal::F32(bits),
            Some(Val::F64(bits)) => SnapshotVal::F64(bits),
            Some(Val::V128(bits)) => SnapshotVal::V128(bits.as_u128()),
            _ => {
                self.missing = Some(name.to_owned());
                SnapshotVal::I32(0)
            }
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        match self.instance.get_export(&mut self.store, name) {
            Some(Extern::Memory(memory)) => contents(memory.data(&self.store)),
            _ => self.missing = Some(name.to_owned()),
        }
    }
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
