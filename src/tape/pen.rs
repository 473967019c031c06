//! Writes the smallest pieces of canonical JSON: texts and numbers. Every record is made
//! of them while an event waits, so they are written without a detour.

use super::seal::Hash;

/// Appends a text with its quotes.
pub(super) fn text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let plain = plain_run(rest);
        out.extend_from_slice(&rest[..plain]);
        let Some(&byte) = rest.get(plain) else { break };
        escape(byte, out);
        rest = &rest[plain + 1..];
    }
    out.push(b'"');
}

/// Returns how many bytes at the beginning stand for themselves in a JSON text.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let special = specials(u64::from_le_bytes(*word));
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let special = rest.iter().position(|&byte| is_special(byte));
    special.map_or(bytes.len(), |special| bytes.len() - rest.len() + special)
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

fn escape(byte: u8, out: &mut Vec<u8>) {
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

/// Appends a number.
pub(super) fn number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut begin = digits.len();
    // Two at a time: half as many divisions.
    while number >= 100 {
        let pair = (number % 100) as usize;
        number /= 100;
        begin -= 2;
        digits[begin..begin + 2].copy_from_slice(&PAIRS[pair]);
    }
    let pair = PAIRS[number as usize];
    begin -= 1;
    digits[begin] = pair[1];
    if number >= 10 {
        begin -= 1;
        digits[begin] = pair[0];
    }
    out.extend_from_slice(&digits[begin..]);
}

/// The numbers below 100, with two digits each.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut value = 0;
    while value < 100 {
        pairs[value] = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        value += 1;
    }
    pairs
};

/// Appends a number that may be below zero.
pub(super) fn signed(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    number(value.unsigned_abs(), out);
}

/// Appends a hash with its quotes.
pub(super) fn hash(hash: &Hash, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(&hash.digits());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }

    #[test]
    fn every_special_byte_is_found_at_every_place() {
        for byte in 0..=u8::MAX {
            for place in 0..20 {
                let mut bytes = [b'x'; 20];
                bytes[place] = byte;
                let expected = if is_special(byte) { place } else { bytes.len() };
                assert_eq!(plain_run(&bytes), expected, "{byte} at {place}");
                // What comes after the first one does not matter.
                bytes[place..].fill(byte);
                assert_eq!(plain_run(&bytes), expected, "{byte} from {place}");
            }
        }
    }

    #[test]
    fn numbers_are_written_as_serde_writes_them() {
        for one in [0, 7, 10, 99, 100, u64::MAX] {
            assert_eq!(written(|out| number(one, out)), one.to_string());
        }
        for one in [0, -1, 42, i64::MIN, i64::MAX] {
            assert_eq!(written(|out| signed(one, out)), one.to_string());
        }
    }
}
