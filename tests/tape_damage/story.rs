//! Stories that cannot have happened, on tapes whose hashes are right; and those that
//! happened, as they are told.

use hookbox::Ruling;
use hookbox::failure::Cause;
use hookbox::tape::{Dispatch, Ending, Entry, Phase};
use serde_json::{Value, json};

use crate::support::tape::{chained, play, recorded, refusal, small_tape, studio, tape, values};
use crate::support::{Project, command, component, component_project, hook_file, module};

const PAYLOAD: &str = r#"{"a":1}"#;

fn header() -> Value {
    values(small_tape())[0].clone()
}

fn start(dispatch: u64) -> Value {
    json!({"kind": "dispatch", "in": dispatch, "event": "custom.x", "id": "e", "depth": 0,
        "payload": PAYLOAD, "session": 0, "time": 1})
}

fn child(dispatch: u64, parent: u64) -> Value {
    let mut record = start(dispatch);
    record["parent"] = json!(parent);
    record["depth"] = json!(1);
    record
}

fn predicate(dispatch: u64, hook: &str) -> Value {
    json!({"kind": "predicate", "in": dispatch, "hook": hook, "matched": true,
        "memory_bytes": 0, "at_us": 0, "took_us": 0})
}

fn failed_predicate(dispatch: u64, hook: &str) -> Value {
    let mut record = predicate(dispatch, hook);
    record["matched"] = json!(false);
    record["failure"] = json!({"cause": "out-of-fuel", "message": "too much"});
    record
}

fn call(dispatch: u64, hook: &str) -> Value {
    json!({"kind": "hook_call", "in": dispatch, "hook": hook, "handler": "starlark",
        "payload": PAYLOAD, "at_us": 0})
}

fn host(dispatch: u64, hook: &str, phase: &str) -> Value {
    json!({"kind": "host_call", "in": dispatch, "hook": hook, "phase": phase,
        "capability": "clock.now", "request": "{}", "answer": "1", "at_us": 0, "took_us": 0})
}

fn returned(dispatch: u64, hook: &str, decision: &str) -> Value {
    let mut record = json!({"kind": "hook_returned", "in": dispatch, "hook": hook,
        "decision": decision, "memory_bytes": 0, "at_us": 0, "took_us": 0});
    match decision {
        "block" | "ask" => record["reason"] = json!("no"),
        "modify" => record["payload"] = json!(PAYLOAD),
        _ => {}
    }
    record
}

fn vetoed(dispatch: u64, hook: &str, decision: &str) -> Value {
    json!({"kind": "hook_vetoed", "in": dispatch, "hook": hook, "decision": decision, "reason": "no"})
}

fn outcome(dispatch: u64, decision: &str) -> Value {
    let mut record = json!({"kind": "outcome", "in": dispatch, "decision": decision,
        "payload": PAYLOAD, "took_us": 0, "trace": [],
        "stages": {"compose": [], "dispatch": [], "filter": [], "return": decision, "sort": []}});
    if matches!(decision, "block" | "ask") {
        record["reason"] = json!("no");
        record["hook"] = json!("a");
    }
    record
}

/// A closed tape that tells this. The first record of the story has number 1.
fn told(story: &[Value]) -> Vec<u8> {
    let footer = json!({"kind": "footer"});
    chained(&[&[header()], story, &[footer]].concat())
}

