//! Reads JSON as this crate writes it: no spaces, keys in order, texts escaped in one
//! way. Whatever is written otherwise is not for here, and may be right all the same.

use std::borrow::Cow;

use super::pen::plain_run;
use super::seal::Hash;

/// Where in a line the reading is.
pub(super) struct Scan<'l> {
    line: &'l str,
    at: usize,
}

/// A text as it stands in a line, without its quotes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Raw<'l> {
    /// What stands there.
    pub(super) written: &'l str,
    /// Whether something in it is escaped.
    pub(super) escaped: bool,
}

impl<'l> Scan<'l> {
    pub(super) fn new(line: &'l str) -> Self {
        Self { line, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    /// Steps over a byte, if it is the next one.
    pub(super) fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Says whether nothing is left.
    pub(super) fn is_over(&self) -> bool {
        self.at == self.line.len()
    }

    /// Steps over the comma before another item, or over the bracket behind the last one.
    pub(super) fn more(&mut self, bracket: u8) -> Option<bool> {
        let next = self.peek()?;
        self.at += 1;
        match next {
            b',' => Some(true),
            next if next == bracket => Some(false),
            _ => None,
        }
    }

    /// Reads the items of a list.
    pub(super) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.take(b'[')?;
        let mut items = Vec::new();
        if self.take(b']').is_some() {
            return Some(items);
        }
        loop {
            items.push(each(self)?);
            if !self.more(b']')? {
                return Some(items);
            }
        }
    }

    /// Reads the fields of an object that has at least one.
    pub(super) fn fields(
        &mut self,
        mut each: impl FnMut(&mut Self, &'l str) -> Option<()>,
    ) -> Option<()> {
        self.take(b'{')?;
        loop {
            let key = self.text()?;
            self.take(b':')?;
            // No name of a field has anything to escape.
            if key.escaped {
                return None;
            }
            each(self, key.written)?;
            if !self.more(b'}')? {
                return Some(());
            }
        }
    }

    /// Reads a text.
    pub(super) fn text(&mut self) -> Option<Raw<'l>> {
        self.take(b'"')?;
        let begin = self.at;
        let mut escaped = false;
        loop {
            self.at += plain_run(self.line.as_bytes().get(self.at..)?);
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                _ => return None,
            }
        }
        let written = self.line.get(begin..self.at)?;
        self.at += 1;
        Some(Raw { written, escaped })
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Option<u64> {
        let begin = self.at;
        let mut number = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number
                .checked_mul(10)?
                .checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        let digits = self.line.as_bytes().get(begin..self.at)?;
        match digits {
            [] | [b'0', _, ..] => None,
            _ => Some(number),
        }
    }

    /// Reads a number that may be below zero.
    pub(super) fn signed(&mut self) -> Option<i64> {
        if self.take(b'-').is_none() {
            return i64::try_from(self.number()?).ok();
        }
        let number = self.number()?;
        (number > 0).then_some(())?;
        0_i64.checked_sub_unsigned(number)
    }

    /// Reads `true` or `false`.
    pub(super) fn truth(&mut self) -> Option<bool> {
        let rest = self.line.as_bytes().get(self.at..)?;
        let (truth, length) = if rest.starts_with(b"true") {
            (true, 4)
        } else {
            (false, rest.starts_with(b"false").then_some(5)?)
        };
        self.at += length;
        Some(truth)
    }

    /// Reads `null`.
    pub(super) fn null(&mut self) -> Option<()> {
        let rest = self.line.as_bytes().get(self.at..)?;
        rest.starts_with(b"null").then(|| self.at += 4)
    }

    /// Reads a hash.
    pub(super) fn hash(&mut self) -> Option<Hash> {
        Hash::from_digits(self.text()?.written.as_bytes())
    }

    /// Says whether an object comes next.
    pub(super) fn at_object(&self) -> bool {
        self.peek() == Some(b'{')
    }
}

impl<'l> Raw<'l> {
    /// Returns the text itself.
    pub(super) fn plain(self) -> Option<Cow<'l, str>> {
        if !self.escaped {
            return Some(Cow::Borrowed(self.written));
        }
        let mut plain = String::with_capacity(self.written.len());
        self.append_to(&mut plain)?;
        Some(Cow::Owned(plain))
    }

    /// Appends the text itself.
    pub(super) fn append_to(self, plain: &mut String) -> Option<()> {
        let mut rest = self.written;
        loop {
            let run = plain_run(rest.as_bytes());
            plain.push_str(rest.get(..run)?);
            if run == rest.len() {
                return Some(());
            }
            let (one, length) = unescaped(&rest.as_bytes()[run..])?;
            plain.push(one);
            rest = rest.get(run + length..)?;
        }
    }
}

/// Reads an escaped character, and says how long it is.
fn unescaped(bytes: &[u8]) -> Option<(char, usize)> {
    let [b'\\', short, ..] = bytes else {
        return None;
    };
    let short = match short {
        b'"' => '"',
        b'\\' => '\\',
        b'b' => '\u{8}',
        b't' => '\t',
        b'n' => '\n',
        b'f' => '\u{c}',
        b'r' => '\r',
        b'u' => {
            let digits = bytes.get(2..6)?.strip_prefix(b"00")?;
            let [high @ b'0'..=b'1', low @ (b'0'..=b'9' | b'a'..=b'f')] = digits else {
                return None;
            };
            let low = char::from(*low).to_digit(16)?;
            let value = char::from_u32(u32::from(high - b'0') * 16 + low)?;
            // Those have a shorter way.
            let short = matches!(value, '\u{8}' | '\t' | '\n' | '\u{c}' | '\r');
            return (!short).then_some((value, 6));
        }
        _ => return None,
    };
    Some((short, 2))
}
