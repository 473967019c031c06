//! The surfaces of tools, personas and steps, as a host registers hooks on them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hookbox::Ruling::{Allow, Block, Modify};
use hookbox::dialect::harn::events::{CATALOGUE, Surface};
use hookbox::dialect::harn::{Handler, Hooks, ToolHook};
use serde_json::{Value, json};

use super::support::Project;
use super::{
    Diary, bodies, call, effects, entry, hooks, native, policy, raised, registered, returns,
    runtime,
};

/// Registers a hook around tool calls.
fn tool(hook: ToolHook) -> Hooks {
    hooks(|hooks| {
        hooks.register_tool_hook(hook).unwrap();
    })
}

#[test]
fn hn_001_hooks_of_all_three_surfaces_stand_side_by_side() {
    let diary = Diary::default();
    let all = hooks(|hooks| {
        hooks
            .register_tool_hook(ToolHook::matching("*").pre(diary.keeper(Value::Null)))
            .and_then(|hooks| {
                hooks.register_persona_hook("*", "PreStep", diary.keeper(Value::Null))
            })
            .and_then(|hooks| {
                hooks.register_session_hook("session_start", diary.keeper(Value::Null))
            })
            .unwrap();
    });
    let runtime = registered(&all);
    let summaries: Vec<_> = runtime
        .hooks()
        .iter()
        .map(|hook| hook.origin.summary.clone().unwrap())
        .collect();
    assert_eq!(
        summaries,
        ["tool surface", "persona surface", "session surface"]
    );
    runtime
        .dispatch("PreToolUse", call("exec", json!({})))
        .unwrap();
    runtime
        .dispatch("PreStep", json!({"persona": "p", "step": "s"}))
        .unwrap();
    runtime.dispatch("session_start", json!({})).unwrap();
    let heard: Vec<_> = diary.read().iter().map(|p| p["event"].clone()).collect();
    assert_eq!(heard, ["PreToolUse", "PreStep", "SessionStart"]);
}

#[test]
fn hn_002_an_event_is_back_when_all_hooks_have_run_on_the_caller_s_thread() {
    let threads = Arc::new(std::sync::Mutex::new(Vec::new()));
    let here = std::thread::current().id();
    let all = hooks(|hooks| {
        for info in CATALOGUE {
            for _ in 0..2 {
                let threads = Arc::clone(&threads);
                let handler = Handler::from(move |_: &Value| {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                    threads.lock().unwrap().push(std::thread::current().id());
                    Value::Null
                });
                match info.surface {
                    Surface::Tool if info.name == "PreToolUse" => {
                        hooks.register_tool_hook(ToolHook::matching("*").pre(handler))
                    }
                    Surface::Tool => {
                        hooks.register_tool_hook(ToolHook::matching("*").post(handler))
                    }
                    Surface::Persona => hooks.register_persona_hook("*", info.name, handler),
                    Surface::Session => hooks.register_session_hook(info.name, handler),
                }
                .unwrap();
            }
        }
    });
    let runtime = registered(&all);
    for (count, info) in (1..).zip(CATALOGUE) {
        let outcome = runtime
            .dispatch(info.name, call("exec", json!({})))
            .unwrap();
        assert_eq!(outcome.stages.dispatch.len(), 2, "{}", info.name);
        assert_eq!(threads.lock().unwrap().len(), 2 * count, "{}", info.name);
    }
    assert!(threads.lock().unwrap().iter().all(|id| *id == here));
    assert!(runtime.flush().is_empty());
}

const TRANSCRIPT: &str = r#"
def remind(event):
    turns = tools.call("transcript", {"last": 2})
    return {"body": "so far: " + ", ".join(turns)}
"#;

#[test]
fn hn_003_a_hook_that_is_granted_the_transcript_reads_it_as_it_is_now() {
    let project = policy(
        &entry("UserPromptSubmit", "*", "policy::remind"),
        TRANSCRIPT,
    );
    project.file("hookbox.toml", "[grant]\ntools = [\"transcript\"]\n");
    let turns = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&turns);
    let runtime = hookbox::Runtime::builder(project.path())
        .tool("transcript", move |args| {
            assert_eq!(args, json!({"last": 2}));
            let count = counted.load(Ordering::Relaxed);
            Ok((0..count).map(|n| format!("turn {n}")).collect())
        })
        .load()
        .unwrap();
    for (count, body) in [(1, "so far: turn 0"), (2, "so far: turn 0, turn 1")] {
        turns.store(count, Ordering::Relaxed);
        let outcome = runtime
            .dispatch("user_prompt_submit", json!({"prompt": "go on"}))
            .unwrap();
        assert_eq!(bodies(&outcome), [body]);
    }
}

