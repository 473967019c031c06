//! The recorder: what it goes on with, what it refuses, what it does when it cannot
//! write, and what it keeps to itself.

mod support;

#[path = "tape_recorder/full.rs"]
mod full;
#[path = "tape_recorder/goes_on.rs"]
mod goes_on;
#[path = "tape_recorder/parallel.rs"]
mod parallel;
#[path = "tape_recorder/replayed.rs"]
mod replayed;
#[path = "tape_recorder/required.rs"]
mod required;
#[path = "tape_recorder/secrets.rs"]
mod secrets;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hookbox::tape::Recorder;
use serde_json::{Value, json};
use support::tape::{play_file, record, studio};
use support::{Project, command, warm_up};
use tempfile::TempDir;

/// A place for a tape.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    (folder, path)
}

/// The command that sends one command of the agent through the project's hooks.
fn run_command(project: &Project, text: &str, tape: Option<&Path>) -> Command {
    warm_up();
    let payload = json!({"name": "run_command", "args": {"command": text}}).to_string();
    let mut run = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    run.args(["run", "tool.pre", "--payload", &payload, "--project"])
        .arg(project.path())
        .stdin(Stdio::null());
    if let Some(tape) = tape {
        run.arg("--tape").arg(tape);
    }
    run
}

/// What a person sees, without the folder that is another one every time.
fn said(output: &Output, tape: &Path) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8(both).unwrap();
    text.replace(tape.to_str().unwrap(), "[tape]")
}

#[test]
fn the_command_line_records_to_a_new_tape() {
    let (_folder, path) = place();
    let output = run_command(&studio(), "rm -rf /", Some(&path))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output, &path));
    let played = play_file(&path);
    assert_eq!(played.dispatches.len(), 1);
    let reason = played.dispatches[0].end().unwrap().reason.clone();
    assert_eq!(reason.as_deref(), Some("dangerous command"));
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_a_tape() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, path) = place();
    record(&studio(), &path, |_| {});
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (_folder, path) = place();
    let output = run_command(&studio(), "ls", Some(&path)).output().unwrap();
    assert!(output.status.success());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Says why nothing can be recorded there, and that nothing was decided.
fn refused(tape: &Path) -> String {
    let output = run_command(&studio(), "ls", Some(tape)).output().unwrap();
    let said = said(&output, tape);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("allowed"), "{said}");
    said
}

#[test]
fn attack_a_device_that_is_always_full() {
    let said = refused(Path::new("/dev/full"));
    assert!(
        said.contains("[tape] cannot be recorded to: it is not a regular file"),
        "{said}"
    );
}

#[test]
fn attack_a_folder_instead_of_a_tape() {
    let folder = tempfile::tempdir().unwrap();
    let said = refused(folder.path());
    assert!(
        said.contains("[tape] cannot be written: Is a directory"),
        "{said}"
    );
}

#[test]
fn attack_a_tape_below_a_folder_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing/run.tape");
    let said = refused(&path);
    assert!(
        said.contains("[tape] cannot be written: No such file or directory"),
        "{said}"
    );
    assert!(!folder.path().join("missing").exists());
}

#[test]
fn attack_a_pipe_that_nobody_reads() {
    let (_folder, path) = place();
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    let said = refused(&path);
    assert!(
        said.contains("[tape] cannot be recorded to: it is not a regular file"),
        "{said}"
    );
}

#[test]
fn a_project_that_does_not_load_leaves_a_closed_tape_as_it_is() {
    let (_folder, path) = place();
    record(&studio(), &path, |runtime| {
        runtime.dispatch("tool.pre", command("ls")).unwrap();
    });
    let before = std::fs::read(&path).unwrap();
    let broken = Project::with(&[("guard", "---\nevent: tool.before\n---\n")]);
    let output = run_command(&broken, "ls", Some(&path)).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn an_event_that_cannot_be_decided_is_on_the_tape() {
    use hookbox::tape::{Replay, Replayed};
    let (_folder, path) = place();
    record(&studio(), &path, |runtime| {
        runtime.dispatch("tool.per", json!({"a": 1})).unwrap_err();
        runtime
            .dispatch("tool.pre", json!({"tool": "x"}))
            .unwrap_err();
    });
    let mut replay = Replay::open(&path).unwrap();
    let mut seen = Vec::new();
    while let Some(one) = replay.step().unwrap() {
        match one {
            Replayed::Undecided(one) => seen.push((one.event, one.error)),
            other => panic!("{other:?}"),
        }
    }
    let [first, second] = &seen[..] else {
        panic!("{seen:?}");
    };
    assert_eq!(first.0, "tool.per");
    assert!(
        first.1.starts_with("there is no event \"tool.per\""),
        "{}",
        first.1
    );
    assert_eq!(second.0, "tool.pre");
}

#[cfg(unix)]
#[test]
fn attack_the_tape_deleted_while_it_is_recorded_to() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let project = studio();
    let runtime = hookbox::Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    runtime.dispatch("tool.pre", command("ls")).unwrap();
    recorder.flush().unwrap();
    std::fs::remove_file(&path).unwrap();
    let expected = format!(
        "{} cannot be written: it was deleted while it was recorded to",
        path.display()
    );
    runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(recorder.flush().unwrap_err().to_string(), expected);
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(outcome.decision, hookbox::Ruling::Allow);
    let warning = format!("this run is not whole on its tape: {expected}");
    assert!(
        outcome.warnings.contains(&warning),
        "{:?}",
        outcome.warnings
    );
    assert_eq!(recorder.close().unwrap_err().to_string(), expected);
    assert!(!path.exists());
}

#[test]
fn attack_a_dispatch_after_the_tape_was_closed() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let project = studio();
    let runtime = hookbox::Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    runtime.dispatch("tool.pre", command("ls")).unwrap();
    recorder.close().unwrap();
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    let warning = format!(
        "this run is not whole on its tape: {} cannot be written: the tape was closed",
        path.display()
    );
    assert!(
        outcome.warnings.contains(&warning),
        "{:?}",
        outcome.warnings
    );
    drop(runtime);
    assert_eq!(play_file(&path).dispatches.len(), 1);
}

/// The records of a kind, as JSON.
fn of_kind(path: &Path, kind: &str) -> Vec<Value> {
    let records = support::tape::values(&std::fs::read(path).unwrap());
    records
        .into_iter()
        .filter(|one| one["kind"] == kind)
        .collect()
}
