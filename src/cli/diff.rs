//! Shows what was expected and what came out, line by line.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::style;

/// Writes the lines of both, those of only one marked.
pub(super) fn lines(expected: &str, found: &str) -> String {
    let mut out = String::new();
    let diff = TextDiff::from_lines(expected, found);
    for change in diff.iter_all_changes() {
        out += &line(change.tag(), change.value());
    }
    out
}

fn line(tag: ChangeTag, text: &str) -> String {
    let text = style::plain(text.trim_end_matches('\n'));
    match tag {
        ChangeTag::Delete => format!("    {}\n", style::bad(format!("- {text}"))),
        ChangeTag::Insert => format!("    {}\n", style::good(format!("+ {text}"))),
        ChangeTag::Equal => format!("      {text}\n"),
    }
}

/// How many equal lines stand around those that differ.
const CONTEXT: usize = 3;

/// Writes the lines that differ, with a few around them.
pub(super) fn changed_lines(expected: &str, found: &str) -> String {
    let mut out = String::new();
    let diff = TextDiff::from_lines(expected, found);
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            let _ = writeln!(out, "    {}", style::faint("⋮"));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            out += &line(change.tag(), change.value());
        }
    }
    out
}

/// Writes what changes in a file that may not be there before or after, as `diff -u` does.
pub(super) fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    const NOWHERE: &str = "/dev/null";
    let from = before.map_or(NOWHERE, |_| path);
    let to = after.map_or(NOWHERE, |_| path);
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let text = diff.unified_diff().header(from, to).to_string();
    let lines = text.lines().map(|line| {
        let text = style::plain(line);
        match line.as_bytes().first() {
            Some(b'-') => style::bad(text),
            Some(b'+') => style::good(text),
            Some(b'@') => style::faint(text),
            _ => text,
        }
    });
    lines.map(|line| line + "\n").collect()
}
