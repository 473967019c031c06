//! Characters that stand for what a shell does with a text after it has read the quotes.
//!
//! They are of Unicode's private use area, and are taken out of what comes from outside.

/// An unquoted `*`.
pub(in crate::defence) const STAR: char = '\u{f8f0}';
/// An unquoted `?`.
pub(in crate::defence) const ANY: char = '\u{f8f1}';
/// An unquoted `[`.
pub(in crate::defence) const OPEN: char = '\u{f8f2}';
/// An unquoted `{`.
pub(in crate::defence) const BRACE: char = '\u{f8f3}';
/// An unquoted `,`.
pub(in crate::defence) const COMMA: char = '\u{f8f4}';
/// An unquoted `}`.
pub(in crate::defence) const CLOSE: char = '\u{f8f5}';
/// Something that only running the command would tell.
pub(in crate::defence) const UNKNOWN: char = '\u{f8f6}';
/// The same, but made from something that is protected.
pub(in crate::defence) const TAINTED: char = '\u{f8f7}';
/// Where a shell splits what came out of a variable.
pub(in crate::defence) const SPLIT: char = '\u{f8f8}';

/// Takes the marks out of a text from outside.
pub(in crate::defence) fn clean(text: &str) -> String {
    text.replace(|c| ('\u{f8f0}'..='\u{f8ff}').contains(&c), "\u{fffd}")
}

/// Returns a marked text as it was typed.
pub(in crate::defence) fn plain(text: &str) -> String {
    let typed = |c| match c {
        STAR => Some('*'),
        ANY => Some('?'),
        OPEN => Some('['),
        BRACE => Some('{'),
        COMMA => Some(','),
        CLOSE => Some('}'),
        SPLIT => Some(' '),
        UNKNOWN | TAINTED => None,
        c => Some(c),
    };
    text.chars().filter_map(typed).collect()
}

/// Marks what a shell reads in a text that stands without quotes.
pub(in crate::defence) fn live(c: char) -> char {
    match c {
        '*' => STAR,
        '?' => ANY,
        '[' => OPEN,
        '{' => BRACE,
        ',' => COMMA,
        '}' => CLOSE,
        c => c,
    }
}

/// Marks what a shell reads in a value that stands without quotes.
pub(in crate::defence) fn live_value(c: char) -> char {
    match c {
        ' ' | '\t' | '\n' => SPLIT,
        '*' | '?' | '[' => live(c),
        c => c,
    }
}

/// Returns a value as it was typed, but keeps what is unknown in it.
pub(in crate::defence) fn plain_but_unknown(text: &str) -> String {
    let keep = |c| matches!(c, UNKNOWN | TAINTED);
    text.split_inclusive(keep)
        .map(|part| {
            let mark = part.chars().next_back().filter(|c| keep(*c));
            let mut out = plain(part);
            out.extend(mark);
            out
        })
        .collect()
}
