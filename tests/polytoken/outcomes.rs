//! What outcomes mean beyond the table: what they leave for the model, how several hooks
//! on one event come together, and components that answer in the words of the contract.

use hookbox::decision::{Effect, Placement};
use hookbox::failure::Cause;
use hookbox::{Outcome, Ruling, Runtime};
use serde_json::{Value, json};

use crate::support::programs::{PLACES, Place, Says};
use crate::support::{Project, answer, component};
use crate::{bash, builder, every_event, fire, load, loaded, native, project, tool, wasm, write};

/// Loads a project whose only hook says something.
fn saying(event: &str, place: Place, says: &Says) -> (Project, Runtime) {
    let project = Project::new();
    let handler = says.polytoken(&project, place, "says");
    write(
        &project,
        json!([{"name": "probe", "event": event, "handler": handler}]),
    );
    let runtime = load(&project);
    (project, runtime)
}

fn payload_of(event: &str) -> Value {
    let all = every_event();
    let found = all.iter().find(|(name, _)| *name == event);
    found.unwrap().1.clone()
}

/// What comes of an event whose only hook says something, in both places.
fn twice(event: &str, says: &Says) -> (Value, Outcome) {
    let [process, component] = PLACES.map(|place| {
        let (_project, runtime) = saying(event, place, says);
        let (outcome, later) = fire(&runtime, event, payload_of(event));
        let answer = native(&runtime, &outcome);
        (answer, later.into_iter().next().unwrap_or(outcome))
    });
    assert_eq!(process.0, component.0, "{event}: {says:?}");
    assert_eq!(process.1.decision, component.1.decision);
    assert_eq!(process.1.reason, component.1.reason);
    assert_eq!(process.1.said, component.1.said);
    assert_eq!(process.1.effects, component.1.effects);
    assert_eq!(process.1.warnings, component.1.warnings);
    assert_eq!(process.1.trace[0].error, component.1.trace[0].error);
    assert_eq!(process.1.trace[0].cause, component.1.trace[0].cause);
    process
}

fn outcome_of(event: &str, object: Value) -> (Value, Outcome) {
    twice(event, &Says::new(&object.to_string(), "", 0))
}

fn error_of(outcome: &Outcome) -> &str {
    outcome.trace[0].error.as_deref().unwrap_or_default()
}

#[test]
fn pt_042_a_decision_is_a_single_object_with_an_outcome() {
    let one = r#"{"outcome":"allow"}"#;
    for text in [
        &format!("{one}{one}"),
        &format!("[{one}]"),
        "allow",
        "7",
        "{}",
        "\u{feff}{\"outcome\":\"allow\"}",
    ] {
        let (answer, outcome) = twice("pre_tool_use", &Says::new(text, "", 0));
        assert_eq!(answer["outcome"], "deny", "{text}");
        assert_eq!(outcome.trace[0].cause, Some(Cause::BadAnswer), "{text}");
    }
    assert_eq!(
        twice("pre_tool_use", &Says::new(one, "", 0)).0,
        json!({"outcome": "allow"})
    );
}

#[test]
fn pt_043_an_outcome_of_another_event_is_an_error() {
    let (answer, outcome) = outcome_of("stop", json!({"outcome": "deny", "reason": "x"}));
    assert_eq!(
        answer["outcome"], "continue",
        "an error keeps the turn from going back"
    );
    assert!(error_of(&outcome).contains("has the outcome \"deny\", which stop does not know"));
}

#[test]
fn pt_044_a_field_that_the_event_does_not_read_is_an_error() {
    let (answer, outcome) = outcome_of("pre_tool_use", json!({"outcome": "allow", "x": 1}));
    assert_eq!(answer["outcome"], "deny");
    assert!(error_of(&outcome).contains("has the field \"x\", which \"allow\" does not read"));
}

#[test]
fn pt_053_a_suppression_needs_no_reason_and_is_no_refusal() {
    for event in ["notification", "pre_compaction"] {
        for says in [
            json!({"outcome": "suppress"}),
            json!({"outcome": "suppress", "reason": "quiet"}),
        ] {
            let (answer, outcome) = outcome_of(event, says);
            assert_eq!(answer["outcome"], "suppress");
            assert_eq!(outcome.decision, Ruling::Block);
            assert_eq!(outcome.said.unwrap().verb, "suppress");
            assert!(outcome.warnings.is_empty());
        }
    }
}

