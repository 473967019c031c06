//! Where hooks keep values: apart from each other unless granted, and as long as
//! the project says.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hookbox::Ruling::Block;
use hookbox::Runtime;
use serde_json::{Value, json};
use support::{Project, hook_file};

/// A hook that counts its calls under one key and blocks with the count.
fn counter(event: &str, grant: &str) -> String {
    let script = "def handle(event, payload):\n    return block(str(cache.incr('calls')))";
    hook_file(event, &format!("priority: 1\n{grant}"), script)
}

fn count(runtime: &Runtime, event: &str) -> String {
    let outcome = runtime.dispatch(event, json!({"name": "x"})).unwrap();
    outcome.reason.unwrap()
}

#[test]
fn cx_005_hooks_do_not_see_each_other_s_values() {
    let project = Project::with(&[
        ("one", &counter("custom.one", "")),
        ("two", &counter("custom.two", "")),
    ]);
    let runtime = project.runtime();
    for (event, wanted) in [
        ("custom.one", "1"),
        ("custom.one", "2"),
        ("custom.two", "1"),
        ("custom.one", "3"),
    ] {
        assert_eq!(count(&runtime, event), wanted);
    }
    let own = runtime.cache_of("one").unwrap();
    assert_eq!(own.get("calls"), Ok(Some(json!(3))));
    assert!(runtime.cache_of("three").is_none());
}

#[test]
fn cx_005_a_namespace_that_both_are_granted_is_shared_with_them_and_the_host() {
    let grant = "grant: { cache: { namespace: shared.calls } }";
    let project = Project::with(&[
        ("one", &counter("custom.one", grant)),
        ("two", &counter("custom.two", grant)),
        ("three", &counter("custom.three", "")),
    ]);
    let runtime = project.runtime();
    assert_eq!(count(&runtime, "custom.one"), "1");
    assert_eq!(count(&runtime, "custom.two"), "2");
    assert_eq!(count(&runtime, "custom.three"), "1");
    let shared = runtime.cache("shared.calls").unwrap();
    assert_eq!(shared.get("calls"), Ok(Some(json!(2))));
    shared.set("calls", &json!(40), None).unwrap();
    assert_eq!(count(&runtime, "custom.one"), "41");
    assert!(runtime.cache("hook/three").is_err());
}

#[test]
fn attack_a_hook_with_the_name_of_another_s_namespace() {
    let project = Project::with(&[
        (
            "one",
            &counter("custom.one", "grant: { cache: { namespace: two } }"),
        ),
        ("two", &counter("custom.two", "")),
    ]);
    let runtime = project.runtime();
    assert_eq!(count(&runtime, "custom.one"), "1");
    assert_eq!(count(&runtime, "custom.two"), "1");
}

#[test]
fn attack_a_plugin_with_a_hook_of_another_s_name() {
    let project = Project::with(&[("guard", &counter("custom.one", ""))]);
    let script = "def handle(event, payload):\n        return block(str(cache.get('calls')))";
    project.file(
        ".harness/plugins/guard.md",
        format!("---\nhooks:\n  - handler: guard\n    event: custom.two\n    priority: 1\n    script: |\n      {script}\n---\n"),
    );
    let runtime = project.runtime();
    assert_eq!(count(&runtime, "custom.one"), "1");
    assert_eq!(count(&runtime, "custom.two"), "None");
}

#[test]
fn attack_a_million_keys() {
    let script = "def handle(event, payload):\n    for i in range(1000000):\n        cache.set(str(i), 1)\n    return allow()";
    let more = "priority: 1\nlimits: { fuel: 20g, host_calls: 1M, wall_time: 30s }\ngrant: { cache: { keys: 500 } }";
    let project = Project::with(&[("greedy", &hook_file("tool.pre", more, script))]);
    let outcome = project.dispatch("tool.pre", json!({"name": "x"}));
    assert_eq!(outcome.decision, Block);
    let reason = outcome.reason.unwrap();
    assert!(
        reason.contains("cache.set: the cache namespace \"hook/greedy\" is full")
            && reason.contains("500"),
        "{reason}"
    );
}

