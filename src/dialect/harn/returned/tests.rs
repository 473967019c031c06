use proptest::prelude::*;
use serde_json::json;

use super::super::events::{CATALOGUE, find};
use super::super::testing::any_json;
use super::*;

/// What every value means on every kind of event:
/// - `block`, `args`, `result`, `output`, `decide`: the verdict of that name
/// - `vain`: a veto without effect, with a warning
/// - `heard`: a decision without effect, with a warning
/// - `remind`: a reminder and nothing else
const TABLE: &str = r#"
returned                                 | PreToolUse | PostToolUse | PreStep | PostStep | persona | advisory | block  | asked
null                                     | allow      | allow       | allow   | allow    | allow   | allow    | allow  | allow
true                                     | allow      | allow       | allow   | allow    | allow   | allow    | allow  | allow
false                                    | block      | vain        | block   | block    | block   | vain     | block  | block
{"block":true}                           | block      | vain        | block   | block    | block   | vain     | block  | block
{"block":true,"reason":"no"}             | block      | vain        | block   | block    | block   | vain     | block  | block
{"block":"yes","reason":null}            | block      | vain        | block   | block    | block   | vain     | block  | block
{"block":false,"reason":"no"}            | allow      | allow       | allow   | allow    | allow   | allow    | allow  | allow
{"block":null}                           | allow      | allow       | allow   | allow    | allow   | allow    | allow  | allow
{"block":0}                              | allow      | allow       | allow   | allow    | allow   | allow    | allow  | allow
{"decision":"allow"}                     | heard      | heard       | heard   | heard    | heard   | heard    | heard  | decide
{"decision":"deny","reason":"no"}        | heard      | heard       | heard   | heard    | heard   | heard    | heard  | decide
{"decision":"ask"}                       | heard      | heard       | heard   | heard    | heard   | heard    | heard  | decide
{"deny":"no"}                            | block      | error       | block   | block    | block   | error    | error  | error
{"args":{"a":1}}                         | args       | error       | args    | error    | error   | error    | error  | error
{"args":null}                            | error      | error       | args    | error    | error   | error    | error  | error
{"args":[1]}                             | error      | error       | args    | error    | error   | error    | error  | error
"text"                                   | error      | result      | error   | error    | error   | error    | error  | error
{"result":{"a":1}}                       | error      | result      | error   | error    | error   | error    | error  | error
{"result":null}                          | error      | result      | error   | error    | error   | error    | error  | error
{"output":"text"}                        | error      | error       | error   | output   | error   | error    | error  | error
{"body":"b"}                             | remind     | remind      | remind  | remind   | remind  | remind   | remind | remind
{"reminder":{"body":"b"}}                | remind     | remind      | remind  | remind   | remind  | remind   | remind | remind
{"reminder":{"body":"b"},"then":true}    | remind     | remind      | remind  | remind   | remind  | remind   | remind | remind
[{"reminder":{"body":"b"}}]              | error      | error       | error   | error    | error   | remind   | remind | remind
[]                                       | error      | error       | error   | error    | error   | allow    | allow  | allow
{}                                       | error      | error       | error   | error    | error   | error    | error  | error
42                                       | error      | error       | error   | error    | error   | error    | error  | error
[true]                                   | error      | error       | error   | error    | error   | error    | error  | error
[{"body":"b"}]                           | error      | error       | error   | error    | error   | error    | error  | error
[{"reminder":{"body":"b"},"then":null}]  | error      | error       | error   | error    | error   | error    | error  | error
{"reason":"no"}                          | error      | error       | error   | error    | error   | error    | error  | error
{"modify":{}}                            | error      | error       | error   | error    | error   | error    | error  | error
{"then":true}                            | error      | error       | error   | error    | error   | error    | error  | error
{"tags":["x"]}                           | error      | error       | error   | error    | error   | error    | error  | error
{"block":true,"why":"no"}                | error      | error       | error   | error    | error   | error    | error  | error
{"block":true,"reason":1}                | error      | error       | error   | error    | error   | error    | error  | error
{"block":false,"reason":1}               | error      | error       | error   | error    | error   | error    | error  | error
{"block":true,"decision":"deny"}         | error      | error       | error   | error    | error   | error    | error  | error
{"decision":"maybe"}                     | error      | error       | error   | error    | error   | error    | error  | error
{"decision":null}                        | error      | error       | error   | error    | error   | error    | error  | error
{"decision":"deny","reason":["no"]}      | error      | error       | error   | error    | error   | error    | error  | error
{"deny":true}                            | error      | error       | error   | error    | error   | error    | error  | error
{"deny":null}                            | error      | error       | error   | error    | error   | error    | error  | error
{"deny":"no","args":{}}                  | error      | error       | error   | error    | error   | error    | error  | error
{"args":{},"more":1}                     | error      | error       | error   | error    | error   | error    | error  | error
{"result":1,"truncated":true}            | error      | error       | error   | error    | error   | error    | error  | error
{"body":""}                              | error      | error       | error   | error    | error   | error    | error  | error
{"body":"b","block":true}                | error      | error       | error   | error    | error   | error    | error  | error
{"reminder":"b"}                         | error      | error       | error   | error    | error   | error    | error  | error
{"reminder":{"body":"b"},"block":true}   | error      | error       | error   | error    | error   | error    | error  | error
{"reminder":{"body":"b"},"then":42}      | error      | error       | error   | error    | error   | error    | error  | error
"#;

