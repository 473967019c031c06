//! What `#[hook]` does not take. Only there for its documentation tests.
//!
//! A function that returns nothing:
//! ```compile_fail
//! use hookbox_guest::{Event, hook};
//!
//! #[hook]
//! fn nothing(_event: Event) {}
//! ```
//!
//! A function that returns something else:
//! ```compile_fail,E0277
//! use hookbox_guest::{Event, hook};
//!
//! #[hook]
//! fn number(_event: Event) -> u32 {
//!     1
//! }
//! ```
//!
//! A payload that serde cannot read:
//! ```compile_fail,E0277
//! use hookbox_guest::{Decision, Event, allow, hook};
//!
//! struct Unreadable;
//!
//! #[hook]
//! fn unreadable(_event: Event<Unreadable>) -> Decision {
//!     allow()
//! }
//! ```
//!
//! An error that cannot be displayed:
//! ```compile_fail,E0277
//! use hookbox_guest::{Decision, Event, allow, hook};
//!
//! #[hook]
//! fn silent(_event: Event) -> Result<Decision, ()> {
//!     Ok(allow())
//! }
//! ```
//!
//! A function that is not plain:
//! ```compile_fail
//! use hookbox_guest::{Decision, Event, allow, hook};
//!
//! #[hook]
//! async fn waiting(_event: Event) -> Decision {
//!     allow()
//! }
//! ```
