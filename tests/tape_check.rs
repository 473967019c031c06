//! Today's hooks in the world of a tape: what is the same, what differs, what is asked
//! anew.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hookbox::tape::{Checked, Checker, Dispatch, Entry, Recorder, Replay, Seen, Verdict};
use hookbox::{Ruling, Runtime};
use serde_json::{Value, json};
use support::server::Server;
use support::{Project, command, guest, hook_file, hookbox};

/// Records some events of a project.
fn record(builder: hookbox::runtime::RuntimeBuilder, tape: &Path, events: &[(&str, Value)]) {
    let recorder = Recorder::create(tape).unwrap();
    let runtime = builder.tape(&recorder).load().unwrap();
    for (event, payload) in events {
        runtime.dispatch(event, payload.clone()).unwrap();
    }
    recorder.close().unwrap();
}

fn tape_in(project: &Project) -> PathBuf {
    project.path().join("run.tape")
}

/// Checks every dispatch of a tape against a project.
fn check(project: &Project, tape: &Path) -> Vec<(Dispatch, Checked)> {
    let checker = Checker::load(Runtime::builder(project.path())).unwrap();
    let mut all = Vec::new();
    checker
        .check_all(&mut Replay::open(tape).unwrap(), |seen| match seen {
            Seen::Checked(dispatch, checked) => all.push((*dispatch, *checked)),
            Seen::Other(other) => panic!("{other:?}"),
        })
        .unwrap();
    all
}