fn column(event: &Info) -> &'static str {
    match (event.name, event.veto) {
        ("PreToolUse", _) => "PreToolUse",
        ("PostToolUse", _) => "PostToolUse",
        ("PreStep", _) => "PreStep",
        ("PostStep", _) => "PostStep",
        (_, Veto::Advisory) => "advisory",
        (_, Veto::Block) => "block",
        (_, Veto::Decision) => "asked",
        _ => "persona",
    }
}

fn cell(result: &Result<Control, Failure>) -> &'static str {
    let Ok(control) = result else {
        return "error";
    };
    let word = control.word;
    assert!(control.warnings.len() <= 1);
    let (cell, fits) = match &control.verdict {
        Verdict::Allow if !control.reminders.is_empty() => ("remind", word == "allow"),
        Verdict::Allow if control.warnings.is_empty() => ("allow", word == "allow"),
        Verdict::Allow if word == "block" => ("vain", true),
        Verdict::Allow => ("heard", word.starts_with("decision_")),
        Verdict::Block(_) => ("block", word == "block"),
        Verdict::Decide(..) => ("decide", word.starts_with("decision_")),
        Verdict::Args(_) => ("args", word == "modify"),
        Verdict::Result(_) => ("result", word == "modify"),
        Verdict::Output(_) => ("output", word == "modify"),
    };
    assert!(fits, "{cell} with {word}");
    cell
}

#[test]
fn hn_035_hn_041_every_value_on_every_event() {
    let mut lines = TABLE
        .trim()
        .lines()
        .map(|line| line.split('|').map(str::trim));
    let head: Vec<_> = lines.next().unwrap().collect();
    for line in lines {
        let cells: Vec<_> = line.collect();
        let value = serde_json::from_str(cells[0]).unwrap();
        for event in &CATALOGUE {
            let at = head.iter().position(|name| *name == column(event)).unwrap();
            let result = control(event, &value);
            assert_eq!(
                cell(&result),
                cells[at],
                "{} {value}: {result:?}",
                event.name
            );
            if let Err(failure) = result {
                assert_eq!(failure.cause, Cause::BadAnswer);
                assert!(failure.message.contains(event.name), "{failure}");
            }
        }
    }
}

fn on(event: &str, returned: &Value) -> Control {
    control(find(event).unwrap(), returned).unwrap()
}

fn wrong(event: &str, returned: &Value) -> String {
    control(find(event).unwrap(), returned).unwrap_err().message
}

