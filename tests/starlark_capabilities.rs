//! What a script can reach beyond the language: logs, metrics, the cache, and what
//! takes a grant.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use hookbox::Ruling::{Allow, Block};
use hookbox::capability::log::Level;
use hookbox::capability::metrics::Number;
use hookbox::failure::Cause;
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::{Project, command, hook_file};

/// A script whose `handle` has this body.
fn handle(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    format!("def handle(event, payload):\n{body}")
}

/// Dispatches one `tool.pre` to a hook whose `handle` has this body.
fn decide(body: &str) -> Outcome {
    Project::script(&handle(body)).dispatch("tool.pre", command("ls"))
}

/// A grant of every kind that a script can use.
const EVERYTHING: &str = "grant: { http: [\"GET https://example.com/*\"], tools: [t], env: [CI], read: [\".\"], hooks: read }";

/// A project with one hook on `tool.pre` that was granted something.
fn granted(grant: &str, script: &str) -> Project {
    let more = format!("priority: 10\n{grant}");
    Project::with(&[("probe", &hook_file("tool.pre", &more, script))])
}

fn messages(outcome: &Outcome) -> Vec<&str> {
    outcome
        .logs
        .iter()
        .map(|line| line.message.as_str())
        .collect()
}

#[test]
fn ah_072_the_top_level_of_a_script_has_no_capabilities() {
    for call in [
        "log('x')",
        "log.warn('x')",
        "metrics.incr('a')",
        "metrics.set('a', 1)",
        "metrics.get('a')",
        "metrics.snapshot()",
        "cache.get('a')",
        "cache.set('a', 1)",
        "cache.has('a')",
        "cache.delete('a')",
        "cache.incr('a')",
        "cache.cas('a', None, 1)",
        "http.get('http://a')",
        "http.post('http://a')",
        "events.emit('custom.a')",
        "emit('custom.a')",
        "tools.call('a')",
        "env('A')",
        "files.read('a')",
        "files.list('a')",
        "hooks.list()",
        "hooks.source('a')",
    ] {
        let script = format!("X = {call}\n\n{}", handle("return allow()"));
        let runtime = granted(EVERYTHING, &script).runtime();
        let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
        let name = call
            .split_once('(')
            .unwrap()
            .0
            .replace("events.emit", "emit");
        assert_eq!(
            outcome.reason.unwrap(),
            format!(
                "hook \"probe\" failed: hook error: .harness/hooks/probe.md:6:7: {name}: not available while the script loads; call it inside handle"
            )
        );
        assert!(runtime.metrics().snapshot().is_empty());
        assert!(outcome.logs.is_empty());
    }
}

#[test]
fn ah_073_ah_074_ah_075_counters_gauges_and_their_snapshot() {
    let body = "log(str(metrics.incr('b.count')))\nlog(str(metrics.incr('b.count', 4)))\nlog(str(metrics.incr('b.count', delta = -2)))\nmetrics.set('a.gauge', 5)\nmetrics.set('a.gauge', 7)\nmetrics.set('c.real', 0.5)\nlog(repr(metrics.get('a.gauge')) + repr(metrics.get('nothing')))\nlog(json.encode(metrics.snapshot()))\nreturn allow()";
    let runtime = Project::script(&handle(body)).runtime();
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    let snapshot = "{\"a.gauge\":7,\"b.count\":3,\"c.real\":0.5}";
    assert_eq!(messages(&outcome), ["1", "5", "3", "7None", snapshot]);
    let expected = BTreeMap::from([
        ("a.gauge".to_owned(), Number::Integer(7)),
        ("b.count".to_owned(), Number::Integer(3)),
        ("c.real".to_owned(), Number::Real(0.5)),
    ]);
    assert_eq!(outcome.metrics, expected);
    assert_eq!(runtime.metrics().snapshot(), expected);
    assert_eq!(serde_json::to_string(&outcome.metrics).unwrap(), snapshot);
    // The host counts in the same place, and counters go on over events.
    runtime.metrics().incr("b.count", 10).unwrap();
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(messages(&outcome)[0], "14");
}