#[test]
fn a_grant_s_time_is_the_longest_a_value_stays() {
    let script = "def handle(event, payload):\n    cache.set('k', 1, ttl_seconds = 3600)\n    return block(str(cache.get('k')))";
    for (ttl, wanted) in [("1h", "1"), ("1ms", "None")] {
        let slow = script.replace(
            "    return",
            "    for i in range(20000):\n        x = [i] * 100\n    return",
        );
        let more = format!("priority: 1\ngrant: {{ cache: {{ ttl: {ttl} }} }}");
        let project = Project::with(&[("probe", &hook_file("tool.pre", &more, &slow))]);
        let outcome = project.dispatch("tool.pre", json!({"name": "x"}));
        assert_eq!(outcome.reason.as_deref(), Some(wanted), "{ttl}");
    }
}

/// Runs the binary on a project with a store directory of its own.
fn run(project: &Project, home: &Path) -> Printed {
    support::warm_up();
    let output = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args([
            "run",
            "tool.pre",
            "--json",
            "--payload",
            "{\"name\":\"x\"}",
            "--project",
        ])
        .arg(project.path())
        .env("HOOKBOX_CACHE_DIR", home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Printed(serde_json::from_slice(&output.stdout).unwrap())
}

/// A store directory with the compiled code of the usual one: compiling takes seconds.
fn home() -> tempfile::TempDir {
    support::warm_up();
    let home = tempfile::tempdir().unwrap();
    let compiled = home.path().join("compiled");
    std::fs::create_dir(&compiled).unwrap();
    for file in std::fs::read_dir(usual().join("compiled")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), compiled.join(file.file_name())).unwrap();
    }
    home
}

fn usual() -> PathBuf {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from);
    given("HOOKBOX_CACHE_DIR").unwrap_or_else(|| {
        let caches =
            given("XDG_CACHE_HOME").unwrap_or_else(|| given("HOME").unwrap().join(".cache"));
        caches.join("hookbox")
    })
}

/// An outcome as the binary prints it.
struct Printed(Value);

impl Printed {
    fn reason(&self) -> &str {
        self.0["reason"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.0))
    }
}

#[test]
fn a_disk_cache_survives_the_run() {
    let project = Project::with(&[("guard", &counter("tool.pre", "grant: { cache: {} }"))]);
    project.file("hookbox.toml", "[cache]\nbackend = \"disk\"\n");
    let home = home();
    for wanted in ["1", "2", "3"] {
        assert_eq!(run(&project, home.path()).reason(), wanted);
    }
    // Another project has a file of its own.
    let other = Project::with(&[("guard", &counter("tool.pre", "grant: { cache: {} }"))]);
    other.file("harness.md", "---\ncache: { backend: disk }\n---\n");
    assert_eq!(run(&other, home.path()).reason(), "1");
    // A hook without a grant keeps nothing.
    project.hook("guard", &counter("tool.pre", ""));
    for _ in 0..2 {
        assert_eq!(run(&project, home.path()).reason(), "1");
    }
}

#[test]
fn many_processes_count_in_one_disk_cache() {
    let project = Project::with(&[(
        "guard",
        &counter(
            "tool.pre",
            "limits: { wall_time: 20s }\ngrant: { cache: { namespace: calls } }",
        ),
    )]);
    project.file(
        "hookbox.toml",
        "[cache]\nbackend = \"disk\"\npath = \"state/cache.redb\"\n",
    );
    let home = home();
    run(&project, home.path());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    run(&project, home.path());
                }
            });
        }
    });
    assert_eq!(run(&project, home.path()).reason(), "22");
    assert!(project.path().join("state/cache.redb").is_file());
}

#[test]
fn attack_a_link_on_the_way_to_the_disk_cache() {
    let project = Project::with(&[("guard", &counter("tool.pre", "grant: { cache: {} }"))]);
    project.file(
        "hookbox.toml",
        "[cache]\nbackend = \"disk\"\npath = \"state/cache.redb\"\n",
    );
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), project.path().join("state")).unwrap();
    let error = Runtime::load(project.path()).unwrap_err().to_string();
    assert!(error.contains("state is a link"), "{error}");
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_lost_redis_closes_the_gate_and_does_not_hang() {
    let more = "limits: { wall_time: 3s }\ngrant: { cache: { namespace: calls } }";
    let project = Project::with(&[("guard", &counter("tool.pre", more))]);
    // Nobody listens on this port any more.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    project.file(
        "hookbox.toml",
        format!(
            "[cache]\nbackend = \"redis\"\nurl = \"redis://:hunter2hunter2@127.0.0.1:{port}\"\n"
        ),
    );
    let runtime = project.runtime();
    let outcome = runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
    assert_eq!(outcome.decision, Block);
    let told = format!("{:?} {runtime:?}", outcome);
    assert!(told.contains("the cache is not available"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
    // One that takes the connection and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    project.file(
        "hookbox.toml",
        format!("[cache]\nbackend = \"redis\"\nurl = \"redis://127.0.0.1:{port}\"\n"),
    );
    let outcome = project.dispatch("tool.pre", json!({"name": "x"}));
    assert_eq!(outcome.decision, Block);
    assert!(
        outcome
            .reason
            .unwrap()
            .contains("the cache is not available")
    );
}

