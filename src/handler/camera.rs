//! Takes images of the interpreter's memory, in an engine of its own.
//!
//! An instance that shows all of its memory has all of it present afterwards. In the pool
//! that calls come from, every later call in the same place would look through those pages.

use std::sync::Arc;

use super::images::Kind;
use super::starlark::Interpreter;
use crate::capability::{Border, Pass};
use crate::sandbox::bindings::starlark::StarlarkPre;
use crate::sandbox::compiled::{COMPILE_TIME, CodeStore, OnProgress};
use crate::sandbox::engine::Engine;
use crate::sandbox::image::{Before, Image};
use crate::sandbox::instance::{self, Call};
use crate::sandbox::limits::Limits;

/// What loading may take for an image to be taken: a hundred times what a long script does.
/// An event waits meanwhile, and the host copies all of the memory.
const FUEL: u64 = 100_000_000;
const MEMORY: usize = 16 << 20;

/// An interpreter that nothing but images comes from.
pub(super) struct Camera {
    engine: Engine,
    ready: StarlarkPre<Call>,
}

impl Camera {
    /// Opens one with the code that was compiled for calls; nothing if that is not there.
    pub(super) fn open(store: &CodeStore) -> Option<Self> {
        let engine = Engine::without_pool().ok()?;
        if !Interpreter::is_compiled(&engine, store) {
            return None;
        }
        let silent: OnProgress = Arc::new(|_| {});
        let ready = Interpreter::linked(&engine, store, &silent, COMPILE_TIME).ok()?;
        Some(Self { engine, ready })
    }

    /// Takes the image of what loading a text leaves; nothing if it does not load.
    pub(super) fn take(&self, kind: Kind, code: &str) -> Option<Image> {
        let border = Border::new(Pass {
            limits: Limits {
                fuel: FUEL,
                memory: MEMORY,
                ..Limits::default()
            },
            ..Pass::nowhere()
        });
        let mut store = instance::open(&self.engine, border);
        let taken = instance::step(&mut store, async |store| {
            let guest = self.ready.instantiate_async(&mut *store).await?;
            let before = Before::look(&guest, store).await?;
            match kind.load(&guest, store, code).await? {
                Ok(()) => before.image(&guest, store).await,
                Err(_) => Ok(None),
            }
        });
        taken.ok().flatten()
    }
}
