//! What a host lends to its hooks, and what it gets to hear.

mod support;

use std::sync::{Arc, Mutex};

use hookbox::Ruling::Allow;
use hookbox::Runtime;
use hookbox::capability::cache::{Memory, Store};
use hookbox::capability::metrics::{Kind, Metric, Number};
use serde_json::json;
use support::{Project, hook_file};

#[test]
fn two_runtimes_share_a_store_only_if_they_are_given_one() {
    let script = "def handle(event, payload):\n    return block(str(cache.incr('n')))";
    let more = "priority: 1\ngrant: { cache: { namespace: n } }";
    let project = Project::with(&[("count", &hook_file("tool.pre", more, script))]);
    let count = |runtime: &Runtime| {
        let outcome = runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
        outcome.reason.unwrap()
    };
    let (one, other) = (project.runtime(), project.runtime());
    assert_eq!((count(&one), count(&other)), ("1".into(), "1".into()));
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let with = || {
        let builder = Runtime::builder(project.path()).store(Arc::clone(&store));
        builder.load().unwrap()
    };
    assert_eq!((count(&with()), count(&with())), ("1".into(), "2".into()));
}

#[test]
fn a_host_s_environment_is_seen_as_far_as_it_is_granted() {
    let script =
        "def handle(event, payload):\n    return block(env('A') + env('B', 'none') + env('C'))";
    let more = "priority: 1\ngrant: { env: [A, B] }";
    let project = Project::with(&[("probe", &hook_file("tool.pre", more, script))]);
    let runtime = Runtime::builder(project.path())
        .environment(|name| (name != "B").then(|| name.to_lowercase()))
        .load()
        .unwrap();
    let outcome = runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
    let reason = outcome.reason.unwrap();
    assert!(reason.ends_with("env: the variable \"C\" is not granted to hook \"probe\"; grant it with `env: [NAME]` under `grant:`"), "{reason}");
    project.hook(
        "probe",
        &hook_file("tool.pre", more, &script.replace(" + env('C')", "")),
    );
    let runtime = Runtime::builder(project.path())
        .environment(|name| (name != "B").then(|| name.to_lowercase()))
        .load()
        .unwrap();
    let outcome = runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
    assert_eq!(outcome.reason.as_deref(), Some("anone"));
}

#[test]
fn a_sink_hears_of_every_change() {
    let heard: Arc<Mutex<Vec<(String, Metric)>>> = Arc::default();
    let listening = Arc::clone(&heard);
    let script = "def handle(event, payload):\n    metrics.incr('a', 2)\n    metrics.set('b', 0.5)\n    metrics.incr('a')\n    return allow()";
    let project = Project::script(script);
    let runtime = Runtime::builder(project.path())
        .metrics_sink(move |name, metric| listening.lock().unwrap().push((name.to_owned(), metric)))
        .load()
        .unwrap();
    runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
    let metric = |kind, value| Metric { kind, value };
    assert_eq!(
        *heard.lock().unwrap(),
        [
            ("a".to_owned(), metric(Kind::Counter, Number::Integer(2))),
            ("b".to_owned(), metric(Kind::Gauge, Number::Real(0.5))),
            ("a".to_owned(), metric(Kind::Counter, Number::Integer(3))),
        ]
    );
}

/// Writes down what hooks log, as a subscriber of `tracing` hears it.
struct Listener(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Listener {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "hookbox::hook"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!(" {field}={value:?}");
            }
        }
        let mut fields = Fields(event.metadata().level().to_string());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn ah_077_log_lines_reach_tracing_with_hook_event_and_level() {
    let script = "def handle(event, payload):\n    log.warn('careful')\n    log.debug('detail')\n    return allow()";
    let runtime = Project::script(script).runtime();
    let heard = Arc::new(Mutex::new(Vec::new()));
    tracing::subscriber::with_default(Listener(Arc::clone(&heard)), || {
        runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
    });
    assert_eq!(
        *heard.lock().unwrap(),
        [
            "WARN message=careful hook=\"probe\" event=\"tool.pre\"",
            "DEBUG message=detail hook=\"probe\" event=\"tool.pre\""
        ]
    );
}

#[test]
fn parallel_dispatches_lose_nothing() {
    let script = "def handle(event, payload):\n    cache.incr('n')\n    metrics.incr('n')\n    log('x')\n    events.emit('custom.more', {})\n    return allow()";
    let project = Project::script(script);
    project.hook(
        "more",
        &hook_file(
            "custom.more",
            "priority: 1",
            "def handle(event, payload):\n    metrics.incr('more')\n    return allow()",
        ),
    );
    let runtime = project.runtime();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let outcome = runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
                    assert_eq!(outcome.decision, Allow, "{:?}", outcome.reason);
                    assert_eq!(outcome.logs.len(), 1);
                }
            });
        }
    });
    assert_eq!(runtime.metrics().get("n"), Some(Number::Integer(160)));
    assert_eq!(runtime.metrics().get("more"), Some(Number::Integer(160)));
    let cache = runtime.cache_of("probe").unwrap();
    assert_eq!(cache.get("n"), Ok(Some(json!(160))));
}

