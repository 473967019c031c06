//! Log lines, stored with the hook's name.

pub use crate::bindings::hookbox::hook::log::Level;
use crate::host;

/// Writes a line for those who look for a fault.
pub fn debug(message: impl AsRef<str>) {
    write(Level::Debug, message);
}

/// Writes a line about the usual course of things.
pub fn info(message: impl AsRef<str>) {
    write(Level::Info, message);
}

/// Writes a line about something that should be looked at.
pub fn warn(message: impl AsRef<str>) {
    write(Level::Warn, message);
}

/// Writes a line about something that went wrong.
pub fn error(message: impl AsRef<str>) {
    write(Level::Error, message);
}

/// Writes a line at a level. Lines over the limit are dropped and counted.
pub fn write(level: Level, message: impl AsRef<str>) {
    host::log::write(level, message.as_ref());
}
