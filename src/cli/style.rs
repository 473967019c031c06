//! The few colours hookbox uses. The streams drop them where they do not belong.

use std::fmt::Display;

use owo_colors::OwoColorize as _;

pub(super) fn bad(text: impl Display) -> String {
    text.red().bold().to_string()
}

pub(super) fn good(text: impl Display) -> String {
    text.green().bold().to_string()
}

pub(super) fn notable(text: impl Display) -> String {
    text.yellow().bold().to_string()
}

pub(super) fn name(text: impl Display) -> String {
    text.bold().to_string()
}

pub(super) fn faint(text: impl Display) -> String {
    text.dimmed().to_string()
}
