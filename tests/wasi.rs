//! Guests whose toolchain imports `wasi:*`: core modules with preview 1 and the
//! adapter, as those of Go and C come about. Without a grant they live in a world
//! of their own; with one they get what it says and nothing else.

mod support;

use std::time::{Duration, Instant, SystemTime};

use hookbox::Runtime;
use hookbox::capability::log::Level;
use hookbox::decision::Ruling;
use hookbox::failure::Cause;
use serde_json::{Value, json};
use support::wasi::{hear, ls, said, saying};
use support::{Project, answer, command, component, component_project};

#[test]
fn a_guest_of_any_toolchain_loads_and_answers_without_a_grant() {
    let guest = saying(
        r#"(data (i32.const 2048) "hi")"#,
        "(call $text (i32.const 2048) (i32.const 2))",
    );
    let project = component_project(&guest, "");
    assert_eq!(project.problems(), [""; 0]);
    assert_eq!(said(&project.dispatch("tool.pre", ls())), "hi");
    let imports = imports(&project.runtime());
    for package in ["cli", "clocks", "filesystem", "io", "random"] {
        let package = format!("wasi:{package}/");
        assert!(
            imports.iter().any(|name| name.starts_with(&package)),
            "{imports:?}"
        );
    }
}

fn imports(runtime: &Runtime) -> Vec<String> {
    use hookbox::handler::Handler;
    match &runtime.hooks()[0].handler {
        Handler::Component(component) => component.imports().to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Says what a clock shows.
fn clock(id: u32) -> Vec<u8> {
    saying("", &show_clock(id))
}

fn show_clock(id: u32) -> String {
    format!(
        "(call $code (call $clock_time_get (i32.const {id}) (i64.const 1) (i32.const 4096)))
         (call $number (i64.load (i32.const 4096)))"
    )
}

#[test]
fn the_wall_clock_shows_the_time_of_the_event() {
    let runtime = component_project(&clock(0), "").runtime();
    // The first reading is a microsecond after the start.
    for (timestamp, shown) in [
        (Value::Null, "0 946684800000001000"),
        (json!(1_700_000_000), "0 1700000000000001000"),
        (json!(1_700_000_000_500_u64), "0 1700000000500001000"),
        (json!("2023-11-14T22:13:20Z"), "0 1700000000000001000"),
        (
            json!("2023-11-15T00:13:20.25+02:00"),
            "0 1700000000250001000",
        ),
        (json!("yesterday"), "0 946684800000001000"),
        (json!(-5), "0 946684800000001000"),
    ] {
        let mut payload = ls();
        if !timestamp.is_null() {
            payload["timestamp"] = timestamp;
        }
        for _ in 0..2 {
            let outcome = runtime.dispatch("tool.pre", payload.clone()).unwrap();
            assert_eq!(said(&outcome), shown);
        }
    }
}

#[test]
fn the_monotonic_clock_shows_the_same_in_every_run() {
    let guest = saying("", &show_clock(1).repeat(3));
    for _ in 0..2 {
        assert_eq!(hear(&guest, "", ls()), "0 1000 0 2000 0 3000");
    }
}

#[test]
fn a_granted_clock_is_the_one_the_host_gives() {
    let project = component_project(&clock(0), "grant: { clock: real }");
    let runtime = Runtime::builder(project.path())
        .clock(|| SystemTime::UNIX_EPOCH + Duration::new(1_234_567_890, 5))
        .load()
        .unwrap();
    let outcome = runtime.dispatch("tool.pre", ls()).unwrap();
    assert_eq!(said(&outcome), "0 1234567890000000005");
}

#[test]
fn a_granted_clock_is_the_machines_own_unless_the_host_gives_another() {
    let before = SystemTime::now();
    let text = hear(&clock(0), "grant: { clock: real }", ls());
    let shown: u64 = text.strip_prefix("0 ").unwrap().parse().unwrap();
    let shown = SystemTime::UNIX_EPOCH + Duration::from_nanos(shown);
    assert!(before <= shown && shown <= SystemTime::now(), "{text}");
}

/// Sleeps for some nanoseconds, and says what both clocks show after that.
fn sleeper(nanoseconds: u64) -> Vec<u8> {
    let sleep = format!(
        "(i32.store (i32.const 4112) (i32.const 1))
         (i64.store (i32.const 4120) (i64.const {nanoseconds}))
         (call $code (call $poll_oneoff (i32.const 4096) (i32.const 4224) (i32.const 1) (i32.const 4352)))
         (call $code (i32.load (i32.const 4352)))"
    );
    saying("", &[sleep, show_clock(0), show_clock(1)].concat())
}

#[test]
fn an_hour_of_virtual_time_is_over_at_once() {
    assert_eq!(
        hear(&sleeper(3_600_000_000_000), "", ls()),
        "0 1 0 946688400000001000 0 3600000002000"
    );
}

#[test]
fn virtual_time_does_not_overflow() {
    let outcome = component_project(&sleeper(u64::MAX), "").dispatch("tool.pre", ls());
    // The date is after what 64 bits of nanoseconds can say, and the guest is told so;
    // the other clock stands at its end.
    assert_eq!(said(&outcome), format!("0 1 61 0 0 {}", u64::MAX));
}

#[test]
fn a_sleep_in_real_time_takes_its_time() {
    let began = Instant::now();
    let text = hear(&sleeper(50_000_000), "grant: { clock: real }", ls());
    assert!(began.elapsed() >= Duration::from_millis(50));
    let monotonic: u64 = text.split(' ').next_back().unwrap().parse().unwrap();
    assert!(monotonic >= 50_000_000, "{text}");
}

#[test]
fn a_sleep_in_real_time_ends_at_the_deadline() {
    for nanoseconds in [3_600_000_000_000, u64::MAX] {
        let outcome = component_project(
            &sleeper(nanoseconds),
            "grant: { clock: real }\nlimits: { wall_time: 100ms }",
        )
        .dispatch("tool.pre", ls());
        assert_eq!(outcome.trace[0].cause, Some(Cause::Deadline));
        assert_eq!(outcome.decision, Ruling::Block);
    }
}

/// Says 16 random bytes.
fn random() -> Vec<u8> {
    let mut body = "(call $code (call $random_get (i32.const 4096) (i32.const 16)))".to_owned();
    for at in 4096..4112 {
        body += &format!("(call $code (i32.load8_u (i32.const {at})))");
    }
    saying("", &body)
}

#[test]
fn randomness_follows_from_the_event_and_the_hook() {
    let guest = random();
    let first = hear(&guest, "", ls());
    assert_eq!(first, hear(&guest, "", ls()));
    assert_ne!(first, hear(&guest, "", command("rm")));
    let other = Project::with(&[(
        "other",
        "---\nevent: tool.pre\npriority: 10\ncomponent: other.wasm\n---\n",
    )]);
    other.file(".harness/hooks/other.wasm", &guest);
    assert_ne!(first, said(&other.dispatch("tool.pre", ls())));
}

#[test]
fn granted_randomness_is_new_each_time() {
    let runtime = component_project(&random(), "grant: { random: real }").runtime();
    let draw = || said(&runtime.dispatch("tool.pre", ls()).unwrap()).to_owned();
    assert_ne!(draw(), draw());
}

#[test]
fn drawing_random_bytes_without_end_ends_at_the_deadline() {
    let guest = saying(
        "",
        "(drop (memory.grow (i32.const 64)))
         (loop $again
           (drop (call $random_get (i32.const 262144) (i32.const 65536)))
           (br $again))",
    );
    let outcome =
        component_project(&guest, "limits: { wall_time: 100ms }").dispatch("tool.pre", ls());
    assert_eq!(outcome.trace[0].cause, Some(Cause::Deadline));
}

/// Says how many variables there are, and all of them.
fn environment() -> Vec<u8> {
    saying(
        "",
        "(call $code (call $environ_sizes_get (i32.const 4096) (i32.const 4100)))
         (call $code (i32.load (i32.const 4096)))
         (call $code (call $environ_get (i32.const 4104) (i32.const 4608)))
         (call $text (i32.const 4608) (i32.load (i32.const 4100)))",
    )
}

#[test]
fn the_environment_is_empty_but_for_what_is_granted() {
    let guest = environment();
    for (grant, seen) in [
        ("", "0 0 0"),
        ("grant: { env: [ALPHA] }", "0 1 0 ALPHA=one\0"),
        (
            "grant: { env: [ALPHA, UNSET, BETA] }",
            "0 2 0 ALPHA=one\0BETA=two\0",
        ),
    ] {
        let project = component_project(&guest, grant);
        let runtime = Runtime::builder(project.path())
            .environment(|name| match name {
                "ALPHA" => Some("one".to_owned()),
                "BETA" => Some("two".to_owned()),
                "UNSET" => None,
                other => panic!("{other} was not granted"),
            })
            .load()
            .unwrap();
        assert_eq!(said(&runtime.dispatch("tool.pre", ls()).unwrap()), seen);
    }
}

#[test]
fn there_are_no_arguments() {
    let guest = saying(
        "",
        "(call $code (call $args_sizes_get (i32.const 4096) (i32.const 4100)))
         (call $code (i32.load (i32.const 4096)))
         (call $code (i32.load (i32.const 4100)))",
    );
    assert_eq!(hear(&guest, "", ls()), "0 0 0");
}

#[test]
fn exiting_is_a_failure_with_a_name() {
    for code in [0, 3] {
        let guest = saying("", &format!("(call $proc_exit (i32.const {code}))"));
        let outcome = component_project(&guest, "").dispatch("tool.pre", ls());
        assert_eq!(outcome.trace[0].cause, Some(Cause::Trap));
        assert_eq!(outcome.decision, Ruling::Block);
        let reason = outcome.reason.unwrap();
        let told = if code == 0 { "code 0" } else { "code 1" };
        assert!(reason.contains("the guest exited with"), "{reason}");
        assert!(reason.contains(told), "{reason}");
    }
}

#[test]
fn there_are_no_sockets() {
    for call in [
        "(call $sock_accept (i32.const 3) (i32.const 0) (i32.const 4096))",
        "(call $sock_recv (i32.const 3) (i32.const 4096) (i32.const 1) (i32.const 0) (i32.const 4200) (i32.const 4204))",
        "(call $sock_send (i32.const 3) (i32.const 4096) (i32.const 1) (i32.const 0) (i32.const 4200))",
        "(call $sock_shutdown (i32.const 3) (i32.const 3))",
    ] {
        let guest = saying("", &format!("(call $code {call})"));
        let outcome = component_project(&guest, "").dispatch("tool.pre", ls());
        assert_eq!(outcome.decision, Ruling::Block);
        // The adapter traps where it has nothing to offer.
        let refused = outcome.trace[0].cause == Some(Cause::Trap) || said(&outcome) != "0";
        assert!(refused, "{call}: {outcome:?}");
    }
}

/// Prints a text of `length` bytes at 2048 to standard output (1) or error (2).
fn print(file: u32, at: u32, length: u32) -> String {
    format!(
        "(i32.store (i32.const 4096) (i32.const {at}))
         (i32.store (i32.const 4100) (i32.const {length}))
         (drop (call $fd_write (i32.const {file}) (i32.const 4096) (i32.const 1) (i32.const 4104)))"
    )
}

#[test]
fn what_is_printed_becomes_log_lines() {
    let guest = saying(
        r#"(data (i32.const 2048) "one\ntwo\ncareful")"#,
        &[print(1, 2048, 6), print(2, 2056, 7), print(1, 2054, 2)].concat(),
    );
    let outcome = component_project(&guest, "").dispatch("tool.pre", ls());
    let lines: Vec<_> = outcome
        .logs
        .iter()
        .map(|line| (&*line.hook, &*line.event, line.level, line.message.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            ("probe", "tool.pre", Level::Info, "one"),
            ("probe", "tool.pre", Level::Info, "two"),
            ("probe", "tool.pre", Level::Warn, "careful"),
        ]
    );
}

#[test]
fn what_was_printed_before_a_failure_is_kept() {
    let guest = saying(
        r#"(data (i32.const 2048) "last words")"#,
        &(print(2, 2048, 10) + "unreachable"),
    );
    let outcome = component_project(&guest, "").dispatch("tool.pre", ls());
    assert_eq!(outcome.trace[0].cause, Some(Cause::Trap));
    assert_eq!(outcome.logs[0].message, "last words");
}

/// Prints 64 KiB as often as it takes for a gigabyte.
fn printing_a_gigabyte(fill: &str) -> Vec<u8> {
    let body = format!(
        "(local $left i32)
         (drop (memory.grow (i32.const 8)))
         {fill}
         (local.set $left (i32.const 16384))
         (loop $again
           {}
           (local.set $left (i32.sub (local.get $left) (i32.const 1)))
           (br_if $again (local.get $left)))",
        print(1, 262_144, 65_536)
    );
    saying("", &body)
}

#[test]
fn printing_a_gigabyte_is_cut_off() {
    let long = "(memory.fill (i32.const 262144) (i32.const 120) (i32.const 65536))";
    let short = "(memory.fill (i32.const 262144) (i32.const 10) (i32.const 65536))
                 (i32.store8 (i32.const 262144) (i32.const 120))";
    for fill in [long, short] {
        let outcome = component_project(&printing_a_gigabyte(fill), "limits: { wall_time: 30s }")
            .dispatch("tool.pre", ls());
        assert_eq!(said(&outcome), "");
        let kept: usize = outcome.logs.iter().map(|line| line.message.len()).sum();
        assert!((1_000..=64 << 10).contains(&kept), "{kept}");
        assert!(outcome.logs.len() <= 1_000);
        let told = |warning: &String| warning.contains("log lines were dropped");
        assert!(outcome.warnings.iter().any(told), "{:?}", outcome.warnings);
    }
}

#[test]
fn a_grant_nobody_uses_is_a_warning() {
    let guest = component(&answer(0, ""));
    for grant in [
        "env: [A]",
        "read: [\"docs/\"]",
        "clock: real",
        "random: real",
    ] {
        let project = component_project(&guest, &format!("grant: {{ {grant} }}"));
        project.file("docs/a.txt", "hello");
        let problems = project.problems();
        let key = grant.split(':').next().unwrap();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].contains(&format!("hook \"probe\" does not use the grant {key}")),
            "{problems:?}"
        );
        assert_eq!(project.errors(), [""; 0]);
    }
}

#[test]
fn an_import_that_nobody_can_grant_is_refused_by_name() {
    for import in [
        "wasi:keyvalue/store@0.2.0-draft",
        "wasi:http/incoming-handler@0.2.6",
        "wasi:nn/graph@0.2.0-rc-2024-10-28",
        "wasi:clocksmith/hands@0.2.6",
        "acme:vault/keys@1.0.0",
    ] {
        let text = format!("(component (import {import:?} (instance)))");
        let errors = component_project(&wat::parse_str(text).unwrap(), "").errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        let refusal = format!(
            "import not granted: the component imports {import}, which no hook can be granted"
        );
        assert!(errors[0].contains(&refusal), "{errors:?}");
    }
}
