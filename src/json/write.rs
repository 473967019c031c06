//! Writes compact JSON. Payloads can be long, and each event waits while its payload is
//! written, so texts are looked through in blocks, and then eight bytes at a time.

use std::ops::Range;

use serde_json::Value;

/// Appends a value.
pub(super) fn value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => out.extend_from_slice(number.as_str().as_bytes()),
        Value::String(string) => text(string, out),
        Value::Array(items) => {
            list(b"[]", items, out, self::value);
        }
        Value::Object(fields) => list(b"{}", fields, out, |(key, field), out| {
            text(key, out);
            out.push(b':');
            self::value(field, out);
        }),
    }
}

/// Appends what stands between two brackets.
fn list<T>(
    [open, close]: &[u8; 2],
    items: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    mut each: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(*open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        each(item, out);
    }
    out.push(*close);
}

/// Appends a few bytes. Two copies whose length is known, one over the other, are a few
/// instructions, and one whose length is not is a call.
#[inline]
pub(crate) fn few(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes.len() {
        4..=8 => overlapping::<4>(bytes, out),
        9..=16 => overlapping::<8>(bytes, out),
        17..=32 => overlapping::<16>(bytes, out),
        _ => out.extend_from_slice(bytes),
    }
}

/// Appends the beginning and the end, which meet.
#[inline(always)]
fn overlapping<const SIZE: usize>(bytes: &[u8], out: &mut Vec<u8>) {
    let (Some(first), Some(last)) = (bytes.first_chunk::<SIZE>(), bytes.last_chunk::<SIZE>())
    else {
        return out.extend_from_slice(bytes);
    };
    out.extend_from_slice(first);
    out.truncate(out.len() + bytes.len() - 2 * SIZE);
    out.extend_from_slice(last);
}

/// Appends a text with its quotes.
pub(crate) fn text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let plain = plain_run(rest);
        few(&rest[..plain], out);
        let Some(&byte) = rest.get(plain) else { break };
        escape(byte, out);
        rest = &rest[plain + 1..];
    }
    out.push(b'"');
}

/// Appends a text that stands in the output already, at this place.
pub(crate) fn text_within(mut place: Range<usize>, out: &mut Vec<u8>) {
    out.reserve(place.len() + place.len() / 8 + 2);
    out.push(b'"');
    loop {
        let plain = plain_run(&out[place.clone()]);
        out.extend_from_within(place.start..place.start + plain);
        place.start += plain;
        if place.is_empty() {
            break;
        }
        escape(out[place.start], out);
        place.start += 1;
    }
    out.push(b'"');
}

/// Returns how many bytes at the beginning stand for themselves in a JSON text.
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let plain = plain_blocks(bytes);
    plain + plain_rest(&bytes[plain..])
}

/// Returns how many bytes lie in blocks without any special one. Each block is looked at as
/// a whole: the compiler makes a few instructions of that, and no byte is branched on.
fn plain_blocks(bytes: &[u8]) -> usize {
    const BLOCK: usize = 32;
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let any_special = |block: &&[u8; BLOCK]| {
        let found = block
            .iter()
            .fold(0, |all, &byte| all | u8::from(is_special(byte)));
        found != 0
    };
    blocks
        .iter()
        .take_while(|block| !any_special(block))
        .count()
        * BLOCK
}

fn plain_rest(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let special = specials(u64::from_le_bytes(*word));
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    if let Some(last) = bytes.last_chunk::<8>() {
        // Those of them that were looked at already are no special ones.
        let special = specials(u64::from_le_bytes(*last)).trailing_zeros() as usize / 8;
        return bytes.len() - 8 + special;
    }
    let special = rest.iter().position(|&byte| is_special(byte));
    special.unwrap_or(bytes.len())
}

fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Finds the special ones among eight bytes at once: the lowest bit that is set belongs
/// to the first of them. Bits above it mean nothing.
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & HIGHEST
}

/// Appends a byte that does not stand for itself.
pub(crate) fn escape(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[DIGITS[high], DIGITS[low]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_written_as_serde_writes_them() {
        let all: String = (0..0x300).filter_map(char::from_u32).collect();
        for length in [0, 1, 31, 32, 33, 64, 100] {
            let long = "x".repeat(length) + &all + &"é".repeat(length);
            let expected = serde_json::to_string(&long).unwrap();
            assert_eq!(written(|out| text(&long, out)), expected);
            let mut out = format!("before{long}behind").into_bytes();
            let begin = out.len();
            text_within(6..6 + long.len(), &mut out);
            assert_eq!(&out[begin..], expected.as_bytes());
        }
    }

    #[test]
    fn a_few_bytes_are_all_appended() {
        let bytes: Vec<u8> = (0..100).collect();
        for length in 0..=bytes.len() {
            let mut out = b"before".to_vec();
            few(&bytes[..length], &mut out);
            assert_eq!(out, [b"before", &bytes[..length]].concat());
        }
    }

    #[test]
    fn every_special_byte_is_found_at_every_place() {
        for byte in 0..=u8::MAX {
            for (length, place) in
                (0..50).flat_map(|length| (0..length).map(move |at| (length, at)))
            {
                let mut bytes = [b'x'; 50];
                bytes[place] = byte;
                let bytes = &mut bytes[..length];
                let expected = if is_special(byte) { place } else { length };
                assert_eq!(plain_run(bytes), expected, "{byte} at {place} of {length}");
                // What comes after the first one does not matter.
                bytes[place..].fill(byte);
                assert_eq!(
                    plain_run(bytes),
                    expected,
                    "{byte} from {place} of {length}"
                );
            }
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_written_as_serde_writes_them(any in any_value()) {
            let expected = serde_json::to_string(&any).unwrap();
            prop_assert_eq!(written(|out| value(&any, out)), expected);
        }
    }

    #[test]
    fn numbers_keep_the_digits_they_came_with() {
        for text in ["1.0", "1e400", "-0", "0.10", "12345678901234567890123"] {
            let number: Value = serde_json::from_str(text).unwrap();
            let expected = serde_json::to_string(&number).unwrap();
            assert_eq!(written(|out| value(&number, out)), expected);
        }
    }
}
