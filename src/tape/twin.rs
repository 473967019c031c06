//! Payloads say some things twice: decoded, and as the JSON text of that. A body holds
//! what is long only once, and names what it leaves out.

use serde::{Deserialize, Serialize};

use super::pen::{self, plain_run};
use super::read::LONGEST_LINE;
use super::seal::Hash;

/// A member that follows from another one, if it is the last of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Twin {
    /// `arguments`, which says what `args` says.
    Arguments,
    /// `content`, which says what `result` says.
    Content,
}

impl Twin {
    const ALL: [Self; 2] = [Self::Arguments, Self::Content];

    /// Returns its key.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Content => "content",
        }
    }

    /// Returns what stands between the member before it and its value.
    const fn lead(self) -> &'static str {
        match self {
            Self::Arguments => r#","arguments":"#,
            Self::Content => r#","content":"#,
        }
    }

    /// Returns the key of the member that it follows from.
    pub(super) const fn other(self) -> &'static str {
        match self {
            Self::Arguments => "args",
            Self::Content => "result",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|twin| twin.name() == name)
    }
}

/// Finds the twin that can be left out of a text, and returns what stands before its
/// comma. With a bracket behind it, that is the shorter text.
pub(super) fn leave_out(text: &str) -> Option<(Twin, &str)> {
    // Most texts that have none are known by their ends.
    text.strip_suffix("\"}")?;
    let mut members = Members::of(text)?;
    let mut others = [None; Twin::ALL.len()];
    while let Some(key) = members.next_key() {
        let place = members.at;
        if let Some(twin) = Twin::named(key)
            && let Some(other) = others[twin as usize]
            && is_end(&text.as_bytes()[place..], other)
        {
            let before = place.checked_sub(twin.lead().len())?;
            return Some((twin, text.get(..before)?));
        }
        let value = members.value()?;
        for twin in Twin::ALL {
            if key == twin.other() {
                others[twin as usize].get_or_insert(value);
            }
        }
    }
    None
}

/// Says whether an object ends with this text as a value, and nothing else.
fn is_end(mut written: &[u8], text: &str) -> bool {
    let mut step = |expected: &[u8]| {
        let rest = written.strip_prefix(expected);
        written = rest.unwrap_or_default();
        rest.is_some()
    };
    let mut rest = text.as_bytes();
    let mut escaped = Vec::with_capacity(8);
    if !step(b"\"") {
        return false;
    }
    while !rest.is_empty() {
        let plain = plain_run(rest);
        if !step(&rest[..plain]) {
            return false;
        }
        rest = &rest[plain..];
        if let Some((&special, behind)) = rest.split_first() {
            escaped.clear();
            pen::escape(special, &mut escaped);
            if !step(&escaped) {
                return false;
            }
            rest = behind;
        }
    }
    written == b"\"}"
}

/// Returns the hash that names a text, of which this can be left out. What is left out
/// follows from the rest and needs no hash: long texts would take twice as long.
pub(super) fn name(text: &str, left_out: Option<(Twin, &str)>) -> Hash {
    let hashed = left_out.map_or(text.len(), |(twin, before)| {
        before.len() + twin.lead().len()
    });
    Hash::of(&text.as_bytes()[..hashed])
}

/// Puts back what was left out of a text, and returns it with the hash that names it;
/// nothing if there is nothing to make it of.
pub(super) fn put_back(twin: Twin, text: String) -> Option<(String, Hash)> {
    let mut members = Members::of(&text)?;
    let mut value = None;
    while let Some(key) = members.next_key() {
        let begin = members.at;
        members.value()?;
        if key == twin.other() {
            value.get_or_insert(begin..members.at);
        }
    }
    let value = value.filter(|_| members.is_over())?;
    // Nobody wrote a text that could not be written whole.
    let most = usize::try_from(LONGEST_LINE).unwrap_or(usize::MAX);
    (text.len() + value.len() < most).then_some(())?;
    let mut whole = text.into_bytes();
    whole.pop();
    whole.extend_from_slice(twin.lead().as_bytes());
    let name = Hash::of(&whole);
    pen::text_within(value, &mut whole);
    whole.push(b'}');
    (whole.len() < most).then_some(())?;
    Some((String::from_utf8(whole).ok()?, name))
}

/// The members of an object that is written without blanks between them, and without
/// escapes in their names: then everybody reads the same in it. What stands inside of
/// their values is of no concern here.
struct Members<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Members<'t> {
    fn of(text: &'t str) -> Option<Self> {
        text.starts_with('{').then_some(Self { text, at: 0 })
    }

    /// Says whether the last member was the last thing in the text.
    fn is_over(&self) -> bool {
        self.text.get(self.at..) == Some("}")
    }

    /// Steps to the value of the next member, and returns what stands between the quotes of
    /// its key. It is nothing at the end, and where the text is none like that.
    fn next_key(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        let separator = if self.at == 0 { b'{' } else { b',' };
        (*bytes.get(self.at)? == separator).then_some(())?;
        let begin = self.at + 1;
        let colon = after_text(bytes, begin)?;
        (*bytes.get(colon)? == b':').then_some(())?;
        self.at = colon + 1;
        let key = self.text.get(begin + 1..colon - 1)?;
        (!key.contains('\\')).then_some(key)
    }

    /// Steps behind a value and returns it as it is written.
    fn value(&mut self) -> Option<&'t str> {
        let begin = self.at;
        self.at = after_value(self.text.as_bytes(), begin)?;
        let value = self.text.get(begin..self.at)?;
        let blank = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
        let loose = blank(value.as_bytes().first()) || blank(value.as_bytes().last());
        (!loose).then_some(value)
    }
}