#[test]
fn ah_073_ah_074_what_is_no_metric_is_an_error() {
    for (call, wanted) in [
        (
            "metrics.set('a', 'x')",
            "metrics.set: the value must be an int or a float, not a string",
        ),
        (
            "metrics.set('a', True)",
            "metrics.set: the value must be an int or a float, not a bool",
        ),
        (
            "metrics.set('a', None)",
            "metrics.set: the value must be an int or a float, not a NoneType",
        ),
        (
            "metrics.set('a', 1 << 64)",
            "metrics.set: the value is out of range",
        ),
    ] {
        let outcome = decide(&format!("{call}\nreturn allow()"));
        let reason = outcome.reason.unwrap();
        assert!(
            reason.ends_with(&format!("probe.md:6:5: {wanted}")),
            "{reason}"
        );
        assert!(outcome.metrics.is_empty());
    }
    for call in [
        "metrics.incr(1)",
        "metrics.incr('a', 1.5)",
        "metrics.incr('a', 1 << 64)",
        "metrics.incr()",
        "metrics.set('a')",
        "metrics.get()",
    ] {
        let outcome = decide(&format!("{call}\nreturn allow()"));
        assert_eq!(outcome.trace[0].cause, Some(Cause::HookError), "{call}");
        assert!(outcome.metrics.is_empty(), "{call}");
    }
}

#[test]
fn ah_076_ah_077_log_lines_have_a_level_and_a_hook() {
    let body = "log('a')\nlog.debug('b')\nlog.info('c')\nlog.warn('d')\nlog.error('é🦀')\nlog(['x', 1, None])\nlog({})\nlog('')\nlog('two\\nlines')\nreturn allow()";
    let outcome = decide(body);
    let lines: Vec<(Level, &str)> = outcome
        .logs
        .iter()
        .map(|line| (line.level, line.message.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (Level::Info, "a"),
            (Level::Debug, "b"),
            (Level::Info, "c"),
            (Level::Warn, "d"),
            (Level::Error, "é🦀"),
            (Level::Info, "[\"x\", 1, None]"),
            (Level::Info, "{}"),
            (Level::Info, ""),
            (Level::Info, "two\nlines"),
        ]
    );
    assert!(outcome.logs.iter().all(|line| &*line.hook == "probe"));
    for call in ["log()", "log('a', 'b')", "log(msg = 'a')", "log.info()"] {
        assert_eq!(
            decide(&format!("{call}\nreturn allow()")).decision,
            Block,
            "{call}"
        );
    }
}

#[test]
fn ah_076_the_lines_of_a_hook_that_fails_or_blocks_are_kept() {
    assert_eq!(
        messages(&decide("log('before')\nreturn block('x')")),
        ["before"]
    );
    assert_eq!(messages(&decide("log('before')\nfail('x')")), ["before"]);
}

#[test]
fn ah_078_log_lines_reach_the_next_turn_end_and_only_that() {
    let project = Project::with(&[
        (
            "audit",
            &hook_file(
                "tool.pre",
                "priority: 1",
                &handle("log.warn('call ' + payload['name'])\nreturn allow()"),
            ),
        ),
        (
            "report",
            &hook_file(
                "turn.end",
                "priority: 1",
                &handle(
                    "lines = ['%s %s: %s' % (line['hook'], line['level'], line['message']) for line in payload.get('logs', [])]\nreturn modify({'text': '; '.join(lines)})",
                ),
            ),
        ),
    ]);
    let runtime = project.runtime();
    let end = || runtime.dispatch("turn.end", json!({"text": ""})).unwrap();
    for tool in ["a", "b"] {
        runtime.dispatch("tool.pre", json!({"name": tool})).unwrap();
    }
    let outcome = end();
    assert_eq!(
        outcome.payload.value()["text"],
        "audit warn: call a; audit warn: call b"
    );
    assert_eq!(
        outcome.payload.value()["logs"][1],
        json!({"hook": "audit", "event": "tool.pre", "level": "warn", "message": "call b"})
    );
    let outcome = end();
    assert_eq!(outcome.payload.value(), &json!({"text": ""}));
    // Lines the agent put there itself stay in front.
    runtime.dispatch("tool.pre", json!({"name": "c"})).unwrap();
    let outcome = runtime
        .dispatch(
            "turn.end",
            json!({"text": "", "logs": [{"hook": "host", "level": "info", "message": "m"}]}),
        )
        .unwrap();
    assert_eq!(
        outcome.payload.value()["text"],
        "host info: m; audit warn: call c"
    );
}