fn bodies(control: &Control) -> Vec<&str> {
    let bodies = control.reminders.iter().map(|reminder| &*reminder.body);
    bodies.collect()
}

fn block(reason: &str) -> Verdict {
    Verdict::Block(reason.to_owned())
}

#[test]
fn hn_005_pre_tool_use_denies_with_its_reason() {
    let control = on("PreToolUse", &json!({"deny": "exec is gated"}));
    assert_eq!(control.verdict, block("exec is gated"));
    assert_eq!(control.word, "block");
    let blank = on("PreToolUse", &json!({"deny": " "}));
    assert_eq!(
        blank.verdict,
        block("PreToolUse hook blocked the operation")
    );
}

#[test]
fn hn_006_pre_tool_use_replaces_the_arguments() {
    let control = on("PreToolUse", &json!({"args": {"path": "b"}}));
    assert_eq!(control.verdict, Verdict::Args(json!({"path": "b"})));
    assert_eq!(
        wrong("PreToolUse", &json!({"args": "b"})),
        "PreToolUse hook returned {args} with the string \"b\"; args must be a dict of all arguments of the tool"
    );
}

#[test]
fn hn_007_hn_008_post_tool_use_replaces_the_result() {
    let text = on("PostToolUse", &json!("short"));
    assert_eq!(text.verdict, Verdict::Result(json!("short")));
    assert_eq!(text, on("PostToolUse", &json!({"result": "short"})));
    let any = on("PostToolUse", &json!({"result": [1]}));
    assert_eq!(any.verdict, Verdict::Result(json!([1])));
}

#[test]
fn hn_013_tool_hooks_may_remind() {
    let spec = json!({"reminder": {"body": "Network fetch is about to run", "tags": ["tool"]}});
    for event in ["PreToolUse", "PostToolUse"] {
        let control = on(event, &spec);
        assert_eq!(control.verdict, Verdict::Allow);
        assert_eq!(bodies(&control), ["Network fetch is about to run"]);
        assert_eq!(control.reminders[0].tags, ["tool"]);
    }
}

#[test]
fn hn_017_persona_hooks_deny() {
    for event in CATALOGUE
        .iter()
        .filter(|info| info.surface == Surface::Persona)
    {
        let control = on(event.name, &json!({"deny": "not now"}));
        assert_eq!(control.verdict, block("not now"), "{}", event.name);
    }
}

#[test]
fn hn_018_steps_change_their_arguments_and_output() {
    let args = on("PreStep", &json!({"args": [1]}));
    assert_eq!(args.verdict, Verdict::Args(json!([1])));
    let output = on("PostStep", &json!({"output": "x"}));
    assert_eq!(output.verdict, Verdict::Output(json!("x")));
}

#[test]
fn hn_019_a_reminder_with_an_unknown_key_is_an_error() {
    let expected = "unknown reminder option(s): colour; the options are";
    for returned in [
        json!({"body": "b", "colour": 1}),
        json!({"reminder": {"body": "b", "colour": 1}}),
        json!([{"reminder": {"body": "b", "colour": 1}}]),
    ] {
        let message = wrong("session_start", &returned);
        assert!(message.starts_with(expected), "{message}");
        assert!(
            message.ends_with("(returned by the SessionStart hook)"),
            "{message}"
        );
    }
}

#[test]
fn hn_020_a_reminder_and_then_something_else() {
    let returned = json!({
        "reminder": {"body": "Audit step is running", "tags": ["audit"]},
        "then": {"args": {"depth": 2}}
    });
    let control = on("PreStep", &returned);
    assert_eq!(control.verdict, Verdict::Args(json!({"depth": 2})));
    assert_eq!(control.word, "modify");
    assert_eq!(bodies(&control), ["Audit step is running"]);

    let returned =
        json!({"reminder": {"body": "1"}, "then": {"reminder": {"body": "2"}, "then": false}});
    let control = on("pre_compact", &returned);
    assert_eq!(control.verdict, block("PreCompact hook returned false"));
    assert_eq!(bodies(&control), ["1", "2"]);
}

