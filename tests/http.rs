//! HTTP as a hook sees it: through the built-ins of a script, against real servers.

mod support;

use std::io::Write as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hookbox::Ruling::{Allow, Block};
use hookbox::runtime::RuntimeBuilder;
use hookbox::{Outcome, Runtime};
use serde_json::json;
use support::server::{Server, redirect};
use support::{Project, hook_file};

/// A hook that does what the payload says and blocks with what comes of it.
const SCRIPT: &str = r#"
def handle(event, payload):
    args = payload["args"]
    if args["method"] == "GET":
        answer = http.get(args["url"], headers = args.get("headers"))
    else:
        answer = http.post(args["url"], args.get("body"), headers = args.get("headers"))
    return block(json.encode(answer))
"#;

/// A project whose one hook has this grant.
fn project(http: &str) -> Project {
    let more = format!("priority: 10\nlimits: {{ wall_time: 5s }}\ngrant:\n  http: {http}");
    Project::with(&[("probe", &hook_file("tool.pre", &more, SCRIPT.trim()))])
}

/// Names that only the tests know.
fn resolver(name: &str) -> std::io::Result<Vec<IpAddr>> {
    let addresses: &[&str] = match name {
        "inside.test" => &["127.0.0.1"],
        "both.test" => &["93.184.216.34", "10.0.0.7"],
        "metadata.test" => &["169.254.169.254"],
        "mapped.test" => &["::ffff:127.0.0.1"],
        "nat64.test" => &["64:ff9b::7f00:1"],
        _ => return Err(std::io::Error::other("no such name")),
    };
    Ok(addresses.iter().map(|text| text.parse().unwrap()).collect())
}

fn builder(project: &Project) -> RuntimeBuilder {
    Runtime::builder(project.path()).resolver(resolver)
}

fn send(project: &Project, args: serde_json::Value) -> Outcome {
    let runtime = builder(project).load().unwrap();
    let payload = json!({"name": "x", "args": args});
    runtime.dispatch("tool.pre", payload).unwrap()
}

fn get(project: &Project, url: &str) -> Outcome {
    send(project, json!({"method": "GET", "url": url}))
}

/// What the hook got, or why it got nothing.
fn answer(outcome: &Outcome) -> serde_json::Value {
    assert_eq!(outcome.decision, Block);
    let reason = outcome.reason.as_deref().unwrap();
    serde_json::from_str(reason).unwrap_or_else(|_| panic!("{reason}"))
}

/// Why the request was refused: the same for the hook and in the trace.
fn refusal(outcome: &Outcome) -> String {
    let reason = outcome.reason.as_deref().unwrap();
    let [refused] = outcome.trace[0].refusals.as_slice() else {
        panic!("{reason}: {:?}", outcome.trace[0].refusals)
    };
    let why = refused.strip_prefix("http: ").unwrap();
    let said = reason
        .rsplit_once("http.get: ")
        .or_else(|| reason.rsplit_once("http.post: "));
    assert!(why.ends_with(said.unwrap().1), "{reason} but {refused}");
    why.to_owned()
}

#[test]
fn ah_080_a_granted_request_gets_its_answer() {
    let server = Server::saying("héllo");
    let rule = format!("[\"GET {}\"]", server.url("/v1/*"));
    let outcome = get(&project(&rule), &server.url("/v1/a?b=c"));
    let answer = answer(&outcome);
    assert_eq!(answer["status"], 200);
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["body"], "héllo");
    assert_eq!(answer["headers"]["x-kind"], "test");
    assert_eq!(answer["url"], server.url("/v1/a?b=c"));
    let arrived = server.arrived();
    assert!(arrived[0].head.starts_with("GET /v1/a?b=c HTTP/1.1\r\n"));
    assert!(outcome.trace[0].refusals.is_empty());
}