#[test]
fn ah_079_the_cache_is_shared_with_the_host_and_as_old_as_the_run() {
    let body = "before = cache.get('host')\ncache.set('hook', {'n': [1, 1.0, None, 'é']})\nreturn modify({'args': {'seen': before, 'default': cache.get('nothing', 'd'), 'none': cache.get('nothing')}})";
    let project = Project::script(&handle(body));
    let runtime = project.runtime();
    let cache = |runtime: &Runtime| runtime.cache_of("probe").unwrap();
    cache(&runtime)
        .set(
            "host",
            &json!({"big": 12_345_678_901_234_567_890_u64}),
            None,
        )
        .unwrap();
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(
        outcome.payload.value()["args"],
        json!({"seen": {"big": 12_345_678_901_234_567_890_u64}, "default": "d", "none": null})
    );
    assert_eq!(
        cache(&runtime).get("hook").unwrap().unwrap().to_string(),
        "{\"n\":[1,1.0,null,\"é\"]}"
    );
    let fresh = project.runtime();
    assert_eq!(cache(&fresh).get("hook"), Ok(None));
    assert_eq!(
        fresh
            .dispatch("tool.pre", command("ls"))
            .unwrap()
            .payload
            .value()["args"]["seen"],
        Value::Null
    );
}

#[test]
fn ah_079_all_of_the_cache() {
    let body = "log(repr(cache.set('k', [1])))\nlog(repr([cache.has('k'), cache.has('no')]))\nlog(repr([cache.delete('k'), cache.delete('k'), cache.get('k')]))\nlog(repr([cache.incr('n'), cache.incr('n', 5), cache.incr('n', delta = -2)]))\nlog(repr([cache.cas('c', None, 1), cache.cas('c', None, 2), cache.cas('c', 1, 3), cache.get('c')]))\nlog(repr([cache.set('t', 1, ttl_seconds = 3600), cache.get('t')]))\nlog(repr([cache.set('g', 1, 0), cache.get('g')]))\nlog(repr([cache.set('', ''), cache.get('')]))\nreturn allow()";
    let outcome = decide(body);
    assert_eq!(
        messages(&outcome),
        [
            "[1]",
            "[True, False]",
            "[True, False, None]",
            "[1, 6, 4]",
            "[True, False, True, 3]",
            "[1, 1]",
            "[1, None]",
            "[\"\", \"\"]"
        ],
        "{:?}",
        outcome.reason
    );
}

#[test]
fn ah_079_a_value_is_stored_as_it_is_and_not_as_it_becomes() {
    let outcome = decide(
        "x = [1]\ncache.set('k', x)\nx.append(2)\ny = cache.get('k')\ny.append(3)\nlog(repr([x, y, cache.get('k')]))\nreturn allow()",
    );
    assert_eq!(messages(&outcome), ["[[1, 2], [1, 3], [1]]"]);
}

#[test]
fn ah_079_what_cannot_be_stored_is_an_error() {
    for (call, wanted) in [
        (
            "cache.set('k', len)",
            "cache.set: value is a function, which JSON cannot hold",
        ),
        (
            "cache.set('k', {'a': {1: 2}})",
            "cache.set: value.a has the key 1, but keys of JSON objects are strings",
        ),
        (
            "cache.set('k', 1, -1)",
            "cache.set: ttl_seconds must be >= 0",
        ),
        (
            "cache.set('k', 1, float('nan'))",
            "cache.set: ttl_seconds must be >= 0",
        ),
        (
            "cache.cas('k', len, 1)",
            "cache.cas: expected is a function, which JSON cannot hold",
        ),
        (
            "cache.cas('k', None, len)",
            "cache.cas: value is a function, which JSON cannot hold",
        ),
        (
            "cache.incr('text')",
            "cache.incr: the value under \"text\" is not an integer that can be counted up; delete it, or use another key",
        ),
        (
            "cache.incr('max')",
            "cache.incr: the value under \"max\" is not an integer that can be counted up; delete it, or use another key",
        ),
    ] {
        let outcome = decide(&format!(
            "cache.set('text', 'x')\ncache.set('max', 9223372036854775807)\n{call}\nreturn allow()"
        ));
        let reason = outcome.reason.unwrap();
        assert!(
            reason.ends_with(&format!("probe.md:8:5: {wanted}")),
            "{reason}"
        );
    }
}

