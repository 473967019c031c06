//! A disk that is full.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

use hookbox::Runtime;
use hookbox::tape::{Ending, Recorder, Replay, Replayed};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::{of_kind, place, run_command, said};
use crate::support::tape::{play, play_file, studio};
use crate::support::{Project, command};

/// Runs a command whose files may have this many blocks of the shell.
fn within(blocks: u32, run: &Command) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""
        ))
        .arg(run.get_program())
        .args(run.get_args())
        .output()
        .unwrap()
}

/// Records again and again until there is no room, and returns what the last one said
/// and how many were decided before.
fn fill(project: &Project, path: &Path) -> (Output, usize) {
    let warning = "cannot be written: File too large";
    for count in 0..200 {
        let run = run_command(project, &format!("ls {count}"), Some(path));
        let output = within(24, &run);
        if said(&output, path).contains(warning) {
            return (output, count);
        }
        assert!(output.status.success(), "{}", said(&output, path));
    }
    panic!("there is no end to the disk");
}

#[test]
fn attack_a_full_disk_leaves_the_decision_and_says_so() {
    let (_folder, path) = place();
    let (output, whole) = fill(&studio(), &path);
    let said = said(&output, &path);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("allowed tool.pre"), "{said}");
    assert!(
        said.contains(
            "warning: this run is not whole on its tape: [tape] cannot be written: File too large"
        ),
        "{said}"
    );
    let played = play_file(&path);
    assert!(whole > 0);
    let kept = played.dispatches.len();
    assert!(kept == whole || kept == whole + 1, "{kept} of {whole}");
    let told = !of_kind(&path, "lost").is_empty();
    assert!(
        played.ending != Ending::Closed || told,
        "it does not say that it is whole"
    );
    // With room again it goes on.
    let output = run_command(&studio(), "ls", Some(&path)).output().unwrap();
    assert!(output.status.success());
    let played = play_file(&path);
    assert_eq!(
        (played.ending, played.dispatches.len()),
        (Ending::Closed, kept + 1)
    );
}

#[test]
fn attack_a_full_disk_where_a_tape_is_required() {
    let project = studio();
    project.file("hookbox.toml", "tape = \"required\"\n");
    let (_folder, path) = place();
    let (output, whole) = fill(&project, &path);
    let said = said(&output, &path);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the decision cannot be recorded, and `tape: required` means that it does not count: [tape] cannot be written: File too large"),
        "{said}"
    );
    assert!(!said.contains("allowed"), "{said}");
    assert!(play_file(&path).dispatches.len() >= whole);
}

const CHILD: &str = "HOOKBOX_TEST_FILLS";

fn limit(bytes: Option<u64>) {
    let hard = getrlimit(Resource::Fsize).maximum;
    let limit = Rlimit {
        current: bytes.or(hard),
        maximum: hard,
    };
    setrlimit(Resource::Fsize, limit).unwrap();
}

/// Not a test: what the next one starts as a process whose files can be limited.
#[test]
#[ignore = "another test runs it as a process of its own"]
fn child_whose_disk_is_full_for_a_while() {
    let path = std::path::PathBuf::from(std::env::var_os(CHILD).unwrap());
    let project = studio();
    // Whatever has to be compiled is compiled before.
    project
        .runtime()
        .dispatch("tool.pre", command("ls"))
        .unwrap();
    for room in [0, 300, 600, 900, 1_200, 1_500, 2_000, 3_000, 4_000, 6_000] {
        let path = path.with_extension(format!("{room}.tape"));
        let recorder = Recorder::create(&path).unwrap();
        limit(Some(room));
        let mut runtime = Runtime::builder(project.path())
            .tape(&recorder)
            .load()
            .unwrap();
        for count in 0..6 {
            let outcome = runtime
                .dispatch("turn.start", json!(format!("full {count}")))
                .unwrap();
            // Once something was not written, whoever comes next is told.
            assert!(room > 0 || count == 0 || !outcome.warnings.is_empty());
            let flushed = recorder.flush();
            assert!(room > 0 || flushed.is_err());
        }
        runtime.reload().unwrap();
        let _ = recorder.flush();
        limit(None);
        // It may still have to tell what was lost before.
        let _ = recorder.flush();
        let outcome = runtime.dispatch("turn.start", json!("room again")).unwrap();
        assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
        recorder.close().unwrap();
    }
}

/// The header or a session can be what does not fit. It is written when there is room.
#[test]
fn attack_a_disk_that_is_full_for_a_while() {
    let (folder, path) = place();
    let child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "full::child_whose_disk_is_full_for_a_while",
            "--ignored",
        ])
        .env(CHILD, &path)
        .output()
        .unwrap();
    let text = [&child.stdout[..], &child.stderr[..]].concat();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&text));
    let mut tapes = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        tapes += 1;
        let played = play(&std::fs::read(&path).unwrap());
        let played = played.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(played.ending, Ending::Closed, "{}", path.display());
        let last = played.dispatches.last().unwrap();
        assert_eq!(&*last.start().payload, "\"room again\"");
        assert_eq!(last.start().session, 1);
        let mut replay = Replay::open(&path).unwrap();
        let mut lost = Vec::new();
        while let Some(one) = replay.step().unwrap() {
            if let Replayed::Lost(one) = one {
                lost.push(one);
            }
        }
        let missing = 7 - played.dispatches.len();
        assert_eq!(
            missing > 0,
            !lost.is_empty(),
            "{}: {lost:?}",
            path.display()
        );
        assert!(
            lost.iter().all(|one| one.error.contains("File too large")),
            "{lost:?}"
        );
    }
    assert_eq!(tapes, 10);
}
