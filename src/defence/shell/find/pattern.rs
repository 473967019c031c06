//! The patterns of `find` and `fd`: those of shells, in which a star stands for slashes, too,
//! and regular expressions.

use regex::{Regex, RegexBuilder};

use super::super::super::{glob, paths};
use super::super::marks::{self, ANY, OPEN, STAR};
use super::three::Three;

/// Longer expressions are not read.
const LONGEST: usize = 1000;
/// Of longer patterns and names it is not known if they match.
const LONGEST_NAME: usize = 512;
/// How large one may become, in bytes.
const LARGEST: usize = 1 << 20;

/// A pattern, of whose case and look-alikes the disk decides.
#[derive(Debug)]
pub(super) enum Pattern {
    Shell {
        written: String,
        /// The same, folded as names are.
        folded: String,
        /// Case does not matter.
        caseless: bool,
        /// What it matches is known in every detail.
        certain: bool,
    },
    Expression {
        written: Regex,
        folded: Regex,
    },
    Unknown,
}

impl Pattern {
    /// Reads a pattern as `fnmatch` does, with a backslash before what means itself.
    pub(super) fn shell(word: &str, caseless: bool) -> Self {
        if word.contains([marks::UNKNOWN, marks::TAINTED]) {
            return Self::Unknown;
        }
        let Some(written) = live(&marks::plain(word)) else {
            return Self::Unknown;
        };
        // `[[:alpha:]]` and its like are taken for everything.
        let vague = written.contains(":]") || written.contains(format!("{OPEN}{OPEN}").as_str());
        let certain = !vague && written.chars().count() <= LONGEST_NAME;
        Self::Shell {
            folded: paths::fold(&written),
            written,
            caseless,
            certain,
        }
    }

    /// Reads a regular expression.
    pub(super) fn expression(text: &str, caseless: bool) -> Self {
        if text.len() > LONGEST || text.contains([marks::UNKNOWN, marks::TAINTED]) {
            return Self::Unknown;
        }
        let read = |caseless| {
            let mut builder = RegexBuilder::new(text);
            builder.case_insensitive(caseless).size_limit(LARGEST);
            builder.dot_matches_new_line(true).build().ok()
        };
        match (read(caseless), read(true)) {
            (Some(written), Some(folded)) => Self::Expression { written, folded },
            _ => Self::Unknown,
        }
    }

    pub(super) fn matches(&self, text: &str) -> Three {
        let (exact, folded) = match self {
            Self::Unknown => return Three::Maybe,
            Self::Expression { written, folded } => {
                let exact = written.is_match(text);
                let likely = folded.is_match(text) || folded.is_match(&paths::fold(text));
                (exact, likely)
            }
            Self::Shell {
                written,
                folded,
                caseless,
                certain,
            } => {
                let likely = glob::one(folded, &paths::fold(text), true);
                let exact = match caseless {
                    true => glob::one(&written.to_lowercase(), &text.to_lowercase(), true),
                    false => glob::one(written, text, true),
                };
                (
                    exact && *certain && text.len() <= LONGEST_NAME,
                    likely || exact,
                )
            }
        };
        match (exact, folded) {
            (true, _) => Three::Yes,
            (false, true) => Three::Maybe,
            (false, false) => Three::No,
        }
    }
}

/// Marks what is live in a pattern; nothing if it ends in the middle of an escape.
fn live(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => chars.next()?,
            '*' => STAR,
            '?' => ANY,
            '[' => OPEN,
            c => c,
        });
    }
    Some(out)
}

/// Writes an expression of Emacs, which are those of `find`, as others do; nothing if it has
/// escapes of its own.
pub(super) fn of_emacs(text: &str) -> Option<String> {
    let mut out = String::from("^(?:");
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                bracket @ ('(' | ')' | '|') => out.push(bracket),
                c if c.is_alphanumeric() || "`'<>{}_".contains(c) => return None,
                c => out.extend(['\\', c]),
            },
            '(' | ')' | '|' | '{' | '}' => out.extend(['\\', c]),
            '[' => {
                out.push(c);
                class(&mut chars, &mut out)?;
            }
            c => out.push(c),
        }
    }
    out.push_str(")$");
    Some(out)
}

/// Copies a class, in which a backslash means itself.
fn class(chars: &mut std::str::Chars, out: &mut String) -> Option<()> {
    let mut first = true;
    loop {
        let c = chars.next()?;
        match c {
            '^' if first => out.push(c),
            '[' | '&' | '~' => return None,
            '\\' => out.push_str("\\\\"),
            ']' if first => out.push_str("\\]"),
            c => out.push(c),
        }
        if c == ']' && !first {
            return Some(());
        }
        first = first && c == '^';
    }
}
