//! Says where a payload does not fit the hook's type.
//!
//! serde says what is wrong, and at which column. The column means nothing to the
//! author of a hook, who never sees the text; the field does. It is looked up only
//! once reading has failed, so a payload that fits costs nothing.

use std::fmt::Write as _;

/// Returns what is wrong with a payload, and in which field.
pub(crate) fn describe(payload: &str, error: &serde_json::Error) -> String {
    let mut what = error.to_string();
    if let Some(end) = what.rfind(" at line ") {
        what.truncate(end);
    }
    let place = path(payload, offset(payload, error.line(), error.column()));
    if place.is_empty() {
        format!("the payload does not fit: {what}")
    } else {
        format!("the payload does not fit at {place}: {what}")
    }
}

fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    before + column
}

/// One level of nesting on the way to a place.
enum Level<'a> {
    Object { key: &'a str, in_value: bool },
    Array { index: usize },
}

/// Returns the path of the value that starts, lies or has just ended at an offset.
///
/// The text is known to be JSON, so it is enough to count brackets and strings.
fn path(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let mut levels: Vec<Level<'_>> = Vec::new();
    let mut at = 0;
    while at < offset.min(bytes.len()) {
        match bytes[at] {
            b'{' => levels.push(Level::Object {
                key: "",
                in_value: false,
            }),
            b'[' => levels.push(Level::Array { index: 0 }),
            b'}' | b']' => {
                levels.pop();
            }
            b':' => enter_value(&mut levels),
            b',' => next(&mut levels),
            b'"' => {
                let end = string_end(bytes, at);
                name(&mut levels, text.get(at + 1..end).unwrap_or_default());
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    write(&levels)
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

fn name<'a>(levels: &mut [Level<'a>], text: &'a str) {
    if let Some(Level::Object {
        key,
        in_value: false,
    }) = levels.last_mut()
    {
        *key = text;
    }
}

fn enter_value(levels: &mut [Level<'_>]) {
    if let Some(Level::Object { in_value, .. }) = levels.last_mut() {
        *in_value = true;
    }
}

fn next(levels: &mut [Level<'_>]) {
    match levels.last_mut() {
        Some(Level::Object { in_value, .. }) => *in_value = false,
        Some(Level::Array { index }) => *index += 1,
        None => {}
    }
}

fn write(levels: &[Level<'_>]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            Level::Object {
                key,
                in_value: true,
            } => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Level::Object { .. } => {}
            Level::Array { index } => {
                let _ = write!(path, "[{index}]");
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Args {
        command: String,
        #[serde(default)]
        limits: Vec<(u8, bool)>,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Call {
        name: String,
        args: Args,
    }

    fn described<T: DeserializeOwned + std::fmt::Debug>(payload: &str) -> String {
        describe(payload, &serde_json::from_str::<T>(payload).unwrap_err())
    }

    #[test]
    fn the_field_that_does_not_fit_is_named() {
        let cases = [
            (
                "null",
                "the payload does not fit: invalid type: null, expected struct Call",
            ),
            (
                "7",
                "the payload does not fit: invalid type: integer `7`, expected struct Call",
            ),
            (
                r#"{"name":"x"}"#,
                "the payload does not fit: missing field `args`",
            ),
            (
                r#"{"name":"a:{[\"","args":{}}"#,
                "the payload does not fit at args: missing field `command`",
            ),
            (
                r#"{"name":"x","args":{"command":["a"]}}"#,
                "the payload does not fit at args.command: invalid type: sequence, expected a string",
            ),
            (
                r#"{"name":"x","args":{"command":5}, "id":1}"#,
                "the payload does not fit at args.command: invalid type: integer `5`, expected a string",
            ),
            (
                r#"{"name":"x","args":{"other":"}","command":"c"}}"#,
                "the payload does not fit at args: unknown field `other`, expected `command` or `limits`",
            ),
            (
                r#"{"args":{"command":"c","limits":[[1,true],[2,"x"]]}}"#,
                "the payload does not fit at args.limits[1][1]: invalid type: string \"x\", expected a boolean",
            ),
            (
                "{\n \"args\": {\n  \"command\": \"c\",\n  \"limits\": [\n   [300, true]\n]}}",
                "the payload does not fit at args.limits[0][0]: invalid value: integer `300`, expected u8",
            ),
        ];
        for (payload, expected) in cases {
            assert_eq!(described::<Call>(payload), expected, "{payload}");
        }
    }

    #[test]
    fn other_types_are_named_too() {
        assert_eq!(
            described::<BTreeMap<String, bool>>(r#"{"a":true,"ü":1.5}"#),
            "the payload does not fit at ü: invalid type: number, expected a boolean"
        );
        assert_eq!(
            described::<Vec<u8>>("[1, 2, null]"),
            "the payload does not fit at [2]: invalid type: null, expected u8"
        );
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert!(described::<Value>(&deep).ends_with(": recursion limit exceeded"));
    }

    #[test]
    fn a_lone_surrogate_is_an_error_and_no_crash() {
        assert!(
            described::<Value>(r#"{"a":"\ud800"}"#).starts_with("the payload does not fit at a: ")
        );
    }
}
