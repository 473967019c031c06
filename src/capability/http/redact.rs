//! Takes secrets out of what a server sends back.
//!
//! This stops a server that echoes a request. A server that wants to hand a
//! secret to a hook can always disguise it, so the rule of the grant has to
//! name a server that is trusted with it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use super::path::hex;
use super::secret::Filled;

/// Shorter pieces of base64 would be found in text by chance.
const SHORTEST_PIECE: usize = 8;

/// How often a JSON text can stand within another one and still be looked through.
const DEEPEST_JSON: u32 = 3;

/// Replaces every filled-in secret by `[secret:NAME]`.
#[derive(Default, Clone)]
pub(crate) struct Redactor {
    secrets: Vec<Spellings>,
}

#[derive(Clone)]
struct Spellings {
    label: String,
    value: Zeroizing<Vec<u8>>,
    encoded: Vec<Zeroizing<Vec<u8>>>,
}

impl Redactor {
    /// Adds the secrets of one more hop.
    pub(super) fn add(&mut self, filled: Vec<Filled>) {
        for secret in filled {
            let label = format!("[secret:{}]", secret.name);
            self.hide(label, secret.value.as_bytes().to_vec());
        }
    }

    /// Replaces a value by a label.
    pub(crate) fn hide(&mut self, label: String, value: Vec<u8>) {
        let same = |s: &Spellings| s.label == label && *s.value == value;
        if self.secrets.iter().any(same) {
            return;
        }
        self.secrets.push(Spellings {
            encoded: encodings(&value),
            value: Zeroizing::new(value),
            label,
        });
    }

    /// Says whether there is nothing to replace.
    pub(crate) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Takes over what another one replaces.
    pub(crate) fn absorb(&mut self, other: Self) {
        for secret in other.secrets {
            self.hide(secret.label, secret.value.to_vec());
        }
    }

    /// Returns `text` without the secrets.
    pub(crate) fn text(&self, text: String) -> String {
        if self.secrets.is_empty() {
            return text;
        }
        String::from_utf8_lossy(&self.bytes(text.into_bytes())).into_owned()
    }

    /// Returns `bytes` without the secrets.
    pub(crate) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes;
        }
        let starts = self.starts();
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while let Some(first) = bytes.get(at) {
            let found = starts[usize::from(*first)]
                .then(|| self.longest(&bytes[at..]))
                .flatten();
            match found {
                Some((label, length)) => {
                    out.extend_from_slice(label.as_bytes());
                    at += length;
                }
                None => {
                    out.push(*first);
                    at += 1;
                }
            }
        }
        out
    }

    /// Marks the bytes that some spelling begins with.
    fn starts(&self) -> [bool; 256] {
        let mut starts = [false; 256];
        for byte in [b'%', b'\\', b'+'] {
            starts[usize::from(byte)] = true;
        }
        for secret in &self.secrets {
            let encoded = secret.encoded.iter().map(|bytes| bytes.as_slice());
            for spelling in encoded.chain([secret.value.as_slice()]) {
                if let Some(first) = spelling.first() {
                    starts[usize::from(first.to_ascii_lowercase())] = true;
                    starts[usize::from(first.to_ascii_uppercase())] = true;
                }
            }
        }
        starts
    }

    fn longest(&self, text: &[u8]) -> Option<(&str, usize)> {
        self.secrets
            .iter()
            .filter_map(|secret| Some((secret.label.as_str(), secret.length_at(text)?)))
            .max_by_key(|(_, length)| *length)
    }
}

impl Spellings {
    fn length_at(&self, text: &[u8]) -> Option<usize> {
        let encoded = self.encoded.iter().map(|bytes| bytes.as_slice());
        encoded
            .chain([self.value.as_slice()])
            .filter_map(|spelling| length_at(text, spelling))
            .max()
    }
}

