//! Hooks that are programs: the event on standard input, the answer on standard output
//! and by exit code, in the sandbox. The programs are core modules for WASI's first
//! preview, as most toolchains build them, written by hand so that none is needed.

mod support;

use hookbox::capability::log::Level;
use hookbox::failure::Cause;
use hookbox::{Outcome, Ruling, Runtime};
use serde_json::{Value, json};
use support::programs::{Says, program};
use support::{Project, command, guest};

/// A program that writes a text to each stream and exits with a code.
fn says(stdout: &str, stderr: &str, code: u8) -> Vec<u8> {
    Says::new(stdout, stderr, code).wasm()
}

/// A program that writes its standard input to one of its streams.
fn echo(stream: u32) -> Vec<u8> {
    program(&format!(
        r#"(func (export "_start") (local $n i32)
             (loop $more
               (local.set $n (call $read (i32.const 1024) (i32.const 60000)))
               (call $print (i32.const {stream}) (i32.const 1024) (local.get $n))
               (br_if $more (local.get $n))))"#
    ))
}

fn project(program: &[u8], more: &str) -> Project {
    let project = Project::new();
    project.file(".harness/hooks/probe.wasm", program).hook(
        "probe",
        &format!("---\nevent: tool.pre\npriority: 10\ncomponent: probe.wasm\n{more}\n---\n"),
    );
    project
}

fn run(program: &[u8]) -> Outcome {
    project(program, "").dispatch("tool.pre", command("ls"))
}

fn failure(outcome: &Outcome) -> (Option<Cause>, &str) {
    let row = &outcome.trace[0];
    (row.cause, row.error.as_deref().unwrap_or_default())
}

#[test]
fn a_program_that_says_nothing_allows() {
    let outcome = run(&says("", "", 0));
    assert_eq!(outcome.decision, Ruling::Allow);
    assert_eq!(outcome.trace[0].error, None);
    assert!(outcome.trace[0].fuel.is_some());
    assert_eq!(run(&says(" \n\t", "", 0)).decision, Ruling::Allow);
}

#[test]
fn a_program_reads_the_whole_event_on_standard_input() {
    let large = "x".repeat(200_000);
    let outcome = project(&echo(2), "limits: { log_bytes: 1 MiB }").dispatch(
        "tool.pre",
        json!({"id": "call-1", "name": "write_file", "args": {"content": large}}),
    );
    let printed: String = outcome
        .logs
        .iter()
        .map(|line| line.message.as_str())
        .collect();
    let read: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(read["event"], "tool.pre");
    assert_eq!(read["id"], "call-1");
    assert_eq!(read["subject"], "write_file");
    assert_eq!(read["hook"], "probe");
    assert_eq!(read["depth"], 0);
    assert_eq!(read["payload"]["args"]["content"], large);
    assert_eq!(outcome.decision, Ruling::Allow);
}

