//! How random a text looks.

/// Returns the Shannon entropy of a text, in bits for each byte.
///
/// English words have about 3, random letters and digits of the same length 4 and more.
pub fn bits(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entropy_grows_with_the_number_of_different_bytes() {
        let cases = [
            ("", 0.0),
            ("aaaa", 0.0),
            ("abab", 1.0),
            ("abcd", 2.0),
            ("abcdefgh", 3.0),
        ];
        for (text, expected) in cases {
            assert!((bits(text) - expected).abs() < 1e-9, "{text}");
        }
        assert!(bits("the quick brown fox") < bits("xK9v-Qm2R_t7Lw4Zp8a"));
    }
}
