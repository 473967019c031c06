//! JSON web tokens: three parts in base64, of which the first two are JSON objects.

use crate::finding::Secret;

/// How `{"` begins in base64.
const OBJECT: &str = "eyJ";

/// The shortest signature in use has 32 bytes.
const SIGNATURE: usize = 40;

/// Returns the token that a text starts with, if nothing in front of it belongs to it.
pub fn find(before: &str, text: &str) -> Option<Secret> {
    if !text.starts_with(OBJECT) || before.ends_with('-') {
        return None;
    }
    let (_header, rest) = part(text)?;
    let (claims, rest) = part(rest.strip_prefix('.')?)?;
    let (signature, rest) = part(rest.strip_prefix('.')?)?;
    let is_token = claims.starts_with(OBJECT) && signature.len() >= SIGNATURE;
    let length = text.len() - rest.len();
    is_token.then(|| Secret::with_start("a JSON web token", &text[..length]))
}

/// Splits base64 off the front of a text.
fn part(text: &str) -> Option<(&str, &str)> {
    let length = text.bytes().take_while(|byte| is_base64(*byte)).count();
    text.split_at_checked(length)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_three_parts() {
        let object = format!("{OBJECT}hbGciOiJub25lIn0");
        let signature = "not-a-real-signature_".repeat(2);
        let token = format!("{object}.{object}.{signature}");
        let found = find("Bearer ", &format!("{token}. Then text")).unwrap();
        assert_eq!(
            found.to_string(),
            format!("a JSON web token (eyJh…, {} characters)", token.len())
        );
        assert_eq!(find("-", &token), None);
        for text in [
            object.clone(),
            format!("{object}.{object}"),
            format!("{object}.{object}.short"),
            format!("{object}.abcdefgh.{signature}"),
            format!("x{token}"),
        ] {
            assert_eq!(find("", &text), None, "{text}");
        }
    }
}
