//! Every way a component can die has its own name, and none of them takes the
//! host along.

mod support;

use hookbox::decision::Ruling;
use hookbox::failure::Cause;
use hookbox::outcome::TraceRow;
use hookbox::{Outcome, Runtime};
use serde_json::json;
use support::{Project, answer, command, component, component_project, module};

fn run(wat: &str) -> Outcome {
    run_with(wat, "")
}

fn run_with(wat: &str, more: &str) -> Outcome {
    component_project(&component(wat), more).dispatch("tool.pre", command("ls"))
}

fn row(outcome: &Outcome) -> &TraceRow {
    &outcome.trace[0]
}

/// A component that fails on a gate blocks it, and says how it failed.
fn dies_of(cause: Cause, wat: &str) -> String {
    let outcome = run(wat);
    assert_eq!(
        row(&outcome).cause,
        Some(cause),
        "{:?}",
        row(&outcome).error
    );
    assert_eq!(outcome.decision, Ruling::Block);
    assert_eq!(row(&outcome).fuel, None, "fuel at a trap means nothing");
    let reason = outcome.reason.unwrap();
    assert!(
        reason.starts_with(&format!("hook \"probe\" failed: {cause}: ")),
        "{reason}"
    );
    reason
}

#[test]
fn ah_089_cx_001_a_component_decides_in_the_same_chain() {
    assert_eq!(run(&answer(0, "")).decision, Ruling::Allow);
    let blocked = run(&answer(1, "no way"));
    assert_eq!(
        (blocked.decision, blocked.reason.as_deref()),
        (Ruling::Block, Some("no way"))
    );
    let asked = run(&answer(3, "really?"));
    assert_eq!(
        (asked.decision, asked.reason.as_deref()),
        (Ruling::Ask, Some("really?"))
    );
    let modified = run(&answer(2, r#"{"args":{"command":"true"}}"#));
    assert_eq!(modified.decision, Ruling::Modify);
    assert_eq!(
        modified.payload.value()["arguments"],
        r#"{"command":"true"}"#
    );
    assert_eq!(modified.payload.value()["name"], "run_command");
}

#[test]
fn components_and_scripts_share_one_order() {
    let project = component_project(
        &component(&answer(2, r#"{"args":{"command":"second"}}"#)),
        "",
    );
    for (name, priority) in [("early", 5), ("late", 15)] {
        project.hook(
            name,
            &support::hook_file(
                "tool.pre",
                &format!("priority: {priority}"),
                "def handle(event, payload):\n    log(payload[\"args\"][\"command\"])\n    return allow()",
            ),
        );
    }
    let outcome = project.dispatch("tool.pre", command("first"));
    let seen: Vec<_> = outcome
        .logs
        .iter()
        .map(|line| line.message.as_str())
        .collect();
    assert_eq!(seen, ["first", "second"]);
}

#[test]
fn a_component_sees_its_event() {
    // Answers with the bytes it was given: the payload as the reason.
    let echo = |pointer: &str, length: &str| {
        module(
            "",
            "",
            &format!(
                "(i32.store8 (i32.const 1028) (i32.const 1))
                 (i32.store (i32.const 1032) (local.get {pointer}))
                 (i32.store (i32.const 1036) (local.get {length}))"
            ),
        )
    };
    for (part, expected) in [
        ("name", "tool.pre"),
        ("id", "call_1"),
        ("subject", "run_command"),
        ("hook", "probe"),
        (
            "payload",
            r#"{"id":"call_1","name":"run_command","args":{"command":"ls"},"arguments":"{\"command\":\"ls\"}"}"#,
        ),
    ] {
        let outcome = run(&echo(&format!("${part}"), &format!("${part}_len")));
        assert_eq!(outcome.reason.as_deref(), Some(expected));
    }
}

#[test]
fn cx_002_an_endless_loop_runs_out_of_fuel() {
    let reason = dies_of(
        Cause::OutOfFuel,
        &module("", "", "(loop $again (br $again))"),
    );
    assert!(reason.contains("raise `fuel` under `limits:`"), "{reason}");
}

#[test]
fn cx_003_eating_memory_is_named_and_bounded() {
    let bomb = module(
        "",
        "",
        "(loop $again
           (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
         unreachable",
    );
    let reason = dies_of(Cause::OutOfMemory, &bomb);
    assert!(reason.contains("may have 65,536 KiB"), "{reason}");
}

#[test]
fn a_guest_that_copes_with_a_refusal_still_decides() {
    let outcome = run(&module("", "", "(drop (memory.grow (i32.const 60000)))"));
    assert_eq!(outcome.decision, Ruling::Allow);
}

#[test]
fn endless_recursion_overflows_the_guests_own_stack() {
    let wat = module(
        "",
        "(func $down (param i32) (result i32) (i32.add (i32.const 1) (call $down (local.get 0))))",
        "(drop (call $down (i32.const 0)))",
    );
    dies_of(Cause::Stack, &wat);
}

#[test]
fn an_unreachable_and_a_wild_pointer_are_traps() {
    dies_of(Cause::Trap, &module("", "", "unreachable"));
    dies_of(
        Cause::Trap,
        &module("", "", "(drop (i32.load (i32.const -8)))"),
    );
    dies_of(
        Cause::Trap,
        &module("", "", "(drop (i32.div_u (i32.const 1) (i32.const 0)))"),
    );
}

#[test]
fn an_answer_that_points_nowhere_is_a_trap() {
    let wat = module("", "", "(return (i32.const 0x7ffffff0))");
    let outcome = run(&wat);
    assert_eq!(row(&outcome).cause, Some(Cause::Trap));
    assert_eq!(outcome.decision, Ruling::Block);
}

#[test]
fn an_answer_with_an_unknown_decision_is_a_trap() {
    let outcome = run(&answer(9, ""));
    assert_eq!(
        row(&outcome).cause,
        Some(Cause::Trap),
        "{:?}",
        row(&outcome).error
    );
    assert_eq!(outcome.decision, Ruling::Block);
}

#[test]
fn answers_that_are_none_are_bad_answers() {
    for text in [
        "not json",
        "{\"a\":1,\"a\":2}",
        "\"\\ud800\"",
        "[1",
        "{\"name\":5}",
        &"[".repeat(5_000),
    ] {
        let outcome = run(&answer(2, text));
        assert_eq!(row(&outcome).cause, Some(Cause::BadAnswer), "{text}");
        assert_eq!(outcome.decision, Ruling::Block);
        assert_eq!(outcome.payload.value()["args"], json!({"command": "ls"}));
    }
}

#[test]
fn a_huge_answer_is_a_bad_answer() {
    // A reason of 32 MiB, all of it zeroes that the guest really holds.
    let wat = module(
        "",
        "",
        "(drop (memory.grow (i32.const 700)))
         (i32.store8 (i32.const 1028) (i32.const 1))
         (i32.store (i32.const 1032) (i32.const 65536))
         (i32.store (i32.const 1036) (i32.const 33554432))",
    );
    let outcome = run(&wat);
    assert_eq!(
        row(&outcome).cause,
        Some(Cause::BadAnswer),
        "{:?}",
        row(&outcome).error
    );
    assert!(outcome.reason.unwrap().contains("raise `decision`"));
}

#[test]
fn a_list_of_the_same_huge_text_is_a_bad_answer() {
    // A thousand effects that all point at the same megabyte: 1 GB if the host
    // copied them all.
    let wat = module(
        "",
        "",
        "(local $at i32)
         (drop (memory.grow (i32.const 64)))
         (i32.store (i32.const 1040) (i32.const 65536))
         (i32.store (i32.const 1044) (i32.const 1000))
         (loop $again
           (i32.store (i32.add (i32.const 65540) (i32.mul (local.get $at) (i32.const 44))) (i32.const 262144))
           (i32.store (i32.add (i32.const 65544) (i32.mul (local.get $at) (i32.const 44))) (i32.const 1048576))
           (local.set $at (i32.add (local.get $at) (i32.const 1)))
           (br_if $again (i32.lt_u (local.get $at) (i32.const 1000))))",
    );
    let outcome = run(&wat);
    assert_eq!(
        row(&outcome).cause,
        Some(Cause::BadAnswer),
        "{:?}",
        row(&outcome).error
    );
}

const LOG: &str = r#"(import "hookbox:hook/log@1.1.0" "write" (func $log (param i32 i32 i32)))"#;

#[test]
fn logging_without_end_hits_the_limit_of_host_calls() {
    let wat = module(
        LOG,
        "",
        "(loop $again (call $log (i32.const 1) (i32.const 2048) (i32.const 8)) (br $again))",
    );
    let outcome = run(&wat);
    assert_eq!(row(&outcome).cause, Some(Cause::HostCalls));
    assert_eq!(outcome.logs.len(), 1_000);
    assert!(
        outcome.warnings[0].contains("9000 log lines were dropped"),
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn a_log_line_too_long_is_dropped_and_counted() {
    let wat = module(
        LOG,
        "",
        "(call $log (i32.const 1) (i32.const 0) (i32.const 100000))",
    );
    let outcome = run(&wat);
    assert_eq!((outcome.decision, outcome.logs.len()), (Ruling::Allow, 0));
    assert!(outcome.warnings[0].contains("1 log lines were dropped"));
}

#[test]
fn the_deadline_guards_what_fuel_does_not() {
    let wat = module("", "", "(loop $again (br $again))");
    let outcome = run_with(&wat, "limits: { fuel: 20g, wall_time: 50ms }");
    assert_eq!(row(&outcome).cause, Some(Cause::Deadline));
    assert!(outcome.reason.unwrap().contains("longer than 50ms"));
}

#[test]
fn the_deadline_guards_against_instructions_that_move_much_memory() {
    for body in [
        "(memory.fill (i32.const 65536) (i32.const 1) (i32.const 60000000))",
        "(memory.copy (i32.const 65536) (i32.const 65537) (i32.const 60000000))",
    ] {
        let grown = "(drop (memory.grow (i32.const 1000)))";
        let wat = module("", "", &format!("{grown} (loop $again {body} (br $again))"));
        let outcome = run_with(&wat, "limits: { memory: 64 MiB, wall_time: 50ms }");
        let cause = row(&outcome).cause;
        assert!(
            matches!(cause, Some(Cause::Deadline | Cause::OutOfFuel)),
            "{body}: {:?}",
            row(&outcome).error
        );
    }
}

#[test]
fn a_component_may_return_an_error_of_its_own() {
    let wat = module(
        "",
        r#"(data (i32.const 2048) "database on fireat line 7")"#,
        "(i32.store8 (i32.const 1024) (i32.const 1))
         (i32.store (i32.const 1028) (i32.const 2048))
         (i32.store (i32.const 1032) (i32.const 16))
         (i32.store8 (i32.const 1036) (i32.const 1))
         (i32.store (i32.const 1040) (i32.const 2064))
         (i32.store (i32.const 1044) (i32.const 9))",
    );
    let outcome = run(&wat);
    assert_eq!(
        row(&outcome).error.as_deref(),
        Some("hook error: database on fire")
    );
    assert_eq!(row(&outcome).stack.as_deref(), Some("at line 7"));
    assert!(
        row(&outcome).fuel.is_some(),
        "the call ended well, so its fuel counts"
    );
}

#[test]
fn on_error_allow_opens_a_gate_with_a_warning() {
    let outcome = run_with(&module("", "", "unreachable"), "on_error: allow");
    assert_eq!(outcome.decision, Ruling::Allow);
    assert!(
        outcome.warnings[0].contains("failed and was passed over"),
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn limits_of_a_hook_and_of_the_project_are_in_force() {
    let wat = module(
        "",
        "",
        "(drop (memory.grow (i32.const 100))) (drop (i32.load (i32.const 6000000)))",
    );
    assert_eq!(run(&wat).decision, Ruling::Allow);
    let tight = run_with(&wat, "limits: { memory: 1 MiB }");
    assert_eq!(row(&tight).cause, Some(Cause::OutOfMemory));
    let project = component_project(&component(&wat), "");
    project.file("harness.md", "---\nlimits: { memory: 1 MiB }\n---\n");
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.trace[0].cause, Some(Cause::OutOfMemory));
}

#[test]
fn the_same_call_uses_the_same_fuel_every_time() {
    let wat = module(
        "",
        "",
        "(local $i i32)
         (loop $again
           (local.set $i (i32.add (local.get $i) (i32.const 1)))
           (br_if $again (i32.lt_u (local.get $i) (i32.const 12345))))",
    );
    let project = component_project(&component(&wat), "");
    let fuel = |runtime: &Runtime| {
        row(&runtime.dispatch("tool.pre", command("ls")).unwrap())
            .fuel
            .unwrap()
    };
    let pooled = project.runtime();
    let one_shot = Runtime::builder(project.path())
        .lifetime(hookbox::sandbox::engine::Lifetime::OneShot)
        .load()
        .unwrap();
    let first = fuel(&pooled);
    assert!(first > 12_345);
    for _ in 0..3 {
        assert_eq!(fuel(&pooled), first);
        assert_eq!(fuel(&one_shot), first);
    }
}

#[test]
fn nothing_survives_a_call() {
    // Counts its calls in memory and blocks from the second on.
    let wat = module(
        "",
        "(global $calls (mut i32) (i32.const 0))",
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
         (i32.store (i32.const 4096) (i32.add (i32.load (i32.const 4096)) (i32.const 1)))
         (if (i32.or (i32.gt_u (global.get $calls) (i32.const 1)) (i32.gt_u (i32.load (i32.const 4096)) (i32.const 1)))
           (then (i32.store8 (i32.const 1028) (i32.const 1))))",
    );
    let runtime = component_project(&component(&wat), "").runtime();
    for _ in 0..5 {
        let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
        assert_eq!(outcome.decision, Ruling::Allow);
    }
}

#[test]
fn calls_from_many_threads_at_once_do_not_disturb_each_other() {
    let project = Project::script(
        "def handle(event, payload):\n    metrics.incr(\"calls\")\n    return block(payload[\"args\"][\"command\"])",
    );
    let runtime = project.runtime();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let runtime = &runtime;
            scope.spawn(move || {
                for call in 0..20 {
                    let text = format!("{thread}/{call}");
                    let outcome = runtime.dispatch("tool.pre", command(&text)).unwrap();
                    assert_eq!(outcome.reason.as_deref(), Some(text.as_str()));
                }
            });
        }
    });
    let calls = runtime.metrics().get("calls");
    assert_eq!(
        calls,
        Some(hookbox::capability::metrics::Number::Integer(320))
    );
}

#[test]
fn the_number_of_metrics_is_a_limit_like_any_other() {
    let script = "def handle(event, payload):\n    for i in range(9):\n        metrics.incr(\"m\" + str(i))\n    return allow()";
    let file = support::hook_file(
        "tool.pre",
        "priority: 1\nlimits: { metric_names: 3 }",
        script,
    );
    let outcome = Project::with(&[("many", &file)]).dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Allow);
    assert_eq!(outcome.metrics.len(), 3);
    assert!(
        outcome.warnings[0].contains("raise `metric_names`"),
        "{:?}",
        outcome.warnings
    );
}
