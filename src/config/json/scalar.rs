//! Strings, numbers and words.

use super::{Reader, Wrong, short};
use crate::yaml::Value;

impl Reader<'_> {
    /// Reads `true`, `false` or `null`.
    pub(super) fn word(&mut self) -> Result<Value, Wrong> {
        let word = self.token();
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => {
                let message = unknown_word(word);
                return self.wrong(message, self.at..self.at + word.len());
            }
        };
        self.at += word.len();
        Ok(value)
    }

    pub(super) fn number(&mut self) -> Result<Value, Wrong> {
        let token = self.token();
        let span = self.at..self.at + token.len();
        if let Err(why) = check(token) {
            let message = format!("`{}` is not a JSON number: {why}", short(token));
            return self.wrong(message, span);
        }
        self.at = span.end;
        let big = || Value::BigInt(token.to_owned());
        if !token.contains(['.', 'e', 'E']) {
            return Ok(token.parse().map_or_else(|_| big(), Value::Int));
        }
        match token.parse() {
            Ok(number) => Ok(Value::Float(number)),
            Err(_) => self.wrong("this number cannot be read", span),
        }
    }

    /// Reads a string from one quote to the other.
    pub(super) fn string(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        self.take('"');
        let mut string = String::new();
        loop {
            let rest = self.rest();
            let special = |c: char| c == '"' || c == '\\' || c < ' ';
            let Some(length) = rest.find(special) else {
                return self.wrong("this string has no closing quote", start..start + 1);
            };
            string.push_str(&rest[..length]);
            self.at += length;
            match self.peek() {
                Some('"') => break,
                Some('\\') => string.push(self.escape()?),
                Some('\n' | '\r') => {
                    return self.wrong(
                        "this string has no closing quote in its line; close it, or write \\n for a line break",
                        start..self.at,
                    );
                }
                _ => {
                    let code = u32::from(rest.as_bytes()[length]);
                    return self.wrong_here(format!(
                        "a control character in a string; write \\u{code:04x} instead"
                    ));
                }
            }
        }
        self.take('"');
        Ok(string)
    }

    fn escape(&mut self) -> Result<char, Wrong> {
        let start = self.at;
        self.take('\\');
        let plain = match self.peek() {
            Some('u') => return self.unicode(start),
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            other => {
                let end = self.at + other.map_or(0, char::len_utf8);
                let message = "JSON has no such escape; it has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits";
                return self.wrong(message, start..end);
            }
        };
        // All of them are one byte long.
        self.at += 1;
        Ok(plain)
    }

    /// Reads `\u0041`, or two of them that are one character.
    fn unicode(&mut self, start: usize) -> Result<char, Wrong> {
        let first = self.hex(start)?;
        let code = match first {
            0xD800..0xDC00 if self.rest().starts_with("\\u") => {
                self.at += 1;
                match self.hex(start)? {
                    second @ 0xDC00..0xE000 => 0x10000 + ((first - 0xD800) << 10) + second - 0xDC00,
                    _ => first,
                }
            }
            _ => first,
        };
        match char::from_u32(code) {
            Some(c) => Ok(c),
            None => self.wrong(
                "half of a surrogate pair; write both halves, as in \\ud83d\\ude00, or the character itself",
                start..self.at,
            ),
        }
    }

    /// Reads the `u` and its four digits.
    fn hex(&mut self, start: usize) -> Result<u32, Wrong> {
        self.at += 1;
        let digits = self.rest().bytes().take_while(u8::is_ascii_hexdigit);
        let length = digits.take(4).count();
        let code = u32::from_str_radix(&self.rest()[..length], 16);
        self.at += length;
        match code {
            Ok(code) if length == 4 => Ok(code),
            _ => self.wrong("four hexadecimal digits have to follow \\u", start..self.at),
        }
    }
}

fn unknown_word(word: &str) -> String {
    let hint = match word.to_ascii_lowercase().as_str() {
        "nan" | "infinity" | "inf" => "JSON has no such number".to_owned(),
        "none" | "nil" | "undefined" => "write `null`".to_owned(),
        lower @ ("true" | "false" | "null") => format!("write `{lower}`, in lower case"),
        _ => "put text in double quotes".to_owned(),
    };
    format!("`{}` is not a JSON value; {hint}", short(word))
}

/// Checks a number against the grammar: `-`? whole (`.` digits)? (`e` sign? digits)?
fn check(token: &str) -> Result<(), &'static str> {
    if token.starts_with('+') {
        return Err("remove the `+`");
    }
    let unsigned = token.strip_prefix('-').unwrap_or(token);
    let (whole, rest) = digits(unsigned);
    match whole {
        "" => return Err("it has to begin with a digit, after a `-` at most"),
        "0" => {}
        _ if whole.starts_with('0') => return Err("remove the leading zero"),
        _ => {}
    }
    let rest = match rest.strip_prefix('.') {
        Some(rest) => required(rest, "a digit has to follow the dot")?,
        None => rest,
    };
    let rest = match rest.strip_prefix(['e', 'E']) {
        Some(rest) => required(
            rest.strip_prefix(['+', '-']).unwrap_or(rest),
            "a digit has to follow the exponent's `e`",
        )?,
        None => rest,
    };
    if rest.is_empty() {
        Ok(())
    } else {
        Err("it has to be decimal, and nothing may be glued to it")
    }
}

fn digits(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.split_at(text.len() - rest.len())
}

fn required<'a>(text: &'a str, otherwise: &'static str) -> Result<&'a str, &'static str> {
    match digits(text) {
        ("", _) => Err(otherwise),
        (_, rest) => Ok(rest),
    }
}
