//! Goes through a text, word by word.

use std::ops::Range;

use crate::finding::Secret;
use crate::{assignment, jwt, pem, prefixed};

/// On a line with this, nothing is a secret: for values that only look like one.
const MARKER: &str = "hookbox:allow-secret";

/// Returns the first credential in a text, with its line.
pub fn first_secret(text: &str) -> Option<(Secret, usize)> {
    text.lines()
        .enumerate()
        .find_map(|(index, line)| Some((in_line(line)?, index + 1)))
}

/// Says whether a text is marked as harmless.
pub fn is_marked(text: &str) -> bool {
    text.contains(MARKER)
}

fn in_line(line: &str) -> Option<Secret> {
    let mut assigned = None;
    for word in words(line) {
        // What says itself what it is tells more than the name it is assigned to.
        if let Some(secret) = by_shape(line, &word) {
            assigned = Some(secret);
            break;
        }
        if assigned.is_none() {
            assigned = assignment::find(line, word);
        }
    }
    assigned.filter(|_| !is_marked(line))
}

/// Returns the credential that starts with a word.
fn by_shape(line: &str, word: &Range<usize>) -> Option<Secret> {
    let bytes = line.as_bytes();
    // The letter of an escape like `\n` looks like the first one of the word behind it.
    let escaped = word.start > 0 && bytes[word.start - 1] == b'\\';
    if could_be(&bytes[word.start..]) {
        shape_at(line, word.start)
    } else if escaped && could_be(&bytes[word.start + 1..]) {
        shape_at(line, word.start + 1)
    } else {
        None
    }
}

/// Says whether any credential starts like this. Nearly no word does, and this is asked
/// for every one of them.
fn could_be(text: &[u8]) -> bool {
    matches!(
        text,
        [b'A', b'I' | b'K' | b'S', ..]
            | [b'B', b'E', ..]
            | [b'e', b'y', ..]
            | [b'g', b'h' | b'i' | b'l', ..]
            | [b'n', b'p', ..]
            | [b'r' | b's', b'k', ..]
            | [b'x', b'o', ..]
    )
}

fn shape_at(line: &str, start: usize) -> Option<Secret> {
    let (before, text) = line.split_at_checked(start)?;
    prefixed::find(text)
        .or_else(|| jwt::find(before, text))
        .or_else(|| pem::find(before, text))
}

/// Returns where the words of a line are. A hyphen is between words, so that what is
/// behind one is looked at as well.
fn words(line: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_word(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        (start < at).then_some(start..at)
    })
}

fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

/// Looked up, because this is asked for every byte of what may be a large file.
static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        word[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    word
};

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> String {
        format!("AKIA{}", "Q3EGRB7XNLKJ2HWM")
    }

    fn kind(text: &str) -> Option<&'static str> {
        first_secret(text).map(|(secret, _)| secret.kind)
    }

    #[test]
    fn a_key_is_found_between_all_sorts_of_signs() {
        let key = key();
        for text in [
            key.clone(),
            format!("export AWS_ACCESS_KEY_ID={key}"),
            format!("https://{key}:x@host/"),
            format!("a-{key}"),
            format!("printf 'a\\n{key}'"),
            format!("ü{key}ü"),
            format!("({key})"),
        ] {
            assert_eq!(kind(&text), Some("an AWS access key id"), "{text}");
        }
    }

    #[test]
    fn a_key_inside_a_longer_word_is_none() {
        for text in [
            format!("x{}", key()),
            format!("{}9", key()),
            format!("_{}", key()),
        ] {
            assert_eq!(kind(&text), None, "{text}");
        }
    }

    #[test]
    fn the_marker_counts_for_its_line_only() {
        let key = key();
        assert_eq!(kind(&format!("{key} # hookbox:allow-secret")), None);
        let text = format!("{key} # hookbox:allow-secret\n\n{key}");
        assert_eq!(first_secret(&text).map(|(_, line)| line), Some(3));
        assert!(kind(&format!("{key}\nhookbox:allow-secret")).is_some());
    }

    #[test]
    fn ordinary_text_has_no_secrets() {
        for text in [
            "",
            "the token is read from the environment",
            "let token = std::env::var(\"TOKEN\")?;",
            "password: ${DATABASE_PASSWORD}",
            "git commit -m 'risk-based task-scheduler for desk-1'",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "-----BEGIN CERTIFICATE-----",
            "\\",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
    }
}