#[test]
fn pt_054_additional_context_is_a_reminder_by_the_system() {
    for (event, word) in [
        ("session_start", "allow"),
        ("pre_user_prompt", "accept"),
        ("pre_model_turn", "proceed"),
    ] {
        let (_, outcome) = outcome_of(
            event,
            json!({"outcome": word, "additional_context": "mind the tests"}),
        );
        let text = "mind the tests".to_owned();
        let placement = Placement::SystemReminder;
        assert_eq!(outcome.effects, [Effect::Context { text, placement }]);
    }
}

#[test]
fn pt_055_texts_go_before_and_after_the_summary_of_a_compaction() {
    for (event, field, placement) in [
        (
            "pre_compaction",
            "prepend_to_prompt",
            Placement::PrependToPrompt,
        ),
        (
            "post_compaction",
            "append_to_output",
            Placement::AppendToOutput,
        ),
    ] {
        let (answer, outcome) =
            outcome_of(event, json!({"outcome": "allow", field: "keep the names"}));
        assert_eq!(answer, json!({"outcome": "allow", field: "keep the names"}));
        let text = "keep the names".to_owned();
        assert_eq!(outcome.effects, [Effect::Context { text, placement }]);
    }
}

#[test]
fn pt_056_four_outcomes_carry_what_a_script_printed() {
    for (event, word) in [
        ("pre_tool_use", "deny"),
        ("pre_user_prompt", "reject"),
        ("pre_model_turn", "retry"),
        ("stop", "continue"),
    ] {
        let says = json!({"outcome": word, "reason": "r", "stdout": "o", "stderr": "e"});
        let (answer, outcome) = outcome_of(event, says.clone());
        assert_eq!(answer, says);
        assert_eq!(outcome.reason.as_deref(), Some("r"));
    }
    for (event, word) in [
        ("pre_compaction", "cancel"),
        ("pre_compaction", "suppress"),
        ("notification", "suppress"),
        ("pre_tool_use", "allow"),
    ] {
        for field in ["stdout", "stderr"] {
            let (_, outcome) = outcome_of(event, json!({"outcome": word, field: "o"}));
            assert!(
                error_of(&outcome).contains("does not read"),
                "{word}, {field}"
            );
        }
    }
}

