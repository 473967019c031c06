//! Tapes of Harn's hooks: what is recorded, and what a replay says when the hooks are
//! gone.

use hookbox::dialect::harn::{DIALECT, Handler, Hooks, ToolHook};
use hookbox::runtime::{DispatchError, RuntimeBuilder};
use hookbox::tape::{Checker, Recorder, Replay, Seen, Verdict};
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};

use super::support::tape::{play, read_strictly, values};
use super::support::{Project, hookbox};
use super::{call, entry, hooks, policy, returns};

/// Records events, also those that fail, and returns the tape.
fn record(builder: RuntimeBuilder, events: &[(&str, Value)]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    let recorder = Recorder::create(&path).unwrap();
    let runtime = builder.dialect(&DIALECT).tape(&recorder).load().unwrap();
    for (event, payload) in events {
        match runtime.dispatch(event, payload.clone()) {
            Ok(_) | Err(DispatchError::Raised(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    recorder.close().unwrap();
    let tape = std::fs::read(path).unwrap();
    read_strictly(&tape).unwrap();
    tape
}

fn of(hooks: &Hooks, events: &[(&str, Value)]) -> Vec<u8> {
    let project = Project::new();
    record(Runtime::builder(project.path()).harn(hooks.clone()), events)
}

/// The records between the header and the footer.
fn records(tape: &[u8]) -> Vec<Value> {
    let mut all = values(tape);
    all.retain(|record| record["kind"] != "header" && record["kind"] != "footer");
    all
}

fn kinds(tape: &[u8]) -> Vec<String> {
    let kind = |record: &Value| record["kind"].as_str().unwrap().to_owned();
    records(tape).iter().map(kind).collect()
}

/// The first record of a kind.
fn first(tape: &[u8], kind: &str) -> Value {
    let mut all = records(tape).into_iter();
    all.find(|record| record["kind"] == kind)
        .unwrap_or_else(|| panic!("no {kind}"))
}

const PROMPT: &str = "user_prompt_submit";

fn prompt() -> (&'static str, Value) {
    (PROMPT, json!({"prompt": "hello", "session": {"id": "s1"}}))
}

/// One hook on the user's prompts.
fn on_prompt(handler: impl Into<Handler>) -> Hooks {
    hooks(|hooks| {
        hooks.register_session_hook(PROMPT, handler).unwrap();
    })
}

/// Takes out what differs from run to run, and what the two ways to register differ in.
/// A guest is told its hook's name, so that a longer one costs it some more fuel.
fn same(tape: &[u8]) -> Vec<Value> {
    fn tidy(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in [
                    "prev",
                    "time",
                    "at_us",
                    "took_us",
                    "duration_us",
                    "head",
                    "fuel",
                    "source",
                    "file",
                ] {
                    map.remove(key);
                }
                map.values_mut().for_each(tidy);
            }
            Value::Array(list) => list.iter_mut().for_each(tidy),
            Value::String(text) => {
                *text = text
                    .replace("session_hook::UserPromptSubmit", "HOOK")
                    .replace("policy::check", "HOOK");
            }
            _ => {}
        }
    }
    let mut all = values(tape);
    all.iter_mut().for_each(tidy);
    all
}

#[test]
fn hn_046_manifest_and_registration_leave_the_same_tape() {
    for body in [
        "return None",
        "return {\"block\": True, \"reason\": \"no\"}",
        "return {\"body\": \"remember\"}",
        "return 42",
        "fail(\"no\")",
    ] {
        let module = format!("def check(event):\n    {body}\n");
        let manifest = policy(&entry("UserPromptSubmit", "*", "policy::check"), &module);
        let from_manifest = record(Runtime::builder(manifest.path()), &[prompt()]);
        let bare = Project::new();
        bare.file("policy.star", &module);
        let own = on_prompt(Handler::named("policy::check"));
        let registered = record(Runtime::builder(bare.path()).harn(own), &[prompt()]);
        assert_eq!(same(&from_manifest), same(&registered), "{body}");
        assert_ne!(from_manifest, registered);
    }
}

#[test]
fn hn_047_a_call_is_on_the_tape_before_it_can_fail() {
    let panics = Handler::from(|_: &Value| -> Value { panic!("oh no") });
    let tape = of(&on_prompt(panics), &[prompt()]);
    assert_eq!(
        kinds(&tape),
        [
            "dispatch",
            "hook_call",
            "hook_returned",
            "hook_vetoed",
            "outcome"
        ]
    );
    let call = first(&tape, "hook_call");
    assert_eq!(call["hook"], "session_hook::UserPromptSubmit");
    assert_eq!(call["handler"], "native");
    assert_eq!(call["payload"], "\"hello\"");
    let returned = first(&tape, "hook_returned");
    assert_eq!(returned["failure"]["cause"], "trap");
    assert_eq!(first(&tape, "outcome")["raised"], true);
    // A component that traps is no different.
    let project = Project::new();
    project
        .file("harn.toml", entry("UserPromptSubmit", "*", "policy::check"))
        .file("policy.wasm", super::support::programs::trap());
    let tape = record(Runtime::builder(project.path()), &[prompt()]);
    assert_eq!(first(&tape, "hook_call")["hook"], "policy::check");
    assert_eq!(first(&tape, "hook_returned")["failure"]["cause"], "trap");
}

#[test]
fn hn_048_what_a_hook_returned_is_on_the_tape_in_harn_s_words() {
    let prompt = |value: Value| of(&on_prompt(returns(value)), &[prompt()]);
    let permission = |value: Value| {
        let all = hooks(|hooks| {
            hooks
                .register_session_hook("permission_asked", returns(value))
                .unwrap();
        });
        of(&all, &[("permission_asked", call("exec", json!({})))])
    };
    let tool = |value: Value| {
        let all = hooks(|hooks| {
            hooks
                .register_tool_hook(ToolHook::matching("*").pre(returns(value)))
                .unwrap();
        });
        of(&all, &[("PreToolUse", call("exec", json!({})))])
    };
    for (tape, word, decision) in [
        (prompt(Value::Null), "allow", "allow"),
        (prompt(json!(false)), "block", "block"),
        (
            prompt(json!({"decision": "deny"})),
            "decision_deny",
            "allow",
        ),
        (tool(json!({"args": {"x": 1}})), "modify", "modify"),
        (tool(json!({"deny": "no"})), "block", "block"),
        (
            permission(json!({"decision": "allow"})),
            "decision_allow",
            "allow",
        ),
        (
            permission(json!({"decision": "deny"})),
            "decision_deny",
            "block",
        ),
        (
            permission(json!({"decision": "ask"})),
            "decision_ask",
            "ask",
        ),
    ] {
        let returned = first(&tape, "hook_returned");
        assert_eq!(returned["said"]["verb"], word, "{returned}");
        assert_eq!(returned["decision"], decision, "{returned}");
    }
}

#[test]
fn hn_049_only_a_block_and_a_decision_are_vetoes() {
    let session = |event: &str, value: Value| {
        let all = hooks(|hooks| {
            hooks.register_session_hook(event, returns(value)).unwrap();
        });
        of(&all, &[(event, json!({"prompt": "x"}))])
    };
    let vetoes = |tape: &[u8]| {
        let found = kinds(tape)
            .iter()
            .filter(|kind| *kind == "hook_vetoed")
            .count();
        assert_eq!(first(tape, "hook_returned")["kind"], "hook_returned");
        found
    };
    for (event, value, expected) in [
        (PROMPT, json!(null), 0),
        (PROMPT, json!(true), 0),
        (PROMPT, json!({"body": "remember"}), 0),
        (PROMPT, json!({"decision": "deny"}), 0),
        (PROMPT, json!(false), 1),
        (PROMPT, json!({"block": true}), 1),
        ("pre_compact", json!({"block": true}), 1),
        // What is only told refuses nothing, so nothing was vetoed.
        ("session_start", json!({"block": true}), 0),
        ("permission_asked", json!({"decision": "allow"}), 1),
        ("permission_asked", json!({"decision": "deny"}), 1),
        ("permission_asked", json!({"decision": "ask"}), 1),
        ("permission_asked", json!(null), 0),
    ] {
        let tape = session(event, value.clone());
        assert_eq!(vetoes(&tape), expected, "{event} {value}");
    }
    let tape = session("permission_asked", json!({"decision": "allow"}));
    assert_eq!(first(&tape, "hook_vetoed")["decision"], "allow");
    let rewrite = hooks(|hooks| {
        hooks
            .register_tool_hook(ToolHook::matching("*").pre(returns(json!({"args": {}}))))
            .unwrap();
    });
    let tape = of(&rewrite, &[("PreToolUse", call("exec", json!({"a": 1})))]);
    assert_eq!(vetoes(&tape), 0);
}

/// Hooks on all three surfaces, and events that they allow, change, refuse and fail.
fn everything() -> (Project, Hooks, Vec<(&'static str, Value)>) {
    let project = policy(
        &[
            entry(
                "PreToolUse",
                "tool.args.command =~ '^rm '",
                "policy::refuse",
            ),
            entry("PreStep", "merge_*", "policy::audit"),
            entry("UserPromptSubmit", "*", "policy::check"),
            entry("PermissionAsked", "*", "policy::decide"),
        ]
        .concat(),
        r#"
def refuse(event):
    log("refused " + event["tool"]["args"]["command"])
    return {"deny": "rm is refused"}

def audit(event):
    return {"reminder": {"body": "audit", "dedupe_key": "a"}, "then": {"args": ["audited"]}}

def check(event):
    if event["prompt"] == "odd":
        return 42
    return {"body": "seen " + str(cache.incr("seen"))}

def decide(event):
    return {"decision": "allow"}
"#,
    );
    let own = hooks(|hooks| {
        hooks
            .register_tool_hook(ToolHook::matching("exec_*").deny("exec is gated"))
            .and_then(|hooks| {
                hooks.register_step_hook(
                    "merge_*",
                    "audit",
                    "PreStep",
                    returns(json!({"body": "first", "dedupe_key": "a"})),
                )
            })
            .and_then(|hooks| {
                hooks.register_session_hook("session_start", returns(json!({"block": true})))
            })
            .unwrap();
    });
    let step = json!({"persona": "merge_bot", "step": {"name": "audit", "args": []}});
    let events = vec![
        ("session_start", json!({"session": {"id": "s1"}})),
        ("user_prompt_submit", json!({"prompt": "hello"})),
        ("user_prompt_submit", json!({"prompt": "odd"})),
        ("PreToolUse", call("exec_root", json!({}))),
        ("PreToolUse", call("shell", json!({"command": "rm -rf /"}))),
        ("PreToolUse", call("shell", json!({"command": "ls"}))),
        ("PreStep", step),
        ("permission_asked", call("shell", json!({}))),
    ];
    (project, own, events)
}

#[test]
fn hn_050_hooks_of_all_surfaces_are_on_the_tape() {
    let (project, own, events) = everything();
    let tape = record(Runtime::builder(project.path()).harn(own), &events);
    let calls: Vec<_> = records(&tape)
        .into_iter()
        .filter(|record| record["kind"] == "hook_call")
        .map(|record| (record["hook"].clone(), record["handler"].clone()))
        .collect();
    let pair = |hook: &str, handler: &str| (json!(hook), json!(handler));
    assert_eq!(
        calls,
        [
            pair("session_hook::SessionStart", "native"),
            pair("policy::check", "starlark"),
            pair("policy::check", "starlark"),
            pair("tool_hook::exec_*::pre", "declarative"),
            pair("policy::refuse", "starlark"),
            pair("step_hook::merge_*.audit::PreStep", "native"),
            pair("policy::audit", "starlark"),
            pair("policy::decide", "starlark"),
        ]
    );
    let starts: Vec<_> = records(&tape)
        .into_iter()
        .filter(|record| record["kind"] == "dispatch")
        .map(|record| (record["event"].clone(), record["dialect"].clone()))
        .collect();
    assert_eq!(starts.len(), events.len());
    for ((event, dialect), (fired, _)) in starts.iter().zip(&events) {
        assert_eq!((event, dialect), (&json!(fired), &json!("harn")));
    }
}

/// What tells one outcome from another, without what it cost.
fn told(outcome: &Outcome) -> Value {
    json!({
        "event": &*outcome.event, "decision": outcome.decision.name(), "reason": outcome.reason,
        "hook": outcome.hook.as_deref(), "raised": outcome.raised,
        "effects": super::effects(outcome), "warnings": outcome.warnings,
    })
}

#[test]
fn hn_051_a_replay_decides_the_same_without_any_hook() {
    let (project, own, events) = everything();
    let path = project.path().join("run.tape");
    let recorder = Recorder::create(&path).unwrap();
    let runtime = Runtime::builder(project.path())
        .harn(own)
        .dialect(&DIALECT)
        .tape(&recorder)
        .load()
        .unwrap();
    let live: Vec<Value> = events
        .iter()
        .map(
            |(event, payload)| match runtime.dispatch(event, payload.clone()) {
                Ok(outcome) => told(&outcome),
                Err(DispatchError::Raised(outcome)) => told(&outcome),
                Err(error) => panic!("{error}"),
            },
        )
        .collect();
    recorder.close().unwrap();
    let tape = std::fs::read(&path).unwrap();
    let (made, own) = (live[2]["raised"].clone(), live.len());
    assert_eq!((made, own), (json!(true), events.len()));
    drop((runtime, project));
    let played = play(&tape).unwrap();
    let replayed: Vec<Value> = played
        .dispatches
        .iter()
        .map(|dispatch| told(&dispatch.outcome().unwrap()))
        .collect();
    assert_eq!(replayed, live);
}

#[test]
fn hn_052_two_replays_are_the_same_byte_for_byte() {
    let (project, own, events) = everything();
    let tape = record(Runtime::builder(project.path()).harn(own), &events);
    let empty = tempfile::tempdir().unwrap();
    let path = empty.path().join("run.tape");
    std::fs::write(&path, &tape).unwrap();
    let path = path.to_str().unwrap();
    let [once, again] = [(); 2].map(|()| hookbox(&["replay", path, "--json"]));
    let text = String::from_utf8(once.stdout.clone()).unwrap();
    assert_eq!(once.status.code(), Some(0), "{text}");
    assert_eq!(text.lines().count(), events.len(), "{text}");
    assert_eq!(once.stdout, again.stdout);
    let canonical = |bytes: &[u8]| -> Vec<String> {
        let dispatches = play(bytes).unwrap().dispatches;
        let mut outcomes = dispatches.iter().map(|dispatch| dispatch.outcome());
        let text =
            |outcome: Outcome| hookbox::canonical::text(&serde_json::to_value(outcome).unwrap());
        outcomes
            .by_ref()
            .map(|outcome| text(outcome.unwrap()))
            .collect()
    };
    assert_eq!(canonical(&tape), canonical(&tape));
}

/// Runs today's hooks in the world of a tape.
fn check(builder: RuntimeBuilder, tape: &[u8]) -> Vec<Verdict> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    std::fs::write(&path, tape).unwrap();
    let checker = Checker::load(builder).unwrap();
    let mut all = Vec::new();
    checker
        .check_all(&mut Replay::open(&path).unwrap(), |seen| match seen {
            Seen::Checked(_, checked) => all.push(checked.verdict),
            Seen::Other(other) => panic!("{other:?}"),
        })
        .unwrap();
    all
}

#[test]
fn hn_051_the_same_hooks_decide_the_same_again_and_others_are_found() {
    let (project, own, events) = everything();
    let tape = record(Runtime::builder(project.path()).harn(own.clone()), &events);
    let verdicts = check(Runtime::builder(project.path()).harn(own.clone()), &tape);
    assert_eq!(verdicts, [Verdict::Kept; 8]);
    let module = std::fs::read_to_string(project.path().join("policy.star")).unwrap();
    project.file(
        "policy.star",
        module.replace("{\"deny\": \"rm is refused\"}", "None"),
    );
    let verdicts = check(Runtime::builder(project.path()).harn(own), &tape);
    assert_eq!(verdicts[4], Verdict::NewlyAllowed);
    assert_eq!(
        verdicts.iter().filter(|one| **one != Verdict::Kept).count(),
        1
    );
}
