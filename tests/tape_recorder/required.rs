//! Projects that want every decision on a tape.

use hookbox::Runtime;
use hookbox::runtime::DispatchError;
use hookbox::tape::{Ending, Recorder};

use super::{place, run_command, said};
use crate::support::tape::{play, play_file, studio};
use crate::support::{Project, command, hookbox};

fn strict() -> Project {
    let project = studio();
    project.file("hookbox.toml", "tape = \"required\"\n");
    project
}

#[test]
fn attack_no_tape_where_one_is_required() {
    let (_folder, path) = place();
    let output = run_command(&strict(), "ls", None).output().unwrap();
    let said = said(&output, &path);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the project has `tape: required` and nothing is recorded, so nothing is decided; record with `--tape FILE`"),
        "{said}"
    );
    assert!(!said.contains("allowed"), "{said}");
}

#[test]
fn with_a_tape_it_is_decided() {
    let (_folder, path) = place();
    let output = run_command(&strict(), "ls", Some(&path)).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output, &path));
    assert_eq!(play_file(&path).dispatches.len(), 1);
}

#[test]
fn an_embedder_without_a_tape_gets_no_decision() {
    let runtime = strict().runtime();
    let error = runtime.dispatch("tool.pre", command("ls")).unwrap_err();
    assert!(matches!(error, DispatchError::NoTape), "{error}");
}

/// When a decision is handed out, it is in the file.
#[test]
fn a_decision_is_in_the_file_before_it_is_handed_out() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let project = strict();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    for count in 1..=5 {
        runtime.dispatch("tool.pre", command("ls")).unwrap();
        let played = play(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(
            (played.ending, played.dispatches.len()),
            (Ending::Open, count)
        );
    }
}

#[test]
fn the_host_can_require_a_tape_as_well() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap().required();
    let project = studio();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(
        play(&std::fs::read(&path).unwrap())
            .unwrap()
            .dispatches
            .len(),
        1
    );
    recorder.close().unwrap();
    let error = runtime.dispatch("tool.pre", command("ls")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the decision cannot be recorded, and `tape: required` means that it does not count: {} cannot be written: the tape was closed",
            path.display()
        )
    );
}

#[cfg(unix)]
#[test]
fn attack_the_tape_deleted_where_one_is_required() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let project = strict();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    runtime.dispatch("tool.pre", command("ls")).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = runtime.dispatch("tool.pre", command("ls")).unwrap_err();
    assert!(matches!(error, DispatchError::Tape(_)), "{error}");
    assert!(
        error
            .to_string()
            .contains("it was deleted while it was recorded to"),
        "{error}"
    );
}

#[test]
fn hooks_can_be_tested_without_a_tape() {
    let project = Project::script("def handle(event, payload):\n    return block(\"no\")");
    project.file("hookbox.toml", "tape = \"required\"\n").file(
        "cases/blocks.yaml",
        "event: tool.pre\npayload: { name: x }\nexpect:\n  decision: block\n",
    );
    let output = hookbox(&["test", "--project", project.path().to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("blocks"), "{text}");
}

#[test]
fn a_tape_that_is_neither_required_nor_optional() {
    let project = studio();
    project.file("hookbox.toml", "tape = \"maybe\"\n");
    assert_eq!(
        project.errors(),
        ["hookbox.toml:1:8: tape must be `required` or `optional`"]
    );
    project.file("hookbox.toml", "tape = true\n");
    assert_eq!(
        project.errors(),
        ["hookbox.toml:1:8: tape must be `required` or `optional`"]
    );
    project.file("hookbox.toml", "tape = \"optional\"\n");
    assert!(project.errors().is_empty());
}

#[test]
fn the_stricter_of_two_files_counts() {
    let project = studio();
    project
        .file("hookbox.toml", "tape = \"required\"\n")
        .file("harness.md", "---\ntape: optional\n---\n");
    let error = project.runtime().dispatch("tool.pre", command("ls"));
    assert!(matches!(error, Err(DispatchError::NoTape)), "{error:?}");
}