/// Checks a tape of one event.
fn check_one(project: &Project, tape: &Path) -> (Dispatch, Checked) {
    let mut all = check(project, tape);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn host_calls(dispatch: &Dispatch) -> Vec<String> {
    let calls = dispatch
        .all_records()
        .into_iter()
        .filter_map(|record| match &record.entry {
            Entry::HostCall(call) => Some(call.capability.to_string()),
            _ => None,
        });
    calls.collect()
}

fn text(output: &std::process::Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

const GUARD: &str = "def handle(event, payload):\n    if 'rm -rf' in payload['args']['command']:\n        return block('no rm')\n    return allow()";

#[test]
fn cx_008_a_tape_is_the_same_in_ci_and_a_changed_hook_is_found() {
    let project = Project::script(GUARD);
    let tape = tape_in(&project);
    let (folder, tape) = (project.path().to_str().unwrap(), tape.to_str().unwrap());
    for what in ["rm -rf /", "ls"] {
        let payload = command(what).to_string();
        hookbox(&[
            "run",
            "tool.pre",
            "-p",
            folder,
            "--payload",
            &payload,
            "--tape",
            tape,
        ]);
    }
    let same = hookbox(&["replay", tape, "--check", "-p", folder]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same));

    project.hook(
        "probe",
        &hook_file("tool.pre", "priority: 10", &GUARD.replace("rm -rf", "mkfs")),
    );
    let other = hookbox(&["replay", tape, "--check", "-p", folder]);
    assert_eq!(other.status.code(), Some(1));
    let told = text(&other);
    for part in [
        "newly allowed",
        "record 3 (hook_returned of \"probe\")",
        "-   \"decision\": \"block\"",
        "+   \"decision\": \"allow\"",
        "2 differ",
        "hook \"probe\" (.harness/hooks/probe.md) was changed",
    ] {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
}

#[test]
fn a_response_is_on_the_tape_and_the_server_is_not_asked_again() {
    let server = Server::answering(|_| {
        b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nbanned".to_vec()
    });
    let project = Project::new();
    let base = format!("http://127.0.0.1:{}", server.port);
    let hook = |path: &str| {
        let grant = format!(
            "priority: 1\ngrant:\n  http: [{{ allow: \"GET {base}/*\", networks: [127.0.0.1/32] }}]"
        );
        let script = format!(
            "def handle(event, payload):\n    if http.get('{base}/{path}')['body'] == 'banned':\n        return block('banned')\n    return allow()"
        );
        hook_file("tool.pre", &grant, &script)
    };
    project.hook("probe", &hook("list"));
    let tape = tape_in(&project);
    record(
        Runtime::builder(project.path()),
        &tape,
        &[("tool.pre", command("ls"))],
    );
    assert_eq!(server.arrived().len(), 1);

    let (dispatch, same) = check_one(&project, &tape);
    assert_eq!(host_calls(&dispatch), ["http.send"]);
    assert_eq!((same.verdict, &same.difference), (Verdict::Kept, &None));
    assert_eq!(same.outcome.reason.as_deref(), Some("banned"));
    assert_eq!(server.arrived().len(), 1, "nothing goes out");

    project.hook("probe", &hook("other"));
    let (_, other) = check_one(&project, &tape);
    assert_eq!(other.verdict, Verdict::NewRequest);
    assert_eq!(other.new_requests, [format!("GET {base}/other")]);
    assert_eq!(server.arrived().len(), 1, "nothing goes out");
    let told = hookbox(&[
        "replay",
        tape.to_str().unwrap(),
        "--check",
        "-p",
        project.path().to_str().unwrap(),
    ]);
    assert_eq!(told.status.code(), Some(1));
    let line = format!("new request: GET {base}/other");
    assert!(text(&told).contains(&line), "{}", text(&told));
}

#[test]
fn a_grant_that_is_gone_refuses_what_the_tape_has_an_answer_to() {
    let server = Server::answering(|_| {
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok".to_vec()
    });
    let base = format!("http://127.0.0.1:{}", server.port);
    let hook = |path: &str| {
        let grant = format!(
            "priority: 1\non_error: block\ngrant:\n  http: [{{ allow: \"GET {base}/{path}\", networks: [127.0.0.1/32] }}]"
        );
        let script =
            format!("def handle(event, payload):\n    http.get('{base}/a')\n    return allow()");
        hook_file("tool.pre", &grant, &script)
    };
    let project = Project::with(&[("probe", &hook("a"))]);
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path());
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    project.hook("probe", &hook("b"));
    let (_, other) = check_one(&project, &tape);
    assert_eq!(other.verdict, Verdict::NewlyBlocked);
    assert!(other.new_requests.is_empty());
}

#[test]
fn the_clock_the_environment_files_and_randomness_are_told_again() {
    let grants = "priority: 1\ngrant: { clock: real, random: real, env: [STAGE], read: [docs/], hooks: read, cache: { namespace: n } }";
    let script = "def handle(event, payload):\n    return modify({'args': {'command': str([clock.now(), random.hex(8), env('STAGE'), files.read('docs/a.txt'), cache.incr('n'), metrics.incr('m'), len(hooks.list())])}})";
    let project = Project::with(&[("probe", &hook_file("tool.pre", grants, script))]);
    project.file("docs/a.txt", "then");
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path()).environment(|_| Some("prod".to_owned()));
    record(
        builder,
        &tape,
        &[("tool.pre", command("ls")), ("tool.pre", command("ls"))],
    );
    project.file("docs/a.txt", "now");
    let all = check(&project, &tape);
    assert_eq!(all.len(), 2);
    let mut payloads = Vec::new();
    for (dispatch, checked) in &all {
        assert_eq!(checked.difference, None);
        assert_eq!(checked.outcome.decision, Ruling::Modify);
        let recorded = dispatch.outcome().unwrap();
        assert_eq!(recorded.payload.text(), checked.outcome.payload.text());
        assert!(recorded.payload.text().contains("then"));
        payloads.push(recorded.payload.text().to_owned());
    }
    assert_ne!(payloads[0], payloads[1], "each run had its own world");
    let calls = host_calls(&all[0].0);
    for capability in [
        "clock.now",
        "random.bytes",
        "environment.get",
        "files.read",
        "cache.increment",
        "metrics.incr",
        "hooks.all",
    ] {
        assert!(calls.iter().any(|call| call == capability), "{calls:?}");
    }
}

