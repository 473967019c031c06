//! A glob on a name: `*`, `?`, `[abc]`, `[!a-z]`, `{one,two}` and `\` before any
//! of them.
//!
//! Names are not paths: `*` goes over dots and slashes, and `?` is one character.

use std::iter::Peekable;
use std::str::Chars;

use regex::Regex;

/// A glob that is known to be well formed.
#[derive(Debug, Clone)]
pub(super) struct Glob {
    text: String,
    /// Nothing for `*`, which needs no look at the name.
    regex: Option<Regex>,
}

impl Glob {
    /// Reads a glob; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let regex = match text {
            "" => return Err("it is empty, so no name would match".to_owned()),
            "*" => None,
            _ => Some(compile(text)?),
        };
        Ok(Self {
            text: text.to_owned(),
            regex,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether the whole name fits. Only `*` fits where there is none.
    pub(super) fn matches(&self, name: Option<&str>) -> bool {
        let Some(regex) = &self.regex else {
            return true;
        };
        name.is_some_and(|name| regex.is_match(name))
    }
}

/// Says in one line what is wrong with a regex.
pub(super) fn regex_error(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

fn compile(glob: &str) -> Result<Regex, String> {
    let inner = translate(glob)?;
    Regex::new(&format!(r"(?s)\A(?:{inner})\z")).map_err(|error| regex_error(&error))
}

fn translate(glob: &str) -> Result<String, String> {
    let mut chars = glob.chars().peekable();
    let mut regex = String::new();
    let mut open = 0_usize;
    while let Some(c) = chars.next() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' => class(&mut chars, &mut regex)?,
            '{' => {
                open += 1;
                regex.push_str("(?:");
            }
            '}' => {
                open = open.checked_sub(1).ok_or("a `}` has no `{` before it")?;
                regex.push(')');
            }
            ',' if open > 0 => regex.push('|'),
            '\\' => literal(
                chars.next().ok_or("nothing comes after the last `\\`")?,
                &mut regex,
            ),
            other => literal(other, &mut regex),
        }
    }
    if open > 0 {
        return Err("a `{` has no `}` after it".to_owned());
    }
    Ok(regex)
}

fn class(chars: &mut Peekable<Chars<'_>>, regex: &mut String) -> Result<(), String> {
    regex.push('[');
    if chars.next_if(|&c| c == '!' || c == '^').is_some() {
        regex.push('^');
    }
    let mut first = true;
    loop {
        let from = chars.next().ok_or("a `[` has no `]` after it")?;
        // A `]` that comes first is one of the characters.
        if from == ']' && !first {
            regex.push(']');
            return Ok(());
        }
        first = false;
        literal(from, regex);
        let mut ahead = chars.clone();
        let range = ahead.next() == Some('-');
        if let Some(to) = ahead.next().filter(|&to| range && to != ']') {
            if to < from {
                return Err(format!("the range `{from}-{to}` runs backwards"));
            }
            *chars = ahead;
            regex.push('-');
            literal(to, regex);
        }
    }
}

fn literal(c: char, regex: &mut String) {
    regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        for (glob, yes, no) in [
            (
                "exec_*",
                &["exec_", "exec_a/b.c\n"][..],
                &["exec", "a_exec_x"][..],
            ),
            ("*_root", &["exec_root"], &["exec_rooted"]),
            ("?x", &["éx", "/x"], &["x", "aax"]),
            ("[a-c]1", &["a1", "c1"], &["d1", "-1"]),
            ("[!a-c]1", &["d1", "é1"], &["a1", "1"]),
            ("[]-]x", &["]x", "-x"], &["x"]),
            ("[a^&~]", &["^", "&", "~"], &["b"]),
            (
                "{exec,run}_*",
                &["exec_a", "run_"],
                &["walk_a", "exec,run_"],
            ),
            ("a{,b}", &["a", "ab"], &["b"]),
            ("a,b", &["a,b"], &["a"]),
            (r"\*\{", &["*{"], &["a{"]),
            ("a.c+", &["a.c+"], &["abc", "a.cc"]),
            ("a**/b", &["a/b", "ax/b", "a/x/b"], &["ab"]),
        ] {
            let glob = Glob::parse(glob).unwrap();
            for name in yes {
                assert!(glob.matches(Some(name)), "{} {name}", glob.text());
            }
            for name in no {
                assert!(!glob.matches(Some(name)), "{} {name}", glob.text());
            }
            assert!(!glob.matches(None));
        }
    }

    #[test]
    fn a_star_matches_everything() {
        let glob = Glob::parse(" * ").unwrap();
        for name in [None, Some(""), Some("a/b.c"), Some("\n")] {
            assert!(glob.matches(name));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |glob: &str| Glob::parse(glob).unwrap_err();
        assert_eq!(wrong("[a"), "a `[` has no `]` after it");
        assert_eq!(wrong("[]"), "a `[` has no `]` after it");
        assert_eq!(wrong("[z-a]"), "the range `z-a` runs backwards");
        assert_eq!(wrong("{a"), "a `{` has no `}` after it");
        assert_eq!(wrong("a}"), "a `}` has no `{` before it");
        assert_eq!(wrong("a\\"), "nothing comes after the last `\\`");
        assert_eq!(wrong(" "), "it is empty, so no name would match");
        let deep = "{".repeat(5_000) + &"}".repeat(5_000);
        assert!(wrong(&deep).contains("exceed"), "{}", wrong(&deep));
    }
}