#[test]
fn hn_020_reminders_are_not_wrapped_for_ever() {
    let nested = |levels: usize| {
        let wrap = |then, _| json!({"reminder": {"body": "b"}, "then": then});
        (0..levels).fold(Value::Null, wrap)
    };
    assert_eq!(on("PreStep", &nested(32)).reminders.len(), 32);
    let message = wrong("PreStep", &nested(33));
    assert!(
        message.starts_with("PreStep hook reminder return nested too deeply"),
        "{message}"
    );
}

#[test]
fn hn_021_hn_022_hn_025_hn_026_hn_028_hn_029_hn_030_hn_031_hn_032_hn_033_hn_034_advisory_events_refuse_nothing()
 {
    for event in [
        "session_start",
        "session_end",
        "post_compact",
        "post_turn",
        "permission_replied",
        "file_edited",
        "session_error",
        "session_idle",
        "pre_finish",
        "on_unsettled_detected",
        "post_finish",
    ] {
        let name = find(event).unwrap().name;
        let control = on(event, &json!({"block": true, "reason": "no"}));
        assert_eq!((control.verdict, control.word), (Verdict::Allow, "block"));
        let warning = format!("{name} is advisory: the veto is recorded and refuses nothing (no)");
        assert_eq!(control.warnings, [warning]);
    }
    let late = on("PostToolUse", &json!(false));
    assert!(late.warnings[0].starts_with("PostToolUse comes after the tool has run:"));
}

#[test]
fn hn_023_hn_024_prompts_and_compactions_can_be_refused() {
    for (event, name) in [
        ("user_prompt_submit", "UserPromptSubmit"),
        ("pre_compact", "PreCompact"),
    ] {
        let control = on(event, &json!({"block": true, "reason": "policy"}));
        assert_eq!(control.verdict, block("policy"));
        let control = on(event, &json!({"block": true}));
        assert_eq!(
            control.verdict,
            block(&format!("{name} hook blocked the operation"))
        );
    }
}

#[test]
fn hn_027_permission_asked_is_decided() {
    for (word, permission, said) in [
        ("allow", Permission::Allow, "decision_allow"),
        ("deny", Permission::Deny, "decision_deny"),
        ("ask", Permission::Ask, "decision_ask"),
    ] {
        let control = on(
            "permission_asked",
            &json!({"decision": word, "reason": "because"}),
        );
        let reason = Some("because".to_owned());
        assert_eq!(control.verdict, Verdict::Decide(permission, reason));
        assert_eq!(control.word, said);
        let control = on("permission_asked", &json!({"decision": word}));
        assert_eq!(control.verdict, Verdict::Decide(permission, None));
    }
}

#[test]
fn hn_035_nil_and_true_allow() {
    for event in &CATALOGUE {
        for returned in [json!(null), json!(true)] {
            assert_eq!(
                control(event, &returned).unwrap(),
                said("allow", Verdict::Allow)
            );
        }
    }
}

#[test]
fn hn_036_false_is_a_veto_with_a_reason_of_its_own() {
    let control = on("user_prompt_submit", &json!(false));
    assert_eq!(
        control.verdict,
        block("UserPromptSubmit hook returned false")
    );
}

#[test]
fn hn_037_a_block_keeps_its_reason() {
    let control = on(
        "UserPromptSubmit",
        &json!({"block": 1, "reason": "policy violation"}),
    );
    assert_eq!(control.verdict, block("policy violation"));
    let blank = on("UserPromptSubmit", &json!({"block": 1, "reason": " "}));
    assert_eq!(
        blank.verdict,
        block("UserPromptSubmit hook blocked the operation")
    );
}

