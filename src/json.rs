//! JSON as it crosses the border: parsed once, strictly, then carried as a type
//! that cannot be wrong.

pub(crate) mod write;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// How deep JSON may be nested: what `serde_json` itself accepts.
pub const MAX_DEPTH: usize = 127;

/// Why a text is not the JSON hookbox takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is larger than the limit.
    #[error("{size} bytes are over the limit of {limit} bytes")]
    TooLarge {
        /// The size of the text.
        size: usize,
        /// What is allowed.
        limit: usize,
    },
    /// The text is not UTF-8.
    #[error("not UTF-8: byte {0} is the first that does not fit")]
    NotUtf8(usize),
    /// The text is not JSON, or JSON that means different things to different readers.
    #[error("{0}")]
    Syntax(String),
}

/// A JSON value together with its compact text, so that no hook of a chain
/// pays for writing it out again.
///
/// Clones share both.
#[derive(Debug, Clone)]
pub struct Json {
    /// Read when it is asked for, where the text was there first.
    value: Arc<OnceLock<Value>>,
    text: Arc<str>,
}

impl Json {
    /// Parses bytes, refusing what is too large, nested too deep or ambiguous.
    ///
    /// # Errors
    /// Returns what is wrong with the text, with line and column.
    pub fn parse(bytes: &[u8], limit: usize) -> Result<Self, JsonError> {
        if bytes.len() > limit {
            return Err(JsonError::TooLarge {
                size: bytes.len(),
                limit,
            });
        }
        let text =
            std::str::from_utf8(bytes).map_err(|error| JsonError::NotUtf8(error.valid_up_to()))?;
        let value = parse_value(text)?;
        Ok(Self::from(value))
    }

    /// Parses a text that hooks have got before, and keeps it as it is for those to come.
    ///
    /// # Errors
    /// Returns what is wrong with the text, with line and column.
    pub(crate) fn recorded(text: &Arc<str>) -> Result<Self, JsonError> {
        read(text, Purpose::Check)?;
        Ok(Self {
            value: Arc::default(),
            text: Arc::clone(text),
        })
    }

    /// Returns the value.
    #[must_use]
    pub fn value(&self) -> &Value {
        // The text was looked through when it came in.
        let read = || parse_value(&self.text).unwrap_or_default();
        self.value.get_or_init(read)
    }

    /// Returns the compact text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the compact text, shared.
    pub(crate) fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Gives the value away.
    #[must_use]
    pub fn into_value(self) -> Value {
        match Arc::unwrap_or_clone(self.value).into_inner() {
            Some(value) => value,
            None => parse_value(&self.text).unwrap_or_default(),
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self {
            text: to_text(&value).into(),
            value: Arc::new(value.into()),
        }
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// Writes a value as compact text, in a fraction of the time `to_string` of a value takes.
#[must_use]
pub fn to_text(value: &Value) -> String {
    let mut text = Vec::with_capacity(512);
    write::value(value, &mut text);
    String::from_utf8(text).unwrap_or_else(|_| value.to_string())
}

/// Parses JSON text, refusing duplicate keys: two readers could disagree on
/// which one counts, and a guard must see what the tool will see.
///
/// # Errors
/// Returns what is wrong with the text, with line and column.
pub fn parse_value(text: &str) -> Result<Value, JsonError> {
    read(text, Purpose::Keep)
}

/// What JSON text is read for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To have its value.
    Keep,
    /// To know that it has one: nothing is made of it but `null`.
    Check,
}

fn read(text: &str, purpose: Purpose) -> Result<Value, JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let strict = Strict {
        input: text,
        keeps: purpose == Purpose::Keep,
    };
    let value = strict
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| JsonError::Syntax(error.to_string()))
}

