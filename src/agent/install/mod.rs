//! Wires an agent: its own settings get one entry for each event, which runs hookbox.
//!
//! A [`Plan`] holds every change before any is made. Settings belong to a person, so
//! whatever is not ours stays byte for byte, and going back gives back the same file.

mod apply;
mod binary;
mod command;
mod error;
pub(super) mod file;
mod in_settings;
pub mod jsonc;
mod places;
mod plan;
pub(super) mod plugin;
pub(super) mod script;
pub(super) mod settings;
mod wiring;
mod words;

pub use apply::apply;
pub use binary::binary;
pub use command::{Command, Ours};
pub use error::InstallError;
pub use places::{Places, Scope, Spot};
pub use plan::{Backup, Change, Plan, plan, plan_removal, plan_serving};
pub use wiring::{Approve, Form, Home, Settings, Shape, Version, Wiring};

pub(super) use binary::unusable;
pub(super) use jsonc::Document;
