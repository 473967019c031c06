//! Questions, and who answers them.

use std::sync::{Arc, Mutex};

use crate::builder;
use crate::support::programs::{Place, Says};
use crate::support::{Project, session};
use hookbox::Ruling;
use hookbox::dialect::framework;
use serde_json::json;

/// A framework hook that asks, and a Markdown guard behind nothing.
fn asking() -> Project {
    let project = Project::new();
    let path = Says::new(
        r#"{"decision":"ask","message":"force-push to main?"}"#,
        "",
        0,
    )
    .framework(&project, Place::Component, "ask");
    let guard = Says::new("", "never on Fridays", 2).framework(&project, Place::Component, "guard");
    project.file(
        "settings.json",
        json!({"hooks": {"PreToolUse": [{"path": path}, {"path": guard, "matcher": {"tool_name": "Friday"}}]}}).to_string(),
    );
    project
}

#[test]
fn c_09_a_question_is_put_to_whoever_can_answer_and_the_answer_is_on_the_tape() {
    let project = asking();
    let call = |tool: &str| json!({"tool_name": tool, "tool_input": {}});
    let asked = Arc::new(Mutex::new(Vec::new()));
    let person = |yes: bool| {
        let asked = Arc::clone(&asked);
        builder(&project, &framework::DIALECT)
            .ask(move |question| {
                asked.lock().unwrap().push(question.message.clone());
                yes
            })
            .load()
            .unwrap()
    };
    let outcome = person(true).dispatch("PreToolUse", call("Bash")).unwrap();
    assert_eq!(outcome.decision, Ruling::Allow);
    // A yes is for the hook that asked; the one behind it still looks.
    let outcome = person(true).dispatch("PreToolUse", call("Friday")).unwrap();
    assert_eq!(outcome.reason.as_deref(), Some("never on Fridays"));
    let outcome = person(false).dispatch("PreToolUse", call("Bash")).unwrap();
    assert_eq!(
        outcome.reason.as_deref(),
        Some("a person said no: force-push to main?")
    );
    assert_eq!(asked.lock().unwrap().len(), 3);
    let nobody = builder(&project, &framework::DIALECT)
        .ask_nobody()
        .load()
        .unwrap();
    let outcome = nobody.dispatch("PreToolUse", call("Bash")).unwrap();
    assert_eq!(
        outcome.reason.as_deref(),
        Some("nobody could be asked: force-push to main?")
    );
    let later = builder(&project, &framework::DIALECT).load().unwrap();
    assert_eq!(
        later.dispatch("PreToolUse", call("Bash")).unwrap().decision,
        Ruling::Ask
    );

    let tape = project.path().join("run.tape");
    let recorder = hookbox::tape::Recorder::create(&tape).unwrap();
    let runtime = builder(&project, &framework::DIALECT)
        .tape(&recorder)
        .ask(|_| true)
        .load()
        .unwrap();
    runtime.dispatch("PreToolUse", call("Bash")).unwrap();
    recorder.close().unwrap();
    let shown = session(project.path(), &["tape", "show", "run.tape", "-v"]);
    assert!(shown.contains("ask"), "{shown}");
    let checked = session(
        project.path(),
        &["replay", "run.tape", "--check", "--project", "."],
    );
    assert!(checked.ends_with("[exit code 0]\n"), "{checked}");
}

#[test]
fn c_09_somebody_at_a_terminal_is_asked() {
    let project = asking();
    let run = format!(
        "{} run PreToolUse --dialect framework --payload '{{\"tool_name\":\"Bash\"}}' --tape run.tape",
        env!("CARGO_BIN_EXE_hookbox")
    );
    // What gives a program a terminal is part of every Debian.
    let answered = |answer: &str| {
        let mut child = std::process::Command::new("script")
            .args(["-qec", &run, "/dev/null"])
            .current_dir(project.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, answer.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        let told = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), told)
    };
    for (answer, code) in [
        ("y\n", 0),
        ("yes\n", 0),
        ("n\n", 2),
        ("\n", 2),
        ("hm\nno\n", 2),
    ] {
        let (found, told) = answered(answer);
        assert_eq!(found, Some(code), "{answer:?}: {told}");
        assert!(told.contains("force-push to main?"), "{told}");
    }
    let checked = session(
        project.path(),
        &["replay", "run.tape", "--check", "--project", "."],
    );
    assert!(checked.ends_with("[exit code 0]\n"), "{checked}");
}