#[test]
fn a_redis_without_an_address_says_where_to_put_one() {
    let project = Project::with(&[("guard", &counter("tool.pre", "grant: { cache: {} }"))]);
    project.file("hookbox.toml", "[cache]\nbackend = \"redis\"\n");
    let error = Runtime::load(project.path()).unwrap_err().to_string();
    assert!(error.contains("HOOKBOX_REDIS_URL"), "{error}");
}

#[test]
fn a_redis_over_tls_is_trusted_only_with_a_certificate_of_a_known_authority() {
    let folder = tempfile::tempdir().unwrap();
    let authority = certificate(folder.path());
    let port = support::redis::free_port();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut server = Command::new("redis-server")
        .args(["--port", "0", "--tls-port", &port.to_string()])
        .args(["--tls-cert-file", &file("leaf.pem")])
        .args(["--tls-key-file", &file("key.pem")])
        .args(["--tls-ca-cert-file", &authority])
        .args(["--tls-auth-clients", "no", "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(server.try_wait().unwrap().is_none(), "the server ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let project = Project::with(&[(
        "guard",
        &counter(
            "tool.pre",
            "limits: { wall_time: 10s }\ngrant: { cache: { namespace: calls } }",
        ),
    )]);
    let url =
        |host: &str| format!("[cache]\nbackend = \"redis\"\nurl = \"rediss://{host}:{port}\"\n");
    project.file("hookbox.toml", url("localhost"));
    let run = |roots: &str| {
        support::warm_up();
        let output = Command::new(env!("CARGO_BIN_EXE_hookbox"))
            .args(["run", "tool.pre", "--json", "--payload", "{\"name\":\"x\"}"])
            .current_dir(project.path())
            .env("SSL_CERT_FILE", roots)
            .env("SSL_CERT_DIR", "")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Printed(serde_json::from_slice(&output.stdout).unwrap())
            .reason()
            .to_owned()
    };
    assert_eq!((run(&authority), run(&authority)), ("1".into(), "2".into()));
    let stranger = tempfile::tempdir().unwrap();
    let refused = run(&certificate(stranger.path()));
    assert!(refused.contains("the cache is not available"), "{refused}");
    // The name counts as well.
    project.file("hookbox.toml", url("127.0.0.1"));
    let refused = run(&authority);
    assert!(refused.contains("the cache is not available"), "{refused}");
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Writes a certificate for `localhost` with its key, and returns the authority's file.
fn certificate(folder: &Path) -> String {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .signed_by(&key, &authority)
        .unwrap();
    std::fs::write(folder.join("leaf.pem"), leaf.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
    let path = folder.join("authority.pem");
    std::fs::write(&path, authority.pem()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_rate_limit_over_two_runtimes_of_one_redis() {
    let server = support::redis::Server::start();
    let script = "def handle(event, payload):\n    if cache.incr('calls', ttl_seconds = 3600) > 3:\n        return block('too many')\n    return allow()";
    let more = "priority: 1\ngrant: { cache: { namespace: calls, ttl: 1h } }";
    let project = Project::with(&[("limit", &hook_file("tool.pre", more, script))]);
    project.file(
        "hookbox.toml",
        format!("[cache]\nbackend = \"redis\"\nurl = \"{}\"\n", server.url()),
    );
    let (one, other) = (project.runtime(), project.runtime());
    let decide = |runtime: &Runtime| {
        let outcome = runtime.dispatch("tool.pre", json!({"name": "x"})).unwrap();
        assert!(outcome.trace[0].error.is_none(), "{:?}", outcome.reason);
        outcome.decision
    };
    let decisions: Vec<_> = (0..6)
        .map(|turn| decide(if turn % 2 == 0 { &one } else { &other }))
        .collect();
    use hookbox::Ruling::{Allow, Block};
    assert_eq!(decisions, [Allow, Allow, Allow, Block, Block, Block]);
    let cache = one.cache("calls").unwrap();
    assert_eq!(cache.get("calls"), Ok(Some(json!(6))));
}
