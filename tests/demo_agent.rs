//! The demonstration agent, held to what the dialects say about the loop around the hooks.

#[path = "../examples/demo-agent/src/agent/mod.rs"]
mod agent;
mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agent::script::Script;
use agent::transcript::{Transcript, Who};
use agent::{MOST_CONTINUES, MOST_RETRIES};
use hookbox::Runtime;
use hookbox::dialect::{self, Dialect};
use hookbox::runtime::RuntimeBuilder;
use hookbox::tape::{Checker, Recorder, Replay, Seen, Verdict};
use hookbox::verify::MAX_VERIFY_RETRIES;
use serde_json::json;
use support::{Project, hook_file, hookbox};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/demo-agent")
        .join(name)
}

fn builder(project: &Path, dialect: &'static Dialect) -> RuntimeBuilder {
    Runtime::builder(project).dialect(dialect)
}

fn play(builder: RuntimeBuilder, dialect: &'static Dialect, script: &Script) -> Transcript {
    let runtime = builder.load().unwrap_or_else(|error| panic!("{error}"));
    agent::run(&runtime, dialect, script).unwrap()
}

/// Plays the session of the example.
fn session(dialect: &'static Dialect) -> Transcript {
    let script = Script::default_session().unwrap();
    play(builder(&example(dialect.name), dialect), dialect, &script)
}

/// Plays a few steps in a project of the test's own.
fn steps(project: &Project, dialect: &str, steps: serde_json::Value) -> Transcript {
    let dialect = dialect::named(dialect).unwrap();
    let script = Script::parse(&json!({"session": steps}).to_string()).unwrap();
    let builder = builder(project.path(), dialect).allow_process(true);
    play(builder, dialect, &script)
}

fn times(transcript: &Transcript, event: &str) -> usize {
    transcript
        .fired
        .iter()
        .filter(|name| *name == event)
        .count()
}

fn says(transcript: &Transcript, who: Who, part: &str) -> bool {
    let mut lines = transcript.lines.iter();
    lines.any(|(by, text)| *by == who && text.contains(part))
}

/// A prompt that the model answers at once.
fn hello() -> serde_json::Value {
    json!([{"user": {"prompt": "Hello.", "model": [{"say": "Hello."}]}}])
}

#[test]
fn every_session_is_what_its_dialect_says() {
    for dialect in dialect::ALL {
        let transcript = session(dialect).to_string();
        assert!(!transcript.contains(env!("CARGO_MANIFEST_DIR")));
        insta::assert_snapshot!(dialect.name, transcript);
    }
}

#[test]
fn every_event_of_every_dialect_is_fired() {
    for dialect in dialect::ALL {
        let fired = session(dialect).fired;
        let fired: BTreeSet<&str> = fired
            .iter()
            .map(|name| (dialect.find)(name).unwrap().name)
            .collect();
        let all: BTreeSet<&str> = (dialect.events)().iter().map(|info| info.name).collect();
        assert_eq!(fired, all, "{}", dialect.name);
    }
}

