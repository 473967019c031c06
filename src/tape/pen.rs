//! Writes the smallest pieces of canonical JSON: texts and numbers. Every record is made
//! of them while an event waits, so they are written without a detour.

use super::seal::Hash;
use crate::json::write::few;
pub(super) use crate::json::write::{escape, plain_run, text, text_within};

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
    few(&digits[begin..], out);
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
    fn numbers_are_written_as_serde_writes_them() {
        for one in [0, 7, 10, 99, 100, u64::MAX] {
            assert_eq!(written(|out| number(one, out)), one.to_string());
        }
        for one in [0, -1, 42, i64::MIN, i64::MAX] {
            assert_eq!(written(|out| signed(one, out)), one.to_string());
        }
    }
}