/// Returns how long `value` is at the start of `text`, written as it is or escaped.
///
/// Case does not count, since names of hosts and headers come back in lower case.
fn length_at(text: &[u8], value: &[u8]) -> Option<usize> {
    let plain = text.get(..value.len());
    if plain.is_some_and(|plain| plain.eq_ignore_ascii_case(value)) {
        return Some(value.len());
    }
    let in_json = (1..=DEEPEST_JSON).find_map(|depth| json_length(text, value, depth));
    in_json.or_else(|| {
        let mut rest = text;
        for wanted in value {
            rest = &rest[escaped_length(rest, *wanted)?..];
        }
        Some(text.len() - rest.len())
    })
}

/// Returns how long `value` is at the start of `text`, which is a JSON text within as
/// many others as `depth` says.
fn json_length(text: &[u8], value: &[u8], depth: u32) -> Option<usize> {
    let mut rest = text;
    for wanted in value {
        let (byte, length) = json_byte(rest, depth)?;
        if !byte.eq_ignore_ascii_case(wanted) {
            return None;
        }
        rest = &rest[length..];
    }
    Some(text.len() - rest.len())
}

/// Returns the first byte of `text` with its escapes undone, and how long it is there.
fn json_byte(text: &[u8], depth: u32) -> Option<(u8, usize)> {
    let Some(outer) = depth.checked_sub(1) else {
        return text.first().map(|byte| (*byte, 1));
    };
    let (first, mut length) = json_byte(text, outer)?;
    if first != b'\\' {
        return Some((first, length));
    }
    let mut next = || {
        let (byte, more) = json_byte(text.get(length..)?, outer)?;
        length += more;
        Some(byte)
    };
    let byte = match next()? {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'u' => {
            let [b'0', b'0', high, low] = [next()?, next()?, next()?, next()?] else {
                return None;
            };
            hex(high)? * 16 + hex(low)?
        }
        other => other,
    };
    Some((byte, length))
}

/// Returns how long one byte is at the start of `text`: percent-encoded,
/// escaped as in JSON, or as it is.
fn escaped_length(text: &[u8], wanted: u8) -> Option<usize> {
    let is_wanted = |byte: u8| byte.eq_ignore_ascii_case(&wanted);
    let is_hex = |high, low| match (hex(high), hex(low)) {
        (Some(high), Some(low)) => is_wanted(high * 16 + low),
        _ => false,
    };
    match text {
        [b'%', high, low, ..] if is_hex(*high, *low) => Some(3),
        [b'\\', b'u', b'0', b'0', high, low, ..] if is_hex(*high, *low) => Some(6),
        [b'\\', next, ..] if *next == wanted && !wanted.is_ascii_alphanumeric() => Some(2),
        [b'+', ..] if wanted == b' ' => Some(1),
        [first, ..] if is_wanted(*first) => Some(1),
        _ => None,
    }
}

/// Returns the base64 and hexadecimal spellings of `value`.
fn encodings(value: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let mut all = vec![value.iter().map(|byte| format!("{byte:02x}")).collect()];
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        all.push(format!("{}==", engine.encode(value)));
        all.push(format!("{}=", engine.encode(value)));
        all.push(engine.encode(value));
        all.extend((0..3).map(|shift| inner_base64(engine, value, shift)));
    }
    all.into_iter()
        .filter(|spelling| spelling.len() >= SHORTEST_PIECE)
        .map(|spelling| Zeroizing::new(spelling.into_bytes()))
        .collect()
}

/// Returns the part of the base64 of a longer text that only `value` decides,
/// when `value` starts `shift` bytes after a group of three.
fn inner_base64(engine: &impl Engine, value: &[u8], shift: usize) -> String {
    let mut shifted = Zeroizing::new(vec![0; shift]);
    shifted.extend_from_slice(value);
    let text = engine.encode(&*shifted);
    let start = (shift * 8).div_ceil(6);
    let end = shifted.len() * 8 / 6;
    text.get(start..end).unwrap_or_default().to_owned()
}