#[test]
fn the_projects_are_valid() {
    for folder in ["", "harness", "polytoken", "harn", "framework"] {
        let project = example(folder);
        let output = hookbox(&[
            "validate",
            "--strict",
            "--project",
            project.to_str().unwrap(),
        ]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{folder}: {text}");
    }
}

#[test]
fn a_hook_that_never_lets_the_agent_stop_is_not_obeyed_for_ever() {
    let harness = Project::with(&[(
        "never",
        &hook_file(
            "agent.stop",
            "priority: 10",
            "def handle(event, payload):\n    return block(\"go on\")",
        ),
    )]);
    let polytoken = Project::new();
    let never =
        json!([{"name": "never", "event": "stop", "handler": {"bash": "echo go on; exit 2"}}]);
    polytoken.file(".polytoken/hooks.json", never.to_string());
    // A hook that cannot decide keeps the turn from being handed back as well.
    let broken = Project::new();
    let never = json!([{"name": "never", "event": "stop", "handler": {"bash": "exit 7"}}]);
    broken.file(".polytoken/hooks.json", never.to_string());
    for (project, dialect, event) in [
        (harness, "harness", "agent.stop"),
        (polytoken, "polytoken", "stop"),
        (broken, "polytoken", "stop"),
    ] {
        let transcript = steps(&project, dialect, hello());
        let asked = MOST_CONTINUES as usize + 1;
        assert_eq!(times(&transcript, event), asked, "{transcript}");
        let end = "was kept going 5 times, and hands the turn back all the same";
        assert!(says(&transcript, Who::Agent, end), "{transcript}");
    }
}

#[test]
fn a_hook_that_always_retries_ends_the_turn() {
    let project = Project::new();
    let answer = r#"echo '{"outcome":"retry","reason":"again"}'"#;
    let hooks = json!([{"name": "again", "event": "pre_model_turn", "handler": {"bash": answer}}]);
    project.file(".polytoken/hooks.json", hooks.to_string());
    let transcript = steps(&project, "polytoken", hello());
    let asked = MOST_RETRIES as usize + 1;
    assert_eq!(times(&transcript, "pre_model_turn"), asked, "{transcript}");
    assert_eq!(times(&transcript, "post_model_turn"), 0, "{transcript}");
    assert!(!transcript.lines.iter().any(|(who, _)| *who == Who::Model));
}

#[test]
fn pt_063_the_model_sees_all_that_a_refusing_script_printed() {
    let project = Project::new();
    let script = "echo 'not that one'; echo 'it is locked' >&2; exit 2";
    let hooks = json!([{"name": "guard", "event": "pre_tool_use", "handler": {"bash": script}}]);
    project.file(".polytoken/hooks.json", hooks.to_string());
    let script = json!([{"user": {"prompt": "Run.", "model": [
        {"say": "I run it.", "calls": [{"tool": {"name": "ls"}}]},
        {"say": "Done."}
    ]}}]);
    let transcript = steps(&project, "polytoken", script);
    let told = "[tool] ls was blocked: not that one⏎it is locked";
    assert!(says(&transcript, Who::Told, told), "{transcript}");
}

#[test]
fn a_hook_that_cannot_decide_keeps_the_model_from_being_called() {
    let project = Project::new();
    let hooks =
        json!([{"name": "broken", "event": "pre_model_turn", "handler": {"bash": "exit 7"}}]);
    project.file(".polytoken/hooks.json", hooks.to_string());
    let transcript = steps(&project, "polytoken", hello());
    assert_eq!(times(&transcript, "pre_model_turn"), 1, "{transcript}");
    assert!(!transcript.lines.iter().any(|(who, _)| *who == Who::Model));
}

#[test]
fn hn_029_edits_are_told_when_the_turn_is_over() {
    let edit = |path: &str| json!({"tool": {"name": "write_file", "args": {"path": path}, "edits": [path]}});
    let script = json!([{"user": {"prompt": "Write.", "model": [
        {"say": "Two files.", "calls": [edit("a.rs"), edit("b.rs")]},
        {"say": "One more.", "calls": [edit("c.rs")]},
        {"say": "Done."}
    ]}}]);
    let project = Project::new();
    project.file(
        "harn.toml",
        "[[hooks]]\nevent = \"FileEdited\"\nhandler = \"policy::note\"\n",
    );
    project.file(
        "policy.star",
        "def note(event):\n    log.info(event[\"session\"][\"id\"] + \": \" + event[\"path\"])\n    return None\n",
    );
    let transcript = steps(&project, "harn", script);
    assert_eq!(
        transcript.fired,
        [
            "session_start",
            "user_prompt_submit",
            "PreToolUse",
            "PostToolUse",
            "PreToolUse",
            "PostToolUse",
            "file_edited",
            "file_edited",
            "post_turn",
            "PreToolUse",
            "PostToolUse",
            "file_edited",
            "post_turn",
            "post_turn",
            "session_end",
        ]
    );
    let logs = transcript.lines.iter().filter(|(who, _)| *who == Who::Log);
    let logs: Vec<&str> = logs.map(|(_, text)| text.as_str()).collect();
    let note = |path| format!("policy::note: demo: {path}");
    assert_eq!(logs, ["a.rs", "b.rs", "c.rs"].map(note));
}

#[test]
fn ah_044_work_is_sent_back_until_it_is_verified_or_was_sent_back_too_often() {
    let delegate = json!([{"user": {"prompt": "Look.", "model": [
        {"say": "Somebody looks.", "calls": [
            {"delegate": {"agent": "scout", "prompt": "Look.", "verify": true, "results": ["1", "2", "3"]}}
        ]},
        {"say": "Done."}
    ]}}]);
    let accepting = |body: &str| {
        let script = format!("def handle(event, payload):\n    {body}");
        let file = hook_file("delegation.post_verify", "priority: 10", &script);
        Project::with(&[("verify", &file)])
    };
    let second = accepting("return allow() if payload[\"attempt\"] == 2 else block(\"not yet\")");
    let transcript = steps(&second, "harness", delegate.clone());
    assert_eq!(times(&transcript, "delegation.post_verify"), 2);
    assert_eq!(times(&transcript, "delegation.post"), 2);
    assert!(says(&transcript, Who::Told, "[tool] 2"), "{transcript}");

    let never = accepting("return block(\"never\")");
    let transcript = steps(&never, "harness", delegate);
    let attempts = MAX_VERIFY_RETRIES as usize + 1;
    assert_eq!(times(&transcript, "delegation.post_verify"), attempts);
    let told = "the work of scout was not accepted: never (after 3 attempts)";
    assert!(says(&transcript, Who::Told, told), "{transcript}");
}

#[test]
fn hn_033_what_is_unsettled_is_told_only_if_there_is_something() {
    let finish = |unsettled: &[&str]| {
        let finish = json!([{"finish": {"value": "done", "unsettled": unsettled}}]);
        steps(&Project::new(), "harn", finish).fired
    };
    let ends = ["session_start", "pre_finish", "post_finish", "session_end"];
    assert_eq!(finish(&[]), ends);
    let fired = finish(&["a build"]);
    assert_eq!(
        fired[1..4],
        ["pre_finish", "on_unsettled_detected", "post_finish"]
    );
}

#[test]
fn hn_030_the_error_comes_before_the_end() {
    for (dialect, end) in [
        ("harn", ["session_error", "session_end"]),
        ("harness", ["error", "session.end"]),
    ] {
        let fired = steps(&Project::new(), dialect, json!([{"fail": "gone"}])).fired;
        assert_eq!(fired[1..], end);
    }
}

#[test]
fn what_was_not_decided_does_not_happen() {
    let project = Project::new();
    project.file(
        "harn.toml",
        "[[hooks]]\nevent = \"PreToolUse\"\nhandler = \"policy::broken\"\n",
    );
    project.file("policy.star", "def broken(event):\n    return 42\n");
    let script = json!([{"user": {"prompt": "Run.", "model": [
        {"say": "I run it.", "calls": [{"tool": {"name": "ls"}}]},
        {"say": "Done."}
    ]}}]);
    let transcript = steps(&project, "harn", script);
    assert!(says(&transcript, Who::Event, "PreToolUse ls → not decided"));
    assert!(says(&transcript, Who::Agent, "ls does not run"));
    assert_eq!(times(&transcript, "PostToolUse"), 0, "{transcript}");
}

#[test]
fn a_tape_of_the_session_replays_and_holds_against_the_same_hooks() {
    for name in ["harness", "harn"] {
        let dialect = dialect::named(name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("run.tape");
        let recorder = Recorder::create(&tape).unwrap();
        let script = Script::default_session().unwrap();
        let taped = builder(&example(name), dialect).tape(&recorder);
        let transcript = play(taped, dialect, &script);
        recorder.close().unwrap();

        let played = support::tape::play_file(&tape);
        assert_eq!(played.dispatches.len(), transcript.fired.len());

        let checker = Checker::load(Runtime::builder(example(name))).unwrap();
        let mut checked = 0;
        let mut replay = Replay::open(&tape).unwrap();
        checker
            .check_all(&mut replay, |seen| match seen {
                Seen::Checked(_, result) => {
                    checked += 1;
                    assert_eq!(result.verdict, Verdict::Kept);
                    assert!(result.difference.is_none(), "{:?}", result.difference);
                }
                Seen::Other(other) => panic!("{other:?}"),
            })
            .unwrap();
        assert_eq!(checked, transcript.fired.len(), "{name}");
    }
}
