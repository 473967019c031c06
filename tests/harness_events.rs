//! The events of AI Harness: what each carries, and what an answer to it does.

mod support;

use std::cell::RefCell;

use hookbox::Ruling::{Allow, Block, Modify};
use hookbox::capability::metrics::Number;
use hookbox::verify::{MAX_VERIFY_RETRIES, VerifyError, until_verified};
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::{Project, command, hook_file, hookbox};

/// A project with one hook on an event, whose `handle` has this body.
fn on(event: &str, body: &str) -> Project {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let script = format!("def handle(event, payload):\n{body}");
    Project::with(&[("probe", &hook_file(event, "priority: 10", &script))])
}

/// What a hook on the event says its payload is.
fn seen(event: &str, payload: Value) -> String {
    let outcome = on(event, "log(repr(payload))\nreturn allow()").dispatch(event, payload);
    assert_eq!(outcome.decision, Allow, "{:?}", outcome.reason);
    outcome.logs[0].message.clone()
}

fn messages(outcome: &Outcome) -> Vec<&str> {
    outcome
        .logs
        .iter()
        .map(|line| line.message.as_str())
        .collect()
}

#[test]
fn ah_031_the_core_four_can_be_dispatched_from_the_command_line() {
    for (event, payload, kind) in [
        ("turn.start", r#""fix the tests""#, "string"),
        (
            "tool.pre",
            r#"{"name":"run_command","args":{"command":"ls"}}"#,
            "dict",
        ),
        (
            "tool.post",
            r#"{"name":"run_command","result":{"stdout":""}}"#,
            "dict",
        ),
        (
            "turn.end",
            r#"{"text":"done","tool_calls":[],"usage":{}}"#,
            "dict",
        ),
    ] {
        let project = on(event, "return block(event + ' ' + type(payload))");
        let path = project.path().to_str().unwrap();
        let output = hookbox(&["run", event, "--project", path, "--payload", payload]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            text,
            format!("✗ blocked {event} by probe: {event} {kind}\n")
        );
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn ah_032_session_start_carries_none() {
    assert_eq!(seen("session.start", Value::Null), "None");
    let project = on(
        "session.start",
        "return allow() if payload == None else block('something')",
    );
    let path = project.path().to_str().unwrap();
    let output = hookbox(&["run", "session.start", "--project", path]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn ah_033_session_end_fires_once_whether_the_session_ends_well_or_not() {
    let project = on(
        "session.end",
        "metrics.incr('ended')\nreturn allow() if payload == None else block('something')",
    );
    project.hook(
        "failed",
        &hook_file(
            "error",
            "priority: 1",
            "def handle(event, payload):\n  metrics.incr('failed')\n  return allow()",
        ),
    );
    let clean = project.runtime();
    assert_eq!(
        clean.dispatch("session.end", Value::Null).unwrap().decision,
        Allow
    );
    assert_eq!(clean.metrics().get("ended"), Some(Number::Integer(1)));
    assert_eq!(clean.metrics().get("failed"), None);
    let broken = project.runtime();
    broken
        .dispatch("error", json!({"message": "out of tokens"}))
        .unwrap();
    assert_eq!(
        broken
            .dispatch("session.end", Value::Null)
            .unwrap()
            .decision,
        Allow
    );
    assert_eq!(broken.metrics().get("ended"), Some(Number::Integer(1)));
    assert_eq!(broken.metrics().get("failed"), Some(Number::Integer(1)));
}

#[test]
fn ah_034_turn_start_carries_the_message_as_a_string() {
    let project = on(
        "turn.start",
        "if type(payload) != 'string': fail('not a string')\nif payload == '': return block('say something')\nreturn modify('[t-1] ' + payload)",
    );
    let runtime = project.runtime();
    let outcome = runtime.dispatch("turn.start", json!("fix é 🦀")).unwrap();
    assert_eq!(
        (outcome.decision, outcome.payload.value()),
        (Modify, &json!("[t-1] fix é 🦀"))
    );
    let outcome = runtime.dispatch("turn.start", json!("")).unwrap();
    assert_eq!(
        (outcome.decision, outcome.reason.as_deref()),
        (Block, Some("say something"))
    );
    for wrong in [json!({"text": "x"}), Value::Null, json!(1)] {
        let error = runtime
            .dispatch("turn.start", wrong)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "the payload of turn.start must be the user's message as a string, for example \"fix the tests\""
        );
    }
}

#[test]
fn ah_034_a_hook_cannot_turn_the_message_into_something_else() {
    let outcome =
        on("turn.start", "return modify({'text': payload})").dispatch("turn.start", json!("hello"));
    assert_eq!(outcome.decision, Block);
    assert_eq!(outcome.payload.value(), "hello");
    assert!(outcome.reason.unwrap().starts_with(
        "hook \"probe\" failed: bad answer: after modify, the payload of turn.start must be"
    ));
}

#[test]
fn ah_035_turn_end_carries_text_calls_and_usage() {
    let turn = json!({
        "text": "done",
        "tool_calls": [{"name": "read", "args": {"path": "a"}}, {"name": "write", "args": {}}],
        "usage": {"input_tokens": 1234, "output_tokens": 567},
    });
    let body = "names = [call['name'] + str(call['args']) for call in payload['tool_calls']]\nlog(payload['text'] + ' ' + ','.join(names))\nlog(str(payload['usage']['input_tokens'] + payload['usage']['output_tokens']))\nreturn modify({'text': payload['text'].upper()})";
    let outcome = on("turn.end", body).dispatch("turn.end", turn.clone());
    assert_eq!(
        messages(&outcome),
        ["done read{\"path\": \"a\"},write{}", "1801"]
    );
    assert_eq!(outcome.decision, Modify);
    assert_eq!(outcome.payload.value()["text"], "DONE");
    assert_eq!(outcome.payload.value()["usage"], turn["usage"]);
    let outcome = on("turn.end", "return block('again')").dispatch("turn.end", turn);
    assert_eq!(
        (outcome.decision, outcome.reason.as_deref()),
        (Block, Some("again"))
    );
}

#[test]
fn ah_036_ah_037_tool_pre_carries_the_raw_and_the_decoded_arguments() {
    let raw = "{\"command\": \"ls\",  \"depth\": 2, \"exact\": 1.0}";
    let payload = json!({"id": "call_7", "name": "run_command", "arguments": raw});
    let body = "log(','.join(payload.keys()))\nlog(type(payload['arguments']) + ' ' + type(payload['args']))\nlog(payload['arguments'])\nlog(str(json.decode(payload['arguments']) == payload['args']))\nlog(repr(payload['args']))\nreturn allow()";
    let outcome = on("tool.pre", body).dispatch("tool.pre", payload);
    assert_eq!(
        messages(&outcome),
        [
            "id,name,arguments,args",
            "string dict",
            raw,
            "True",
            "{\"command\": \"ls\", \"depth\": 2, \"exact\": 1.0}",
        ]
    );
    assert_eq!(outcome.id, "call_7");
    assert_eq!(outcome.payload.value()["arguments"], raw);
}

#[test]
fn ah_037_args_are_there_even_when_the_tool_takes_none() {
    for given in [
        json!({"name": "t"}),
        json!({"name": "t", "arguments": ""}),
        json!({"name": "t", "args": {}}),
    ] {
        let outcome = on("tool.pre", "log(repr(payload['args']))\nreturn allow()")
            .dispatch("tool.pre", given);
        assert_eq!(messages(&outcome), ["{}"]);
    }
}

#[test]
fn ah_037_arguments_nobody_could_check_are_refused_before_any_hook() {
    let runtime = on("tool.pre", "metrics.incr('called')\nreturn allow()").runtime();
    for (payload, wanted) in [
        (
            json!({"name": "t", "arguments": "{broken"}),
            "\"arguments\" that is not JSON",
        ),
        (
            json!({"name": "t", "arguments": "{\"a\":1,\"a\":2}"}),
            "duplicate",
        ),
        (
            json!({"name": "t", "args": [1]}),
            "\"args\" that is not an object",
        ),
        (json!({"args": {}}), "an object with the tool's \"name\""),
        (json!("ls"), "an object with the tool's \"name\""),
    ] {
        let error = runtime
            .dispatch("tool.pre", payload)
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "{wanted:?} is not in {error:?}");
    }
    assert_eq!(runtime.metrics().get("called"), None);
}

#[test]
fn ah_038_ah_039_tool_post_carries_the_result_as_text_and_decoded() {
    let body = "log(','.join(payload.keys()))\nlog(str(payload['is_error']) + ' ' + str(json.decode(payload['content']) == payload['result']))\nlog(repr(payload['result']))\nreturn allow()";
    let project = on("tool.post", body);
    let cases = [
        (
            json!({"call_id": "c", "name": "t", "content": "{\"stdout\":\"x\",\"exit_code\":0}", "is_error": false}),
            "False True",
            "{\"stdout\": \"x\", \"exit_code\": 0}",
        ),
        (
            json!({"call_id": "c", "name": "t", "content": "{\"error\":\"no\"}", "is_error": true}),
            "True True",
            "{\"error\": \"no\"}",
        ),
        (
            json!({"name": "t", "result": [1, 2.0, null]}),
            "False True",
            "[1, 2.0, None]",
        ),
    ];
    for (payload, flags, result) in cases {
        let outcome = project.dispatch("tool.post", payload);
        let logs = messages(&outcome);
        let mut keys: Vec<&str> = logs[0].split(',').collect();
        keys.sort_unstable();
        assert_eq!(keys, ["call_id", "content", "is_error", "name", "result"]);
        assert_eq!(logs[1..], [flags, result]);
    }
}

#[test]
fn ah_039_a_result_that_is_not_json_is_its_own_text() {
    let outcome = on("tool.post", "log(payload['result'])\nreturn allow()").dispatch(
        "tool.post",
        json!({"name": "t", "content": "stdout: {oops"}),
    );
    assert_eq!(messages(&outcome), ["stdout: {oops"]);
}

#[test]
fn ah_039_ah_063_a_redacted_result_is_redacted_in_both_forms() {
    let payload = json!({"name": "t", "content": "{\"key\":\"secret\",\"n\":1}"});
    for body in [
        "return modify({'result': {'key': '***', 'n': 1}})",
        "return modify({'content': '{\"key\":\"***\",\"n\":1}'})",
    ] {
        let outcome = on("tool.post", body).dispatch("tool.post", payload.clone());
        assert_eq!(
            outcome.payload.value()["result"],
            json!({"key": "***", "n": 1})
        );
        assert_eq!(
            outcome.payload.value()["content"],
            "{\"key\":\"***\",\"n\":1}"
        );
        assert_eq!(outcome.payload.value()["name"], "t");
    }
}

#[test]
fn ah_040_ah_041_completion_events_carry_request_and_response() {
    let messages_of = |count: usize| json!({"model": "m", "messages": vec![json!({"role": "user"}); count], "tools": []});
    let project = on(
        "completion.pre",
        "return block('too long') if len(payload['messages']) > 2 else allow()",
    );
    assert_eq!(
        project.dispatch("completion.pre", messages_of(2)).decision,
        Allow
    );
    let outcome = project.dispatch("completion.pre", messages_of(3));
    assert_eq!(
        (outcome.decision, outcome.reason.as_deref()),
        (Block, Some("too long"))
    );

    let response = json!({"choices": [{"text": "hi"}], "usage": {"output_tokens": 3}, "finish_reason": "stop"});
    let body = "log(payload['choices'][0]['text'] + ' ' + payload['finish_reason'])\nmetrics.incr('tokens', payload['usage']['output_tokens'])\nreturn allow()";
    let outcome = on("completion.post", body).dispatch("completion.post", response.clone());
    assert_eq!(messages(&outcome), ["hi stop"]);
    assert_eq!(outcome.metrics["tokens"], Number::Integer(3));
    assert_eq!(outcome.payload.value(), &response);
}

#[test]
fn ah_042_ah_043_delegation_events_are_open_dicts() {
    let before = json!({"agent": "tester", "prompt": "p", "depth": 1, "extra": [1]});
    let project = on(
        "delegation.pre",
        "return block('too deep') if payload['depth'] > 1 else allow()",
    );
    let outcome = project.dispatch("delegation.pre", before.clone());
    assert_eq!(
        (outcome.decision, outcome.payload.value()),
        (Allow, &before)
    );
    let outcome = project.dispatch(
        "delegation.pre",
        json!({"agent": "tester", "prompt": "p", "depth": 2}),
    );
    assert_eq!(
        (outcome.decision, outcome.reason.as_deref()),
        (Block, Some("too deep"))
    );

    let after = json!({"agent": "tester", "result": "long text", "depth": 1});
    let outcome = on(
        "delegation.post",
        "return modify({'result': string.truncate(payload['result'], 4)})",
    )
    .dispatch("delegation.post", after);
    assert_eq!(
        outcome.payload.value(),
        &json!({"agent": "tester", "result": "long", "depth": 1})
    );
}

/// A sub-agent that does better each time, and what it was told.
fn verified(runtime: &Runtime, retries: u32) -> (Result<Value, VerifyError>, Vec<Option<String>>) {
    let told = RefCell::new(Vec::new());
    let result = until_verified(runtime, retries, |reason| {
        told.borrow_mut().push(reason.map(str::to_owned));
        json!({"agent": "tester", "result": told.borrow().len(), "depth": 1})
    });
    (result, told.into_inner())
}

#[test]
fn ah_044_a_block_sends_the_sub_agent_back_with_the_reason() {
    let body = "metrics.incr('verified')\nif payload['attempt'] != payload['result']: fail('wrong count')\nreturn allow() if payload['attempt'] == 3 else block('not yet: ' + str(payload['attempt']))";
    let runtime = on("delegation.post_verify", body).runtime();
    let (result, told) = verified(&runtime, MAX_VERIFY_RETRIES);
    assert_eq!(
        result.unwrap(),
        json!({"agent": "tester", "result": 3, "depth": 1, "attempt": 3})
    );
    assert_eq!(
        told,
        [
            None,
            Some("not yet: 1".to_owned()),
            Some("not yet: 2".to_owned())
        ]
    );
    assert_eq!(runtime.metrics().get("verified"), Some(Number::Integer(3)));
}

#[test]
fn ah_044_after_the_last_retry_the_delegation_fails() {
    let runtime = on(
        "delegation.post_verify",
        "return block('never ' + str(payload['attempt']))",
    )
    .runtime();
    for (retries, message) in [
        (0, "verification failed after 1 attempts: never 1"),
        (2, "verification failed after 3 attempts: never 3"),
    ] {
        let (result, told) = verified(&runtime, retries);
        assert_eq!(result.unwrap_err().to_string(), message);
        assert_eq!(told.len(), retries as usize + 1);
    }
}

#[test]
fn ah_044_a_verifier_that_fails_rejects_and_one_that_modifies_accepts() {
    let (result, _) = verified(&on("delegation.post_verify", "return 1 // 0").runtime(), 0);
    let error = result.unwrap_err().to_string();
    assert!(
        error.starts_with(
            "verification failed after 1 attempts: hook \"probe\" failed: hook error: "
        ),
        "{error}"
    );
    let (result, told) = verified(
        &on("delegation.post_verify", "return modify({'result': 'cut'})").runtime(),
        2,
    );
    assert_eq!(result.unwrap()["result"], "cut");
    assert_eq!(told.len(), 1);
}

#[test]
fn ah_045_error_carries_its_envelope() {
    let envelope = json!({"message": "boom", "code": 7, "cause": {"kind": "io"}});
    let shown = "{\"message\": \"boom\", \"code\": 7, \"cause\": {\"kind\": \"io\"}}";
    assert_eq!(seen("error", envelope), shown);
    // The loop is over: a hook that fails cannot hold it up.
    let outcome = on("error", "return payload['no']").dispatch("error", json!({}));
    assert_eq!((outcome.decision, outcome.warnings.len()), (Allow, 1));
}

#[test]
fn ah_046_agent_stop_is_accepted_and_a_block_keeps_the_loop_going() {
    let project = on(
        "agent.stop",
        "return block('the tests fail') if payload['finish_reason'] == 'stop' else allow()",
    );
    assert!(project.problems().is_empty());
    let outcome = project.dispatch(
        "agent.stop",
        json!({"id": "a", "finish_reason": "stop", "iteration": 3}),
    );
    assert_eq!(
        (outcome.decision, outcome.reason.as_deref()),
        (Block, Some("the tests fail"))
    );
    let outcome = project.dispatch(
        "agent.stop",
        json!({"id": "a", "finish_reason": "length", "iteration": 3}),
    );
    assert_eq!(outcome.decision, Allow);
    let outcome = on("agent.stop", "return modify({'response': 'x'})")
        .dispatch("agent.stop", json!({"id": "a"}));
    assert_eq!(outcome.decision, Modify);
}

#[test]
fn ah_047_custom_names_follow_the_pattern_at_load_and_at_dispatch() {
    for (name, valid) in [
        ("custom.my_event", true),
        ("custom.0", true),
        ("custom.", false),
        ("custom.A", false),
        ("custom.a-b", false),
        ("custom.a.b", false),
        ("custom.é", false),
    ] {
        let project = on(name, "return allow()");
        assert_eq!(project.errors().is_empty(), valid, "{name}");
        let empty = Project::new().runtime();
        assert_eq!(empty.dispatch(name, json!({})).is_ok(), valid, "{name}");
    }
}

/// A hook of any event that calls `emit` and returns what comes back.
fn emits(event: &str, target: &str) -> String {
    let script = format!(
        "def handle(event, payload):\n  log(event)\n  return modify({{'echo': events.emit('{target}', {{'n': 1}})}})"
    );
    hook_file(event, "priority: 10", &script)
}

#[test]
fn ah_048_an_emitted_event_goes_through_its_own_chain() {
    let project = Project::with(&[
        ("emitter", &emits("tool.pre", "custom.my_event")),
        (
            "first",
            &hook_file(
                "custom.my_event",
                "priority: 1",
                "def handle(event, payload):\n  log(event)\n  metrics.incr('first')\n  return modify({'n': payload['n'] + 1})",
            ),
        ),
        (
            "second",
            &hook_file(
                "custom.my_event",
                "priority: 2\nwhen: payload['n'] == 1",
                "def handle(event, payload):\n  return modify({'m': payload['n'] * 10})",
            ),
        ),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.payload.value()["echo"], json!({"n": 2, "m": 20}));
    assert_eq!(messages(&outcome), ["tool.pre", "custom.my_event"]);
    let hooks: Vec<&str> = outcome.logs.iter().map(|line| &*line.hook).collect();
    assert_eq!(hooks, ["emitter", "first"]);
    assert_eq!(outcome.metrics["first"], Number::Integer(1));
}

#[test]
fn ah_048_emit_has_two_names_and_a_payload_that_can_be_left_out() {
    let body = "log(repr(emit('custom.a')))\nlog(repr(events.emit('custom.a', [1, 'x'])))\nlog(repr(emit('custom.a', payload={'k': None})))\nreturn allow()";
    let outcome = on("custom.b", body).dispatch("custom.b", json!({}));
    assert_eq!(
        messages(&outcome),
        ["None", "[1, \"x\"]", "{\"k\": None}"],
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn ah_048_a_block_of_the_emitted_event_is_an_error_of_the_emitter() {
    let project = Project::with(&[
        ("emitter", &emits("tool.pre", "custom.x")),
        (
            "nope",
            &hook_file(
                "custom.x",
                "priority: 1",
                "def handle(event, payload):\n  return block('not today')",
            ),
        ),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Block);
    let reason = outcome.reason.unwrap();
    assert_eq!(
        reason,
        "hook \"emitter\" failed: hook error: .harness/hooks/emitter.md:7:28: emit: not today"
    );
}

#[test]
fn ah_048_only_custom_events_can_be_emitted() {
    for (name, wanted) in [
        ("tool.pre", "emit: event must start with \"custom.\""),
        ("meta.x", "emit: event must start with \"custom.\""),
        ("custom.A", "emit: there is no event \"custom.A\""),
        ("custom.", "emit: there is no event \"custom.\""),
    ] {
        let outcome = Project::with(&[("emitter", &emits("tool.pre", name))])
            .dispatch("tool.pre", command("ls"));
        let reason = outcome.reason.unwrap();
        assert!(reason.contains(wanted), "{wanted:?} is not in {reason:?}");
    }
}

#[test]
fn ah_048_hooks_that_emit_in_a_circle_are_stopped() {
    let project = Project::with(&[
        (
            "a",
            &emits("tool.pre", "custom.a").replace("priority: 10", "priority: 10\non_error: block"),
        ),
        (
            "b",
            &emits("custom.a", "custom.b").replace("priority: 10", "priority: 10\non_error: block"),
        ),
        (
            "c",
            &emits("custom.b", "custom.a").replace("priority: 10", "priority: 10\non_error: block"),
        ),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Block);
    let reason = outcome.reason.unwrap();
    let circle = "emit: hooks emit in a circle: tool.pre → custom.a → custom.b → custom.a; narrow the hook with `when`";
    assert!(reason.ends_with(circle), "{reason}");
    for hook in ["a", "b", "c"] {
        assert_eq!(
            reason.matches(&format!("hook {hook:?} failed")).count(),
            1,
            "{reason}"
        );
    }
}

/// Hooks on `custom.c0` to `custom.c<last>`, each of which emits the next.
fn ladder(last: usize) -> Project {
    let project = Project::new();
    for step in 0..last {
        let script = format!(
            "def handle(event, payload):\n  return modify({{'deep': emit('custom.c{}', {{}})}})",
            step + 1
        );
        project.hook(
            &format!("h{step}"),
            &hook_file(
                &format!("custom.c{step}"),
                "priority: 1\non_error: block",
                &script,
            ),
        );
    }
    project
}

#[test]
fn ah_048_ah_086_nesting_is_bounded() {
    let outcome = ladder(8).dispatch("custom.c0", json!({}));
    assert_eq!(outcome.decision, Modify, "{:?}", outcome.reason);
    let outcome = ladder(9).dispatch("custom.c0", json!({}));
    assert_eq!(outcome.decision, Block);
    assert!(
        outcome
            .reason
            .unwrap()
            .ends_with("emit: events may be nested 8 deep")
    );
}

#[test]
fn ah_049_meta_events_are_loaded_and_dispatched() {
    for name in [
        "meta.tool_register",
        "meta.hook_register",
        "meta.register_tool",
        "meta.x",
    ] {
        let project = on(name, "return block(event)");
        assert!(project.errors().is_empty());
        let outcome = project.dispatch(name, json!({"name": "new_tool"}));
        assert_eq!(
            (outcome.decision, outcome.reason.as_deref()),
            (Block, Some(name))
        );
    }
}

#[test]
fn ah_050_every_tool_goes_through_the_chain_known_or_not() {
    let runtime = on(
        "tool.pre",
        "metrics.incr('calls')\nmetrics.incr('call.' + payload['name'])\nreturn allow()",
    )
    .runtime();
    let tools = [
        "run_command",
        "generated_by_the_agent_1",
        "",
        "exec",
        "ünï🦀",
        "a b\nc",
    ];
    for tool in tools {
        let outcome = runtime.dispatch("tool.pre", json!({"name": tool})).unwrap();
        assert_eq!(outcome.stages.dispatch.len(), 1);
        assert_eq!(outcome.metrics[&format!("call.{tool}")], Number::Integer(1));
    }
    assert_eq!(
        runtime.metrics().get("calls"),
        Some(Number::Integer(tools.len() as i64))
    );
}

#[test]
fn ah_051_nothing_decides_but_hooks() {
    // No policy is built in …
    let outcome = Project::new().dispatch("tool.pre", command("rm -rf /"));
    assert_eq!(outcome.decision, Allow);
    // … and none of the hooks is privileged: any can be the one that blocks.
    for blocker in ["a", "b", "c"] {
        let hooks = ["a", "b", "c"].map(|name| {
            let answer = if name == blocker {
                "block('no')"
            } else {
                "allow()"
            };
            (
                name,
                hook_file(
                    "tool.pre",
                    "priority: 1",
                    &format!("def handle(event, payload):\n  return {answer}"),
                ),
            )
        });
        let hooks: Vec<(&str, &str)> = hooks
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        let outcome = Project::with(&hooks).dispatch("tool.pre", command("ls"));
        assert_eq!(outcome.hook.as_deref(), Some(blocker));
    }
}

#[test]
fn ah_051_a_nested_event_meets_the_chain_an_agent_s_event_meets() {
    let hook = |name: &str| {
        hook_file(
            "custom.work",
            "priority: 5\nwhen: not payload.get('skip')",
            &format!(
                "def handle(event, payload):\n  log('{name}')\n  return modify({{'{name}': True}})"
            ),
        )
    };
    let project = Project::with(&[
        ("one", &hook("one")),
        ("two", &hook("two")),
        (
            "outer",
            &hook_file(
                "delegation.pre",
                "priority: 1",
                "def handle(event, payload):\n  return modify({'inner': emit('custom.work', {'depth': 1})})",
            ),
        ),
    ]);
    let direct = project.dispatch("custom.work", json!({"depth": 1}));
    let nested = project.dispatch("delegation.pre", json!({"agent": "a", "depth": 1}));
    assert_eq!(messages(&direct), ["one", "two"]);
    assert_eq!(messages(&nested), messages(&direct));
    assert_eq!(&nested.payload.value()["inner"], direct.payload.value());
}

#[test]
fn ah_052_payloads_are_plain_dicts() {
    let body = "log(type(payload) + ' ' + type(payload['args']) + ' ' + type(payload['args']['list']))\nlog(payload.get('nothing', 'default'))\nlog(str(hasattr(payload, 'name')))\nreturn allow()";
    let payload = json!({"name": "t", "args": {"list": [1]}});
    let outcome = on("tool.pre", body).dispatch("tool.pre", payload.clone());
    assert_eq!(messages(&outcome), ["dict dict list", "default", "False"]);
    let outcome = on("tool.pre", "return block(payload.name)").dispatch("tool.pre", payload);
    let reason = outcome.reason.unwrap();
    assert!(
        reason.contains(":6:18: Object of type `dict` has no attribute `name`"),
        "{reason}"
    );
}

#[test]
fn an_unknown_event_is_an_error_with_a_suggestion() {
    let runtime = Project::new().runtime();
    let error = runtime
        .dispatch("tool.prre", json!({}))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "there is no event \"tool.prre\"; did you mean `tool.pre`?"
    );
    let error = runtime
        .dispatch("nonsense", json!({}))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("there is no event \"nonsense\"; the events are session.start, "),
        "{error}"
    );
}
