//! Looks into a payload: dotted paths, names, and what counts as true.

use std::borrow::Cow;

use serde_json::Value;

/// Keys from the payload inwards, as `tool.args.path`; a number picks from a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path(Vec<String>);

/// What a key cannot contain, because it rather belongs to a query that Harn does not have.
const NOT_IN_KEYS: &str = "\"'`*?[]{}()=!<>~|&,;";

impl Path {
    /// Reads a path; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let keys: Vec<String> = text.split('.').map(str::to_owned).collect();
        if keys.iter().any(String::is_empty) {
            return Err("a key is missing; write keys with dots between them".to_owned());
        }
        let odd = |c: &char| c.is_whitespace() || c.is_control() || NOT_IN_KEYS.contains(*c);
        match text.chars().find(odd) {
            Some(c) => Err(format!(
                "{c:?} cannot be in it; write keys with dots between them, as in tool.args.path"
            )),
            None => Ok(Self(keys)),
        }
    }

    /// Returns what is at the path.
    pub(super) fn find<'a>(&self, payload: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(payload, |value, key| match value {
            Value::Object(map) => map.get(key),
            Value::Array(list) => list.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }
}

/// Returns the text of a string, and the JSON of everything else.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Returns the name of something that is written as a string or as `{name}`.
pub(super) fn name<'a>(payload: &'a Value, key: &str) -> Option<&'a str> {
    let named = payload.get(key)?;
    named.as_str().or_else(|| named.get("name")?.as_str())
}

/// Tells what counts as true: all but null, false, zero and what is empty.
pub(super) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        // By its digits, because a float would round the smallest numbers to zero.
        Value::Number(number) => number
            .to_string()
            .bytes()
            .take_while(|byte| !byte.eq_ignore_ascii_case(&b'e'))
            .any(|byte| matches!(byte, b'1'..=b'9')),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_go_into_maps_and_lists() {
        let payload = json!({"tool": {"args": ["a", {"b": 1}]}, "0": "zero"});
        let find = |path: &str| Path::parse(path).unwrap().find(&payload).cloned();
        assert_eq!(find("tool.args.0"), Some(json!("a")));
        assert_eq!(find("tool.args.1.b"), Some(json!(1)));
        assert_eq!(find("0"), Some(json!("zero")));
        for missing in ["tool.args.2", "tool.args.b", "tool.name", "0.0"] {
            assert_eq!(find(missing), None, "{missing}");
        }
    }

    #[test]
    fn a_path_that_could_never_be_found_is_an_error() {
        for path in [
            "", ".", "a.", ".a", "a..b", "a b", "a[0]", "a?.b", "a.*", "a.\"b\"",
        ] {
            assert!(Path::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn what_is_empty_or_zero_is_false() {
        for text in [
            "null", "false", "0", "-0", "0.00", "0e9", "\"\"", "[]", "{}",
        ] {
            assert!(!truthy(&serde_json::from_str(text).unwrap()), "{text}");
        }
        for text in [
            "true",
            "1",
            "-0.1",
            "1e-999",
            "10",
            "\"0\"",
            "[0]",
            "{\"a\":0}",
        ] {
            assert!(truthy(&serde_json::from_str(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn a_name_is_a_string_or_inside_a_map() {
        assert_eq!(name(&json!({"step": "audit"}), "step"), Some("audit"));
        assert_eq!(
            name(&json!({"step": {"name": "audit"}}), "step"),
            Some("audit")
        );
        for other in [
            json!({}),
            json!([]),
            json!({"step": 1}),
            json!({"step": {"name": 1}}),
        ] {
            assert_eq!(name(&other, "step"), None, "{other}");
        }
    }
}