#[test]
fn ah_080_a_post_sends_text_as_it_is_and_data_as_json() {
    let server = Server::saying("thanks");
    let project = project(&format!("[\"POST {}\"]", server.url("/*")));
    let args = json!({"method": "POST", "url": server.url("/a"), "body": {"n": [1, "é"]}});
    assert_eq!(answer(&send(&project, args))["body"], "thanks");
    let args = json!({"method": "POST", "url": server.url("/b"), "body": "plain",
        "headers": {"content-type": "text/x", "X-Own": "1"}});
    assert_eq!(answer(&send(&project, args))["status"], 200);
    let arrived = server.arrived();
    assert_eq!(arrived[0].body, "{\"n\":[1,\"é\"]}");
    assert!(
        arrived[0]
            .head
            .to_lowercase()
            .contains("content-type: application/json\r\n")
    );
    assert_eq!(arrived[1].body, "plain");
    assert!(
        arrived[1]
            .head
            .to_lowercase()
            .contains("content-type: text/x\r\n")
    );
    assert!(arrived[1].head.to_lowercase().contains("x-own: 1\r\n"));
}

#[test]
fn cx_004_what_no_rule_covers_opens_no_socket() {
    let server = Server::saying("never");
    let rule = format!("[\"GET {}\"]", server.url("/v1/*"));
    let project = project(&rule);
    let other = Server::saying("never");
    for (args, differs) in [
        (
            json!({"method": "GET", "url": server.url("/v2")}),
            "the path differs",
        ),
        (
            json!({"method": "POST", "url": server.url("/v1/a")}),
            "the method differs",
        ),
        (
            json!({"method": "GET", "url": other.url("/v1/a")}),
            "the port differs",
        ),
        (
            json!({"method": "GET", "url": server.url("/v1/../v2")}),
            "the path differs",
        ),
        (
            json!({"method": "GET", "url": format!("http://inside.test:{}/v1/a", server.port)}),
            "the host differs",
        ),
    ] {
        let why = refusal(&send(&project, args.clone()));
        assert!(why.contains(differs), "{args}: {why}");
    }
    assert!(server.arrived().is_empty() && other.arrived().is_empty());
}

#[test]
fn a_hook_can_decide_what_a_refusal_means() {
    let server = Server::saying("put");
    let script = "def handle(event, payload):
    refused = http.send('GET', 'http://127.0.0.1:9/x')
    sent = http.send('PUT', payload['args']['url'], {'a': 1}, headers = {'x-a': 'b'})
    return block(json.encode([refused, sent['status'], sent['body']]))";
    let more = format!(
        "priority: 10\ngrant: {{ http: [\"PUT {}\"] }}",
        server.url("/*")
    );
    let project = Project::with(&[("probe", &hook_file("tool.pre", &more, script))]);
    let outcome = send(&project, json!({"url": server.url("/")}));
    let answer = answer(&outcome);
    assert_eq!(answer[0]["ok"], false);
    assert_eq!(answer[0]["status"], 0);
    assert_eq!(answer[0]["error"]["kind"], "not-granted");
    let why = answer[0]["error"]["message"].as_str().unwrap();
    assert_eq!(outcome.trace[0].refusals, [format!("http: {why}")]);
    assert_eq!(answer[1], 200);
    assert_eq!(answer[2], "put");
    let arrived = server.arrived();
    assert!(arrived[0].head.starts_with("PUT / HTTP/1.1"));
    assert_eq!(arrived[0].body, "{\"a\":1}");
}

#[test]
fn a_refusal_that_a_hook_does_not_expect_closes_the_gate() {
    let outcome = get(
        &project("[\"GET https://api.example.com/*\"]"),
        "http://127.0.0.1:9/",
    );
    assert_eq!(outcome.decision, Block);
    assert!(outcome.reason.unwrap().starts_with("hook \"probe\" failed"));
}

