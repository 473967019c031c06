//! Credentials that say what they are: a fixed beginning, then random characters.

use std::ops::RangeInclusive;

use crate::entropy;
use crate::finding::Secret;

/// How credentials of one kind look.
struct Shape {
    kind: &'static str,
    starts: &'static [&'static str],
    also: &'static [u8],
    length: RangeInclusive<usize>,
}

const AWS: &str = "an AWS access key id";
const GITHUB: &str = "a GitHub token";

/// No credential is longer. Without an end, a long line that is full of beginnings would
/// be read as often as it has any.
const MOST: usize = 400;

/// `also` is what may stand behind the beginning beside letters and digits; `length` is
/// that of the part behind the beginning. A beginning that contains another comes first.
const SHAPES: [Shape; 11] = [
    shape(AWS, &["AKIA", "ASIA"], b"", 16..=16),
    shape(
        GITHUB,
        &["ghp_", "gho_", "ghs_", "ghu_", "ghr_"],
        b"",
        36..=MOST,
    ),
    shape(GITHUB, &["github_pat_"], b"_", 40..=MOST),
    shape("a GitLab token", &["glpat-"], b"_-.", 20..=MOST),
    shape(
        "a Slack token",
        &[
            "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxo-", "xoxc-", "xoxd-",
        ],
        b"-",
        16..=MOST,
    ),
    shape("a Stripe key", &["sk_live_", "rk_live_"], b"", 16..=MOST),
    shape("a Google API key", &["AIza"], b"_-", 35..=35),
    shape("an Anthropic key", &["sk-ant-"], b"_-", 20..=MOST),
    shape(
        "an OpenAI key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        b"_-",
        20..=MOST,
    ),
    shape("an OpenAI key", &["sk-"], b"", 32..=MOST),
    shape("an npm token", &["npm_"], b"", 36..=36),
];

const fn shape(
    kind: &'static str,
    starts: &'static [&'static str],
    also: &'static [u8],
    length: RangeInclusive<usize>,
) -> Shape {
    Shape {
        kind,
        starts,
        also,
        length,
    }
}

/// Returns the credential that a text starts with.
pub fn find(text: &str) -> Option<Secret> {
    SHAPES.iter().find_map(|shape| shape.find(text))
}

impl Shape {
    fn find(&self, text: &str) -> Option<Secret> {
        let start = self.starts.iter().find(|start| text.starts_with(**start))?;
        let rest = &text[start.len()..];
        let length = rest
            .bytes()
            .take(MOST + 1)
            .take_while(|byte| self.takes(*byte))
            .count();
        let fits = self.length.contains(&length) && is_random(&rest[..length]);
        fits.then(|| Secret::with_start(self.kind, &text[..start.len() + length]))
    }

    fn takes(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || self.also.contains(&byte)
    }
}

/// Tells a credential from a placeholder like `xxxxxxxx`, from one that is published as
/// an example, and from words that are joined by hyphens.
fn is_random(text: &str) -> bool {
    !text.contains("EXAMPLE")
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && entropy::bits(text) >= 2.5
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters as a generator would make them.
    const RANDOM: &str = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7RzYxWvU";

    /// Put together here, so that no other scanner takes this file for a leak.
    fn token(start: &str, length: usize) -> String {
        format!("{start}{}", &RANDOM[..length])
    }

    #[test]
    fn every_kind_is_found() {
        let cases = [
            (format!("AKIA{}", "Q3EGRB7XNLKJ2HWM"), AWS),
            (format!("ASIA{}", "Q3EGRB7XNLKJ2HWM"), AWS),
            (token("ghp_", 36), GITHUB),
            (token("gho_", 36), GITHUB),
            (token("ghs_", 36), GITHUB),
            (token("ghu_", 36), GITHUB),
            (token("github_pat_", 42), GITHUB),
            (token("glpat-", 20), "a GitLab token"),
            (token("xoxb-", 24), "a Slack token"),
            (token("xoxp-", 24), "a Slack token"),
            (token("sk_live_", 24), "a Stripe key"),
            (token("rk_live_", 24), "a Stripe key"),
            (token("AIza", 35), "a Google API key"),
            (token("sk-ant-api03-", 40), "an Anthropic key"),
            (token("sk-proj-", 40), "an OpenAI key"),
            (token("sk-", 40), "an OpenAI key"),
            (token("npm_", 36), "an npm token"),
        ];
        for (text, kind) in cases {
            let secret =
                find(&format!("{text}\" rest")).unwrap_or_else(|| panic!("{kind}: {text}"));
            assert_eq!(secret.kind, kind);
            assert_eq!(secret.length, Some(text.len()));
            assert_eq!(secret.start.as_deref(), Some(&text[..4]));
        }
    }

    #[test]
    fn what_only_looks_like_one_is_not() {
        for text in [
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            token("AKIA", 15),
            token("AKIA", 17),
            token("ghp_", 35),
            format!("ghp_{}", "x".repeat(36)),
            token("npm_", 37),
            token("AIza", 34),
            token("sk_test_", 24),
            "sk-loading-spinner-wrapper-container".to_owned(),
            "sk-ant-design-pro-components-and-more".to_owned(),
            "npm_config_registry".to_owned(),
            "github_pat_".to_owned(),
            "glpat-your-token-goes-here".to_owned(),
        ] {
            assert_eq!(find(&text), None, "{text}");
        }
    }
}