#[test]
fn ah_079_a_full_cache_says_so() {
    let runtime = Project::script(&handle("cache.set('k', 'x' * 100)\nreturn allow()")).runtime();
    let cache = runtime.cache_of("probe").unwrap();
    cache
        .set("host", &"x".repeat((1 << 20) - 50).into(), None)
        .unwrap();
    let reason = runtime
        .dispatch("tool.pre", command("ls"))
        .unwrap()
        .reason
        .unwrap();
    assert!(
        reason.contains("cache.set: the cache namespace \"hook/probe\" is full"),
        "{reason}"
    );
    assert_eq!(cache.delete("host"), Ok(true));
    assert_eq!(
        runtime
            .dispatch("tool.pre", command("ls"))
            .unwrap()
            .decision,
        Allow
    );
}

#[test]
fn ah_079_the_host_s_own_ttl_is_kept() {
    let runtime = Project::script(&handle(
        "return block(repr([cache.get('gone'), cache.get('here')]))",
    ))
    .runtime();
    let cache = runtime.cache_of("probe").unwrap();
    cache.set("gone", &json!(1), Some(Duration::ZERO)).unwrap();
    cache
        .set("here", &json!(1), Some(Duration::from_secs(3600)))
        .unwrap();
    assert_eq!(
        runtime
            .dispatch("tool.pre", command("ls"))
            .unwrap()
            .reason
            .as_deref(),
        Some("[None, 1]")
    );
}

#[test]
fn ah_080_ah_086_what_a_script_names_without_a_grant_keeps_it_from_loading() {
    for (call, name, line) in [
        (
            "http.get('http://127.0.0.1:9/x')",
            "http",
            "http: [\"GET https://HOST/PATH/*\"]",
        ),
        (
            "http.post('http://127.0.0.1:9/x', {'a': 1})",
            "http",
            "http: [\"GET https://HOST/PATH/*\"]",
        ),
        ("tools.call('t')", "tools", "tools: [NAME]"),
        ("env('HOME')", "env", "env: [NAME]"),
        ("files.read('a')", "files", "read: [\"FOLDER/\"]"),
        ("hooks.list()", "hooks", "hooks: read"),
    ] {
        let project = Project::script(&handle(&format!("{call}\nreturn allow()")));
        let loaded = Runtime::builder(project.path()).inspect().unwrap();
        let [problem] = loaded.problems.as_slice() else {
            panic!("{:?}", loaded.problems)
        };
        assert!(problem.is_error());
        assert_eq!(
            problem.message,
            format!("the script uses {name}, which hook \"probe\" is not granted")
        );
        assert_eq!((problem.line(), problem.column()), (Some(6), Some(5)));
        assert_eq!(
            problem.help.as_deref(),
            Some(&*format!(
                "grant it in the frontmatter: `grant: {{ {line} }}`"
            ))
        );
    }
}

#[test]
fn ah_080_ah_086_arguments_that_make_no_sense_are_errors_of_the_script() {
    for (call, wanted) in [
        (
            "http.get('http://a', headers = [])",
            "http.get: headers must be a dict, not a list",
        ),
        (
            "http.get('http://a', headers = {'a': 1})",
            "http.get: header \"a\" and its value must both be strings",
        ),
        (
            "http.post('http://a', len)",
            "http.post: body is a function, which JSON cannot hold",
        ),
        (
            "tools.call('t', {'f': len})",
            "tools.call: args.f is a function, which JSON cannot hold",
        ),
    ] {
        let script = handle(&format!("{call}\nreturn allow()"));
        let outcome = granted(EVERYTHING, &script).dispatch("tool.pre", command("ls"));
        let reason = outcome.reason.unwrap();
        assert!(reason.ends_with(wanted), "{reason}");
    }
}