#[test]
fn pt_057_a_handler_in_the_background_acknowledges() {
    for event in [
        "post_model_turn",
        "post_tool_use",
        "post_tool_use_failure",
        "facet_switch",
        "subagent_start",
        "subagent_stop",
    ] {
        for says in [
            Says::new(r#"{"outcome":"acknowledged"}"#, "", 0),
            Says::default(),
        ] {
            let (answer, later) = twice(event, &says);
            assert_eq!(answer, json!({"outcome": "acknowledged"}));
            assert_eq!(later.trace[0].decision, Some(Ruling::Allow));
            assert!(later.warnings.is_empty() && error_of(&later).is_empty());
        }
    }
}

#[test]
fn pt_058_an_error_in_the_background_is_reported_and_changes_nothing() {
    let (answer, later) = twice("post_tool_use", &Says::new("", "disk full\n", 1));
    assert_eq!(answer, json!({"outcome": "acknowledged"}));
    assert_eq!(later.decision, Ruling::Allow);
    assert_eq!(
        error_of(&later),
        "hook error: the handler exited with code 1: disk full"
    );
    assert_eq!(later.warnings.len(), 1);
    assert!(later.warnings[0].contains("disk full"));
}

#[test]
fn pt_059_any_handler_may_say_that_it_could_not_decide() {
    for (event, _) in every_event() {
        let says = json!({"outcome": "error", "message": "the list is gone"});
        let (answer, outcome) = outcome_of(event, says);
        assert_eq!(
            error_of(&outcome),
            "hook error: the list is gone",
            "{event}"
        );
        let closed = ["pre_tool_use", "pre_model_turn", "stop", "pre_compaction"].contains(&event);
        assert_eq!(outcome.decision == Ruling::Block, closed, "{event}");
        let told = answer["reason"]
            .as_str()
            .unwrap_or_default()
            .contains("the list is gone");
        assert_eq!(told, closed, "{event}");
    }
}

#[test]
fn pt_060_a_gate_that_cannot_decide_stays_closed() {
    for (event, verb) in [
        ("pre_tool_use", "deny"),
        ("pre_model_turn", "retry"),
        ("stop", "continue"),
        ("pre_compaction", "cancel"),
    ] {
        let (answer, outcome) = twice(event, &Says::new("", "", 1));
        assert_eq!(outcome.decision, Ruling::Block, "{event}");
        assert_eq!(
            answer,
            json!({"outcome": verb, "reason": "hook \"probe\" failed: hook error: the handler exited with code 1"})
        );
    }
}

#[test]
fn pt_061_some_events_go_on_and_say_so() {
    for (event, verb) in [
        ("pre_user_prompt", "accept"),
        ("notification", "allow"),
        ("post_compaction", "allow"),
        ("session_start", "allow"),
    ] {
        let (answer, outcome) = twice(event, &Says::new("", "", 1));
        assert_eq!(
            (outcome.decision, answer),
            (Ruling::Allow, json!({"outcome": verb})),
            "{event}"
        );
        assert_eq!(outcome.warnings.len(), 1, "{event}");
    }
}

#[test]
fn pt_062_no_output_and_no_error_lets_the_event_go_on() {
    for (event, verb) in [
        ("session_start", "allow"),
        ("pre_user_prompt", "accept"),
        ("pre_model_turn", "proceed"),
        ("post_model_turn", "acknowledged"),
        ("pre_tool_use", "allow"),
        ("stop", "stop"),
        ("pre_compaction", "allow"),
        ("post_compaction", "allow"),
        ("notification", "allow"),
    ] {
        let (answer, outcome) = twice(event, &Says::default());
        assert_eq!(
            (outcome.decision, answer),
            (Ruling::Allow, json!({"outcome": verb}))
        );
    }
}

#[test]
fn pt_063_exit_2_stops_the_event_and_the_model_sees_what_was_printed() {
    let (answer, outcome) = twice(
        "pre_tool_use",
        &Says::new("not that file\n", "line 1\n  line 2\n", 2),
    );
    assert_eq!(outcome.decision, Ruling::Block);
    assert_eq!(
        answer,
        json!({"outcome": "deny", "reason": "not that file", "stdout": "not that file", "stderr": "line 1\n  line 2"})
    );
}

#[test]
fn pt_063_what_was_printed_is_kept_as_it_is() {
    for text in [
        "tabs\tand ünïcode \u{1F980}",
        "\u{1b}[31mred\u{1b}[0m",
        "a\u{0}b",
        &"long ".repeat(2_000),
    ] {
        let (answer, _) = twice("pre_tool_use", &Says::new(text, "", 2));
        assert_eq!(answer["stdout"], text.trim(), "{text:?}");
        let (answer, _) = twice("pre_tool_use", &Says::new("", text, 2));
        assert_eq!(answer["reason"], text.trim(), "{text:?}");
    }
    let lines = "a\r\n\r\n\n  b";
    let (answer, _) = twice("pre_tool_use", &Says::new(lines, "", 2));
    assert_eq!(answer["reason"], lines);
}

#[test]
fn pt_064_exit_2_is_an_error_where_nothing_can_be_stopped() {
    // Nothing but `suppress` holds a notification back, and that has to be said.
    for event in [
        "session_start",
        "post_compaction",
        "notification",
        "post_tool_use",
    ] {
        let (answer, outcome) = twice(event, &Says::new("", "no", 2));
        assert_eq!(outcome.decision, Ruling::Allow, "{event}");
        assert!(answer["outcome"] != "suppress");
        assert_eq!(
            error_of(&outcome),
            format!(
                "hook error: the handler exited with code 2, and {event} has no outcome that stops it: no"
            )
        );
    }
}

#[test]
fn pt_065_any_other_exit_is_an_error_with_standard_error_in_it() {
    let (answer, outcome) = twice("pre_tool_use", &Says::new("out", "boom\n", 7));
    assert_eq!(
        error_of(&outcome),
        "hook error: the handler exited with code 7: boom"
    );
    assert!(answer["reason"].as_str().unwrap().contains("boom"));
}

/// The example of the documentation, word for word.
const PROTECT: &str = r#"[ { "name": "protect-changelog", "event": "pre_tool_use", "matcher": "file_edit_search_replace", "handler": { "bash": "test \"$(jq -r '.input.path // empty')\" = CHANGELOG.md && { echo 'CHANGELOG.md is generated; do not edit it by hand.'; exit 2; }; exit 0" } }]"#;

#[test]
fn pt_066_the_worked_example_protects_the_changelog_in_both_places() {
    let script = Project::new();
    script.file(".polytoken/hooks.json", PROTECT);
    let mut hooks: Value = serde_json::from_str(PROTECT).unwrap();
    hooks[0]["handler"] = json!({"wasm": "protect.wasm"});
    let component = project(hooks);
    let look = "(if (call $has (local.get $size) (i32.const 1024) (i32.const 21)) (then
                  (call $print (i32.const 1) (i32.const 2048) (i32.const 51))
                  (call $exit (i32.const 2))))";
    component.file(".polytoken/protect.wasm", wasm(look));
    let sandboxed = Runtime::load(component.path()).unwrap();
    for runtime in [load(&script), sandboxed] {
        for (name, path, denied) in [
            ("file_edit_search_replace", "CHANGELOG.md", true),
            ("file_edit_search_replace", "README.md", false),
            ("file_edit_search_replace", "docs/CHANGELOG.md", false),
            ("file_read", "CHANGELOG.md", false),
            ("file_edit_insert", "CHANGELOG.md", false),
        ] {
            let (outcome, _) = fire(&runtime, "pre_tool_use", tool(name, path));
            let reason = "CHANGELOG.md is generated; do not edit it by hand.";
            let expected = if denied {
                json!({"outcome": "deny", "reason": reason, "stdout": reason})
            } else {
                json!({"outcome": "allow"})
            };
            assert_eq!(native(&runtime, &outcome), expected, "{name} {path}");
        }
        let (outcome, _) = fire(
            &runtime,
            "pre_tool_use",
            json!({"tool_name": "file_edit_search_replace"}),
        );
        assert_eq!(outcome.decision, Ruling::Allow);
    }
}

