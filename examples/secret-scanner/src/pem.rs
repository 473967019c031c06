//! Private keys as text: the line they start with.

use crate::finding::Secret;

/// Returns the private key whose first line has a word with this in front of it.
pub fn find(before: &str, text: &str) -> Option<Secret> {
    let label = text.strip_prefix("BEGIN ")?;
    if !before.ends_with("-----") {
        return None;
    }
    let (label, _) = label.split_once("-----")?;
    let is_private = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    is_private.then_some(Secret {
        kind: "a private key",
        start: None,
        length: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_found(line: &str) -> bool {
        let word = line.find("BEGIN").unwrap_or_default();
        find(&line[..word], &line[word..]).is_some()
    }

    #[test]
    fn private_keys_are_found_and_public_ones_are_not() {
        for label in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
            let line = format!("key = \"-----BEGIN {label}{}-----", "PRIVATE KEY");
            assert!(is_found(&line), "{line}");
        }
        assert!(is_found(&format!(
            "-----BEGIN PGP {} BLOCK-----",
            "PRIVATE KEY"
        )));
        for line in [
            "-----BEGIN PUBLIC KEY-----",
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN ",
            "BEGIN PRIVATE KEY-----",
        ] {
            assert!(!is_found(line), "{line}");
        }
    }
}
