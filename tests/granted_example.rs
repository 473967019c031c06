//! The hooks of `examples/granted` do what its README says, against a real server.

mod support;

use std::path::Path;

use hookbox::Ruling::{Allow, Block};
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::Project;
use support::server::{Server, ok};

/// A copy of the example with the policy server at another port, and its own cache.
fn copy(port: u16) -> Project {
    let project = Project::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/granted");
    for folder in [".harness/hooks", "policy"] {
        for entry in std::fs::read_dir(example.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let name = entry.file_name().into_string().unwrap();
            let text = text.replace(":8181/", &format!(":{port}/"));
            project.file(&format!("{folder}/{name}"), text);
        }
    }
    let settings = std::fs::read_to_string(example.join("hookbox.toml")).unwrap();
    project.file("hookbox.toml", settings.replace("\"disk\"", "\"memory\""));
    project
}

fn runtime(project: &Project) -> Runtime {
    Runtime::builder(project.path())
        .secrets(|name| (name == "POLICY_TOKEN").then(|| "not-a-real-token".to_owned()))
        .environment(|_| None)
        .strict(true)
        .load()
        .unwrap()
}

fn call(runtime: &Runtime, name: &str, args: Value) -> Outcome {
    runtime
        .dispatch("tool.pre", json!({"name": name, "args": args}))
        .unwrap()
}

#[test]
fn the_sixth_search_of_a_minute_is_blocked() {
    let runtime = runtime(&copy(1));
    for _ in 0..5 {
        assert_eq!(call(&runtime, "web_search", json!({})).decision, Allow);
    }
    let outcome = call(&runtime, "web_search", json!({}));
    assert_eq!(outcome.decision, Block);
    assert!(outcome.reason.unwrap().starts_with("more than 5 searches"));
}

#[test]
fn the_policy_server_decides_about_deployments() {
    let server = Server::answering(|arrived| {
        assert!(arrived.head.contains("Bearer not-a-real-token"));
        ok(if arrived.body.contains("staging") {
            "{\"allow\": true}"
        } else {
            "{\"allow\": false, \"reason\": \"not on a friday\"}"
        })
    });
    let runtime = runtime(&copy(server.port));
    assert_eq!(
        call(&runtime, "deploy", json!({"to": "staging"})).decision,
        Allow
    );
    let outcome = call(&runtime, "deploy", json!({"to": "prod"}));
    assert_eq!(outcome.reason.as_deref(), Some("not on a friday"));
}

#[test]
fn without_a_policy_server_nothing_is_deployed() {
    let outcome = call(&runtime(&copy(1)), "deploy", json!({"to": "staging"}));
    assert_eq!(outcome.decision, Block);
    assert!(
        outcome
            .reason
            .unwrap()
            .starts_with("nobody could be asked about this deployment: ")
    );
    assert_eq!(outcome.trace.last().unwrap().refusals.len(), 1);
}

#[test]
fn protected_paths_are_read_at_each_call() {
    let project = copy(1);
    let runtime = runtime(&project);
    let write = |path: &str| call(&runtime, "write_file", json!({ "path": path })).decision;
    assert_eq!(write("infra/main.tf"), Block);
    assert_eq!(write("src/main.rs"), Allow);
    project.file("policy/protected.txt", "src/\n");
    assert_eq!(write("infra/main.tf"), Allow);
    assert_eq!(write("src/main.rs"), Block);
}

#[test]
fn a_session_starts_only_if_every_hook_has_a_priority() {
    let project = copy(1);
    let start = |project: &Project| project.dispatch("session.start", json!({}));
    assert_eq!(start(&project).decision, Allow);
    project.hook("careless", "---\nevent: tool.pre\n---\n");
    let outcome = start(&project);
    assert_eq!(outcome.decision, Block);
    assert!(
        outcome
            .reason
            .unwrap()
            .starts_with("careless has no priority")
    );
}