fn three(first: &Says, second: &Says, third: &Says, place: Place) -> Project {
    let project = Project::new();
    let hooks: Vec<Value> = [("one", first), ("two", second), ("three", third)]
        .into_iter()
        .map(|(name, says)| {
            let handler = says.polytoken(&project, place, name);
            json!({"name": name, "event": "pre_model_turn", "handler": handler})
        })
        .collect();
    write(&project, hooks.into());
    project
}

fn context(text: &str) -> Says {
    Says::new(
        &json!({"outcome": "proceed", "additional_context": text}).to_string(),
        "",
        0,
    )
}

#[test]
fn of_several_hooks_the_first_refusal_counts_and_contexts_add_up() {
    for place in PLACES {
        let project = three(&context("a"), &Says::default(), &context("c"), place);
        let runtime = load(&project);
        let (outcome, _) = fire(&runtime, "pre_model_turn", json!({}));
        assert_eq!(
            native(&runtime, &outcome),
            json!({"outcome": "proceed", "additional_context": "a\nc"})
        );

        let refuses = Says::new("again", "", 2);
        let project = three(&context("a"), &refuses, &Says::new("never", "", 2), place);
        let runtime = load(&project);
        let (outcome, _) = fire(&runtime, "pre_model_turn", json!({}));
        assert_eq!(
            native(&runtime, &outcome),
            json!({"outcome": "retry", "reason": "again", "stdout": "again"})
        );
        assert_eq!(crate::called(&outcome), ["one", "two"]);
        assert_eq!(outcome.hook.as_deref(), Some("two"));

        // One that fails closed is a refusal like any other.
        let project = three(&Says::new("", "", 1), &refuses, &context("c"), place);
        let (outcome, _) = fire(&load(&project), "pre_model_turn", json!({}));
        assert_eq!(crate::called(&outcome), ["one"]);
        assert_eq!(outcome.decision, Ruling::Block);
    }
}

#[test]
fn a_project_may_want_to_hear_all_hooks_and_the_first_refusal_still_counts() {
    for place in PLACES {
        let project = three(
            &Says::new("first", "", 2),
            &context("b"),
            &Says::new("third", "", 2),
            place,
        );
        project.file("hookbox.toml", "[polytoken]\ncollect = \"all\"\n");
        let runtime = load(&project);
        let (outcome, _) = fire(&runtime, "pre_model_turn", json!({}));
        assert_eq!(outcome.stages.dispatch.len(), 3);
        assert_eq!(
            native(&runtime, &outcome),
            json!({"outcome": "retry", "reason": "first", "stdout": "first"})
        );
    }
}