/// A story that is refused at its last record.
fn refused(story: &[Value]) -> String {
    let message = refusal(&told(story));
    let prefix = format!("record {} does not fit: ", story.len());
    let why = message.strip_prefix(&prefix);
    why.unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn stories_that_can_have_happened_are_accepted() {
    let stories: [(&str, Vec<Value>); 8] = [
        ("nobody cares", vec![start(1), outcome(1, "allow")]),
        (
            "an allow",
            vec![
                start(1),
                predicate(1, "a"),
                host(1, "b", "when"),
                predicate(1, "b"),
                call(1, "a"),
                host(1, "a", "handle"),
                returned(1, "a", "allow"),
                call(1, "b"),
                returned(1, "b", "allow"),
                outcome(1, "allow"),
            ],
        ),
        (
            "a modify",
            vec![
                start(1),
                call(1, "a"),
                returned(1, "a", "modify"),
                outcome(1, "modify"),
            ],
        ),
        (
            "a block",
            vec![
                start(1),
                call(1, "b"),
                returned(1, "b", "allow"),
                call(1, "a"),
                returned(1, "a", "block"),
                vetoed(1, "a", "block"),
                outcome(1, "block"),
            ],
        ),
        (
            "a question",
            vec![
                start(1),
                call(1, "a"),
                returned(1, "a", "ask"),
                vetoed(1, "a", "ask"),
                outcome(1, "ask"),
            ],
        ),
        (
            "a guard that could not be asked",
            vec![
                start(1),
                failed_predicate(1, "a"),
                vetoed(1, "a", "block"),
                outcome(1, "block"),
            ],
        ),
        (
            "two at once",
            vec![
                start(1),
                start(2),
                call(2, "a"),
                call(1, "a"),
                returned(2, "a", "allow"),
                outcome(2, "allow"),
                returned(1, "a", "allow"),
                outcome(1, "allow"),
            ],
        ),
        (
            "one within another",
            vec![
                start(1),
                call(1, "a"),
                child(2, 1),
                outcome(2, "allow"),
                host(1, "a", "handle"),
                returned(1, "a", "allow"),
                outcome(1, "allow"),
            ],
        ),
    ];
    for (name, story) in stories {
        let played = play(&told(&story)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(played.ending, Ending::Closed, "{name}");
    }
}

#[test]
fn attack_a_hook_returned_without_its_hook_call() {
    let expected = r#"the hook_call of "a" is missing"#;
    assert_eq!(refused(&[start(1), returned(1, "a", "allow")]), expected);
    assert_eq!(
        refused(&[start(1), call(1, "b"), returned(1, "a", "allow")]),
        expected
    );
    let twice = [
        start(1),
        call(1, "a"),
        returned(1, "a", "allow"),
        returned(1, "a", "allow"),
    ];
    assert_eq!(refused(&twice), expected);
}

#[test]
fn attack_a_hook_call_without_its_hook_returned() {
    let expected = r#"the hook_returned of "a" is missing"#;
    assert_eq!(refused(&[start(1), call(1, "a"), call(1, "b")]), expected);
    assert_eq!(
        refused(&[start(1), call(1, "a"), outcome(1, "allow")]),
        expected
    );
}

#[test]
fn attack_a_veto_that_is_missing() {
    for next in [
        call(1, "b"),
        outcome(1, "block"),
        returned(1, "a", "allow"),
        host(1, "a", "handle"),
    ] {
        let kind = next["kind"].as_str().unwrap().to_owned();
        assert_eq!(
            refused(&[start(1), call(1, "a"), returned(1, "a", "block"), next]),
            format!(r#"the hook_vetoed of "a" is missing before this {kind}"#)
        );
    }
}

#[test]
fn attack_a_veto_after_an_allow() {
    let expected = r#"hook "a" vetoes, and has not returned that"#;
    for decision in ["allow", "modify"] {
        let story = [
            start(1),
            call(1, "a"),
            returned(1, "a", decision),
            vetoed(1, "a", "block"),
        ];
        assert_eq!(refused(&story), expected);
    }
}

#[test]
fn attack_a_veto_out_of_nowhere() {
    let expected = r#"hook "a" vetoes, and has not returned that"#;
    assert_eq!(refused(&[start(1), vetoed(1, "a", "block")]), expected);
    assert_eq!(
        refused(&[start(1), predicate(1, "a"), vetoed(1, "a", "block")]),
        expected
    );
    assert_eq!(
        refused(&[start(1), failed_predicate(1, "b"), vetoed(1, "a", "block")]),
        expected
    );
    assert_eq!(
        refused(&[start(1), failed_predicate(1, "a"), vetoed(1, "a", "ask")]),
        expected
    );
    assert_eq!(
        refused(&[start(1), call(1, "a"), vetoed(1, "a", "block")]),
        expected
    );
}

#[test]
fn attack_a_veto_that_is_not_the_one_returned() {
    let expected = r#"hook "a" vetoes, and has not returned that"#;
    let blocks = [start(1), call(1, "a"), returned(1, "a", "block")];
    assert_eq!(
        refused(&[&blocks[..], &[vetoed(1, "a", "ask")]].concat()),
        expected
    );
    let mut other = vetoed(1, "a", "block");
    other["reason"] = json!("another reason");
    assert_eq!(refused(&[&blocks[..], &[other]].concat()), expected);
    let by_other = [&blocks[..], &[vetoed(1, "b", "block")]].concat();
    assert_eq!(
        refused(&by_other),
        r#"hook "b" vetoes, and has not returned that"#
    );
}

#[test]
fn attack_two_vetoes() {
    let story = [
        start(1),
        call(1, "a"),
        returned(1, "a", "block"),
        vetoed(1, "a", "block"),
        vetoed(1, "a", "block"),
    ];
    assert_eq!(
        refused(&story),
        r#"hook "a" vetoes, and has not returned that"#
    );
}

#[test]
fn attack_a_hook_that_is_called_after_a_veto() {
    let story = [
        start(1),
        call(1, "a"),
        returned(1, "a", "block"),
        vetoed(1, "a", "block"),
        call(1, "b"),
    ];
    assert_eq!(
        refused(&story),
        "a hook is called after another one has vetoed"
    );
}

#[test]
fn attack_a_predicate_after_a_handler() {
    let story = [start(1), call(1, "a"), predicate(1, "b")];
    assert_eq!(
        refused(&story),
        "a predicate while a handler runs, or after a veto"
    );
}

#[test]
fn attack_a_live_predicate_whose_hook_is_not_called() {
    let begin = [start(1), call(1, "a"), returned(1, "a", "allow")];
    for next in [call(1, "c"), outcome(1, "allow")] {
        let mut story = begin.to_vec();
        story.extend([predicate(1, "b"), next]);
        assert_eq!(refused(&story), r#"the hook_call of "b" is missing"#);
    }
}

#[test]
fn attack_a_hook_that_is_heard_beside_no_veto() {
    let mut heard = call(1, "a");
    heard["collected"] = json!(true);
    assert_eq!(
        refused(&[start(1), heard]),
        "a hook is heard beside a veto that nobody made"
    );
}

#[test]
fn attack_a_last_word_that_is_not_recorded() {
    let mut last = returned(1, "a", "allow");
    last["last"] = json!(true);
    let story = [start(1), call(1, "a"), last, outcome(1, "allow")];
    assert_eq!(
        refused(&story),
        r#"the hook_vetoed of "a" is missing before this outcome"#
    );
}

#[test]
fn attack_a_host_call_of_a_hook_that_does_not_run() {
    let expected = r#"hook "a" is not running"#;
    assert_eq!(refused(&[start(1), host(1, "a", "handle")]), expected);
    assert_eq!(
        refused(&[start(1), call(1, "b"), host(1, "a", "handle")]),
        expected
    );
    assert_eq!(
        refused(&[start(1), call(1, "a"), host(1, "a", "when")]),
        expected
    );
    let late = [
        start(1),
        call(1, "a"),
        returned(1, "a", "allow"),
        host(1, "a", "handle"),
    ];
    assert_eq!(refused(&late), expected);
}

#[test]
fn attack_an_outcome_that_does_not_follow() {
    let expected = "the outcome does not follow from what the hooks decided";
    let allowed = [start(1), call(1, "a"), returned(1, "a", "allow")];
    for decision in ["block", "ask", "modify"] {
        assert_eq!(
            refused(&[&allowed[..], &[outcome(1, decision)]].concat()),
            expected
        );
    }
    let modified = [start(1), call(1, "a"), returned(1, "a", "modify")];
    assert_eq!(
        refused(&[&modified[..], &[outcome(1, "allow")]].concat()),
        expected
    );
    let blocked = [
        start(1),
        call(1, "a"),
        returned(1, "a", "block"),
        vetoed(1, "a", "block"),
    ];
    for decision in ["allow", "ask", "modify"] {
        assert_eq!(
            refused(&[&blocked[..], &[outcome(1, decision)]].concat()),
            expected
        );
    }
    for (field, value) in [("hook", "b"), ("reason", "another")] {
        let mut end = outcome(1, "block");
        end[field] = json!(value);
        assert_eq!(refused(&[&blocked[..], &[end]].concat()), expected);
        let mut end = outcome(1, "allow");
        end[field] = json!(value);
        assert_eq!(refused(&[&allowed[..], &[end]].concat()), expected);
    }
}

#[test]
fn attack_an_outcome_with_effects_that_nobody_wanted() {
    let mut end = outcome(1, "allow");
    end["effects"] = json!([{"kind": "context", "placement": "system_message", "text": "x"}]);
    assert_eq!(
        refused(&[start(1), call(1, "a"), returned(1, "a", "allow"), end]),
        "the outcome has other effects than the hooks wanted"
    );
}

#[test]
fn attack_two_outcomes() {
    let story = [start(1), outcome(1, "allow"), outcome(1, "allow")];
    assert_eq!(
        refused(&story),
        "a outcome of dispatch 1, which has not begun or is over"
    );
}

#[test]
fn attack_a_record_of_a_dispatch_that_has_not_begun() {
    let story = [call(1, "a")];
    assert_eq!(
        refused(&story),
        "a hook_call of dispatch 1, which has not begun or is over"
    );
}

#[test]
fn attack_a_dispatch_that_begins_twice() {
    assert_eq!(
        refused(&[start(1), start(1)]),
        "dispatch 1 has begun already"
    );
}

#[test]
fn attack_another_payload_than_before() {
    let other = |mut record: Value| {
        record["payload"] = json!(r#"{"a":2}"#);
        record
    };
    assert_eq!(
        refused(&[start(1), other(call(1, "a"))]),
        "the hook gets another payload than the hooks before left"
    );
    let modified = [start(1), call(1, "a"), other(returned(1, "a", "modify"))];
    assert_eq!(
        refused(&[&modified[..], &[call(1, "b")]].concat()),
        "the hook gets another payload than the hooks before left"
    );
    assert_eq!(
        refused(&[&modified[..], &[outcome(1, "modify")]].concat()),
        "the outcome has another payload than the hooks before left"
    );
}

#[test]
fn attack_a_decision_with_what_belongs_to_another() {
    let expected = "decision, reason and payload do not belong together";
    for (decision, field, value) in [
        ("allow", "reason", json!("no")),
        ("allow", "payload", json!(PAYLOAD)),
        ("modify", "reason", json!("no")),
        ("block", "payload", json!(PAYLOAD)),
    ] {
        let mut record = returned(1, "a", decision);
        record[field] = value;
        assert_eq!(refused(&[start(1), call(1, "a"), record]), expected);
    }
    for (decision, field) in [
        ("modify", "payload"),
        ("block", "reason"),
        ("ask", "reason"),
    ] {
        let mut record = returned(1, "a", decision);
        record.as_object_mut().unwrap().shift_remove(field);
        assert_eq!(refused(&[start(1), call(1, "a"), record]), expected);
    }
}

#[test]
fn attack_a_dispatch_that_never_ends() {
    for story in [
        vec![start(1)],
        vec![start(1), call(1, "a")],
        vec![start(1), start(2), outcome(1, "allow")],
    ] {
        let begins = if story.len() == 3 { 2 } else { 1 };
        assert_eq!(
            refusal(&told(&story)),
            format!("record {begins} does not fit: the dispatch that begins here never ends")
        );
    }
}

#[test]
fn a_dispatch_that_has_not_ended_yet_is_named_on_an_open_tape() {
    let played = play(&chained(&[
        header(),
        start(1),
        start(2),
        outcome(1, "allow"),
    ]))
    .unwrap();
    assert_eq!((played.ending, played.unfinished), (Ending::Open, vec![2]));
}

#[test]
fn attack_a_child_without_a_parent_that_runs() {
    let expected = "no hook of dispatch 1 runs that could have caused it";
    assert_eq!(refused(&[child(2, 1)]), expected);
    assert_eq!(refused(&[child(1, 1)]), expected);
    assert_eq!(
        refused(&[start(1), outcome(1, "allow"), child(2, 1)]),
        expected
    );
    let between = [
        start(1),
        call(1, "a"),
        returned(1, "a", "allow"),
        child(2, 1),
    ];
    assert_eq!(refused(&between), expected);
}

#[test]
fn attack_more_dispatches_at_once_than_any_machine_runs() {
    let story: Vec<Value> = (1..=10_001).map(start).collect();
    assert_eq!(
        refused(&story),
        "more than 10000 dispatches are on their way at once"
    );
}

#[test]
fn attack_a_payload_that_is_no_json() {
    let mut records = [start(1), outcome(1, "allow")];
    for record in &mut records {
        record["payload"] = json!("{");
    }
    let played = play(&told(&records)).unwrap();
    let message = played.dispatches[0].outcome().unwrap_err().to_string();
    assert!(
        message.starts_with("record 1 does not fit: its final payload cannot be used: "),
        "{message}"
    );
}

#[test]
fn what_was_lost_is_told_and_not_missed() {
    let lost = json!({"kind": "lost", "count": 3, "lost": [1], "error": "no space"});
    let played = play(&told(&[start(1), start(2), lost, outcome(2, "allow")])).unwrap();
    let numbers: Vec<u64> = played.dispatches.iter().map(|one| one.number).collect();
    assert_eq!((played.ending, numbers), (Ending::Closed, vec![2]));
}

/// What a tape of one event says.
fn tell(project: &Project, event: &str, payload: Value) -> Dispatch {
    let tape = recorded(project, |runtime| {
        runtime.dispatch(event, payload).unwrap();
    });
    play(&tape).unwrap().dispatches.pop().unwrap()
}

fn kinds(dispatch: &Dispatch) -> Vec<&'static str> {
    dispatch
        .records
        .iter()
        .map(|record| record.entry.kind())
        .collect()
}

#[test]
fn hn_047_a_hook_call_stands_before_all_its_handler_does() {
    let dispatch = tell(&studio(), "tool.pre", command("ls"));
    let story = [
        "dispatch",
        "predicate",
        "predicate",
        "hook_call",
        "host_call",
        "hook_returned",
        "outcome",
    ];
    assert_eq!(kinds(&dispatch), story);
    let Entry::HookCall(call) = &dispatch.records[3].entry else {
        panic!("{:?}", dispatch.records[3]);
    };
    assert_eq!((&*call.hook, &*call.handler), ("guard", "starlark"));
    assert_eq!(call.payload, dispatch.start().payload);
    let Entry::HostCall(host) = &dispatch.records[4].entry else {
        panic!("{:?}", dispatch.records[4]);
    };
    assert_eq!(
        (host.phase, &*host.capability),
        (Phase::Handle, "cache.increment")
    );
    assert!(host.at_us >= call.at_us);
}

#[test]
fn hn_047_a_hook_call_is_there_even_if_its_handler_traps() {
    let project = component_project(&component(&module("", "", "unreachable")), "");
    let dispatch = tell(&project, "tool.pre", command("ls"));
    let story = [
        "dispatch",
        "hook_call",
        "hook_returned",
        "hook_vetoed",
        "outcome",
    ];
    assert_eq!(kinds(&dispatch), story);
    let Entry::HookReturned(returned) = &dispatch.records[2].entry else {
        panic!("{:?}", dispatch.records[2]);
    };
    assert_eq!(returned.failure.as_ref().unwrap().cause, Cause::Trap);
    assert_eq!(returned.decision, Ruling::Block);
}

#[test]
fn hn_048_a_hook_returned_has_the_control_flow_as_it_was_understood() {
    let hook =
        |body: &str| Project::script(&format!("def handle(event, payload):\n    return {body}"));
    let tidied = r#"{"id":"call_1","name":"run_command","args":{"b":1},"arguments":"{\"b\":1}"}"#;
    for (body, decision, reason, payload) in [
        ("allow()", Ruling::Allow, None, None),
        ("None", Ruling::Allow, None, None),
        ("block(\"no\")", Ruling::Block, Some("no"), None),
        ("ask(\"sure?\")", Ruling::Ask, Some("sure?"), None),
        (
            "modify({\"args\": {\"b\": 1}})",
            Ruling::Modify,
            None,
            Some(tidied),
        ),
    ] {
        let dispatch = tell(&hook(body), "tool.pre", command("ls"));
        let Entry::HookReturned(returned) = &dispatch.records[2].entry else {
            panic!("{:?}", dispatch.records);
        };
        assert_eq!(returned.decision, decision, "{body}");
        assert_eq!(returned.reason.as_deref(), reason, "{body}");
        let as_json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(
            returned.payload.as_deref().map(as_json),
            payload.map(as_json),
            "{body}"
        );
        assert_eq!(returned.failure, None, "{body}");
    }
}

#[test]
fn hn_048_an_answer_that_is_none_is_recorded_as_what_it_means() {
    let project = Project::script("def handle(event, payload):\n    return modify(\"x\")");
    let dispatch = tell(&project, "tool.pre", command("ls"));
    let Entry::HookReturned(returned) = &dispatch.records[2].entry else {
        panic!("{:?}", dispatch.records);
    };
    assert_eq!(returned.decision, Ruling::Block);
    assert!(returned.failure.is_some());
}

#[test]
fn hn_049_a_hook_vetoed_is_there_for_a_block_and_a_question_only() {
    let played = play(tape()).unwrap();
    let mut seen = Vec::new();
    for dispatch in &played.dispatches {
        let vetoes: Vec<_> = dispatch
            .records
            .iter()
            .filter_map(|record| match &record.entry {
                Entry::HookVetoed(veto) => Some((veto.decision, veto.reason.as_str())),
                _ => None,
            })
            .collect();
        let decision = dispatch.end().unwrap().decision;
        match decision {
            Ruling::Block => assert_eq!(vetoes, [(Ruling::Block, "dangerous command")]),
            Ruling::Ask => assert_eq!(vetoes, [(Ruling::Ask, "deploy now?")]),
            Ruling::Allow | Ruling::Modify => assert_eq!(vetoes, []),
        }
        seen.push(decision);
    }
    for decision in [Ruling::Allow, Ruling::Block, Ruling::Ask, Ruling::Modify] {
        assert!(seen.contains(&decision), "{seen:?}");
    }
}

#[test]
fn hn_049_a_guard_that_could_not_be_asked_vetoes_without_being_called() {
    let project = Project::with(&[(
        "guard",
        &hook_file(
            "tool.pre",
            "priority: 10\nlimits: { fuel: 2000000 }\nwhen: len([x for x in range(100000000)]) > 1",
            "def handle(event, payload):\n    return allow()",
        ),
    )]);
    let dispatch = tell(&project, "tool.pre", command("ls"));
    assert_eq!(
        kinds(&dispatch),
        ["dispatch", "predicate", "hook_vetoed", "outcome"]
    );
    assert_eq!(dispatch.end().unwrap().decision, Ruling::Block);
}

#[test]
fn attack_dispatches_nested_deeper_than_anybody_could_walk() {
    let mut records = vec![header(), start(1), call(1, "h")];
    for number in 2..=5_000 {
        records.push(child(number, number - 1));
        records.push(call(number, "h"));
    }
    let told = refusal(&chained(&records));
    assert_eq!(
        told,
        "record 131 does not fit: dispatches are nested more than 64 deep"
    );
}

#[test]
fn attack_a_gap_that_names_more_dispatches_than_there_are() {
    let mut records = vec![header()];
    records.extend((1..=2_000).map(start));
    let names: Vec<u64> = (0..1_000_000).collect();
    records.push(json!({"kind": "lost", "count": 1, "lost": names, "error": "full"}));
    let played = play(&chained(&records)).unwrap();
    assert!(played.dispatches.is_empty());
}