/// A project whose payloads may have 2 KiB, with a hook that logs 3 KiB.
fn chatty() -> Project {
    let project = Project::with(&[(
        "chatty",
        &hook_file(
            "tool.pre",
            "priority: 1",
            &handle("for i in range(30):\n  log(str(i) + ' ' + 'x' * 100)\nreturn allow()"),
        ),
    )]);
    project.file("harness.md", "---\nlimits: { payload: 2 KiB }\n---\n");
    project
}

#[test]
fn ah_078_what_hooks_logged_does_not_keep_a_turn_from_ending() {
    let runtime = chatty().runtime();
    runtime.dispatch("tool.pre", command("ls")).unwrap();
    let outcome = runtime.dispatch("turn.end", json!({"text": "done"}));
    assert_eq!(outcome.unwrap().decision, Allow);
}

#[test]
fn ah_078_a_turn_end_that_is_refused_takes_no_log_lines_with_it() {
    let runtime = Project::script(&handle("log('kept')\nreturn allow()")).runtime();
    runtime.dispatch("tool.pre", command("ls")).unwrap();
    let large = "x".repeat(5 << 20);
    runtime
        .dispatch("turn.end", json!({ "text": large }))
        .unwrap_err();
    let outcome = runtime.dispatch("turn.end", json!({"text": ""})).unwrap();
    assert_eq!(outcome.payload.value()["logs"][0]["message"], "kept");
}

#[test]
fn ah_078_logs_that_are_no_list_do_not_swallow_the_lines() {
    let runtime = Project::script(&handle("log('kept')\nreturn allow()")).runtime();
    runtime.dispatch("tool.pre", command("ls")).unwrap();
    let first = runtime
        .dispatch("turn.end", json!({"text": "", "logs": "mine"}))
        .unwrap();
    let second = runtime.dispatch("turn.end", json!({"text": ""})).unwrap();
    let shown = first.payload.text().to_owned() + second.payload.text();
    assert!(shown.contains("kept"), "{shown}");
}

#[test]
fn ah_048_what_was_odd_about_an_emitted_event_is_told_with_the_event() {
    let project = Project::script(&handle("emit('custom.a')\nreturn allow()"));
    project.hook(
        "odd",
        &hook_file("custom.a", "priority: 1", &handle("return 42")),
    );
    project.hook(
        "broken",
        &hook_file("custom.a", "priority: 2", &handle("return 1 // 0")),
    );
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Allow);
    assert_eq!(outcome.warnings.len(), 2, "{:?}", outcome.warnings);
    assert!(outcome.warnings[0].starts_with("hook \"odd\": handle returned the int 42"));
    assert!(outcome.warnings[1].starts_with("hook \"broken\" failed and was passed over"));
}

#[test]
fn ah_048_an_emitted_payload_is_bounded() {
    let script = handle("emit('custom.a', 'x' * 5000)\nreturn allow()");
    let more = "priority: 1\nlimits: { payload: 2 KiB }";
    let project = Project::with(&[("probe", &hook_file("tool.pre", more, &script))]);
    let reason = project.dispatch("tool.pre", command("ls")).reason.unwrap();
    assert!(reason.contains("probe.md:7:5: emit: "), "{reason}");
    assert!(
        reason.contains("5002 bytes") && reason.contains("2048"),
        "{reason}"
    );
}

#[test]
fn ah_074_a_gauge_that_json_cannot_hold_is_refused() {
    for value in ["nan", "inf", "-inf"] {
        let outcome = decide(&format!(
            "metrics.set('a', float('{value}'))\nreturn allow()"
        ));
        assert_eq!(
            outcome.trace[0].cause,
            Some(Cause::HookError),
            "{value}: {:?}",
            outcome.metrics
        );
    }
}
