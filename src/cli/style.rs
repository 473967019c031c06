//! The few colours hookbox uses. The streams drop them where they do not belong.

use std::fmt::Display;

use owo_colors::OwoColorize as _;

/// Makes text of a hook harmless for a terminal: it stays on its line, and it
/// cannot move the cursor, change colours or turn the direction of writing.
pub(super) fn plain(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut plain, c| {
        let steers = c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if steers {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
        plain
    })
}

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
