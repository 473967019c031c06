//! What the instance is doing, which decides whether a capability may be used.

use std::cell::Cell;

/// What the instance is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A script's top level runs: no capability.
    Loading,
    /// `handle` runs: capabilities reach the host.
    Handling,
    /// The image is being prepared at build time, where there is no host:
    /// capabilities answer with fixed values.
    WarmUp,
}

thread_local! {
    static PHASE: Cell<Phase> = const { Cell::new(Phase::Loading) };
}

/// Returns the current phase.
pub fn current() -> Phase {
    PHASE.get()
}

/// Runs `work` in another phase.
pub fn within<T>(phase: Phase, work: impl FnOnce() -> T) -> T {
    let before = PHASE.replace(phase);
    let result = work();
    PHASE.set(before);
    result
}

/// Says no if the built-in `name` is called while the script loads.
pub fn require_handling(name: &str) -> starlark::Result<()> {
    if current() == Phase::Loading {
        return Err(crate::problem::raise(format!(
            "{name}: not available while the script loads; call it inside handle"
        )));
    }
    Ok(())
}
