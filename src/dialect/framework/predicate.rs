//! Conditions on fields of the payload, all of which have to hold.

use serde_json::{Map, Value};

use super::DIALECT;
use crate::event::Event;
use crate::hook::Rule;
use crate::json::to_text;

/// Fields and the values they must have.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) event: &'static str,
    pub(super) wanted: Map<String, Value>,
}

impl Rule for Fields {
    fn matches(&self, event: &Event) -> bool {
        if self.wanted.is_empty() {
            return true;
        }
        let payload = (DIALECT.view)(self.event, event);
        has_all(payload.value(), &self.wanted)
    }

    fn text(&self) -> Option<String> {
        (!self.wanted.is_empty()).then(|| to_text(&Value::Object(self.wanted.clone())))
    }
}

/// An object in a matcher narrows the object of that name.
fn has_all(payload: &Value, wanted: &Map<String, Value>) -> bool {
    wanted
        .iter()
        .all(|(key, value)| match (payload.get(key), value) {
            (Some(found @ Value::Object(_)), Value::Object(inner)) => has_all(found, inner),
            (Some(found), value) => found == value,
            (None, _) => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hf_025_all_fields_have_to_be_equal() {
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": "ls", "n": 1}});
        for (matcher, expected) in [
            (json!({}), true),
            (json!({"tool_name": "Bash"}), true),
            (json!({"tool_name": "Write"}), false),
            (json!({"tool_name": "bash"}), false),
            (
                json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
                true,
            ),
            (
                json!({"tool_name": "Bash", "tool_input": {"command": "rm"}}),
                false,
            ),
            (json!({"tool_name": "Bash", "session_id": "x"}), false),
            (json!({"tool_name": null}), false),
        ] {
            let wanted = matcher.as_object().unwrap();
            assert_eq!(has_all(&payload, wanted), expected, "{matcher}");
        }
    }
}