#[test]
fn hn_038_a_decision_elsewhere_is_recorded_only() {
    let control = on(
        "user_prompt_submit",
        &json!({"decision": "deny", "reason": "no"}),
    );
    assert_eq!(
        (control.verdict, control.word),
        (Verdict::Allow, "decision_deny")
    );
    assert_eq!(
        control.warnings,
        [
            "the UserPromptSubmit hook returned a decision, which only permission_asked honours: \
             it is recorded, and the event passes; return null to allow or {block: true, reason: \"why\"} to refuse"
        ]
    );
}

#[test]
fn hn_038_other_words_are_errors() {
    assert_eq!(
        wrong("permission_asked", &json!({"decision": "maybe"})),
        "hook `decision` must be \"allow\", \"deny\", or \"ask\"; got the string \"maybe\" from the PermissionAsked hook"
    );
}

#[test]
fn hn_039_a_bare_reminder_lets_the_event_pass() {
    let control = on(
        "post_turn",
        &json!({"body": "b", "tags": ["t"], "dedupe_key": "k"}),
    );
    assert_eq!(control.verdict, Verdict::Allow);
    assert_eq!(bodies(&control), ["b"]);
    assert_eq!(control.reminders[0].dedupe_key.as_deref(), Some("k"));
}

#[test]
fn hn_040_a_list_keeps_the_latest_of_each_key() {
    let returned = json!([
        {"reminder": {"body": "old", "dedupe_key": "k"}},
        {"reminder": {"body": "other"}},
        {"reminder": {"body": "new", "dedupe_key": "k"}},
    ]);
    let control = on("session_start", &returned);
    assert_eq!(bodies(&control), ["other", "new"]);

    let wrapped = json!({"reminder": {"body": "oldest", "dedupe_key": "k"}, "then": returned});
    assert_eq!(bodies(&on("session_start", &wrapped)), ["other", "new"]);
}

#[test]
fn hn_041_an_error_says_what_came_and_what_to_return() {
    assert_eq!(
        wrong("session_start", &json!(42)),
        "SessionStart hook must return nil, bool, or a control dict; got the number 42; \
         return null, because nothing can be refused here; {reminder: {body: \"text\"}} tells the model something"
    );
    assert_eq!(
        wrong("PreToolUse", &json!({"denied": "x", "why": 1})),
        "PreToolUse hook must return nil, bool, or a control dict; got a dict with the keys denied, why; \
         return null to allow, {deny: \"why\"} to refuse or {args: {...}} to change the arguments; \
         {reminder: {body: \"text\"}} tells the model something"
    );
    assert_eq!(
        wrong("file_edited", &json!([{"reminder": {"body": "b"}}, 1])),
        "FileEdited hook returned a list whose item 1 is the number 1; \
         each has to be {reminder: {body: \"text\"}} and nothing else"
    );
}

#[test]
fn hn_041_an_error_shows_little_of_what_came() {
    let long = "secret\n".repeat(10_000);
    let mut many = Map::new();
    for number in 0..10_000 {
        many.insert(format!("key {number}"), Value::Null);
    }
    let mut key = Map::new();
    key.insert(long.clone(), Value::Null);
    for returned in [
        json!(long.clone()),
        many.into(),
        key.into(),
        json!({"decision": long}),
    ] {
        let message = wrong("session_start", &returned);
        assert!(message.chars().count() < 500, "{message}");
        assert!(
            message.contains('…') && !message.contains('\n'),
            "{message}"
        );
    }
}

#[test]
fn hn_053_hn_054_the_examples() {
    let secret = json!({"block": true, "reason": "policy violation: secret in prompt"});
    let control = on("user_prompt_submit", &secret);
    assert_eq!(control.verdict, block("policy violation: secret in prompt"));

    let root = json!({"decision": "deny", "reason": "exec_root never runs unattended"});
    let reason = Some("exec_root never runs unattended".to_owned());
    let control = on("permission_asked", &root);
    assert_eq!(control.verdict, Verdict::Decide(Permission::Deny, reason));
}

proptest! {
    #[test]
    fn no_value_makes_it_panic(returned in any_json()) {
        for event in &CATALOGUE {
            let _ = control(event, &returned);
        }
    }
}
