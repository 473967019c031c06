//! Every event with every shape a hook can return, from every kind of handler: all of
//! them have to mean the same.

use std::collections::BTreeMap;

use hookbox::dialect::harn::events::{CATALOGUE, Surface};
use hookbox::dialect::harn::{Hooks, ToolHook};
use hookbox::runtime::DispatchError;
use hookbox::{Ruling, Runtime};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::support::programs::Says;
use super::support::{Project, answer, component};
use super::{entry, folder, hooks, raised, runtime};

/// What is expected of some events that have the same rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// The payload of each event.
    events: Map<String, Value>,
    /// What each shape comes to.
    expect: BTreeMap<String, Expected>,
}

/// What a shape comes to; `{event}` stands for the event's name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// The answer in Harn's own form, if there is one.
    #[serde(default)]
    native: Value,
    /// A part of the one warning.
    warning: Option<String>,
    /// A part of the error.
    error: Option<String>,
}

/// What runs.
const KINDS: [&str; 4] = ["closure", "function", "component", "program"];

fn read<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let path = folder("returns").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn shapes() -> Map<String, Value> {
    read("shapes.json")
}

/// A project in which every shape is returned by a function, by a component of the
/// typed world, and by a program.
fn project(shapes: &Map<String, Value>) -> Project {
    let project = Project::new();
    let mut module = String::new();
    for (name, value) in shapes {
        let text = value.to_string();
        module += &format!("def {name}(event):\n    return json.decode({text:?})\n\n");
        project
            .file(
                &format!("component/{name}.wasm"),
                component(&answer(2, &text)),
            )
            .file(
                &format!("program/{name}.wasm"),
                Says::new(&text, "", 0).wasm(),
            );
    }
    project.file("function.star", module);
    project
}

/// The manifest for one event: each entry listens to its own case.
fn manifest(event: &str, shapes: &Map<String, Value>) -> String {
    let mut text = String::new();
    for name in shapes.keys() {
        for (kind, handler) in [
            ("function", format!("function::{name}")),
            ("component", format!("component::{name}::run")),
            ("program", format!("program::{name}::run")),
        ] {
            text += &entry(event, &format!("case == '{kind} {name}'"), &handler);
        }
    }
    text
}

/// One hook of the host that returns whatever shape the case is about.
fn closures(event: &str, shapes: &Map<String, Value>) -> Hooks {
    let shapes = shapes.clone();
    let closure = move |payload: &Value| {
        let case = payload["case"].as_str().unwrap_or_default();
        let name = case.strip_prefix("closure ");
        name.map_or(Value::Null, |name| shapes[name].clone())
    };
    let info = CATALOGUE.iter().find(|info| info.name == event).unwrap();
    hooks(|hooks| {
        match (info.surface, event) {
            (Surface::Tool, "PreToolUse") => {
                hooks.register_tool_hook(ToolHook::matching("*").pre(closure))
            }
            (Surface::Tool, _) => hooks.register_tool_hook(ToolHook::matching("*").post(closure)),
            (Surface::Persona, _) => hooks.register_persona_hook("*", event, closure),
            (Surface::Session, _) => hooks.register_session_hook(event, closure),
        }
        .unwrap();
    })
}

fn all_rules() -> Vec<Rules> {
    let files = std::fs::read_dir(folder("returns")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "shapes.json")
        .collect();
    names.sort();
    names.iter().map(|name| read(name)).collect()
}

#[test]
fn the_cases_are_complete() {
    let shapes = shapes();
    let mut shapes: Vec<_> = shapes.keys().collect();
    shapes.sort();
    let mut events = Vec::new();
    for rules in all_rules() {
        assert_eq!(rules.expect.keys().collect::<Vec<_>>(), shapes);
        events.extend(rules.events.keys().cloned());
    }
    events.sort();
    let mut known: Vec<_> = CATALOGUE.iter().map(|info| info.name).collect();
    known.sort();
    assert_eq!(events, known);
}

#[test]
fn hn_035_hn_041_every_shape_on_every_event_means_the_same_from_every_handler() {
    let shapes = shapes();
    let project = project(&shapes);
    for rules in all_rules() {
        for (event, payload) in &rules.events {
            project.file("harn.toml", manifest(event, &shapes));
            let runtime = runtime(&project, &closures(event, &shapes));
            for (shape, expected) in &rules.expect {
                for kind in KINDS {
                    check(
                        &runtime,
                        event,
                        payload,
                        &format!("{kind} {shape}"),
                        expected,
                    );
                }
            }
        }
    }
}

fn check(runtime: &Runtime, event: &str, payload: &Value, case: &str, expected: &Expected) {
    let mut payload = payload.clone();
    payload["case"] = case.into();
    let whose = format!("{event}, {case}");
    let filled = |text: &String| text.replace("{event}", event);
    let dispatched = runtime.dispatch(event, payload);
    if let Some(error) = &expected.error {
        let error = filled(error);
        let outcome = raised(dispatched);
        let reason = outcome.reason.unwrap_or_default();
        assert!(reason.contains(&error), "{whose}: {reason}\n{error}");
        assert_eq!(outcome.decision, Ruling::Block, "{whose}");
        let wrong = DispatchError::Raised(Box::new(hookbox::Outcome {
            reason: Some(reason.clone()),
            ..outcome
        }));
        assert_eq!(wrong.to_string(), reason);
        return;
    }
    let outcome = dispatched.unwrap_or_else(|error| panic!("{whose}: {error}"));
    let native = runtime.native(&outcome).unwrap();
    assert_eq!(native, filled(&expected.native.to_string()), "{whose}");
    match &expected.warning {
        None => assert_eq!(outcome.warnings, [""; 0], "{whose}"),
        Some(warning) => {
            let warning = filled(warning);
            assert_eq!(outcome.warnings.len(), 1, "{whose}: {:?}", outcome.warnings);
            assert!(
                outcome.warnings[0].contains(&warning),
                "{whose}: {:?}",
                outcome.warnings
            );
        }
    }
}