#[test]
fn ah_080_allowed_domains_narrow_what_was_granted() {
    let server = Server::saying("hi");
    let grant = format!(
        "[{{ allow: \"GET http://inside.test:{}/*\", networks: [loopback] }}]",
        server.port
    );
    let url = format!("http://inside.test:{}/", server.port);
    for (domains, allowed) in [
        ("[test]", true),
        ("[inside.test]", true),
        ("[\"*.TEST\", other.example]", true),
        ("[\"*\"]", true),
        ("[example.com]", false),
        ("[side.test]", false),
        ("[]", false),
        ("", false),
    ] {
        let project = project(&grant);
        project.file(
            "harness.md",
            format!("---\nnetwork:\n  allowed_domains: {domains}\n---\n"),
        );
        let outcome = get(&project, &url);
        if allowed {
            assert_eq!(answer(&outcome)["body"], "hi", "{domains}");
        } else {
            let why = refusal(&outcome);
            assert!(
                why.contains("network sandbox: host \"inside.test\" is not in the allowlist"),
                "{domains}: {why}"
            );
        }
    }
}

#[test]
fn ah_080_allowed_domains_grant_nothing() {
    let project = Project::script(
        "def handle(event, payload):\n    return block(http.get('http://x/')['body'])",
    );
    project.file(
        "harness.md",
        "---\nnetwork: { allowed_domains: [\"*\"] }\n---\n",
    );
    assert!(
        project.errors()[0].contains("the script uses http, which hook \"probe\" is not granted")
    );
}

#[test]
fn a_project_can_grant_for_all_hooks() {
    let server = Server::saying("hi");
    for (file, text) in [
        (
            "harness.md",
            format!(
                "---\ngrant: {{ http: [\"GET {}\"] }}\n---\n",
                server.url("/*")
            ),
        ),
        (
            "hookbox.toml",
            format!("[grant]\nhttp = [\"GET {}\"]\n", server.url("/*")),
        ),
    ] {
        let project = Project::script(SCRIPT.trim());
        project.file(file, text);
        assert_eq!(project.problems(), Vec::<String>::new());
        assert_eq!(
            answer(&get(&project, &server.url("/")))["body"],
            "hi",
            "{file}"
        );
    }
}

#[test]
fn attack_addresses_in_disguise_never_reach_loopback() {
    let server = Server::saying("secret");
    let port = server.port;
    // Any public host, any port: the widest grant there is.
    let project = project("[\"GET http://*:*/*\"]");
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "１２７.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "inside.test",
        "INSIDE.test.",
        "both.test",
        "metadata.test",
        "mapped.test",
        "nat64.test",
        "user:pass@inside.test",
        "example.com@127.0.0.1",
    ] {
        let why = refusal(&get(&project, &format!("http://{host}:{port}/")));
        assert!(!why.is_empty(), "{host}");
    }
    assert!(server.arrived().is_empty());
}

/// The binary may have a C library of its own, and looks names up with that one.
#[test]
fn the_binary_finds_a_host_by_its_name() {
    let server = Server::saying("found");
    let address = format!("http://localhost:{}/", server.port);
    let grant = format!("[{{ allow: \"GET {address}*\", networks: [loopback] }}]");
    let script =
        format!("def handle(event, payload):\n    return block(http.get(\"{address}\")[\"body\"])");
    let more = format!("priority: 10\ngrant:\n  http: {grant}");
    let project = Project::with(&[("ask", &hook_file("tool.pre", &more, &script))]);
    let folder = project.path().to_str().unwrap();
    let payload = r#"{"name": "a", "args": {}}"#;
    let run = [
        "run",
        "tool.pre",
        "--project",
        folder,
        "--json",
        "--payload",
        payload,
    ];
    let output = support::hookbox(&run);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["reason"], "found", "{told}");
    assert_eq!(server.arrived().len(), 1);
}

#[test]
fn attack_one_public_and_one_private_answer() {
    let why = refusal(&get(
        &project("[\"GET http://both.test/*\"]"),
        "http://both.test/",
    ));
    assert!(why.contains("10.0.0.7") && why.contains("private"), "{why}");
}

