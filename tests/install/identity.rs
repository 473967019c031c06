//! Whatever settings there are: wiring and unwiring gives back the same bytes, and
//! everything that is not ours is there in between.

use hookbox::agent::install::jsonc::Document;
use hookbox::agent::install::{self, Form, Scope, Shape};
use hookbox::agent::{ALL, Agent};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::world::World;

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,6}", "[ -~]{0,8}", "[äß𝄞\"\\\\]{1,3}"]
}

/// An entry of somebody else.
fn entry() -> impl Strategy<Value = Value> {
    (word(), any::<bool>()).prop_map(|(command, more)| {
        let mut entry = json!({"command": format!("./{command}")});
        if more {
            entry["timeout"] = 7.into();
        }
        entry
    })
}

fn hooks(agent: &'static Agent, shape: Shape) -> impl Strategy<Value = Value> {
    let names: Vec<&str> = agent.events.iter().map(|event| event.name).collect();
    let event = prop::sample::select(names);
    let some = prop::collection::vec((event, prop::collection::vec(entry(), 0..3)), 0..4);
    some.prop_map(move |events| match shape {
        Shape::Triggers => events
            .into_iter()
            .flat_map(|(event, entries)| {
                let one = move |entry: Value| json!({"trigger": event, "action": entry});
                entries.into_iter().map(one)
            })
            .collect(),
        Shape::Lists => object(events, Value::Array),
        Shape::Groups => object(
            events,
            |entries| json!([{"matcher": "x", "hooks": entries}]),
        ),
    })
}

fn object(events: Vec<(&str, Vec<Value>)>, wrap: impl Fn(Vec<Value>) -> Value) -> Value {
    let members = events.into_iter();
    let members = members.map(|(event, entries)| (event.to_owned(), wrap(entries)));
    Value::Object(members.collect::<Map<_, _>>())
}

/// Settings in many styles of writing.
fn settings(agent: &'static Agent, shape: Shape) -> impl Strategy<Value = String> {
    let other = prop::collection::btree_map("[a-z]{1,5}x", word().prop_map(Value::from), 0..4);
    let hooks = prop::option::of(hooks(agent, shape));
    (other, hooks, 0..6_u8, any::<bool>()).prop_map(|(other, hooks, style, bom)| {
        let mut file: Map<String, Value> = other.into_iter().collect();
        if let Some(hooks) = hooks {
            file.insert("hooks".to_owned(), hooks);
        }
        let pretty = serde_json::to_string_pretty(&file).unwrap();
        let text = match style {
            0 => Value::Object(file).to_string(),
            1 => pretty,
            2 => pretty.replace("  ", "\t") + "\n",
            3 => pretty.replace('\n', "\r\n") + "\r\n",
            4 => format!("// mine\n{pretty}\n/* end */\n"),
            _ => pretty.replace('\n', "\n\n"),
        };
        if bom { format!("\u{feff}{text}") } else { text }
    })
}

/// What of a value is not ours.
fn theirs(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    leaves(value, &mut found);
    found.retain(|leaf| leaf.contains("./") || leaf.contains("x="));
    found.sort();
    found
}

fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                if value.is_string() && key.ends_with('x') {
                    found.push(format!("{key}={value}"));
                }
                leaves(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| leaves(value, found)),
        other => found.push(other.to_string()),
    }
}

#[test]
fn going_there_and_back_changes_nothing() {
    for agent in ALL {
        let Form::Settings(form) = &agent.wiring.form else {
            continue;
        };
        let path = format!("app/{}", agent.wiring.project);
        let config = ProptestConfig::with_cases(24);
        proptest!(config, |(before in settings(agent, form.shape))| {
            let world = World::new();
            world.write(&path, &before).install(agent.name, Scope::Project);
            let after = world.read(&path).unwrap();
            let read = |text: &str| Document::parse(text).unwrap().value();
            // Paths of ours start with a slash.
            let between: Vec<String> = theirs(&read(&after));
            prop_assert_eq!(between, theirs(&read(&before)));
            let again = install::plan(agent, Scope::Project, &world.places(), &world.binary());
            prop_assert!(again.unwrap().changes.is_empty());
            world.uninstall(agent.name, Scope::Project);
            prop_assert_eq!(world.read(&path), Some(before));
            let backup = format!("{path}.hookbox-backup");
            prop_assert_eq!(world.read(&backup), None);
        });
    }
}

#[test]
fn without_the_backup_what_is_left_still_means_the_same() {
    for agent in ALL {
        let Form::Settings(form) = &agent.wiring.form else {
            continue;
        };
        let path = format!("app/{}", agent.wiring.project);
        let config = ProptestConfig::with_cases(12);
        proptest!(config, |(before in settings(agent, form.shape))| {
            let world = World::new();
            world.write(&path, &before).install(agent.name, Scope::Project);
            let _ = std::fs::remove_file(world.path(&format!("{path}.hookbox-backup")));
            world.uninstall(agent.name, Scope::Project);
            let left = world.read(&path).unwrap_or_else(|| "{}".to_owned());
            let read = |text: &str| Document::parse(text).unwrap().value();
            prop_assert_eq!(theirs(&read(&left)), theirs(&read(&before)));
            prop_assert!(!left.contains("hookbox hook"));
        });
    }
}
