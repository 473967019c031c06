//! What a hook's own unit tests look at. Only there natively, under `cargo test`.
//!
//! ```
//! use hookbox_guest::{Decision, Event, block, hook, json, log, testing};
//!
//! #[hook]
//! fn nothing_passes(event: Event) -> Decision {
//!     log::warn("blocked");
//!     block(format!("{} is not allowed", event.payload["name"]))
//! }
//!
//! let event = Event::new("tool.pre", json!({"name": "rm"}));
//! assert_eq!(nothing_passes(event), block("\"rm\" is not allowed"));
//! assert_eq!(testing::log_lines(), [(log::Level::Warn, "blocked".to_owned())]);
//! ```
//!
//! Log, metrics and cache live in the test's thread, so tests do not see each other.
//! What leaves the sandbox, like `http` and `tools`, fails.

pub use crate::bindings::hookbox::hook::types::Effect;
use crate::effects;
use crate::host;
use crate::log::Level;

/// Returns what was logged in this thread since the last time, in order.
#[must_use]
pub fn log_lines() -> Vec<(Level, String)> {
    host::log::take()
}

/// Returns the contexts and reminders of this thread since the last time, in order.
#[must_use]
pub fn effects() -> Vec<Effect> {
    effects::take()
}