#[test]
fn attack_a_name_that_changes_between_check_and_connect() {
    let server = Server::saying("pinned");
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let grant = format!(
        "[{{ allow: \"GET http://moving.test:{}/*\", networks: [loopback] }}]",
        server.port
    );
    let project = project(&grant);
    let runtime = Runtime::builder(project.path())
        .resolver(move |_| {
            let first = count.fetch_add(1, Ordering::SeqCst) == 0;
            let address = if first {
                "127.0.0.1"
            } else {
                "169.254.169.254"
            };
            Ok(vec![address.parse().unwrap()])
        })
        .load()
        .unwrap();
    let url = format!("http://moving.test:{}/", server.port);
    let send = || {
        let payload = json!({"name": "x", "args": {"method": "GET", "url": url}});
        runtime.dispatch("tool.pre", payload).unwrap()
    };
    assert_eq!(answer(&send())["body"], "pinned");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "resolved once");
    assert!(refusal(&send()).contains("169.254.169.254"));
}

#[test]
fn attack_redirects_to_the_inside() {
    let inner = Server::saying("inner");
    for to in [
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        inner.url("/"),
        "http://inside.test/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let location = to.clone();
        let server = Server::answering(move |_| redirect(&location));
        // Off by default: the hook sees the redirect and nobody follows it.
        let plain = project(&format!("[\"GET {}\"]", server.url("/*")));
        let seen = answer(&get(&plain, &server.url("/")));
        assert_eq!(seen["status"], 302);
        assert_eq!(seen["headers"]["location"], to);
        // On: every hop is checked again.
        let following = project(&format!(
            "[{{ allow: \"GET {}\", redirects: 3 }}, \"GET http://*/*\"]",
            server.url("/*")
        ));
        let why = refusal(&get(&following, &server.url("/")));
        assert!(!why.contains("inner"), "{why}");
    }
    assert!(inner.arrived().is_empty());
}

#[test]
fn a_redirect_that_is_granted_is_followed() {
    let end = Server::saying("the end");
    let to = end.url("/end");
    let start = Server::answering(move |_| redirect(&to));
    let project = project(&format!(
        "[{{ allow: \"GET {}\", redirects: 1 }}, \"GET {}\"]",
        start.url("/*"),
        end.url("/end")
    ));
    let seen = answer(&get(&project, &start.url("/")));
    assert_eq!(seen["body"], "the end");
    assert_eq!(seen["url"], end.url("/end"));
}

#[test]
fn attack_line_breaks_in_a_header() {
    let server = Server::saying("never");
    let project = project(&format!("[\"GET {}\"]", server.url("/*")));
    for headers in [
        json!({"x-a": "b\r\nx-evil: 1"}),
        json!({"x-a\r\nx-evil": "1"}),
        json!({"x-a": "b\nc"}),
        json!({"host": "other.example"}),
        json!({"transfer-encoding": "chunked"}),
        json!({"content-length": "5"}),
    ] {
        let args = json!({"method": "GET", "url": server.url("/"), "headers": headers});
        let outcome = send(&project, args);
        assert_eq!(outcome.decision, Block);
        assert!(!refusal(&outcome).is_empty(), "{headers}");
    }
    assert!(server.arrived().is_empty());
}

#[test]
fn attack_a_body_that_never_ends() {
    let server = Server::serving(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n");
        let piece = vec![b'x'; 1 << 16];
        while stream.write_all(&piece).is_ok() {}
    });
    let project = project(&format!("[\"GET {}\"]", server.url("/*")));
    let why = refusal(&get(&project, &server.url("/")));
    assert!(why.contains("4194304"), "{why}");
}

#[test]
fn attack_a_gzip_bomb() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..200 {
        packer.write_all(&zeros).unwrap();
    }
    let bomb = packer.finish().unwrap();
    let server = Server::serving(move |_, stream| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            bomb.len()
        );
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&bomb);
    });
    let project = project(&format!("[\"GET {}\"]", server.url("/*")));
    let why = refusal(&get(&project, &server.url("/")));
    assert!(why.contains("4194304"), "{why}");
}

