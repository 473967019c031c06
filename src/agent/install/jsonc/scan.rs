//! Reads what has no parts: blanks, comments, strings, numbers and words.

use std::ops::Range;

use serde_json::Number;

use super::error::{ParseError, Problem};
use super::tree::{Comment, Kind};

pub(super) const BOM: char = '\u{feff}';
pub(super) const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// A place in a text, and the comments met on the way to it.
pub(super) struct Scanner<'t> {
    text: &'t str,
    pub(super) at: usize,
    pub(super) comments: Vec<Comment>,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let at = if text.starts_with(BOM) {
            BOM.len_utf8()
        } else {
            0
        };
        Self {
            text,
            at,
            comments: Vec::new(),
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn take(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.at += wanted.len_utf8();
        }
        there
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    pub(super) fn unexpected(&self, wanted: &'static str) -> ParseError {
        let problem = match self.peek() {
            Some(found) => Problem::Unexpected { found, wanted },
            None => Problem::Ended { wanted },
        };
        self.error(self.at, problem)
    }

    pub(super) fn error(&self, at: usize, problem: Problem) -> ParseError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let before = before.strip_prefix(BOM).unwrap_or(before);
        let line = before.rsplit(LINE_ENDS).next().unwrap_or_default();
        let ends = before.matches(LINE_ENDS).count() - before.matches("\r\n").count();
        ParseError {
            line: ends + 1,
            column: line.chars().count() + 1,
            problem,
        }
    }

    /// Passes blanks and comments.
    pub(super) fn trivia(&mut self) -> Result<(), ParseError> {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
            let start = self.at;
            let rest = self.rest();
            let to_line_end = rest.starts_with("//");
            if to_line_end {
                self.take_while(|c| !LINE_ENDS.contains(&c));
            } else if let Some(body) = rest.strip_prefix("/*") {
                let length = body
                    .find("*/")
                    .ok_or_else(|| self.error(start, Problem::OpenComment))?;
                self.at += length + "/**/".len();
            } else {
                return Ok(());
            }
            self.comments.push(Comment {
                span: start..self.at,
                to_line_end,
            });
        }
    }

    /// Reads a string that starts here.
    pub(super) fn string(&mut self) -> Result<(String, Range<usize>), ParseError> {
        let start = self.at;
        if !self.take('"') {
            return Err(self.unexpected("a string in double quotes"));
        }
        let mut string = String::new();
        loop {
            let at = self.at;
            match self.next() {
                Some('"') => return Ok((string, start..self.at)),
                Some('\\') => string.push(self.escape(at)?),
                None | Some('\n' | '\r') => return Err(self.error(start, Problem::OpenString)),
                Some(c) if c < ' ' => return Err(self.error(at, Problem::Control(c))),
                Some(c) => string.push(c),
            }
        }
    }

    fn escape(&mut self, at: usize) -> Result<char, ParseError> {
        match self.next() {
            Some(c @ ('"' | '\\' | '/')) => Ok(c),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('u') => self.unicode(at),
            _ => Err(self.error(at, Problem::Escape)),
        }
    }

    fn unicode(&mut self, at: usize) -> Result<char, ParseError> {
        let first = self.unit(at)?;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            self.at += "\\u".len();
            units.push(self.unit(at)?);
        }
        // A pair gives one character; anything that is no pair has an error in front.
        char::decode_utf16(units)
            .next()
            .and_then(Result::ok)
            .ok_or_else(|| self.error(at, Problem::LoneSurrogate))
    }

    fn unit(&mut self, at: usize) -> Result<u16, ParseError> {
        let digits = self.rest().get(..4).unwrap_or_default();
        // `from_str_radix` alone would let a sign pass.
        let unit = digits
            .chars()
            .all(|c| c.is_ascii_hexdigit())
            .then(|| u16::from_str_radix(digits, 16).ok())
            .flatten()
            .ok_or_else(|| self.error(at, Problem::Escape))?;
        self.at += 4;
        Ok(unit)
    }

    /// Reads a number, `true`, `false` or `null`.
    pub(super) fn scalar(&mut self) -> Result<Kind, ParseError> {
        let start = self.at;
        let word = self.take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_'));
        match word {
            "" => Err(self.unexpected("a value")),
            "null" => Ok(Kind::Null),
            "true" => Ok(Kind::Bool(true)),
            "false" => Ok(Kind::Bool(false)),
            _ if word.starts_with(|c: char| c.is_ascii_digit() || "-+.".contains(c)) => word
                .parse::<Number>()
                .map(Kind::Number)
                .map_err(|_| self.error(start, Problem::Number(word.to_owned()))),
            _ => Err(self.error(start, Problem::Word(word.to_owned()))),
        }
    }
}
