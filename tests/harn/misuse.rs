//! Hooks that fail: the whole event is an error, nothing goes on, and no later hook is
//! called.

use std::time::{Duration, Instant};

use hookbox::Ruling::{Allow, Block};
use hookbox::dialect::harn::{Handler, Hooks};
use hookbox::failure::Cause;
use serde_json::{Value, json};

use super::support::programs::{Says, endless, trap};
use super::support::{Project, answer, component, module, session};
use super::{Diary, call, entry, hooks, policy, raised, registered, returns, runtime};

/// A hook that fails, from `harn.toml`, with another one after it.
fn failing(event: &str, code: Code<'_>) -> Project {
    let project = Project::new();
    let manifest = entry(event, "*", "policy::f") + &entry(event, "*", "later::f");
    project.file("harn.toml", manifest).file(
        "later.star",
        "def f(event):\n    log(\"later\")\n    return None\n",
    );
    match code {
        Code::Starlark(body) => project.file("policy.star", format!("def f(event):\n    {body}\n")),
        Code::Wasm(bytes) => project.file("policy.wasm", bytes),
    };
    project
}

enum Code<'a> {
    Starlark(&'a str),
    Wasm(Vec<u8>),
}

#[test]
fn a_handler_that_fails_fails_the_event_whatever_it_is() {
    let trapping = component(&module("", "", "unreachable"));
    let cases = [
        (
            Code::Starlark("none = len(event) - len(event)\n    return 1 // none"),
            Cause::HookError,
            "policy.star:3:12: ",
        ),
        (
            Code::Starlark("fail(\"no idea\")"),
            Cause::HookError,
            "no idea",
        ),
        (
            Code::Starlark("return event[\"absent\"]"),
            Cause::HookError,
            "absent",
        ),
        (Code::Starlark("return len"), Cause::HookError, "JSON"),
        (
            Code::Starlark("return float(\"nan\")"),
            Cause::HookError,
            "JSON",
        ),
        // The words of another dialect are none of Harn's.
        (
            Code::Starlark("return block(\"no\")"),
            Cause::HookError,
            "JSON",
        ),
        (Code::Starlark("return allow()"), Cause::HookError, "JSON"),
        (Code::Wasm(trapping), Cause::Trap, "unreachable"),
        (Code::Wasm(trap()), Cause::Trap, "unreachable"),
        (
            Code::Wasm(Says::new("", "out of disk", 1).wasm()),
            Cause::HookError,
            "the handler exited with code 1: out of disk",
        ),
        (
            Code::Wasm(Says::new("{not json", "", 0).wasm()),
            Cause::BadAnswer,
            "the handler's answer is not one JSON value",
        ),
        (
            Code::Wasm(Says::new("null null", "", 0).wasm()),
            Cause::BadAnswer,
            "the handler's answer is not one JSON value",
        ),
        (
            Code::Wasm(component(&answer(2, "{not json"))),
            Cause::BadAnswer,
            "the new payload is not one hookbox takes",
        ),
        // A component that asks has no word for it here.
        (
            Code::Wasm(component(&answer(3, "really?"))),
            Cause::BadAnswer,
            "must return nil, bool, or a control dict; got a dict with the keys ask",
        ),
        // The whole payload is no answer either.
        (
            Code::Wasm(component(&answer(2, r#"{"name": "exec", "args": {}}"#))),
            Cause::BadAnswer,
            "got a dict with the keys name, args",
        ),
    ];
    for (code, cause, part) in cases {
        let project = failing("PreToolUse", code);
        let outcome = raised(
            runtime(&project, &Hooks::new()).dispatch("PreToolUse", call("exec", json!({}))),
        );
        let reason = outcome.reason.clone().unwrap();
        assert!(
            reason.starts_with("hook \"policy::f\" failed: ") && reason.contains(part),
            "{part}: {reason}"
        );
        assert_eq!(outcome.decision, Block, "{part}");
        assert_eq!(outcome.trace[0].cause, Some(cause), "{part}: {reason}");
        assert_eq!(outcome.stages.dispatch.len(), 1, "{part}");
        assert!(
            outcome.logs.iter().all(|line| line.message != "later"),
            "{part}"
        );
    }
}

#[test]
fn a_closure_that_fails_or_panics_fails_the_event() {
    let fails = Handler::fallible(|_| Err("the disk is full".to_owned()));
    let panics = Handler::from(|_: &Value| -> Value { panic!("oh no") });
    for (handler, cause, part) in [
        (fails, Cause::HookError, "the disk is full"),
        (panics, Cause::Trap, "the closure panicked: oh no"),
    ] {
        let diary = Diary::default();
        let all = hooks(|hooks| {
            hooks
                .register_session_hook("session_start", handler)
                .and_then(|hooks| {
                    hooks.register_session_hook("session_start", diary.keeper(Value::Null))
                })
                .unwrap();
        });
        let outcome = raised(registered(&all).dispatch("session_start", json!({})));
        assert_eq!(outcome.trace[0].cause, Some(cause));
        let reason = outcome.reason.unwrap();
        assert!(reason.contains(part), "{reason}");
        assert!(diary.read().is_empty());
    }
}

#[test]
fn a_program_that_exits_with_2_refuses() {
    for (says, reason) in [
        (Says::new("", "not today", 2), "not today"),
        (Says::new("not today", "", 2), "not today"),
        (Says::new("", "", 2), "PreToolUse hook returned false"),
    ] {
        let project = failing("PreToolUse", Code::Wasm(says.wasm()));
        let outcome = runtime(&project, &Hooks::new())
            .dispatch("PreToolUse", call("exec", json!({})))
            .unwrap();
        assert_eq!(outcome.decision, Block);
        assert_eq!(outcome.reason.as_deref(), Some(reason));
    }
    // Silence is nil.
    let project = failing("PreToolUse", Code::Wasm(Says::new(" \n", "", 0).wasm()));
    let outcome = runtime(&project, &Hooks::new())
        .dispatch("PreToolUse", call("exec", json!({})))
        .unwrap();
    assert_eq!(outcome.decision, Allow);
    assert_eq!(outcome.stages.dispatch.len(), 2);
}

#[test]
fn hn_042_slow_work_in_a_hook_is_an_error_of_the_event() {
    let slow = "for i in range(1000000000):\n        x = i % 7\n    return None";
    for (limits, cause) in [
        ("fuel = \"20M\"\nwall_time = \"60 s\"", Cause::OutOfFuel),
        ("wall_time = \"100 ms\"", Cause::Deadline),
    ] {
        for code in [Code::Starlark(slow), Code::Wasm(endless())] {
            let project = failing("PostTurn", code);
            let fuel = if cause == Cause::Deadline {
                "\nfuel = \"20G\""
            } else {
                ""
            };
            project.file("hookbox.toml", format!("[limits]\n{limits}{fuel}\n"));
            let runtime = runtime(&project, &Hooks::new());
            let started = Instant::now();
            let outcome = raised(runtime.dispatch("post_turn", json!({})));
            assert!(started.elapsed() < Duration::from_secs(30));
            assert_eq!(outcome.trace[0].cause, Some(cause), "{:?}", outcome.reason);
            assert_eq!(outcome.stages.dispatch.len(), 1);
        }
    }
}

#[test]
fn a_name_that_is_not_there_is_a_warning_and_then_an_error() {
    let project = failing("PreToolUse", Code::Starlark("return blocked(\"no\")"));
    let problems = project.problems();
    assert!(
        problems.iter().any(|problem| problem.contains("blocked")),
        "{problems:?}"
    );
    let runtime = runtime(&project, &Hooks::new());
    raised(runtime.dispatch("PreToolUse", call("exec", json!({}))));
}

#[test]
fn an_owner_can_choose_to_close_or_to_open_instead() {
    for (on_error, decision) in [("block", Block), ("allow", Allow)] {
        let project = failing("PreToolUse", Code::Starlark("return 42"));
        let own = format!(
            "[[hooks]]\nevent = \"PreToolUse\"\nhandler = \"policy::f\"\non_error = \"{on_error}\"\n"
        );
        project.file("harn.toml", own);
        let outcome = runtime(&project, &Hooks::new())
            .dispatch("PreToolUse", call("exec", json!({})))
            .unwrap();
        assert_eq!(outcome.decision, decision);
        assert!(outcome.trace[0].error.is_some());
    }
}

#[test]
fn hn_041_on_the_command_line_a_failure_is_exit_code_1() {
    let project = failing("UserPromptSubmit", Code::Starlark("return 42"));
    let run = |more: &[&str]| {
        let arguments = [
            "run",
            "user_prompt_submit",
            "--payload",
            r#"{"prompt":"x"}"#,
        ];
        session(project.path(), &[&arguments[..], more].concat())
    };
    for more in [&[][..], &["--native"], &["--json"]] {
        let told = run(more);
        assert!(told.ends_with("[exit code 1]\n"), "{told}");
        assert!(
            told.contains("UserPromptSubmit hook must return nil, bool, or a control dict"),
            "{told}"
        );
    }
    let told: Value = serde_json::from_str(
        run(&["--json"])
            .rsplit_once("[exit code")
            .map(|(json, _)| json)
            .unwrap(),
    )
    .unwrap();
    assert_eq!(told["outcome"]["raised"], true);
    assert_eq!(told["outcome"]["trace"][0]["cause"], "bad-answer");
}

#[test]
fn on_the_command_line_the_native_answer_is_one_line_of_json() {
    let project = policy(
        &entry("UserPromptSubmit", "*", "policy::f"),
        "def f(event):\n    return \"secret\" not in event[\"prompt\"]\n",
    );
    let run = |prompt: &str| {
        let payload = json!({"prompt": prompt}).to_string();
        session(
            project.path(),
            &["run", "UserPromptSubmit", "--native", "--payload", &payload],
        )
    };
    assert_eq!(run("hello"), "null\n[exit code 0]\n");
    assert_eq!(
        run("a secret"),
        "{\"status\":\"blocked\",\"stop_reason\":\"user_prompt_submit_blocked\",\"reason\":\"UserPromptSubmit hook returned false\"}\n[exit code 2]\n"
    );
}

#[test]
fn payloads_that_hooks_could_not_read_are_refused() {
    let all = hooks(|hooks| {
        hooks
            .register_session_hook("user_prompt_submit", returns(Value::Null))
            .unwrap();
    });
    let runtime = registered(&all);
    for (event, payload) in [
        ("PreToolUse", json!({})),
        ("PreToolUse", json!({"tool": "exec"})),
        ("PreToolUse", json!({"tool": {"args": {}}})),
        (
            "PreToolUse",
            json!({"tool": {"name": "exec", "args": "ls"}}),
        ),
        ("PostToolUse", json!({"result": "x"})),
        ("user_prompt_submit", json!({"prompt": 3})),
        ("user_prompt_submit", json!("hello")),
        ("post_turn", json!([1])),
    ] {
        let wrong = runtime.dispatch(event, payload.clone()).unwrap_err();
        assert!(
            matches!(wrong, hookbox::runtime::DispatchError::Payload(_)),
            "{event} {payload}: {wrong}"
        );
    }
    let unknown = runtime.dispatch("OnBudgetThreshold(200)", json!({}));
    assert!(unknown.is_err());
}
