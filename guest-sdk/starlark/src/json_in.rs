//! JSON text into Starlark values, without a tree in between.
//!
//! Integers keep all their digits, objects keep their order, and a repeated
//! key is an error because the two readers of such a text could disagree.

use std::str::FromStr as _;

use num_bigint::BigInt;
use starlark::collections::SmallMap;
use starlark::values::dict::Dict;
use starlark::values::list::AllocList;
use starlark::values::{Heap, Value};

/// How deeply arrays and objects may be nested, in both directions.
pub const MAX_DEPTH: usize = 128;

/// Reads one JSON text and places its values on `heap`.
pub fn parse<'v>(text: &str, heap: Heap<'v>) -> Result<Value<'v>, String> {
    let mut reader = Reader { text, at: 0, heap };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.fault("unexpected text after the value"));
    }
    Ok(value)
}

struct Reader<'s, 'v> {
    text: &'s str,
    at: usize,
    heap: Heap<'v>,
}

impl<'s, 'v> Reader<'s, 'v> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn fault(&self, what: &str) -> String {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + before
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            // People count characters, not the bytes they are written in.
            .filter(|byte| **byte & 0xc0 != 0x80)
            .count();
        format!("{what} at line {line} column {column}")
    }

    fn value(&mut self, depth: usize) -> Result<Value<'v>, String> {
        if depth > MAX_DEPTH {
            return Err(self.fault(&format!("nested deeper than {MAX_DEPTH} levels")));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::new_bool(true)),
            Some(b'f') => self.word("false", Value::new_bool(false)),
            Some(b'n') => self.word("null", Value::new_none()),
            Some(_) => Err(self.fault("expected a value")),
            None => Err(self.fault("unexpected end of text")),
        }
    }

    fn word(&mut self, word: &str, value: Value<'v>) -> Result<Value<'v>, String> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.fault("expected a value"))
    }

    fn object(&mut self, depth: usize) -> Result<Value<'v>, String> {
        let mut entries = SmallMap::new();
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(self.heap.alloc(Dict::new(entries)));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.fault("expected a key"));
            }
            let start = self.at;
            let key = self.string()?;
            let hashed = key.get_hashed().map_err(|error| error.to_string())?;
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.fault("expected `:`"));
            }
            self.at += 1;
            self.blanks();
            let value = self.value(depth + 1)?;
            if entries.insert_hashed(hashed, value).is_some() {
                self.at = start;
                return Err(self.fault(&format!("duplicate key {}", key.to_repr())));
            }
            self.blanks();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.blanks();
                }
                Some(b'}') => {
                    self.at += 1;
                    return Ok(self.heap.alloc(Dict::new(entries)));
                }
                _ => return Err(self.fault("expected `,` or `}`")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value<'v>, String> {
        let mut items = Vec::new();
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(self.heap.alloc(AllocList(items)));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.blanks();
                }
                Some(b']') => {
                    self.at += 1;
                    return Ok(self.heap.alloc(AllocList(items)));
                }
                _ => return Err(self.fault("expected `,` or `]`")),
            }
        }
    }

    fn string(&mut self) -> Result<Value<'v>, String> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let plain = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(self.heap.alloc(plain));
                }
                Some(b'\\') => break,
                Some(0..=0x1f) => return Err(self.fault("control character in a string")),
                Some(_) => self.at += 1,
                None => return Err(self.fault("unexpected end of text in a string")),
            }
        }
        let mut unescaped = String::from(&self.text[start..self.at]);
        let mut run = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    unescaped.push_str(&self.text[run..self.at]);
                    self.at += 1;
                    return Ok(self.heap.alloc(unescaped.as_str()));
                }
                Some(b'\\') => {
                    unescaped.push_str(&self.text[run..self.at]);
                    self.at += 1;
                    let escaped = self.escape()?;
                    unescaped.push(escaped);
                    run = self.at;
                }
                Some(0..=0x1f) => return Err(self.fault("control character in a string")),
                Some(_) => self.at += 1,
                None => return Err(self.fault("unexpected end of text in a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let kind = self.peek();
        self.at += 1;
        Ok(match kind {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => {
                self.at -= 1;
                return Err(self.fault("unknown escape"));
            }
        })
    }

    fn code_point(&mut self) -> Result<char, String> {
        let first = self.four_digits()?;
        let code = if (0xd800..0xdc00).contains(&first) {
            if !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
                return Err(self.fault("lone surrogate in a string"));
            }
            self.at += 2;
            let second = self.four_digits()?;
            if !(0xdc00..0xe000).contains(&second) {
                return Err(self.fault("lone surrogate in a string"));
            }
            0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| self.fault("lone surrogate in a string"))
    }

    fn four_digits(&mut self) -> Result<u32, String> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.fault("expected four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Value<'v>, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return Err(self.fault("malformed number"));
        }
        let mut real = false;
        if self.peek() == Some(b'.') {
            real = true;
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.fault("malformed number"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            real = true;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.fault("malformed number"));
            }
        }
        let text = &self.text[start..self.at];
        if real {
            return match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(self.heap.alloc(number)),
                _ => Err(self.fault("number out of range")),
            };
        }
        if let Ok(number) = text.parse::<i64>() {
            return Ok(self.heap.alloc(number));
        }
        let number = BigInt::from_str(text).map_err(|_| self.fault("malformed number"))?;
        Ok(self.heap.alloc(number))
    }
}