#[test]
fn hn_003_without_the_grant_the_project_does_not_load() {
    let project = policy(
        &entry("UserPromptSubmit", "*", "policy::remind"),
        TRANSCRIPT,
    );
    let errors = project.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("policy.star:3:13: the script uses tools"),
        "{errors:?}"
    );
    assert!(errors[0].contains("is not granted"), "{errors:?}");
    // A grant of another tool lets it load, and refuses the call.
    project.file("hookbox.toml", "[grant]\ntools = [\"clock\"]\n");
    let runtime = hookbox::Runtime::builder(project.path())
        .tool("transcript", |_| Ok(json!([])))
        .load()
        .unwrap();
    let outcome = raised(runtime.dispatch("user_prompt_submit", json!({"prompt": "x"})));
    assert!(
        outcome.reason.unwrap().contains("transcript"),
        "{:?}",
        outcome.trace
    );
}

#[test]
fn hn_004_hooks_run_before_and_after_each_tool() {
    let diary = Diary::default();
    let around = tool(
        ToolHook::matching("*")
            .pre(diary.keeper(json!({"args": {"text": "changed"}})))
            .post(diary.keeper(json!({"result": "shown"}))),
    );
    // A hook that calls a tool is an agent like any other.
    let project = policy(
        &entry("SessionStart", "*", "policy::greet"),
        "def greet(event):\n    return {\"body\": tools.call(\"note\", {\"text\": \"hello\"})}\n",
    );
    project.file("hookbox.toml", "[grant]\ntools = [\"note\"]\n");
    let written = diary.clone();
    let runtime = hookbox::Runtime::builder(project.path())
        .harn(around)
        .dialect(&hookbox::dialect::harn::DIALECT)
        .tool("note", move |args| {
            written.write(json!({"event": "tool", "args": args}));
            Ok(json!("noted"))
        })
        .load()
        .unwrap();
    let outcome = runtime.dispatch("SessionStart", json!({})).unwrap();
    let diary = diary.read();
    let order: Vec<_> = diary.iter().map(|one| one["event"].clone()).collect();
    assert_eq!(order, ["PreToolUse", "tool", "PostToolUse"]);
    assert_eq!(diary[0]["tool"]["args"], json!({"text": "hello"}));
    assert_eq!(diary[1]["args"], json!({"text": "changed"}));
    assert_eq!(diary[2]["result"], json!({"text": "\"noted\""}));
    assert_eq!(bodies(&outcome), ["shown"]);
}

#[test]
fn hn_005_a_denied_call_says_why_and_ends_the_chain() {
    let diary = Diary::default();
    let mut all = tool(ToolHook::matching("*").pre(returns(json!({"deny": "not now"}))));
    all.register_tool_hook(ToolHook::matching("*").pre(diary.keeper(Value::Null)))
        .unwrap();
    let runtime = registered(&all);
    let outcome = runtime
        .dispatch("PreToolUse", call("exec_root", json!({})))
        .unwrap();
    assert_eq!(outcome.decision, Block);
    assert_eq!(outcome.reason.as_deref(), Some("not now"));
    assert_eq!(outcome.hook.as_deref(), Some("tool_hook::*::pre"));
    assert_eq!(native(&runtime, &outcome), json!({"deny": "not now"}));
    assert!(diary.read().is_empty());
}

#[test]
fn hn_006_replaced_arguments_are_what_later_hooks_and_the_tool_get() {
    let diary = Diary::default();
    let mut all = tool(ToolHook::matching("*").pre(returns(json!({"args": {"b": 2}}))));
    all.register_tool_hook(ToolHook::matching("*").pre(diary.keeper(Value::Null)))
        .unwrap();
    let runtime = registered(&all);
    let outcome = runtime
        .dispatch("PreToolUse", call("exec", json!({"a": 1})))
        .unwrap();
    assert_eq!(outcome.decision, Modify);
    assert_eq!(diary.read()[0]["tool"]["args"], json!({"b": 2}));
    assert_eq!(
        *outcome.payload.value(),
        json!({"event": "PreToolUse", "tool": {"name": "exec", "args": {"b": 2}, "tool_call_id": "c1"}, "tool_call_id": "c1"})
    );
    assert_eq!(native(&runtime, &outcome), json!({"args": {"b": 2}}));
}

