//! An outcome in Polytoken's own form: one JSON object, tagged by `outcome`.

use serde_json::{Map, Value};

use super::events::{Rules, find};
use crate::decision::{Effect, Ruling};
use crate::dialect::EventInfo;
use crate::json::to_text;
use crate::outcome::Outcome;

/// Writes an outcome.
pub(super) fn write(info: &EventInfo, outcome: &Outcome) -> String {
    let Some(rules) = find(info.name) else {
        return String::new();
    };
    let mut fields = Map::new();
    let mut put = |key: &str, value: &str| {
        fields.insert(key.to_owned(), value.into());
    };
    let reason = outcome.reason.as_deref().unwrap_or_default();
    match outcome.decision {
        Ruling::Allow | Ruling::Modify => {
            put("outcome", rules.proceed);
            if let Some((field, text)) = added(rules, outcome) {
                put(field, &text);
            }
        }
        Ruling::Block | Ruling::Ask => match verb(rules, outcome) {
            Some(verb) => {
                put("outcome", verb);
                put("reason", reason);
                let said = outcome.said.as_ref();
                for (key, text) in [
                    ("stdout", said.and_then(|said| said.stdout.as_ref())),
                    ("stderr", said.and_then(|said| said.stderr.as_ref())),
                ] {
                    if let Some(text) = text {
                        put(key, text);
                    }
                }
            }
            // Nothing stops this event, so that somebody wanted to is an error.
            None => {
                put("outcome", "error");
                put("message", reason);
            }
        },
    }
    to_text(&Value::Object(fields))
}

/// The word for a refusal: that of the hook if it is one of this event's.
fn verb<'r>(rules: &'r Rules, outcome: &Outcome) -> Option<&'r str> {
    let said = outcome.said.as_ref().map(|said| &*said.verb);
    match &rules.stop {
        _ if rules.suppress && said == Some("suppress") => Some("suppress"),
        Some(stop) => Some(stop.verb),
        None => rules.suppress.then_some("suppress"),
    }
}

/// All texts that the event reads, one under the other.
fn added(rules: &Rules, outcome: &Outcome) -> Option<(&'static str, String)> {
    let (field, _) = rules.adds?;
    let texts: Vec<&str> = outcome
        .effects
        .iter()
        .map(|effect| match effect {
            Effect::Context { text, .. } => text.as_str(),
            Effect::Reminder(reminder) => reminder.body.as_str(),
        })
        .collect();
    (!texts.is_empty()).then(|| (field, texts.join("\n")))
}
