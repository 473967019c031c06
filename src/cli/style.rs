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

/// Writes a number with separators, as people write large ones.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a number of things.
pub(super) fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{} {thing}s", grouped(count)),
    }
}

/// Writes a number of bytes in the unit that fits.
pub(super) fn size(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "two digits are shown")]
    let of = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", of(1 << 10)),
        _ => format!("{:.1} MiB", of(1 << 20)),
    }
}
