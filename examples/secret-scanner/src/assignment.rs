//! Values that are assigned to something whose name says that it is secret.

use std::ops::Range;

use crate::entropy;
use crate::finding::Secret;

/// Words in a name, without `_` and `-`, and what its value is then.
const NAMES: [(&str, &str); 6] = [
    ("password", "a value for a password"),
    ("passwd", "a value for a password"),
    ("secret", "a value for a secret"),
    ("token", "a value for a token"),
    ("apikey", "a value for an API key"),
    ("accesskey", "a value for an access key"),
];

/// How a value must be to count as random.
struct Measure {
    length: usize,
    bits: f64,
    digits: usize,
}

/// In quotes there is a value, and not the name of one.
const QUOTED: Measure = Measure {
    length: 16,
    bits: 3.5,
    digits: 1,
};

/// Without quotes it may be an expression, whose names are less random.
const BARE: Measure = Measure {
    length: 20,
    bits: 4.0,
    digits: 3,
};

/// The longest value that is looked at. Without an end, a long line of assignments would
/// be read as often as it has any.
const MOST: usize = 400;

/// Returns the value that is assigned to a name in a line.
pub fn find(line: &str, name: Range<usize>) -> Option<Secret> {
    let value = assigned(&line[name.end..])?;
    let (value, measure) = match value.as_bytes().first()? {
        quote @ (b'"' | b'\'' | b'`') => (until(&value[1..], |byte| byte == *quote)?, QUOTED),
        _ => (until(value, ends_bare)?, BARE),
    };
    // Asked first, because most values are short and names take longer to look at.
    if value.len() < measure.length {
        return None;
    }
    secret(kind(whole_name(line, name))?, value, &measure)
}

/// Returns the value of a field, if its key says that it is secret.
pub fn of_entry(key: &str, value: &str) -> Option<Secret> {
    secret(kind(key)?, value, &QUOTED)
}

fn secret(kind: &'static str, value: &str, measure: &Measure) -> Option<Secret> {
    is_random(value, measure).then(|| Secret {
        kind,
        start: None,
        length: Some(value.chars().count()),
    })
}

/// Returns what is behind the `=`, `:`, `:=`, `=>`, `==` or `===` that follows a name.
fn assigned(rest: &str) -> Option<&str> {
    let bytes = rest.as_bytes();
    let quote = usize::from(matches!(bytes, [b'"' | b'\'', ..]));
    let sign = quote + blanks(&bytes[quote..]);
    let value = sign
        + match &bytes[sign..] {
            // What is behind `::` is a part of the name.
            [b':', b':', ..] => return None,
            [b'=', b'=', b'=', ..] => 3,
            [b':' | b'=', b'=', ..] | [b'=', b'>', ..] => 2,
            [b':' | b'=', ..] => 1,
            _ => return None,
        };
    rest.get(value + blanks(&bytes[value..])..)
}

fn blanks(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// Returns what is in front of an end; none if that is longer than any credential.
fn until(text: &str, ends: impl Fn(u8) -> bool) -> Option<&str> {
    let end = text.bytes().take(MOST).position(ends);
    let end = end.or_else(|| (text.len() <= MOST).then_some(text.len()))?;
    text.get(..end)
}

/// Returns the name with the parts in front of it that hyphens join.
fn whole_name(line: &str, name: Range<usize>) -> &str {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-';
    let before = &line.as_bytes()[..name.start];
    let joined = before.iter().rev().take_while(|byte| is_part(byte)).count();
    &line[name.start - joined..name.end]
}

fn kind(name: &str) -> Option<&'static str> {
    let name = name.replace(['_', '-'], "").to_ascii_lowercase();
    NAMES
        .iter()
        .find(|(word, _)| name.contains(word))
        .map(|(_, kind)| *kind)
}

fn ends_bare(byte: u8) -> bool {
    byte <= b' ' || b"\"'`;&|,()[]{}<>".contains(&byte)
}

fn is_random(value: &str, measure: &Measure) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= measure.length
        && digits >= measure.digits
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !is_placeholder(value)
        && entropy::bits(value) >= measure.bits
}

/// Tells references like `${TOKEN}`, text, addresses and published examples from values.
fn is_placeholder(value: &str) -> bool {
    value.starts_with(['$', '<', '{', '%'])
        || ["${", "{{", "://", " "]
            .iter()
            .any(|part| value.contains(part))
        || value.to_ascii_lowercase().contains("example")
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "xK9v-Qm2R_t7Lw4Zp8Bn6";

    fn found(line: &str) -> Option<Secret> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let start = line.bytes().position(is_word)?;
        let end = start + until(&line[start..], |byte| !is_word(byte))?.len();
        find(line, start..end)
    }

    #[test]
    fn values_are_found_in_all_common_notations() {
        let cases = [
            (format!("password = \"{VALUE}\""), "a value for a password"),
            (format!("DB_PASSWD='{VALUE}'"), "a value for a password"),
            (
                format!("\"clientSecret\": \"{VALUE}\","),
                "a value for a secret",
            ),
            (format!("access_token := `{VALUE}`"), "a value for a token"),
            (format!("'api_key' => '{VALUE}'"), "a value for an API key"),
            (
                format!("password == \"{}\"", "xK9v$Qm2R(t7>Lw4Zp8Bn"),
                "a value for a password",
            ),
            (format!("API_KEY={VALUE} ./run"), "a value for an API key"),
            (
                format!("aws_secret_access_key: {VALUE}"),
                "a value for a secret",
            ),
        ];
        for (line, kind) in cases {
            let secret = found(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(secret.kind, kind);
            assert_eq!(secret.start, None);
            assert_eq!(secret.length, Some(VALUE.len()));
        }
    }

    #[test]
    fn what_is_no_secret_passes() {
        for line in [
            format!("checksum = \"{VALUE}\""),
            format!("token {VALUE}"),
            "password = \"correct horse battery staple 1\"".into(),
            "password = \"changeme\"".into(),
            "token = \"${CI_TOKEN_FROM_VAULT_2}\"".into(),
            "token = \"https://id.test/realms/7/token\"".into(),
            "secret=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            "token = read_token_from_header_v2(request)".into(),
            "token=request_token_of_version_2".into(),
            "secret: aaaaaaaaaaaaaaaaaaaaaaaa1111".into(),
            "token:".into(),
            "token: \"".into(),
            format!("token = \"{}\"", VALUE.repeat(20)),
        ] {
            assert_eq!(found(&line), None, "{line}");
        }
    }

    #[test]
    fn a_name_with_hyphens_is_read_whole() {
        let line = format!("x-api-key: {VALUE}");
        assert!(find(&line, 6..9).is_some());
    }
}