#[derive(Clone, Copy)]
struct Strict<'t> {
    input: &'t str,
    /// Whether anybody wants the value.
    keeps: bool,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        let kept = self.keeps.then(|| value.to_owned());
        Ok(kept.map_or(Value::Null, Value::String))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            if self.keeps {
                list.push(item);
            }
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let mut seen = HashSet::new();
        while let Some(key) = entries.next_key_seed(KeySeed { input: self.input })? {
            let key = match key {
                Key::Number => {
                    return entries
                        .next_value::<String>()
                        .and_then(|text| number(&text));
                }
                Key::Name(name) => name,
            };
            if !seen.insert(key.clone()) {
                return Err(de::Error::custom(format_args!("duplicate key {key:?}")));
            }
            let value = entries.next_value_seed(self)?;
            if self.keeps {
                map.insert(key, value);
            }
        }
        Ok(Value::Object(map))
    }
}

/// With arbitrary precision, serde_json hands a number over as a map whose one
/// key is this name. A payload may spell the same name out, so the two are told
/// apart by where the key lives: serde_json's own is not part of the input.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

enum Key {
    Number,
    Name(String),
}

struct KeySeed<'t> {
    input: &'t str,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed<'_> {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key, E> {
        let foreign = !self.input.as_bytes().as_ptr_range().contains(&key.as_ptr());
        if foreign && key == NUMBER_TOKEN {
            return Ok(Key::Number);
        }
        Ok(Key::Name(key.to_owned()))
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(Key::Name(key.to_owned()))
    }
}

fn number<E: de::Error>(text: &str) -> Result<Value, E> {
    text.parse().map(Value::Number).map_err(E::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_any_size_survive() {
        for text in [
            "123456789012345678901234567890",
            "-5",
            "1.0",
            "0.1",
            "1e+400",
            "[1,2.5,{\"a\":-0.0}]",
        ] {
            assert_eq!(parse_value(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn duplicate_keys_are_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":2}"#, r#"[{"b":{"x":1,"x":1}}]"#] {
            let error = parse_value(text).unwrap_err().to_string();
            assert!(error.starts_with("duplicate key"), "{error}");
        }
    }

    #[test]
    fn a_lone_surrogate_is_refused() {
        let error = parse_value(r#""\ud800""#).unwrap_err().to_string();
        assert!(
            error.contains("surrogate") || error.contains("hex escape"),
            "{error}"
        );
    }

    #[test]
    fn deep_nesting_is_refused_not_a_crash() {
        let text = "[".repeat(10_000) + &"]".repeat(10_000);
        let error = parse_value(&text).unwrap_err().to_string();
        assert!(error.contains("recursion limit"), "{error}");
        let fits = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        assert!(parse_value(&fits).is_ok());
    }

    #[test]
    fn a_payload_that_spells_the_number_token_stays_an_object() {
        for text in [
            r#"{"$serde_json::private::Number":"5"}"#,
            r#"{"\u0024serde_json::private::Number":"5"}"#,
        ] {
            assert!(parse_value(text).unwrap().is_object(), "{text}");
        }
    }

    #[test]
    fn size_and_encoding_are_checked_first() {
        assert_eq!(
            Json::parse(b"[1,2]", 4),
            Err(JsonError::TooLarge { size: 5, limit: 4 })
        );
        assert_eq!(Json::parse(b"\"\xff\"", 9), Err(JsonError::NotUtf8(1)));
    }

    proptest! {
        #[test]
        fn compact_json_survives_unchanged(value in any_json()) {
            let text = value.to_string();
            prop_assert_eq!(parse_value(&text).unwrap().to_string(), &*text);
            let recorded = Json::recorded(&text.as_str().into()).unwrap();
            prop_assert_eq!(recorded.value(), &value);
            prop_assert_eq!(recorded.text(), text);
        }

        #[test]
        fn what_is_only_looked_through_is_refused_for_the_same_reasons(
            text in r#"[\[\]{}:,"a1.e\\u0-]{0,24}"#
        ) {
            let kept = parse_value(&text);
            let recorded = Json::recorded(&text.as_str().into());
            prop_assert_eq!(kept, recorded.map(Json::into_value));
        }

        #[test]
        fn any_bytes_are_an_answer_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Json::parse(&bytes, 64);
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(".*", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }
}