#[test]
fn attack_a_server_that_drips() {
    let server = Server::serving(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let more = format!(
        "priority: 10\nlimits: {{ wall_time: 2s }}\ngrant:\n  http: [\"GET {}\"]",
        server.url("/*")
    );
    let project = Project::with(&[("probe", &hook_file("tool.pre", &more, SCRIPT.trim()))]);
    let outcome = get(&project, &server.url("/"));
    assert_eq!(outcome.decision, Block);
    // The hook hears of it before its own time is up.
    assert!(
        outcome.reason.as_deref().unwrap().contains("http.get: "),
        "{:?}",
        outcome.reason
    );
    assert_eq!(outcome.trace[0].refusals.len(), 1);
}

#[test]
fn attack_ten_thousand_requests() {
    let server = Server::saying("x");
    let script = format!(
        "def handle(event, payload):\n    for i in range(10000):\n        metrics.incr('sent')\n        http.get('{}')\n    return allow()",
        server.url("/")
    );
    let more = format!(
        "priority: 10\nlimits: {{ wall_time: 20s }}\ngrant:\n  http: [\"GET {}\"]",
        server.url("/*")
    );
    let project = Project::with(&[("probe", &hook_file("tool.pre", &more, &script))]);
    let outcome = project.dispatch("tool.pre", json!({"name": "x"}));
    assert_eq!(outcome.decision, Block);
    assert!(
        outcome
            .reason
            .unwrap()
            .contains("a call may send 50 requests"),
        "no end"
    );
    assert_eq!(server.arrived().len(), 50);
}

#[test]
fn attack_a_secret_that_the_server_echoes() {
    let secret = "correct-horse-battery";
    let server = Server::answering(|arrived| {
        let head = arrived.head.replace("\r\n", " ");
        format!(
            "HTTP/1.1 200 OK\r\nX-Echo: {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{head}",
            head.len()
        )
        .into_bytes()
    });
    let project = project(&format!(
        "[{{ allow: \"GET {}\", headers: {{ Authorization: \"Bearer {{secret:API_TOKEN}}\" }} }}]",
        server.url("/*")
    ));
    let runtime = builder(&project)
        .secrets(move |name| (name == "API_TOKEN").then(|| secret.to_owned()))
        .load()
        .unwrap();
    let payload = json!({"name": "x", "args": {"method": "GET", "url": server.url("/"),
        "headers": {"authorization": "mine"}}});
    let outcome = runtime.dispatch("tool.pre", payload).unwrap();
    let sent = &server.arrived()[0].head;
    assert!(sent.contains(&format!("Bearer {secret}")), "{sent}");
    assert!(!sent.contains("mine"), "{sent}");
    assert!(
        answer(&outcome)["body"]
            .as_str()
            .unwrap()
            .contains("Bearer [secret:API_TOKEN]")
    );
    let everything = serde_json::to_string(&outcome).unwrap() + &format!("{runtime:?}");
    assert!(!everything.contains(secret), "{everything}");
}

#[test]
fn a_secret_that_is_not_set_is_named() {
    let server = Server::saying("x");
    let project = project(&format!(
        "[{{ allow: \"GET {}\", headers: {{ X-Key: \"{{secret:ABSENT}}\" }} }}]",
        server.url("/*")
    ));
    let runtime = builder(&project).secrets(|_| None).load().unwrap();
    let payload = json!({"name": "x", "args": {"method": "GET", "url": server.url("/")}});
    let why = refusal(&runtime.dispatch("tool.pre", payload).unwrap());
    assert!(why.contains("HOOKBOX_SECRET_ABSENT"), "{why}");
    assert!(server.arrived().is_empty());
}

#[test]
fn a_hook_without_a_request_is_not_touched_by_any_of_this() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    let outcome = builder(&project)
        .load()
        .unwrap()
        .dispatch("tool.pre", json!({"name": "x"}))
        .unwrap();
    assert_eq!(outcome.decision, Allow);
    assert!(outcome.trace[0].refusals.is_empty());
    let shown = serde_json::to_value(&outcome.trace[0]).unwrap();
    assert!(shown.get("refusals").is_none());
}
