//! The reminders that hooks return.

use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::decision::{Propagation, Reminder, RoleHint};

/// All keys of a reminder.
const KEYS: [&str; 7] = [
    "body",
    "tags",
    "dedupe_key",
    "ttl_turns",
    "preserve_on_compact",
    "propagate",
    "role_hint",
];

/// Reads a reminder; the error says what is wrong with it. A key that is null is
/// as good as left out.
pub(super) fn read(spec: &Map<String, Value>) -> Result<Reminder, String> {
    let unknown: Vec<_> = spec
        .keys()
        .filter(|key| !KEYS.contains(&key.as_str()))
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        let options = KEYS.join(", ");
        return Err(format!(
            "unknown reminder option(s): {}; the options are {options}",
            super::returned::short(&unknown.join(", "))
        ));
    }
    let get = |key: &str| spec.get(key).filter(|value| !value.is_null());
    Ok(Reminder {
        body: body(get("body"))?,
        tags: get("tags").map_or(Ok(Vec::new()), tags)?,
        dedupe_key: get("dedupe_key").map(dedupe_key).transpose()?,
        ttl_turns: get("ttl_turns").map(ttl_turns).transpose()?,
        preserve_on_compact: get("preserve_on_compact").map_or(Ok(false), preserve)?,
        propagate: get("propagate").map_or(Ok(Propagation::Session), |value| {
            word(value, "propagate must be all, session or none")
        })?,
        role_hint: get("role_hint").map_or(Ok(RoleHint::System), |value| {
            word(
                value,
                "role_hint must be system, developer, user_block or ephemeral_cache",
            )
        })?,
    })
}

/// Keeps the latest of those with the same key, where it is.
pub(super) fn latest(reminders: Vec<Reminder>) -> Vec<Reminder> {
    let mut seen = HashSet::new();
    let mut kept: Vec<_> = reminders
        .into_iter()
        .rev()
        .filter(|reminder| match &reminder.dedupe_key {
            Some(key) => seen.insert(key.clone()),
            None => true,
        })
        .collect();
    kept.reverse();
    kept
}

fn body(value: Option<&Value>) -> Result<String, String> {
    let text = value.and_then(Value::as_str);
    let text = text.filter(|text| !text.trim().is_empty());
    Ok(text
        .ok_or("the reminder's body must be a string that is not empty")?
        .to_owned())
}

fn tags(value: &Value) -> Result<Vec<String>, String> {
    serde_json::from_value(value.clone())
        .map_err(|_| "the reminder's tags must be a list of strings".to_owned())
}

fn dedupe_key(value: &Value) -> Result<String, String> {
    let text = value.as_str();
    Ok(text
        .ok_or("the reminder's dedupe_key must be a string")?
        .to_owned())
}

fn ttl_turns(value: &Value) -> Result<u32, String> {
    let turns = value.as_u64().and_then(|turns| u32::try_from(turns).ok());
    turns.filter(|&turns| turns > 0).ok_or_else(|| {
        format!(
            "the reminder's ttl_turns must be a whole number from 1 to {}",
            u32::MAX
        )
    })
}

fn preserve(value: &Value) -> Result<bool, String> {
    let truth = value.as_bool();
    truth.ok_or_else(|| "the reminder's preserve_on_compact must be true or false".to_owned())
}

fn word<T: DeserializeOwned>(value: &Value, rule: &str) -> Result<T, String> {
    // A map would also do for an enum.
    let word = Value::from(value.as_str().unwrap_or_default());
    serde_json::from_value(word).map_err(|_| format!("the reminder's {rule}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(spec: &Value) -> Result<Reminder, String> {
        read(spec.as_object().unwrap())
    }

    #[test]
    fn hn_019_each_key_is_read() {
        let spec = json!({
            "body": "b", "tags": ["x", "y"], "dedupe_key": "k", "ttl_turns": 3,
            "preserve_on_compact": true, "propagate": "all", "role_hint": "user_block"
        });
        let reminder = of(&spec).unwrap();
        assert_eq!(serde_json::to_value(reminder).unwrap(), spec);
    }

    #[test]
    fn hn_019_what_is_left_out_or_null_has_a_default() {
        let full = json!({
            "body": "b", "tags": [], "dedupe_key": null, "ttl_turns": null,
            "preserve_on_compact": false, "propagate": "session", "role_hint": "system"
        });
        let nulls = json!({
            "body": "b", "tags": null, "dedupe_key": null, "ttl_turns": null,
            "preserve_on_compact": null, "propagate": null, "role_hint": null
        });
        for spec in [json!({"body": "b"}), nulls] {
            assert_eq!(serde_json::to_value(of(&spec).unwrap()).unwrap(), full);
        }
    }

    #[test]
    fn hn_019_every_word_is_known() {
        for word in ["all", "session", "none"] {
            assert!(
                of(&json!({"body": "b", "propagate": word})).is_ok(),
                "{word}"
            );
        }
        for word in ["system", "developer", "user_block", "ephemeral_cache"] {
            assert!(
                of(&json!({"body": "b", "role_hint": word})).is_ok(),
                "{word}"
            );
        }
    }

    #[test]
    fn hn_019_an_unknown_key_is_an_error() {
        let wrong = of(&json!({"body": "b", "colour": 1, "goal_pin": true})).unwrap_err();
        assert!(
            wrong
                .starts_with("unknown reminder option(s): colour, goal_pin; the options are body,"),
            "{wrong}"
        );
    }

    #[test]
    fn hn_019_a_wrong_value_is_an_error() {
        for (key, value) in [
            ("body", json!("")),
            ("body", json!(" \n")),
            ("body", json!(null)),
            ("body", json!(1)),
            ("tags", json!("x")),
            ("tags", json!([1])),
            ("dedupe_key", json!(1)),
            ("ttl_turns", json!(0)),
            ("ttl_turns", json!(-1)),
            ("ttl_turns", json!(1.5)),
            ("ttl_turns", json!("3")),
            ("ttl_turns", json!(5_000_000_000_u64)),
            ("preserve_on_compact", json!("yes")),
            ("propagate", json!("far")),
            ("propagate", json!({"all": null})),
            ("role_hint", json!("user")),
            ("role_hint", json!(1)),
        ] {
            let mut spec = json!({"body": "b"});
            spec[key] = value.clone();
            let wrong = of(&spec).unwrap_err();
            assert!(wrong.contains(key), "{value}: {wrong}");
        }
    }

    #[test]
    fn hn_040_the_latest_with_a_key_stays_at_its_own_place() {
        let make =
            |body: &str, key: Option<&str>| of(&json!({"body": body, "dedupe_key": key})).unwrap();
        let kept = latest(vec![
            make("1", Some("a")),
            make("2", None),
            make("3", Some("b")),
            make("4", None),
            make("5", Some("a")),
        ]);
        let bodies: Vec<_> = kept.iter().map(|reminder| reminder.body.as_str()).collect();
        assert_eq!(bodies, ["2", "3", "4", "5"]);
    }
}
