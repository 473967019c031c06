//! hookbox runs AI-agent hooks, written in any language, inside a WebAssembly
//! sandbox, and gives the same answer every time.
//!
//! A hook is a Markdown file with Starlark in its frontmatter, or a component that
//! implements the contract in `wit/`. Ask a project's hooks about an event:
//!
//! ```
//! use hookbox::{Ruling, Runtime};
//! use serde_json::json;
//!
//! let runtime = Runtime::load("examples/governed-agent")?;
//! let call = json!({"name": "run_command", "args": {"command": "rm -rf /"}});
//! let outcome = runtime.dispatch("tool.pre", call)?;
//!
//! assert_eq!(outcome.decision, Ruling::Block);
//! assert_eq!(outcome.hook.as_deref(), Some("command_guard"));
//! println!("{}", outcome.reason.unwrap_or_default());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An error of [`Runtime::dispatch`] means that hookbox could not decide: the action
//! must not go on. A hook that fails is not an error: it is part of the
//! [`Outcome`], and blocks where an action waits for the answer.
//!
//! The way of an event: [`runtime`] finds the chain and [`chain`] runs it, [`handler`]
//! runs one hook in the [`sandbox`], and [`capability`] is the only way out of that.
//! What a hook file means is a matter of its [`dialect`], and what holds for all hooks
//! of a project is its [`config`].
//!
//! A hook reaches nothing beyond its event unless it is granted:
//! [`capability::grant`] is what can be granted, and [`runtime::RuntimeBuilder`] takes
//! what a host lends to its hooks.

#![warn(missing_docs, unreachable_pub)]
#![warn(clippy::unwrap_used, clippy::expect_used)]

pub mod agent;
pub mod build;
pub mod canonical;
pub mod capability;
pub mod cases;
pub mod chain;
#[doc(hidden)]
pub mod cli;
pub mod config;
pub mod decision;
pub mod defence;
pub mod diagnostic;
pub mod dialect;
pub mod edits;
pub mod event;
pub mod failure;
pub mod handler;
pub mod hook;
pub mod inspect;
pub mod json;
pub mod outcome;
pub mod runtime;
pub mod sandbox;
pub mod scaffold;
#[cfg(unix)]
pub mod serve;
pub mod tape;
mod timestamp;
pub mod verify;
pub mod yaml;

pub use decision::{Decision, Ruling};
pub use outcome::Outcome;
pub use runtime::Runtime;