#[test]
fn one_that_fails_open_does_not_keep_the_next_from_refusing() {
    let hooks = json!([
        bash("broken", "pre_user_prompt", "exit 1"),
        bash("guard", "pre_user_prompt", "echo no; exit 2"),
    ]);
    let (_project, runtime) = loaded(hooks);
    let (outcome, _) = fire(&runtime, "pre_user_prompt", json!({"prompt": "x"}));
    assert_eq!(
        native(&runtime, &outcome),
        json!({"outcome": "reject", "reason": "no", "stdout": "no"})
    );
    assert_eq!(outcome.warnings.len(), 1);
}

/// A component in the words of the contract: 0 allows, 1 blocks, 2 modifies, 3 asks.
#[test]
fn a_component_of_the_contract_says_it_in_the_words_of_the_event() {
    let parts = [0, 1, 2, 3].map(|decision| {
        let text = if decision == 2 { "{}" } else { "a reason" };
        component(&answer(decision, text))
    });
    for (event, payload) in every_event() {
        for (decision, bytes) in parts.iter().enumerate() {
            let project =
                project(json!([{"name": "probe", "event": event, "handler": {"wasm": "c.wasm"}}]));
            project.file(".polytoken/c.wasm", bytes);
            let runtime = builder(&project).ask(|_| true).load().unwrap();
            let (outcome, later) = fire(&runtime, event, payload.clone());
            let ran = later.first().unwrap_or(&outcome);
            let told = native(&runtime, &outcome);
            let proceed = match event {
                "pre_user_prompt" => "accept",
                "pre_model_turn" => "proceed",
                "stop" => "stop",
                "session_start" | "pre_tool_use" | "pre_compaction" | "post_compaction"
                | "notification" => "allow",
                _ => "acknowledged",
            };
            let stop = match event {
                "pre_user_prompt" => Some("reject"),
                "pre_model_turn" => Some("retry"),
                "pre_tool_use" => Some("deny"),
                "stop" => Some("continue"),
                "pre_compaction" => Some("cancel"),
                "notification" => Some("suppress"),
                _ => None,
            };
            let case = format!("{event}, {decision}: {told}");
            let closed =
                ["pre_tool_use", "pre_model_turn", "stop", "pre_compaction"].contains(&event);
            match (decision, stop) {
                (0, _) => assert_eq!(told, json!({"outcome": proceed}), "{case}"),
                (1, Some(stop)) => {
                    assert_eq!(
                        told,
                        json!({"outcome": stop, "reason": "a reason"}),
                        "{case}"
                    );
                }
                // What the event has no outcome for is an error.
                _ => {
                    assert_eq!(ran.trace[0].cause, Some(Cause::BadAnswer), "{case}");
                    assert_eq!(outcome.decision == Ruling::Block, closed, "{case}");
                    let word = if closed { stop.unwrap() } else { proceed };
                    assert_eq!(told["outcome"], word, "{case}");
                }
            }
        }
    }
}

/// Programs for wasm32-wasip2 can only say that they failed, so that is a refusal.
#[test]
fn a_program_that_can_only_fail_may_have_meant_to_refuse() {
    for (event, verb) in [
        ("pre_tool_use", "deny"),
        ("pre_user_prompt", "reject"),
        ("session_start", "allow"),
    ] {
        let project =
            project(json!([{"name": "probe", "event": event, "handler": {"wasm": "c.wasm"}}]));
        let failing = wasm_that_fails();
        project.file(".polytoken/c.wasm", failing);
        let runtime = load(&project);
        let (outcome, _) = fire(&runtime, event, payload_of(event));
        assert_eq!(native(&runtime, &outcome)["outcome"], verb, "{event}");
        if verb == "allow" {
            assert_eq!(
                error_of(&outcome),
                "hook error: the handler failed, and session_start has no outcome that stops it"
            );
        }
    }
}

/// A component of the world `wasi:cli/command` whose `run` returns an error.
fn wasm_that_fails() -> Vec<u8> {
    wat::parse_str(
        r#"(component
             (core module $m (func (export "run") (result i32) (i32.const 1)))
             (core instance $i (instantiate $m))
             (func $run (result (result)) (canon lift (core func $i "run")))
             (instance $cli (export "run" (func $run)))
             (export "wasi:cli/run@0.2.0" (instance $cli)))"#,
    )
    .unwrap()
}