#[test]
fn hn_007_hn_008_a_string_and_a_result_replace_the_same() {
    for value in [json!("short"), json!({"result": "short"})] {
        let diary = Diary::default();
        let mut all = tool(ToolHook::matching("*").post(returns(value.clone())));
        all.register_tool_hook(ToolHook::matching("*").post(diary.keeper(Value::Null)))
            .unwrap();
        let runtime = registered(&all);
        let mut payload = call("read", json!({"path": "x"}));
        payload["result"] = json!({"text": "long"});
        let outcome = runtime.dispatch("PostToolUse", payload).unwrap();
        assert_eq!(outcome.decision, Modify, "{value}");
        assert_eq!(diary.read()[0]["result"], json!({"text": "short"}));
        assert_eq!(outcome.payload.value()["result"], json!({"text": "short"}));
        assert_eq!(
            outcome.payload.value()["tool"]["args"],
            json!({"path": "x"})
        );
        assert_eq!(native(&runtime, &outcome), json!({"result": "short"}));
    }
}

#[test]
fn hn_007_text_that_looks_like_json_stays_text() {
    let runtime = registered(&tool(
        ToolHook::matching("*").post(returns(json!("{\"a\":1}"))),
    ));
    let mut payload = call("read", json!({}));
    payload["result"] = json!("\"quoted\"");
    let outcome = runtime.dispatch("PostToolUse", payload).unwrap();
    assert_eq!(outcome.payload.value()["result"]["text"], "{\"a\":1}");
}

#[test]
fn hn_009_exec_is_gated_without_any_code() {
    let runtime = registered(&tool(ToolHook::matching("exec_*").deny("exec is gated")));
    assert_eq!(runtime.hooks()[0].handler.kind(), "declarative");
    for (name, decision) in [
        ("exec_root", Block),
        ("exec_", Block),
        ("read", Allow),
        ("pre_exec_x", Allow),
    ] {
        let outcome = runtime
            .dispatch("PreToolUse", call(name, json!({})))
            .unwrap();
        assert_eq!(outcome.decision, decision, "{name}");
        if decision == Block {
            assert_eq!(outcome.reason.as_deref(), Some("exec is gated"));
        }
    }
}

#[test]
fn hn_010_a_long_output_is_cut_and_a_short_one_is_not() {
    let runtime = registered(&tool(ToolHook::matching("*").max_output(4000)));
    let after = |text: &str| {
        let mut payload = call("read", json!({}));
        payload["result"] = json!({"text": text});
        runtime.dispatch("PostToolUse", payload).unwrap()
    };
    let outcome = after(&"é".repeat(5000));
    let text = outcome.payload.value()["result"]["text"].clone();
    let text = text.as_str().unwrap();
    assert_eq!(outcome.decision, Modify);
    assert!(text.chars().count() <= 4000);
    assert!(text.contains("characters snipped"), "{text}");
    let outcome = after("0123456789");
    assert_eq!(outcome.decision, Allow);
    assert_eq!(outcome.payload.value()["result"]["text"], "0123456789");
}

#[test]
fn hn_010_the_cap_holds_for_what_the_hook_s_own_closure_makes_of_the_output() {
    let hook = ToolHook::matching("*")
        .max_output(100)
        .post(|_: &Value| json!("x".repeat(1000)));
    let runtime = registered(&tool(hook));
    let mut payload = call("read", json!({}));
    payload["result"] = json!({"text": "short"});
    let outcome = runtime.dispatch("PostToolUse", payload).unwrap();
    let text = outcome.payload.value()["result"]["text"].clone();
    assert!(text.as_str().unwrap().len() <= 110, "{text}");
    assert!(text.as_str().unwrap().contains("snipped"), "{text}");
}