/// Returns the place behind the text that begins here.
fn after_text(bytes: &[u8], begin: usize) -> Option<usize> {
    (*bytes.get(begin)? == b'"').then_some(())?;
    let mut at = begin + 1;
    loop {
        at += plain_run(bytes.get(at..)?);
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => return None,
        }
    }
}

/// Returns the place behind the value that begins here.
fn after_value(bytes: &[u8], begin: usize) -> Option<usize> {
    let (mut at, mut depth) = (begin, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => at = after_text(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b',' | b'}' | b']' if depth == 0 => return (at > begin).then_some(at),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::json::to_text;

    fn shorter(text: &str) -> Option<(Twin, String)> {
        leave_out(text).map(|(twin, before)| (twin, format!("{before}}}")))
    }

    /// Both sides give a text the same name.
    fn longer(twin: Twin, short: &str) -> Option<String> {
        let (text, name) = put_back(twin, short.to_owned())?;
        let before = &short[..short.len() - 1];
        assert_eq!(name, super::name(&text, Some((twin, before))), "{text}");
        Some(text)
    }

    #[test]
    fn what_follows_from_another_member_is_left_out() {
        for (text, short) in [
            (
                r#"{"name":"t","args":{"a":"}\""},"arguments":"{\"a\":\"}\\\"\"}"}"#,
                r#"{"name":"t","args":{"a":"}\""}}"#,
            ),
            (
                r#"{"result":[1,{"b":null}],"x":1e5,"content":"[1,{\"b\":null}]"}"#,
                r#"{"result":[1,{"b":null}],"x":1e5}"#,
            ),
            (
                r#"{"result":"plain\n","content":"\"plain\\n\""}"#,
                r#"{"result":"plain\n"}"#,
            ),
            (
                r#"{"args":{"é":"\u0001"},"arguments":"{\"é\":\"\\u0001\"}"}"#,
                r#"{"args":{"é":"\u0001"}}"#,
            ),
            // The first of two counts, in both directions.
            (
                r#"{"args":1,"args":2,"arguments":"1"}"#,
                r#"{"args":1,"args":2}"#,
            ),
        ] {
            let (twin, found) = shorter(text).unwrap();
            assert_eq!(found, short);
            assert_eq!(longer(twin, short).as_deref(), Some(text));
        }
    }

    #[test]
    fn whatever_is_written_in_another_way_stays() {
        for text in [
            "",
            "{}",
            "\"}",
            r#"{"arguments":"{}"}"#,
            r#"{"args":{},"arguments":"{ }"}"#,
            r#"{"args":{},"arguments":"{}","x":1}"#,
            r#"{"args":{}, "arguments":"{}"}"#,
            r#"{"args": {},"arguments":"{}"}"#,
            r#"{"args":{},"arguments":"{}"} "#,
            r#"{"args":"a","arguments":"a"}"#,
            r#"{"args":{"a":"\u0041"},"arguments":"{\"a\":\"A\"}"}"#,
            r#"{"x":{"args":{},"arguments":"{}"}}"#,
            r#"{"args":{},"content":"{}"}"#,
            r#"{"arguments":"{}","args":{},"x":"y"}"#,
            r#"["args",{},"arguments","{}"]"#,
            r#"{"args":,"arguments":""}"#,
        ] {
            assert_eq!(shorter(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_is_made_of_what_is_not_there() {
        for text in [
            "",
            "1",
            "{}",
            "{",
            r#"{"a":1}"#,
            r#"{"args":1"#,
            r#"{"args":1} "#,
        ] {
            assert_eq!(longer(Twin::Arguments, text), None, "{text}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
            r#"["\\{}\[\],:\n]{0,8}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(r#"[a-c"\\]{0,2}"#, inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn twins_are_always_left_out_and_put_back(value in any_json(), more in any_json()) {
            let text = to_text(&value);
            let payload = to_text(&json!({"x": more, "result": value, "content": text}));
            let (twin, short) = shorter(&payload).unwrap();
            prop_assert_eq!(longer(twin, &short), Some(payload));
        }

        #[test]
        fn whatever_is_left_out_of_any_text_comes_back(
            text in r#"\{("args":|"result":|"arguments":|"content":|[{}\[\]",:1\\]){0,12}"\}"#
        ) {
            if let Some((twin, short)) = shorter(&text) {
                prop_assert_eq!(longer(twin, &short), Some(text));
            }
        }

        #[test]
        fn no_text_is_too_odd(text in ".{0,40}", short in r#"\{["\\{}\[\],:args]{0,30}"#) {
            for text in [text, short] {
                leave_out(&text);
                for twin in Twin::ALL {
                    put_back(twin, text.clone());
                }
            }
        }
    }
}
