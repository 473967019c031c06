//! The crate as an embedder uses it.

mod support;

use hookbox::decision::Ruling;
use hookbox::runtime::{DispatchError, LoadError, Runtime};
use hookbox::sandbox::engine::Lifetime;
use serde_json::{Value, json};
use support::{Project, command, hook_file};

fn blocker(reason: &str) -> String {
    hook_file(
        "tool.pre",
        "priority: 1",
        &format!(
            "def handle(event, payload):\n    cache.incr(\"calls\")\n    return block({reason:?})"
        ),
    )
}

/// What the hook counted in its own cache.
fn calls(runtime: &Runtime) -> Option<Value> {
    runtime.cache_of("guard").unwrap().get("calls").unwrap()
}

#[test]
fn a_runtime_can_be_shared_between_threads() {
    fn shareable<T: Send + Sync + Clone + 'static>() {}
    shareable::<Runtime>();
}

#[test]
fn reload_reads_the_files_again_and_keeps_the_run() {
    let project = Project::with(&[("guard", &blocker("one"))]);
    let mut runtime = project.runtime();
    let reason = |runtime: &Runtime| runtime.dispatch("tool.pre", command("x")).unwrap().reason;
    assert_eq!(reason(&runtime).as_deref(), Some("one"));
    project.hook("guard", &blocker("two"));
    assert_eq!(
        reason(&runtime).as_deref(),
        Some("one"),
        "nothing changes by itself"
    );
    runtime.reload().unwrap();
    assert_eq!(reason(&runtime).as_deref(), Some("two"));
    assert_eq!(calls(&runtime), Some(json!(3)));
}

#[test]
fn a_reload_that_fails_leaves_the_old_hooks_in_force() {
    let project = Project::with(&[("guard", &blocker("one"))]);
    let mut runtime = project.runtime();
    project.hook("guard", "---\nevent: tool.before\n---\n");
    assert!(matches!(runtime.reload(), Err(LoadError::Project(_))));
    let outcome = runtime.dispatch("tool.pre", command("x")).unwrap();
    assert_eq!(outcome.reason.as_deref(), Some("one"));
}

#[test]
fn two_runtimes_share_nothing() {
    let project = Project::with(&[("guard", &blocker("no"))]);
    let (one, other) = (project.runtime(), project.runtime());
    one.dispatch("tool.pre", command("x")).unwrap();
    assert_eq!(calls(&one), Some(json!(1)));
    assert_eq!(calls(&other), None);
}

#[test]
fn an_event_that_cannot_be_decided_is_an_error_not_an_allow() {
    let runtime = Project::with(&[("guard", &blocker("no"))]).runtime();
    assert!(matches!(
        runtime.dispatch("tool.per", command("x")),
        Err(DispatchError::UnknownEvent { .. })
    ));
    assert!(matches!(
        runtime.dispatch("tool.pre", json!({"tool": "x"})),
        Err(DispatchError::Payload(_))
    ));
}

#[test]
fn events_are_told_apart_by_their_id() {
    let project = Project::with(&[("guard", &blocker("no"))]);
    let runtime = project.runtime();
    let id = |payload| runtime.dispatch("tool.pre", payload).unwrap().id;
    assert_eq!(id(json!({"name": "x", "id": "call_7"})), "call_7");
    let (first, second) = (id(json!({"name": "x"})), id(json!({"name": "x"})));
    assert_ne!(first, second);
}

#[test]
fn the_same_event_gives_the_same_answer_and_fuel_everywhere() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let load = |lifetime| {
        Runtime::builder(root.join("examples/governed-agent"))
            .lifetime(lifetime)
            .load()
            .unwrap()
    };
    let runtimes = [
        load(Lifetime::OneShot),
        load(Lifetime::LongLived),
        load(Lifetime::LongLived),
    ];
    for text in [
        "ls -la",
        "rm -rf /",
        "sudo shutdown -h now",
        "echo 'é' > a.txt",
    ] {
        let answers: Vec<_> = runtimes
            .iter()
            .map(|runtime| {
                let outcome = runtime.dispatch("tool.pre", command(text)).unwrap();
                let fuel: Vec<_> = outcome
                    .trace
                    .iter()
                    .map(|row| (row.fuel, row.when_fuel))
                    .collect();
                (
                    outcome.decision,
                    outcome.reason,
                    outcome.payload.text().to_owned(),
                    fuel,
                )
            })
            .collect();
        assert_eq!(answers[0], answers[1], "{text}");
        assert_eq!(answers[1], answers[2], "{text}");
    }
}

#[test]
fn a_component_hook_needs_no_interpreter() {
    // Nothing of Starlark is compiled, and so nothing is kept.
    let project = support::component_project(&support::component(&support::answer(1, "no")), "");
    let folder = tempfile::tempdir().unwrap();
    let store = hookbox::sandbox::compiled::CodeStore::open(folder.path()).unwrap();
    let runtime = Runtime::builder(project.path())
        .code_store(store)
        .load()
        .unwrap();
    assert_eq!(
        runtime.dispatch("tool.pre", command("x")).unwrap().decision,
        Ruling::Block
    );
    let kept = std::fs::read_dir(folder.path().join("compiled"))
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|e| e == "cwasm")
        })
        .count();
    assert_eq!(kept, 1);
}
