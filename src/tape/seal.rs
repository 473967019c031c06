//! The hash that ties every record to the one before it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A BLAKE3 hash, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// What the first record of a tape carries, which has none before it.
    pub const GENESIS: Self = Self([0; 32]);

    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).into())
    }

    /// Hashes a line. The text of a body has a hash of its own in the line, so it is left
    /// out: it would be hashed twice by all who write and read it.
    pub(super) fn of_line(line: &[u8]) -> Self {
        let Some(rest) = without_text(line) else {
            return Self::of(line);
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(rest).update(b"}");
        Self(hasher.finalize().into())
    }

    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the first digits, enough for people to tell hashes apart.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        Self::from_digits(text.as_bytes())
    }

    /// Reads its digits.
    pub(super) fn from_digits(digits: &[u8]) -> Option<Self> {
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        // Looked at once at the end: every record has a hash, and nearly all are right.
        let mut wrong = 0;
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
            wrong |= high | low;
            *byte = high << 4 | low;
        }
        (wrong < 16).then_some(Self(bytes))
    }
}

/// Returns what stands before the text of a body; nothing if the line is none, was
/// redacted, or is written in another way than bodies are.
pub(super) fn without_text(line: &[u8]) -> Option<&[u8]> {
    const DIGITS: usize = 64;
    let rest = line.strip_prefix(br#"{"body":""#)?.get(DIGITS..)?;
    let mut rest = rest.strip_prefix(br#"","kind":"body","#)?;
    if let Some(named) = rest.strip_prefix(br#""left_out":""#) {
        let letters = named.iter().take_while(|byte| byte.is_ascii_lowercase());
        rest = named.get(letters.count()..)?.strip_prefix(br#"","#)?;
    }
    let rest = rest.strip_prefix(br#""n":"#)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = rest.get(digits..)?.strip_prefix(br#","prev":""#)?;
    let rest = rest.get(DIGITS..)?.strip_prefix(b"\"")?;
    let text = rest.strip_prefix(br#","text":""#)?;
    text.strip_suffix(br#""}"#)?;
    line.get(..line.len() - rest.len())
}

/// The value of every digit, and 16 for what is none. Upper case would be a second way
/// to write the same hash.
const VALUES: [u8; 256] = {
    let mut values = [16; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    values
};

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(&self.digits()))
    }
}

impl Hash {
    /// Returns its digits. Every record carries two of them, so this is not left to
    /// `format!`.
    pub(super) fn digits(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        digits
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(&self.digits()))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Hash;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a hash of 64 lower-case hexadecimal digits")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Hash, E> {
                Hash::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_and_read_in_one_way_only() {
        let hash = Hash::of(b"hookbox");
        let text = hash.to_string();
        assert_eq!(Hash::parse(&text), Some(hash));
        assert_eq!(Hash::parse(&text.to_uppercase()), None);
        assert_eq!(Hash::parse(&text[1..]), None);
        assert_eq!(Hash::GENESIS.to_string(), "0".repeat(64));
    }

    #[test]
    fn the_text_of_a_body_is_left_out_and_nothing_else_is() {
        let (body, prev) = ("b".repeat(64), "p".repeat(64));
        let before = format!(r#"{{"body":"{body}","kind":"body","n":12,"prev":"{prev}""#);
        let line = |text: &str| format!(r#"{before},"text":"{text}"}}"#);
        let of = |line: &str| Hash::of_line(line.as_bytes());
        let known = Hash::of(format!("{before}}}").as_bytes());
        for text in ["", "x", r#"\"}"#, "a longer text"] {
            assert_eq!(of(&line(text)), known, "{text}");
        }
        let whole = line("x");
        for other in [
            whole.replace("12", "13"),
            whole.replace("bb", "bc"),
            whole.replace("pp", "pq"),
        ] {
            assert_ne!(of(&other), known, "{other}");
            assert_ne!(of(&other), Hash::of(other.as_bytes()), "{other}");
        }
        // Whatever is not such a line is hashed as it is.
        for other in [
            whole.replace("}", " }"),
            whole.replace("{", "{ "),
            whole.replace(":12", ": 12"),
            whole.replace(r#""body","n""#, r#""bodies","n""#),
            whole.replace(r#","text""#, r#","redacted":{},"text""#),
            whole.replace(r#"text":"#, r#"text": "#),
            before.clone(),
            String::new(),
        ] {
            assert_eq!(of(&other), Hash::of(other.as_bytes()), "{other}");
        }
    }
}
