//! Write hookbox hooks in Rust.
//!
//! A hook is a function that takes an [`Event`] and returns a [`Decision`]:
//!
//! ```
//! use hookbox_guest::{Decision, Error, Event, allow, block, hook};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Payload {
//!     args: Args,
//! }
//!
//! #[derive(Deserialize)]
//! struct Args {
//!     command: String,
//! }
//!
//! #[hook]
//! fn no_force_push(event: Event<Payload>) -> Result<Decision, Error> {
//!     if event.payload.args.command.contains("push --force") {
//!         return Ok(block("pushing with force is not allowed"));
//!     }
//!     Ok(allow())
//! }
//! ```
//!
//! - The payload is any type that serde can read; `Event` alone carries a [`Value`].
//!   A payload that does not fit is a hook error that names the field.
//! - The function returns a [`Decision`] or a `Result` of one with any error that can
//!   be displayed. An error is a hook error; so is a panic.
//! - [`context`] and [`reminder`] go out with the decision.
//! - The modules are what a hook can reach. [`log`], [`metrics`], [`cache`], [`events`],
//!   [`clock`] and [`random`] need no grant; [`http`], [`tools`], [`mod@env`], [`files`] and
//!   [`hooks`] need one in the hook file.
//!
//! The function runs natively too, in plain `cargo test`: see [`testing`].

#![warn(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used
)]
#![deny(unsafe_code)]

#[cfg(any(test, all(target_os = "unknown", feature = "allocator")))]
mod allocator;
#[doc(hidden)]
#[allow(missing_docs, unreachable_pub, unsafe_code, clippy::unwrap_used)]
pub mod bindings;
pub mod cache;
pub mod clock;
mod decision;
mod effects;
mod entry;
pub mod env;
mod error;
mod event;
pub mod events;
pub mod files;
pub mod hooks;
mod host;
pub mod http;
pub mod log;
pub mod metrics;
mod misfit;
pub mod random;
#[cfg(doctest)]
mod refusals;
mod rt;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
pub mod tools;

pub use decision::{Decision, Json, allow, ask, block, modify};
pub use effects::{Context, Placement, Propagation, Reminder, RoleHint, context, reminder};
pub use error::{Error, HostError, Kind};
pub use event::Event;
pub use hookbox_guest_macros::hook;
pub use serde_json::{Value, json};

#[doc(hidden)]
pub mod __private {
    //! What the code that `#[hook]` writes calls.
    pub use crate::entry::{
        Described, HookResult, ViaBox, ViaDisplay, ViaSendBox, ViaStdError, answer, call,
    };
}
