//! JSON as the tree that settings are read from, with the place of every value.
//!
//! Strictly RFC 8259. A reader of its own, because what people get wrong in JSON is
//! always the same, and a message can say what to write instead.

mod scalar;

use std::collections::HashSet;
use std::ops::Range;

use crate::yaml::{Key, Node, Style, Value};

/// How deep values may be nested: what everything else that reads JSON here accepts.
const MAX_DEPTH: usize = 127;

/// How many characters of a word or key are shown in a message.
const SHOWN: usize = 60;

/// What is wrong, and where.
type Wrong = (String, Range<usize>);

/// Parses a file.
pub(crate) fn parse(text: &str) -> Result<Node, (String, Range<usize>)> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    if let Some(mark) = text.chars().next().filter(|&c| c == '\u{feff}') {
        return reader.wrong(
            "the file begins with a byte order mark; save it as UTF-8 without one",
            0..mark.len_utf8(),
        );
    }
    reader.skip_blanks()?;
    let node = reader.value()?;
    reader.skip_blanks()?;
    if reader.at < text.len() {
        return reader.wrong(
            "there is more text after the value; a file holds one value",
            reader.at..reader.end_of_line(),
        );
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    /// The place of the next character.
    at: usize,
    depth: usize,
}

/// One of the two kinds of values that hold others.
struct Brackets {
    open: char,
    close: char,
    /// What stands between two commas.
    item: &'static str,
}

const LIST: Brackets = Brackets {
    open: '[',
    close: ']',
    item: "value",
};

const MAP: Brackets = Brackets {
    open: '{',
    close: '}',
    item: "key",
};

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes over a character if it is the next one.
    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn wrong<T>(&self, message: impl Into<String>, span: Range<usize>) -> Result<T, Wrong> {
        Err((message.into(), span))
    }

    /// Complains about the next character.
    fn wrong_here<T>(&self, message: impl Into<String>) -> Result<T, Wrong> {
        let length = self.peek().map_or(0, char::len_utf8);
        self.wrong(message, self.at..self.at + length)
    }

    fn end_of_line(&self) -> usize {
        let line = self.rest().lines().next().unwrap_or_default();
        self.at + line.trim_end().len()
    }

    fn skip_blanks(&mut self) -> Result<(), Wrong> {
        let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
        self.at = self.text.len() - self.rest().trim_start_matches(blank).len();
        let rest = self.rest();
        let end = if rest.starts_with("//") || rest.starts_with('#') {
            self.end_of_line()
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            self.at + end
        } else {
            return Ok(());
        };
        self.wrong("JSON has no comments; remove this one", self.at..end)
    }

    fn value(&mut self) -> Result<Node, Wrong> {
        let start = self.at;
        let Some(next) = self.peek() else {
            return self.wrong_here("unexpected end: a value is missing");
        };
        let (value, style) = match next {
            '{' => (self.map()?, Style::Flow),
            '[' => (self.list()?, Style::Flow),
            '"' => (Value::String(self.string()?), Style::DoubleQuoted),
            '-' | '0'..='9' | '+' | '.' => (self.number()?, Style::Plain),
            c if is_word(c) => (self.word()?, Style::Plain),
            '\'' => return self.single_quotes(),
            ',' | ':' | ']' | '}' => {
                return self.wrong_here(format!("a value is missing before `{next}`"));
            }
            _ => return self.unexpected("a value"),
        };
        Ok(Node {
            value,
            span: start..self.at,
            style,
        })
    }

    fn single_quotes<T>(&self) -> Result<T, Wrong> {
        self.wrong_here("JSON has no single quotes; put strings and keys in double quotes")
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T, Wrong> {
        match self.peek() {
            None => self.wrong_here(format!("unexpected end: {wanted} is missing")),
            Some(c) => self.wrong_here(format!("unexpected {c:?} where {wanted} has to be")),
        }
    }

    fn list(&mut self) -> Result<Value, Wrong> {
        let mut nodes = Vec::new();
        self.items(&LIST, |reader| {
            nodes.push(reader.value()?);
            Ok(())
        })?;
        Ok(Value::List(nodes))
    }

    fn map(&mut self) -> Result<Value, Wrong> {
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        self.items(&MAP, |reader| {
            let key = reader.key()?;
            if !names.insert(key.name.clone()) {
                let message = format!("the key {:?} is there twice; remove one", short(&key.name));
                return reader.wrong(message, key.span);
            }
            reader.skip_blanks()?;
            if !reader.take(':') {
                return reader.unexpected("a `:` after the key");
            }
            reader.skip_blanks()?;
            entries.push((key, reader.value()?));
            Ok(())
        })?;
        Ok(Value::Map(entries))
    }

    fn key(&mut self) -> Result<Key, Wrong> {
        let start = self.at;
        match self.peek() {
            Some('"') => Ok(Key {
                name: self.string()?,
                span: start..self.at,
            }),
            Some('\'') => self.single_quotes(),
            Some(c) if is_word(c) || c == '-' => {
                let word = self.token();
                let message = format!("the key `{}` needs double quotes around it", short(word));
                self.wrong(message, start..start + word.len())
            }
            _ => self.unexpected("a key in double quotes"),
        }
    }

    /// Reads from one bracket to the other, with commas between what `item` reads.
    fn items(
        &mut self,
        brackets: &Brackets,
        mut item: impl FnMut(&mut Self) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let opened = self.at;
        if self.depth == MAX_DEPTH {
            return self.wrong_here(format!("nested too deep: over {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        self.take(brackets.open);
        self.skip_blanks()?;
        if !self.take(brackets.close) {
            loop {
                self.not_yet_over(brackets, opened)?;
                item(self)?;
                self.skip_blanks()?;
                if self.take(brackets.close) {
                    break;
                }
                self.comma(brackets, opened)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn not_yet_over(&self, brackets: &Brackets, opened: usize) -> Result<(), Wrong> {
        if !self.rest().is_empty() {
            return Ok(());
        }
        let line = self.text[..opened].matches('\n').count() + 1;
        let Brackets { open, close, .. } = brackets;
        self.wrong_here(format!(
            "unexpected end: the `{open}` of line {line} has no `{close}`"
        ))
    }

    /// Goes over the comma before another item.
    fn comma(&mut self, brackets: &Brackets, opened: usize) -> Result<(), Wrong> {
        self.not_yet_over(brackets, opened)?;
        let Brackets { close, item, .. } = brackets;
        let at = self.at;
        if self.take(',') {
            self.skip_blanks()?;
            if self.peek() == Some(*close) {
                let message = format!("JSON has no comma before `{close}`; remove it");
                return self.wrong(message, at..at + 1);
            }
            return Ok(());
        }
        match self.peek() {
            Some(c) if is_word(c) || "\"'{[-+.".contains(c) => {
                self.wrong_here(format!("a comma is missing before this {item}"))
            }
            _ => self.unexpected(&format!("a comma or `{close}`")),
        }
    }

    /// Returns the word or number that comes next, with all that is glued to it.
    fn token(&self) -> &'a str {
        let rest = self.rest();
        let glued = |c: char| is_word(c) || matches!(c, '+' | '-' | '.');
        &rest[..rest.len() - rest.trim_start_matches(glued).len()]
    }
}

/// Cuts what was written to what a message can hold.
fn short(written: &str) -> String {
    match written.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &written[..end]),
        None => written.to_owned(),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests;