#[test]
fn hn_011_both_closures_of_a_hook_run_and_so_does_a_function_of_a_module() {
    let diary = Diary::default();
    let project = Project::new();
    project.file(
        "policy.star",
        "def after(event):\n    return event[\"result\"][\"text\"].upper()\n",
    );
    let runtime = runtime(
        &project,
        &tool(
            ToolHook::matching("*")
                .pre(diary.keeper(json!({"args": {"seen": true}})))
                .post(Handler::named("policy::after")),
        ),
    );
    let before = runtime
        .dispatch("PreToolUse", call("read", json!({})))
        .unwrap();
    assert_eq!(
        before.payload.value()["tool"]["args"],
        json!({"seen": true})
    );
    let mut payload = call("read", json!({}));
    payload["result"] = json!({"text": "loud"});
    let after = runtime.dispatch("PostToolUse", payload).unwrap();
    assert_eq!(after.payload.value()["result"]["text"], "LOUD");
    assert_eq!(diary.read().len(), 1);
}

#[test]
fn hn_011_a_hook_that_does_nothing_is_refused() {
    let wrong = Hooks::new()
        .register_tool_hook(ToolHook::matching("exec_*"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        wrong,
        "register_tool_hook: \"exec_*\" has neither deny, max_output, pre nor post"
    );
}

#[test]
fn hn_012_a_tool_hook_runs_for_the_tools_its_glob_names() {
    for (glob, tool_name, called) in [
        ("exec_*", "exec_root", true),
        ("exec_*", "exec", false),
        ("*", "anything/at.all", true),
        ("fetch_*", "fetch_url", true),
        ("fetch_*", "prefetch_url", false),
        ("{read,write}_file", "write_file", true),
        ("mcp.?ool", "mcp.tool", true),
        // Only manifest patterns are paths.
        ("tool.name", "x", false),
    ] {
        let diary = Diary::default();
        let runtime = registered(&tool(
            ToolHook::matching(glob).pre(diary.keeper(Value::Null)),
        ));
        runtime
            .dispatch("PreToolUse", call(tool_name, json!({})))
            .unwrap();
        assert_eq!(!diary.read().is_empty(), called, "{glob} {tool_name}");
    }
    let mut hooks = Hooks::new();
    let wrong = hooks.register_tool_hook(ToolHook::matching("exec_[").deny("x"));
    let wrong = wrong.unwrap_err().to_string();
    assert!(wrong.starts_with("register_tool_hook: the glob"), "{wrong}");
}

#[test]
fn hn_013_a_tool_hook_reminds_and_the_call_goes_on() {
    let reminder = json!({"reminder": {"body": "Network fetch is about to run", "tags": ["tool"]}});
    let runtime = registered(&tool(
        ToolHook::matching("fetch_*").pre(returns(reminder.clone())),
    ));
    let outcome = runtime
        .dispatch("PreToolUse", call("fetch_url", json!({})))
        .unwrap();
    assert_eq!(outcome.decision, Allow);
    assert_eq!(
        effects(&outcome),
        json!([{"kind": "reminder", "body": "Network fetch is about to run", "tags": ["tool"],
                "dedupe_key": null, "ttl_turns": null, "preserve_on_compact": false,
                "propagate": "session", "role_hint": "system"}])
    );
}

#[test]
fn hn_014_hooks_hear_of_all_seven_persona_events_and_of_no_other() {
    let events = [
        "PreStep",
        "PostStep",
        "OnApprovalRequested",
        "OnHandoffEmitted",
        "OnPersonaPaused",
        "OnPersonaResumed",
        "OnBudgetThreshold",
    ];
    let diary = Diary::default();
    let all = hooks(|hooks| {
        for event in events {
            hooks
                .register_persona_hook("merge_*", event, diary.keeper(Value::Null))
                .unwrap();
        }
    });
    let runtime = registered(&all);
    for event in events {
        for persona in ["merge_bot", "other"] {
            runtime
                .dispatch(event, json!({"persona": persona, "pct": 50}))
                .unwrap();
        }
    }
    let heard: Vec<_> = diary.read().iter().map(|p| p["event"].clone()).collect();
    assert_eq!(heard, events);
    for event in ["PreToolUse", "SessionStart", "OnNothing", ""] {
        let wrong = Hooks::new()
            .register_persona_hook("*", event, returns(Value::Null))
            .unwrap_err()
            .to_string();
        let end = format!("register_persona_hook: unknown persona hook event `{event}`");
        assert!(wrong.ends_with(&end), "{wrong}");
    }
}

#[test]
fn hn_015_a_budget_hook_waits_for_its_threshold() {
    let all = hooks(|hooks| {
        hooks
            .register_persona_hook(
                "*",
                "OnBudgetThreshold(80)",
                returns(json!({"deny": "enough"})),
            )
            .unwrap();
    });
    let project = policy(
        &entry("OnBudgetThreshold(90)", "*", "policy::stop"),
        "def stop(event):\n    return {\"deny\": \"far too much\"}\n",
    );
    for (runtime, limit) in [
        (registered(&all), 80),
        (runtime(&project, &Hooks::new()), 90),
    ] {
        for pct in [0, 79, 80, 85, 89, 90, 100] {
            let decision = if pct < limit { Allow } else { Block };
            let outcome = runtime
                .dispatch("OnBudgetThreshold", json!({"persona": "p", "pct": pct}))
                .unwrap();
            assert_eq!(outcome.decision, decision, "{pct} of {limit}");
            // The number can also be part of the event's name.
            let outcome = runtime
                .dispatch(
                    &format!("OnBudgetThreshold({pct})"),
                    json!({"persona": "p"}),
                )
                .unwrap();
            assert_eq!(outcome.decision, decision, "{pct} of {limit}");
        }
        let condition = runtime.hooks()[0].condition();
        assert_eq!(
            condition.as_deref(),
            Some(&*format!("pct >= {limit}")),
            "people read it in `explain`"
        );
    }
    for wrong in ["OnBudgetThreshold(x)", "OnBudgetThreshold(101)"] {
        let wrong = Hooks::new()
            .register_persona_hook("*", wrong, returns(Value::Null))
            .unwrap_err();
        assert!(
            wrong.to_string().contains("invalid budget threshold"),
            "{wrong}"
        );
    }
}

#[test]
fn hn_016_a_step_hook_hears_of_its_step_alone() {
    let diary = Diary::default();
    let all = hooks(|hooks| {
        for event in ["PreStep", "PostStep", "OnApprovalRequested"] {
            hooks
                .register_step_hook("merge_*", "audit", event, diary.keeper(Value::Null))
                .unwrap();
        }
    });
    let runtime = registered(&all);
    for event in ["PreStep", "PostStep", "OnApprovalRequested"] {
        for (persona, step) in [
            ("merge_bot", "audit"),
            ("merge_bot", "audits"),
            ("bot", "audit"),
        ] {
            runtime
                .dispatch(event, json!({"persona": persona, "step": {"name": step}}))
                .unwrap();
        }
    }
    let heard: Vec<_> = diary
        .read()
        .iter()
        .map(|p| (p["event"].clone(), p["target"].clone()))
        .collect();
    let audit = |event: &str| (json!(event), json!("merge_bot.audit"));
    assert_eq!(
        heard,
        [
            audit("PreStep"),
            audit("PostStep"),
            audit("OnApprovalRequested")
        ]
    );
}

#[test]
fn hn_017_every_persona_event_can_be_denied() {
    for event in [
        "PreStep",
        "PostStep",
        "OnApprovalRequested",
        "OnHandoffEmitted",
        "OnPersonaPaused",
        "OnPersonaResumed",
        "OnBudgetThreshold",
    ] {
        let all = hooks(|hooks| {
            hooks
                .register_persona_hook("*", event, returns(json!({"deny": "not by a persona"})))
                .unwrap();
        });
        let runtime = registered(&all);
        let outcome = runtime
            .dispatch(event, json!({"persona": "p", "pct": 1}))
            .unwrap();
        assert_eq!(outcome.decision, Block, "{event}");
        assert_eq!(
            native(&runtime, &outcome),
            json!({"deny": "not by a persona"})
        );
    }
}

#[test]
fn hn_018_steps_go_on_with_other_arguments_and_another_output() {
    for (event, key, step) in [
        (
            "PreStep",
            "args",
            json!({"name": "audit", "args": {"a": 1}}),
        ),
        (
            "PostStep",
            "output",
            json!({"name": "audit", "output": "long"}),
        ),
    ] {
        let diary = Diary::default();
        let all = hooks(|hooks| {
            hooks
                .register_step_hook("*", "audit", event, returns(json!({key: ["new"]})))
                .and_then(|hooks| {
                    hooks.register_persona_hook("*", event, diary.keeper(Value::Null))
                })
                .unwrap();
        });
        let runtime = registered(&all);
        let outcome = runtime
            .dispatch(event, json!({"persona": "p", "step": step}))
            .unwrap();
        assert_eq!(outcome.decision, Modify, "{event}");
        assert_eq!(diary.read()[0]["step"][key], json!(["new"]));
        assert_eq!(outcome.payload.value()["step"][key], json!(["new"]));
        assert_eq!(outcome.payload.value()["step"]["name"], "audit");
        assert_eq!(native(&runtime, &outcome), json!({key: ["new"]}));
        // A step that is only a name has them beside it.
        let outcome = runtime
            .dispatch(event, json!({"persona": "p", "step": "audit"}))
            .unwrap();
        assert_eq!(outcome.payload.value()[key], json!(["new"]));
        assert_eq!(native(&runtime, &outcome), json!({key: ["new"]}));
    }
}

#[test]
fn hn_019_all_seven_keys_of_a_reminder_come_through() {
    let reminder = json!({
        "body": "b", "tags": ["x", "y"], "dedupe_key": "k", "ttl_turns": 3,
        "preserve_on_compact": true, "propagate": "none", "role_hint": "ephemeral_cache"
    });
    let project = policy(
        &entry("PostTurn", "*", "policy::remind"),
        &format!(
            "def remind(event):\n    return {{\"reminder\": json.decode({:?})}}\n",
            reminder.to_string()
        ),
    );
    let all = hooks(|hooks| {
        hooks
            .register_session_hook("post_turn", returns(json!({"reminder": reminder})))
            .unwrap();
    });
    let mut expected = json!({"kind": "reminder"});
    for (key, value) in reminder.as_object().unwrap() {
        expected[key] = value.clone();
    }
    for runtime in [registered(&all), runtime(&project, &Hooks::new())] {
        let outcome = runtime.dispatch("PostTurn", json!({})).unwrap();
        assert_eq!(effects(&outcome), json!([expected]));
        assert_eq!(native(&runtime, &outcome), json!({"reminder": reminder}));
    }
    let odd = hooks(|hooks| {
        hooks
            .register_session_hook("post_turn", returns(json!({"body": "b", "colour": "red"})))
            .unwrap();
    });
    let outcome = raised(registered(&odd).dispatch("PostTurn", json!({})));
    let reason = outcome.reason.unwrap();
    assert!(
        reason.contains("unknown reminder option(s): colour"),
        "{reason}"
    );
}

#[test]
fn hn_020_a_reminder_and_what_comes_then_both_count() {
    let project = policy(
        &entry("PreStep", "merge_*", "policy::audit"),
        r#"
def audit(ctx):
    args = dict(ctx["step"]["args"])
    args["audited"] = True
    return {
        "reminder": {"body": "Audit step is running", "tags": ["audit"]},
        "then": {"args": args},
    }
"#,
    );
    let runtime = runtime(&project, &Hooks::new());
    let outcome = runtime
        .dispatch(
            "PreStep",
            json!({"persona": "merge_bot", "step": {"name": "audit", "args": {"a": 1}}}),
        )
        .unwrap();
    assert_eq!(outcome.decision, Modify);
    assert_eq!(bodies(&outcome), ["Audit step is running"]);
    let args = json!({"a": 1, "audited": true});
    assert_eq!(outcome.payload.value()["step"]["args"], args);
    let answer = native(&runtime, &outcome);
    assert_eq!(answer["then"], json!({"args": args}));
    assert_eq!(answer["reminder"]["tags"], json!(["audit"]));
}

#[test]
fn hn_020_a_reminder_before_a_veto_is_still_given() {
    let all = hooks(|hooks| {
        hooks
            .register_session_hook(
                "user_prompt_submit",
                returns(json!({"reminder": {"body": "remember"}, "then": {"block": true, "reason": "no"}})),
            )
            .unwrap();
    });
    let outcome = registered(&all)
        .dispatch("user_prompt_submit", json!({"prompt": "x"}))
        .unwrap();
    assert_eq!(outcome.decision, Block);
    assert_eq!(bodies(&outcome), ["remember"]);
}
