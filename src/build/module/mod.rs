//! What is done with a core module before it becomes a component.

pub(super) mod arena;
pub(super) mod preinit;
pub(super) mod quiet;
pub(super) mod room;
mod sections;
mod snapshot;
mod system;
