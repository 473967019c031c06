//! Goes through the arguments of a call, text by text.

use hookbox_guest::Value;

use crate::assignment;
use crate::finding::Finding;
use crate::scan;

/// How much of a key a path shows. No credential fits, should one be a key.
const SHOWN: usize = 30;

/// Returns the first credential in a value, looking at keys before what they hold: so
/// every key on the path that is told has been looked at.
pub fn first_finding(path: &str, value: &Value) -> Option<Finding> {
    match value {
        Value::String(text) => scan::first_secret(text).map(|(secret, line)| Finding {
            secret,
            path: path.to_owned(),
            line,
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| first_finding(&format!("{path}[{index}]"), item)),
        Value::Object(entries) => entries
            .iter()
            .find_map(|(key, value)| in_entry(path, key, value)),
        _ => None,
    }
}

fn in_entry(path: &str, key: &str, value: &Value) -> Option<Finding> {
    if let Some((secret, _)) = scan::first_secret(key) {
        let path = path.to_owned();
        let line = 0;
        return Some(Finding { secret, path, line });
    }
    let path = format!("{path}.{}", shown(key));
    first_finding(&path, value).or_else(|| {
        let text = value.as_str()?;
        let secret = assignment::of_entry(key, text).filter(|_| !scan::is_marked(text))?;
        let line = 1;
        Some(Finding { secret, path, line })
    })
}

fn shown(key: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.len() <= SHOWN && key.chars().all(plain) {
        key
    } else {
        "*"
    }
}

#[cfg(test)]
mod tests {
    use hookbox_guest::json;

    use super::*;

    fn token() -> String {
        format!("npm{}{}", "_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R")
    }

    fn found(value: &Value) -> Option<String> {
        first_finding("args", value).map(|finding| finding.to_string())
    }

    #[test]
    fn texts_are_found_wherever_they_are() {
        let token = token();
        let cases = [
            (json!(token), "in args, line 1"),
            (
                json!({"a": [1, null, {"b": format!("\n\n{token}")}]}),
                "in args.a[2].b, line 3",
            ),
            (json!({"a": {"not plain": token}}), "in args.a.*, line 1"),
            (json!([[token]]), "in args[0][0], line 1"),
        ];
        for (value, place) in cases {
            let expected = format!("an npm token (npm_…, 40 characters) {place}");
            assert_eq!(found(&value), Some(expected));
        }
        assert_eq!(found(&json!({"a": [1, true, null, 1.5, "text"]})), None);
    }

    #[test]
    fn a_key_is_a_text_too_and_is_not_told() {
        let value = json!({"env": {token(): "x"}});
        assert_eq!(
            found(&value).unwrap(),
            "an npm token (npm_…, 40 characters) in a key of args.env"
        );
    }

    #[test]
    fn a_field_can_be_an_assignment() {
        let secret = "xK9v-Qm2R_t7Lw4Zp8";
        assert_eq!(
            found(&json!({"headers": {"X-Api-Key": secret}})).unwrap(),
            "a value for an API key (18 characters) in args.headers.X-Api-Key, line 1"
        );
        assert_eq!(found(&json!({"headers": {"X-Request": secret}})), None);
        assert_eq!(
            found(&json!({"token": "the next word of the sentence"})),
            None
        );
        let marked = format!("{secret} hookbox:allow-secret");
        assert_eq!(found(&json!({"token": marked})), None);
    }
}