#[test]
fn a_granted_directory_is_read_and_not_left() {
    let script = "def handle(event, payload):\n    if payload['args'].get('list'):\n        return block(repr(files.list(payload['args']['path'])))\n    return block(files.read(payload['args']['path']))";
    let more = "priority: 1\ngrant: { read: [\"docs/\"] }";
    let project = Project::new();
    project
        .file("docs/a.md", "inside")
        .file("docs/deep/b.md", "deeper");
    project
        .file("secret.txt", "hidden words")
        .file("docs-not/x", "beside");
    project.hook("probe", &hook_file("tool.pre", more, script));
    let path = project.path();
    std::os::unix::fs::symlink("../secret.txt", path.join("docs/link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", path.join("docs/absolute")).unwrap();
    std::os::unix::fs::symlink("..", path.join("docs/up")).unwrap();
    std::os::unix::fs::symlink("a.md", path.join("docs/fine")).unwrap();
    let runtime = project.runtime();
    let read = |path: &str, list: bool| {
        let payload = json!({"name": "x", "args": {"path": path, "list": list}});
        runtime.dispatch("tool.pre", payload).unwrap()
    };
    for (path, wanted) in [
        ("docs/a.md", "inside"),
        ("docs/deep/b.md", "deeper"),
        ("docs/deep/../a.md", "inside"),
        ("docs/fine", "inside"),
    ] {
        assert_eq!(read(path, false).reason.as_deref(), Some(wanted), "{path}");
    }
    assert_eq!(
        read("docs", true).reason.as_deref(),
        Some("[\"a.md\", \"absolute\", \"deep/\", \"fine\", \"link\", \"up\"]")
    );
    for path in [
        "secret.txt",
        "docs/../secret.txt",
        "docs/link",
        "docs/absolute",
        "docs/up/secret.txt",
        "docs/deep/../../secret.txt",
        "docs-not/x",
        "/etc/passwd",
        "../secret.txt",
        "docs//etc/passwd",
        "",
        ".",
    ] {
        let outcome = read(path, false);
        let reason = outcome.reason.unwrap();
        assert!(outcome.trace[0].error.is_some(), "{path}: {reason}");
        assert!(
            !reason.contains("hidden") && !reason.contains("root:"),
            "{path}: {reason}"
        );
    }
    assert!(read("docs/../secret.txt", false).trace[0].refusals[0].starts_with("read: "));
}

#[test]
fn the_whole_project_can_be_granted_and_is_not_left_either() {
    let script = "def handle(event, payload):\n    return block(files.read('README.md') + files.read('./docs/a') + repr(files.list('.')))";
    let project = Project::new();
    project.file("README.md", "one ").file("docs/a", "two ");
    let more = "priority: 1\ngrant: { read: [\".\"] }";
    project.hook("probe", &hook_file("tool.pre", more, script));
    let outcome = project.dispatch("tool.pre", json!({"name": "x"}));
    assert_eq!(
        outcome.reason.as_deref(),
        Some("one two [\".harness/\", \"README.md\", \"docs/\"]")
    );
    project.hook(
        "probe",
        &hook_file("tool.pre", more, &script.replace("README.md", "../x")),
    );
    let outcome = project.dispatch("tool.pre", json!({"name": "x"}));
    assert!(
        outcome.trace[0].refusals[0].starts_with("read: ../x"),
        "{outcome:?}"
    );
}

#[test]
fn attack_a_pipe_in_a_granted_directory_does_not_hang() {
    let script = "def handle(event, payload):\n    return block(files.read('docs/pipe'))";
    let project = Project::new();
    project.file("docs/a", "");
    project.hook(
        "probe",
        &hook_file("tool.pre", "priority: 1\ngrant: { read: [docs] }", script),
    );
    let made = std::process::Command::new("mkfifo")
        .arg(project.path().join("docs/pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    let outcome = project.dispatch("tool.pre", json!({"name": "x"}));
    assert!(outcome.reason.unwrap().contains("it is not a regular file"));
}

#[test]
fn attack_a_granted_directory_that_is_exchanged_after_loading() {
    let script = "def handle(event, payload):\n    return block(files.read('docs/passwd'))";
    let project = Project::new();
    project.file("docs/passwd", "harmless");
    project.hook(
        "probe",
        &hook_file("tool.pre", "priority: 1\ngrant: { read: [docs] }", script),
    );
    let runtime = project.runtime();
    std::fs::rename(project.path().join("docs"), project.path().join("old")).unwrap();
    std::os::unix::fs::symlink("/etc", project.path().join("docs")).unwrap();
    let outcome = runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
    assert_eq!(outcome.reason.as_deref(), Some("harmless"));
    // And a link that leads out is no directory to be granted.
    assert!(project.errors()[0].contains("\"docs\" is not a directory that can be read"));
}