#[test]
fn tools_and_events_of_hooks_run_again_with_the_recorded_results() {
    let project = Project::with(&[
        (
            "start",
            &hook_file(
                "custom.start",
                "priority: 1\non_error: block\ngrant: { tools: [deploy] }",
                "def handle(event, payload):\n    emit('custom.inner', {'n': 1})\n    return modify({'got': tools.call('deploy', {'to': 'prod'})})",
            ),
        ),
        (
            "pre",
            &hook_file(
                "tool.pre",
                "priority: 1",
                "def handle(event, payload):\n    return modify({'args': {'to': 'staging'}})",
            ),
        ),
        (
            "inner",
            &hook_file(
                "custom.inner",
                "priority: 1",
                "def handle(event, payload):\n    return modify({'n': cache.incr('n')})",
            ),
        ),
    ]);
    let tape = tape_in(&project);
    let used = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&used);
    let builder = Runtime::builder(project.path()).tool("deploy", move |args| {
        let number = counter.fetch_add(1, Ordering::Relaxed);
        Ok(json!({"to": args["to"], "number": number}))
    });
    let events = [("custom.start", json!({})), ("custom.start", json!({}))];
    record(builder, &tape, &events);
    for (number, (dispatch, checked)) in check(&project, &tape).into_iter().enumerate() {
        assert_eq!(checked.difference, None);
        let expected = json!({"to": "staging", "number": number});
        assert_eq!(checked.outcome.payload.value()["got"], expected);
        let nested: Vec<&str> = dispatch
            .children
            .iter()
            .map(|child| &*child.start().event)
            .collect();
        assert_eq!(nested, ["custom.inner", "tool.pre", "tool.post"]);
    }
    assert_eq!(used.load(Ordering::Relaxed), 2, "no tool runs in a replay");
}

#[test]
fn a_deadline_that_fired_is_honoured_on_any_machine() {
    let more = "priority: 1\nlimits: { wall_time: 100ms, fuel: 20G }";
    let script = "def handle(event, payload):\n    log('begins')\n    for i in range(1000000000):\n        pass\n    return allow()";
    let project = Project::with(&[("probe", &hook_file("tool.pre", more, script))]);
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path());
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    let (dispatch, checked) = check_one(&project, &tape);
    let recorded = dispatch.outcome().unwrap();
    assert_eq!(
        recorded.trace[0].cause,
        Some(hookbox::failure::Cause::Deadline)
    );
    assert_eq!(checked.difference, None);
    assert_eq!(checked.outcome.decision, Ruling::Block);
    assert_eq!(checked.outcome.logs, recorded.logs);
    assert_eq!(recorded.logs[0].message, "begins");
}

#[test]
fn out_of_fuel_is_a_result_that_replays() {
    let project = Project::with(&[(
        "probe",
        &hook_file(
            "tool.pre",
            "priority: 1\nlimits: { fuel: 2M }",
            "def handle(event, payload):\n    for i in range(100000000):\n        pass\n    return allow()",
        ),
    )]);
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path());
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    let (_, checked) = check_one(&project, &tape);
    assert_eq!(checked.difference, None);
    let cause = checked.outcome.trace[0].cause;
    assert_eq!(cause, Some(hookbox::failure::Cause::OutOfFuel));
}

#[test]
fn a_guest_with_a_standard_library_of_its_own_sees_the_same_world_again() {
    let project = Project::new();
    project.file(".harness/hooks/probe.wasm", guest("standard"));
    project.file("docs/a.txt", "hello");
    project.hook(
        "probe",
        "---\nevent: tool.pre\npriority: 1\ncomponent: probe.wasm\ngrant: { env: [ALPHA], read: [docs/], clock: real, random: real }\n---\nA hook.\n",
    );
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path()).environment(|_| Some("one".to_owned()));
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    let (dispatch, checked) = check_one(&project, &tape);
    let calls = host_calls(&dispatch);
    assert!(calls.iter().any(|call| call == "random.bytes"), "{calls:?}");
    assert!(calls.iter().any(|call| call == "clock.now"), "{calls:?}");
    let recorded = dispatch.outcome().unwrap();
    assert_eq!(recorded.payload.text(), checked.outcome.payload.text());
    assert_eq!(checked.verdict, Verdict::Kept);
}

