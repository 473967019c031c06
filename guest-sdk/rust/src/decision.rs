//! What a hook rules.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// What a hook rules. Made by [`allow`], [`block`], [`modify`] and [`ask`].
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Let it pass, unchanged.
    Allow,
    /// Refuse it, for this reason.
    Block(String),
    /// Let it pass with another payload.
    Modify(Json),
    /// Let a person decide this question.
    Ask(String),
}

/// Lets it pass, unchanged.
#[must_use]
pub fn allow() -> Decision {
    Decision::Allow
}

/// Refuses it. The agent reads the reason; later hooks do not run.
#[must_use]
pub fn block(reason: impl Into<String>) -> Decision {
    Decision::Block(reason.into())
}

/// Lets it pass with another payload, which later hooks and the operation itself see.
///
/// An object is laid over the current payload key by key, so it need only hold what
/// changes. A value that cannot be written as JSON, like a map whose keys are not
/// text, becomes a hook error.
#[must_use]
pub fn modify(payload: impl Serialize) -> Decision {
    Decision::Modify(Json::write(&payload))
}

/// Lets a person decide. The message is the question.
#[must_use]
pub fn ask(message: impl Into<String>) -> Decision {
    Decision::Ask(message.into())
}

/// A payload that was written as JSON, or why it could not be.
#[derive(Clone)]
pub struct Json(Result<String, String>);

impl Json {
    fn write(value: &impl Serialize) -> Self {
        Self(serde_json::to_string(value).map_err(|error| error.to_string()))
    }

    /// Returns the value, as a test wants to look at it; null if it could not be written.
    #[must_use]
    pub fn value(&self) -> Value {
        self.0
            .as_ref()
            .ok()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    pub(crate) fn into_text(self) -> Result<String, String> {
        self.0
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Ok(_), Ok(_)) => self.value() == other.value(),
            (mine, theirs) => mine == theirs,
        }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(text) => formatter.write_str(text),
            Err(error) => write!(formatter, "not JSON: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn decisions_carry_what_they_were_given() {
        assert_eq!(allow(), Decision::Allow);
        assert_eq!(block("no"), Decision::Block("no".into()));
        assert_eq!(ask(String::from("sure?")), Decision::Ask("sure?".into()));
        assert_ne!(block("no"), block("never"));
    }

    #[test]
    fn a_modified_payload_is_compared_as_a_value() {
        let Decision::Modify(payload) = modify(json!({"a": 1, "b": [true]})) else {
            panic!("not a modification");
        };
        assert_eq!(payload.value(), json!({"b": [true], "a": 1}));
        assert_eq!(modify(json!({"a": 1})), modify(BTreeMap::from([("a", 1)])));
        assert_ne!(modify(json!({"a": 1})), modify(json!({"a": 2})));
    }

    #[test]
    fn what_cannot_be_written_as_json_is_remembered() {
        let Decision::Modify(payload) = modify(BTreeMap::from([([1], 1)])) else {
            panic!("not a modification");
        };
        assert_eq!(payload.value(), Value::Null);
        assert_eq!(payload.into_text(), Err("key must be a string".into()));
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let text = "[18446744073709551616,-170141183460469231731687303715884105729,0.1,1e+400,1.0]";
        let value: Value = serde_json::from_str(text).unwrap();
        let Decision::Modify(payload) = modify(value) else {
            panic!("not a modification");
        };
        assert_eq!(payload.into_text().unwrap(), text);
    }

    #[test]
    fn text_keeps_all_of_unicode() {
        let text = r#""\u0000 \u001f ü 🦀 \\ \" /""#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value, json!("\0 \u{1f} ü 🦀 \\ \" /"));
        let written = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
    }
}