#[test]
fn every_decision_can_be_written_to_standard_output() {
    let block = run(&says(r#"{"decision": "block", "reason": "nein"}"#, "", 0));
    assert_eq!(block.decision, Ruling::Block);
    assert_eq!(block.reason.as_deref(), Some("nein"));
    let ask = run(&says(r#"{"decision": "ask", "message": "sure?"}"#, "", 0));
    assert_eq!(ask.decision, Ruling::Ask);
    assert_eq!(ask.reason.as_deref(), Some("sure?"));
    let modify = run(&says(
        r#"{"decision": "modify", "payload": {"args": {"command": "pwd"}}}"#,
        "",
        0,
    ));
    assert_eq!(modify.decision, Ruling::Modify);
    assert_eq!(modify.payload.value()["args"]["command"], "pwd");
    let allow = run(&says(
        r#"{"decision": "allow", "effects": [{"kind": "context", "text": "hi"}, {"kind": "reminder", "body": "b", "ttl_turns": 2}]}"#,
        "",
        0,
    ));
    assert_eq!(allow.decision, Ruling::Allow);
    let effects = serde_json::to_value(&allow.effects).unwrap();
    assert_eq!(effects[0]["placement"], "system_reminder");
    assert_eq!(effects[1]["ttl_turns"], 2);
    assert_eq!(effects[1]["propagate"], "session");
}

#[test]
fn exit_code_2_blocks_and_standard_error_is_the_reason() {
    let outcome = run(&says("", "not on my watch\nreally\n", 2));
    assert_eq!(outcome.decision, Ruling::Block);
    assert_eq!(outcome.reason.as_deref(), Some("not on my watch\nreally"));
    assert_eq!(outcome.trace[0].error, None);
    let outcome = run(&says("from standard output", "", 2));
    assert_eq!(outcome.reason.as_deref(), Some("from standard output"));
    let outcome = run(&says("", "", 2));
    assert_eq!(
        outcome.reason.as_deref(),
        Some("the program refused without a reason")
    );
}

#[test]
fn every_other_exit_code_is_a_failure_that_closes_the_gate() {
    for code in [1, 3, 64, 101, 127, 134, 137, 255] {
        // What it wrote before it failed is not an answer.
        let outcome = run(&says(r#"{"decision": "allow"}"#, "broke", code));
        assert_eq!(outcome.decision, Ruling::Block, "{code}");
        assert_eq!(
            failure(&outcome),
            (
                Some(Cause::HookError),
                &*format!("hook error: the program exited with code {code}: broke")
            )
        );
    }
}

#[test]
fn an_answer_that_is_none_closes_the_gate() {
    let answers = [
        ("hello", "is not one JSON object"),
        ("{} {}", "is not one JSON object"),
        ("[]", "is not one JSON object"),
        ("42", "is not one JSON object"),
        ("{}", "missing field `decision`"),
        (r#"{"decision": "maybe"}"#, "unknown variant `maybe`"),
        (
            r#"{"decision": "allow", "extra": 1}"#,
            "unknown field `extra`",
        ),
        (r#"{"decision": "block"}"#, "has no \"reason\""),
        (r#"{"decision": "ask"}"#, "has no \"message\""),
        (r#"{"decision": "modify"}"#, "has no \"payload\""),
        (r#"{"decision": "allow", "decision": "block"}"#, "duplicate"),
    ];
    for (answer, expected) in answers {
        let outcome = run(&says(answer, "", 0));
        assert_eq!(outcome.decision, Ruling::Block, "{answer}");
        let (cause, error) = failure(&outcome);
        assert_eq!(cause, Some(Cause::BadAnswer), "{answer}: {error}");
        assert!(error.contains(expected), "{answer}: {error}");
    }
    let outcome = run(&program(
        r#"(data (i32.const 1024) "\ff\fe")
           (func (export "_start") (call $print (i32.const 1) (i32.const 1024) (i32.const 2)))"#,
    ));
    assert!(
        failure(&outcome).1.contains("not UTF-8"),
        "{:?}",
        outcome.trace
    );
}

#[test]
fn an_answer_over_the_limit_closes_the_gate() {
    let big = format!(
        r#"{{"decision": "block", "reason": "{}"}}"#,
        "x".repeat(2_000)
    );
    let outcome = project(&says(&big, "", 0), "limits: { decision: 1 KiB }")
        .dispatch("tool.pre", command("ls"));
    let (cause, error) = failure(&outcome);
    assert_eq!(cause, Some(Cause::BadAnswer));
    assert!(error.contains("more than the 1024 bytes"), "{error}");
}

#[test]
fn a_program_that_hangs_or_traps_closes_the_gate() {
    let hangs = program(r#"(func (export "_start") (loop $l (br $l)))"#);
    assert_eq!(failure(&run(&hangs)).0, Some(Cause::OutOfFuel));
    let traps = program(r#"(func (export "_start") unreachable)"#);
    assert_eq!(failure(&run(&traps)).0, Some(Cause::Trap));
    // A program that floods its log loses lines, not the decision.
    let floods = program(
        r#"(func (export "_start") (local $n i32)
             (loop $l
               (call $print (i32.const 2) (i32.const 1024) (i32.const 1000))
               (local.set $n (i32.add (local.get $n) (i32.const 1)))
               (br_if $l (i32.lt_u (local.get $n) (i32.const 500))))
             (call $exit (i32.const 0)))"#,
    );
    assert_eq!(run(&floods).decision, Ruling::Allow);
}

#[test]
fn the_environment_is_what_the_dialect_defines_and_what_is_granted() {
    let prints = program(
        r#"(func (export "_start")
             (drop (call $environ_sizes (i32.const 16) (i32.const 20)))
             (drop (call $environ (i32.const 2048) (i32.const 4096)))
             (call $print (i32.const 2) (i32.const 4096) (i32.load (i32.const 20))))"#,
    );
    let seen = |more: &str| -> Vec<String> {
        let project = project(&prints, more);
        let runtime = Runtime::builder(project.path())
            .environment(|name| Some(format!("value of {name}")))
            .load()
            .unwrap();
        let payload = json!({"id": "call-9", "name": "x", "args": {}});
        let outcome = runtime.dispatch("tool.pre", payload).unwrap();
        assert_eq!(outcome.logs[0].level, Level::Warn);
        let text = outcome.logs[0].message.clone();
        let mut names: Vec<String> = text
            .split('\0')
            .filter(|one| !one.is_empty())
            .map(str::to_owned)
            .collect();
        names.sort();
        names
    };
    let own = [
        "HOOKBOX_EVENT=tool.pre",
        "HOOKBOX_EVENT_ID=call-9",
        "HOOKBOX_HOOK=probe",
    ];
    assert_eq!(seen(""), own);
    let granted = seen("grant: { env: [CI] }");
    assert_eq!(granted[0], "CI=value of CI");
    assert_eq!(granted[1..], own);
}

#[test]
fn a_program_for_wasip2_can_only_say_that_it_failed_which_is_taken_for_a_refusal() {
    let program = guest("command");
    let ask = |what: &str| {
        let project = project(&program, "");
        project.dispatch("tool.pre", json!({"name": what, "args": {}}))
    };
    assert_eq!(ask("exit-0").decision, Ruling::Allow);
    for what in ["exit-1", "exit-2", "return-error"] {
        let outcome = ask(what);
        assert_eq!(outcome.decision, Ruling::Block, "{what}");
        let reason = outcome.reason.as_deref().unwrap_or_default();
        assert!(reason.contains("this is why"), "{what}: {reason}");
        assert_eq!(outcome.trace[0].error, None, "{what}");
    }
    let outcome = ask("modify");
    assert_eq!(outcome.payload.value()["args"], json!({"seen": "modify"}));
}

#[test]
fn a_core_module_that_is_no_program_says_what_to_do() {
    let module = wat::parse_str("(module (memory (export \"memory\") 1))").unwrap();
    let problems = project(&module, "").errors();
    assert!(problems[0].contains("exports no `_start`"), "{problems:?}");
    let go = wat::parse_str(
        r#"(module (memory (export "memory") 1) (func (export "_start")) (@custom "go:buildid" "x"))"#,
    )
    .unwrap();
    let problems = project(&go, "").errors();
    assert!(
        problems[0].contains("hookbox new NAME --lang go"),
        "{problems:?}"
    );
    let foreign = wat::parse_str(
        r#"(module (import "env" "f" (func)) (memory (export "memory") 1) (func (export "_start")))"#,
    )
    .unwrap();
    let problems = project(&foreign, "").errors();
    assert!(
        problems[0].contains("cannot be made a program"),
        "{problems:?}"
    );
}

#[test]
fn a_program_costs_the_same_fuel_every_time() {
    let project = project(&echo(2), "");
    let fuel = || project.dispatch("tool.pre", command("ls")).trace[0].fuel;
    let first = fuel();
    assert!(first.is_some());
    assert_eq!(first, fuel());
}

#[test]
fn explain_and_the_hooks_import_call_it_a_command() {
    let project = project(&says("", "", 0), "");
    assert_eq!(project.runtime().hooks()[0].handler.kind(), "command");
}