#[test]
fn a_component_that_was_changed_by_a_byte_is_named() {
    let project = Project::new();
    let mut wasm = guest("command");
    project.file(".harness/hooks/guard.wasm", &wasm);
    project.hook(
        "guard",
        "---\nevent: tool.pre\npriority: 1\ncomponent: guard.wasm\n---\nA hook.\n",
    );
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path());
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    // A custom section with one byte in it changes nothing but the bytes.
    wasm.extend([0, 3, 1, b'x', 7]);
    project.file(".harness/hooks/guard.wasm", &wasm);
    let told = hookbox(&[
        "replay",
        tape.to_str().unwrap(),
        "--check",
        "-p",
        project.path().to_str().unwrap(),
    ]);
    assert_eq!(told.status.code(), Some(0), "{}", text(&told));
    let part = "(record 0): the component of hook \"guard\" is not the recorded one";
    assert!(text(&told).contains(part), "{}", text(&told));
}

#[test]
fn a_rule_that_asks_the_cache_for_something_new_is_not_taken_for_a_crash() {
    let project = Project::script(GUARD);
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path());
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    let script = "def handle(event, payload):\n    return block('often') if cache.incr('n') > 3 else allow()";
    project.hook("probe", &hook_file("tool.pre", "priority: 10", script));
    let (_, checked) = check_one(&project, &tape);
    assert_eq!(checked.verdict, Verdict::NewRequest);
    assert_eq!(checked.new_requests, ["cache.increment \"n\""]);
}

#[test]
fn a_hook_that_counts_for_the_first_time_still_decides() {
    let project = Project::script(GUARD);
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path());
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    let script =
        "def handle(event, payload):\n    metrics.incr('denied')\n    return block('all of it')";
    project.hook("probe", &hook_file("tool.pre", "priority: 10", script));
    let (_, checked) = check_one(&project, &tape);
    assert_eq!(checked.verdict, Verdict::NewlyBlocked);
}

#[test]
fn a_renamed_hook_hears_what_the_old_one_heard() {
    let grants = "priority: 1\ngrant: { env: [STAGE] }";
    let script = "def handle(event, payload):\n    return block('prod') if env('STAGE') == 'prod' else allow()";
    let file = hook_file("tool.pre", grants, script);
    let project = Project::with(&[("old", &file)]);
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path()).environment(|_| Some("prod".to_owned()));
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    std::fs::remove_file(project.path().join(".harness/hooks/old.md")).unwrap();
    project.hook("new", &file);
    let (_, checked) = check_one(&project, &tape);
    assert_eq!(checked.verdict, Verdict::ReasonChanged);
    assert_eq!(checked.outcome.hook.as_deref(), Some("new"));
}

#[test]
fn parallel_dispatches_are_checked_on_all_cores_in_the_order_of_the_tape() {
    let project = Project::script(
        "def handle(event, payload):\n    return modify({'args': {'command': str(cache.incr('n'))}})",
    );
    let tape = tape_in(&project);
    let recorder = Recorder::create(&tape).unwrap();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    runtime.dispatch("tool.pre", command("ls")).unwrap();
                }
            });
        }
    });
    recorder.close().unwrap();
    let all = check(&project, &tape);
    assert_eq!(all.len(), 200);
    let mut last = 0;
    for (dispatch, checked) in &all {
        assert_eq!(checked.difference, None);
        let ended = dispatch.records.last().unwrap().number;
        assert!(ended > last, "in the order of the tape");
        last = ended;
    }
}

#[test]
fn a_hook_that_asked_very_often_is_checked_as_fast_as_it_ran() {
    let more = "priority: 1\nlimits: { fuel: 20G, host_calls: 200k, wall_time: 30s }";
    let script = "def handle(event, payload):\n    for i in range(60000):\n        cache.incr('n')\n    return allow()";
    let project = Project::with(&[("probe", &hook_file("tool.pre", more, script))]);
    let tape = tape_in(&project);
    let builder = Runtime::builder(project.path());
    record(builder, &tape, &[("tool.pre", command("ls"))]);
    let (dispatch, checked) = check_one(&project, &tape);
    assert_eq!(host_calls(&dispatch).len(), 60_000);
    assert_eq!(checked.difference, None);
}
