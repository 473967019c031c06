//! Shows what was expected and what came out, line by line.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::style;

/// Writes the lines of both, those of only one marked.
pub(super) fn lines(expected: &str, found: &str) -> String {
    let mut out = String::new();
    let diff = TextDiff::from_lines(expected, found);
    for change in diff.iter_all_changes() {
        let text = style::plain(change.value().trim_end_matches('\n'));
        let _ = match change.tag() {
            ChangeTag::Delete => writeln!(out, "    {}", style::bad(format!("- {text}"))),
            ChangeTag::Insert => writeln!(out, "    {}", style::good(format!("+ {text}"))),
            ChangeTag::Equal => writeln!(out, "      {text}"),
        };
    }
    out
}
