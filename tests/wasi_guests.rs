//! Hooks in plain Rust, with its standard library and an ordinary HTTP client: what
//! they see is what they were granted.

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use hookbox::capability::log::Level;
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::{Project, command, component_project, guest};

/// What a guest blocked with.
fn said(outcome: &Outcome) -> Value {
    assert_eq!(outcome.trace[0].error, None);
    serde_json::from_str(outcome.reason.as_deref().unwrap()).unwrap()
}

fn standard(more: &str) -> Project {
    let project = component_project(&guest("standard"), more);
    project
        .file("secret.txt", "secret")
        .file("docs/a.txt", "hello");
    project
}

#[test]
fn the_standard_library_sees_nothing_without_a_grant() {
    let project = standard("");
    assert_eq!(project.problems(), [""; 0]);
    let mut seen = said(&project.dispatch("tool.pre", command("ls")));
    let hash = seen["hash"].take();
    assert!(hash.is_string());
    let missing = json!({"error": "entity not found"});
    assert_eq!(
        seen,
        json!({
            "now": 946_684_800,
            "slept": 20,
            "hash": null,
            "env": [],
            "args": [],
            "here": missing,
            "root": missing,
            "docs": missing,
            "file": missing,
            "outside": missing,
            "written": missing,
            "connected": {"error": "permission denied"},
        })
    );
}

#[test]
fn the_standard_library_sees_the_same_in_every_run() {
    let project = standard("");
    let see = |payload: Value| said(&project.dispatch("tool.pre", payload));
    let first = see(command("ls"));
    assert_eq!(first, see(command("ls")));
    assert_ne!(first["hash"], see(command("rm"))["hash"]);
    let mut later = command("ls");
    later["timestamp"] = json!("2023-11-14T22:13:20Z");
    assert_eq!(see(later)["now"], 1_700_000_000);
}

#[test]
fn what_the_standard_library_prints_is_logged() {
    let outcome = standard("").dispatch("tool.pre", command("ls"));
    let lines: Vec<_> = outcome
        .logs
        .iter()
        .map(|line| (line.level, line.message.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (Level::Info, "handling tool.pre"),
            (Level::Debug, "between"),
            (Level::Warn, "for probe")
        ]
    );
}

#[test]
fn the_standard_library_sees_what_is_granted() {
    let project =
        standard("grant: { env: [ALPHA, UNSET], read: [docs/], clock: real, random: real }");
    assert_eq!(project.problems(), [""; 0]);
    let runtime = Runtime::builder(project.path())
        .environment(|name| (name == "ALPHA").then(|| "one".to_owned()))
        .clock(|| std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_234_567_890))
        .load()
        .unwrap();
    let see = || said(&runtime.dispatch("tool.pre", command("ls")).unwrap());
    let seen = see();
    assert_ne!(seen["hash"], see()["hash"]);
    assert!(seen["slept"].as_u64() >= Some(20), "{seen}");
    for (what, value) in [
        ("now", json!(1_234_567_890)),
        ("env", json!([["ALPHA", "one"]])),
        ("docs", json!(["a.txt"])),
        ("file", json!("hello")),
    ] {
        assert_eq!(seen[what], value, "{what}");
    }
    for refused in ["outside", "written", "connected", "root"] {
        assert!(seen[refused]["error"].is_string(), "{refused}: {seen}");
    }
    assert!(!project.path().join("docs/b.txt").exists());
}

#[test]
fn a_guest_that_panics_says_why_in_the_log() {
    let project = component_project(&guest("standard"), "");
    let outcome = project.dispatch("tool.pre", command("give up"));
    assert_eq!(outcome.decision, hookbox::Ruling::Block);
    let reason = outcome.reason.unwrap();
    assert!(
        reason.ends_with("; what it printed is in the log"),
        "{reason}"
    );
    assert!(
        outcome
            .logs
            .iter()
            .any(|line| line.message.contains("told to give up")),
        "{:?}",
        outcome.logs
    );
}

/// A server on this machine. It remembers what it was asked.
struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request with what `answer` makes of it.
    fn new(answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let remembered = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read_request(&mut stream);
                let response = answer(&request);
                remembered.lock().unwrap().push(request);
                // The client may have hung up because the answer is too long.
                let _ = stream.write_all(response.as_bytes());
            }
        });
        Self { port, seen }
    }

    fn echo() -> Self {
        Self::new(|request| response("200 OK", "x-server: yes\r\n", request))
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).unwrap();
        text.extend_from_slice(&buffer[..count]);
        let request = String::from_utf8_lossy(&text).into_owned();
        let whole = request.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length: ")?
                    .parse()
                    .ok()
            });
            body.len() >= length.unwrap_or(0)
        });
        if whole || count == 0 {
            return request;
        }
    }
}

/// A project whose hook sends requests, with one rule that the port is put into.
fn client(server: &Server, rule: &str, more: &str) -> Project {
    let rule = rule.replace("SERVER", &server.url(""));
    component_project(
        &guest("client"),
        &format!("grant: {{ http: [{rule}] }}\n{more}"),
    )
}

fn request(args: Value) -> Value {
    json!({"id": "call_1", "name": "fetch", "args": args})
}

fn get(url: &str) -> Value {
    request(json!({"method": "GET", "url": url}))
}

/// What the hook was refused, as its trace tells it.
fn refusal(outcome: &Outcome, error: &str) -> String {
    let answer = said(outcome);
    let told = answer["error"].as_str();
    assert!(told.is_some_and(|told| told.contains(error)), "{answer}");
    let refusals = &outcome.trace[0].refusals;
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    refusals[0].clone()
}

#[test]
fn an_ordinary_client_gets_what_is_granted() {
    let server = Server::echo();
    let project = client(&server, "GET SERVER/*", "");
    assert_eq!(project.problems(), [""; 0]);
    let outcome = project.dispatch("tool.pre", get(&server.url("/a/b?c=d")));
    let answer = said(&outcome);
    assert_eq!(answer["status"], 200);
    let headers = answer["headers"].as_array().unwrap();
    assert!(headers.contains(&json!("x-server: yes")), "{headers:?}");
    let body = answer["body"].as_str().unwrap();
    assert!(body.starts_with("GET /a/b?c=d HTTP/1.1\r\n"), "{body}");
    assert!(body.contains("x-guest: hello\r\n"), "{body}");
    assert!(
        body.contains(&format!("host: 127.0.0.1:{}\r\n", server.port)),
        "{body}"
    );
    assert_eq!(outcome.trace[0].refusals, [""; 0]);
}

#[test]
fn an_ordinary_client_posts_a_body() {
    let server = Server::echo();
    let project = client(&server, "POST SERVER/submit", "");
    let outcome = project.dispatch(
        "tool.pre",
        request(json!({"method": "POST", "url": server.url("/submit"), "body": "a=1&b=2"})),
    );
    let answer = said(&outcome);
    assert_eq!(answer["status"], 200);
    let body = answer["body"].as_str().unwrap();
    assert!(body.starts_with("POST /submit HTTP/1.1\r\n"), "{body}");
    assert!(body.contains("content-length: 7\r\n"), "{body}");
    assert!(body.ends_with("\r\n\r\na=1&b=2"), "{body}");
}

#[test]
fn a_client_does_not_load_without_a_grant() {
    let project = component_project(&guest("client"), "");
    let loaded = Runtime::builder(project.path()).inspect().unwrap();
    let errors: Vec<_> = loaded
        .problems
        .iter()
        .filter(|problem| problem.is_error())
        .collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    let message = &errors[0].message;
    assert!(
        message.contains("imports wasi:http/outgoing-handler@0.2."),
        "{message}"
    );
    assert!(
        message.contains("which hook \"probe\" is not granted"),
        "{message}"
    );
    assert_eq!(
        errors[0].help.as_deref(),
        Some(
            "grant it in the frontmatter: `grant: { http: [\"GET https://HOST/PATH/*\"] }`, or build the component without it, for example for the world `guard`"
        )
    );
    assert!(Runtime::load(project.path()).is_err());
}

#[test]
fn what_no_rule_covers_is_refused_with_the_rule() {
    let server = Server::echo();
    let other = Server::echo();
    let project = client(&server, "GET SERVER/public/*", "");
    let runtime = project.runtime();
    for (method, url) in [
        ("GET", server.url("/private")),
        ("GET", server.url("/public/../private")),
        ("POST", server.url("/public/a")),
        ("DELETE", server.url("/public/a")),
        ("GET", other.url("/public/a")),
        ("GET", format!("http://localhost:{}/public/a", server.port)),
        ("GET", format!("http://[::1]:{}/public/a", server.port)),
        ("GET", "http://169.254.169.254/latest/meta-data".to_owned()),
    ] {
        let payload = request(json!({"method": method, "url": url}));
        let outcome = runtime.dispatch("tool.pre", payload).unwrap();
        let refusal = refusal(&outcome, "HttpRequestDenied");
        assert!(
            refusal.starts_with("http: ") && refusal.contains(&format!("{method} http://")),
            "{refusal}"
        );
        assert!(
            refusal.contains("no rule of `grant: http:` covers"),
            "{refusal}"
        );
        assert!(refusal.contains("GET http://127.0.0.1"), "{refusal}");
    }
    assert_eq!((server.seen().len(), other.seen().len()), (0, 0));
}

#[test]
fn a_server_that_never_answers_does_not_hold_the_hook() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        port: listener.local_addr().unwrap().port(),
        seen: Arc::default(),
    };
    let project = client(&server, "GET SERVER/*", "limits: { wall_time: 2s }");
    let outcome = project.dispatch("tool.pre", get(&server.url("/")));
    // The guest hears of it in time to say so.
    let refusal = refusal(&outcome, "ConnectionTimeout");
    assert!(
        refusal.starts_with("http: GET http://127.0.0.1"),
        "{refusal}"
    );
}

#[test]
fn a_redirect_is_handed_to_the_client() {
    let other = Server::echo();
    let location = format!("location: {}\r\n", other.url("/there"));
    let server = Server::new(move |_| response("302 Found", &location, ""));
    let project = client(&server, "GET SERVER/*", "");
    let answer = said(&project.dispatch("tool.pre", get(&server.url("/"))));
    assert_eq!(answer["status"], 302);
    let headers = answer["headers"].as_array().unwrap();
    let location = json!(format!("location: {}", other.url("/there")));
    assert!(headers.contains(&location), "{headers:?}");
    assert_eq!((server.seen().len(), other.seen().len()), (1, 0));
}

#[test]
fn a_response_that_is_too_large_is_refused() {
    let server = Server::new(|_| response("200 OK", "", &"x".repeat(5_000)));
    let project = client(&server, "GET SERVER/*", "limits: { response: 4 KiB }");
    let outcome = project.dispatch("tool.pre", get(&server.url("/")));
    let refusal = refusal(&outcome, "HttpResponseBodySize");
    assert!(refusal.contains("4096"), "{refusal}");
    let project = client(&server, "GET SERVER/*", "limits: { response: 5000 }");
    let answer = said(&project.dispatch("tool.pre", get(&server.url("/"))));
    assert_eq!(answer["length"], 5_000);
}

#[test]
fn a_request_that_is_too_large_is_refused() {
    let server = Server::new(|request| response("200 OK", "", &request.len().to_string()));
    let project = client(&server, "POST SERVER/*", "limits: { request: 100 KiB }");
    let runtime = project.runtime();
    let post = |zeroes: usize| {
        let payload = request(json!({"method": "POST", "url": server.url("/"), "zeroes": zeroes}));
        runtime.dispatch("tool.pre", payload).unwrap()
    };
    assert_eq!(said(&post(100 << 10))["status"], 200);
    for zeroes in [(100 << 10) + 1, 1 << 20, 8 << 20] {
        let refusal = refusal(&post(zeroes), "HttpRequestBodySize");
        assert!(
            refusal.contains("102400 bytes; raise `request`"),
            "{refusal}"
        );
    }
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn more_requests_than_the_limit_are_refused() {
    let server = Server::echo();
    let project = client(&server, "GET SERVER/*", "limits: { http_requests: 3 }");
    let runtime = project.runtime();
    let times = |times: u32| {
        let payload = request(json!({"method": "GET", "url": server.url("/"), "times": times}));
        runtime.dispatch("tool.pre", payload).unwrap()
    };
    assert_eq!(said(&times(3))["status"], 200);
    let refusal = refusal(&times(4), "HttpRequestDenied");
    assert!(
        refusal.contains("a call may send 3 requests; raise `http_requests`"),
        "{refusal}"
    );
    assert_eq!(server.seen().len(), 6);
}

#[test]
fn a_secret_reaches_the_server_and_not_the_guest() {
    let server = Server::echo();
    let rule = r#"{ allow: "GET SERVER/*", headers: { authorization: "Bearer {secret:TOKEN}" } }"#;
    let project = client(&server, rule, "");
    let runtime = Runtime::builder(project.path())
        .secrets(|name| (name == "TOKEN").then(|| "s3cr3t-value-42".to_owned()))
        .load()
        .unwrap();
    let outcome = runtime.dispatch("tool.pre", get(&server.url("/"))).unwrap();
    assert!(
        server.seen()[0].contains("authorization: Bearer s3cr3t-value-42\r\n"),
        "{:?}",
        server.seen()
    );
    let answer = said(&outcome);
    let body = answer["body"].as_str().unwrap();
    assert!(
        body.contains("authorization: Bearer [secret:TOKEN]"),
        "{body}"
    );
    assert!(!format!("{outcome:?}").contains("s3cr3t"));
}

#[test]
fn clients_on_many_threads_do_not_disturb_each_other() {
    let server = Server::echo();
    let project = client(&server, "GET SERVER/*", "limits: { wall_time: 30s }");
    let runtime = project.runtime();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (runtime, url) = (&runtime, server.url(&format!("/{thread}")));
            scope.spawn(move || {
                let answer = said(&runtime.dispatch("tool.pre", get(&url)).unwrap());
                let body = answer["body"].as_str().unwrap();
                assert!(
                    body.starts_with(&format!("GET /{thread} HTTP/1.1")),
                    "{body}"
                );
            });
        }
    });
    assert_eq!(server.seen().len(), 8);
}

/// A digest of everything the checked-in guests were built from.
fn inputs() -> String {
    use sha2::{Digest as _, Sha256};
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut hasher = Sha256::new();
    for path in [
        "wit/hook.wit",
        "tests/guests/Cargo.toml",
        "tests/guests/Cargo.lock",
        "tests/guests/client/Cargo.toml",
        "tests/guests/client/src/lib.rs",
        "tests/guests/command/Cargo.toml",
        "tests/guests/command/src/main.rs",
        "tests/guests/standard/Cargo.toml",
        "tests/guests/standard/src/lib.rs",
    ] {
        let bytes = std::fs::read(root.join(path)).unwrap();
        hasher.update(path);
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

const INPUTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/guests/components/inputs"
);

#[test]
fn the_guests_that_are_checked_in_are_not_stale() {
    let then = std::fs::read_to_string(INPUTS).unwrap_or_default();
    assert_eq!(
        then.trim(),
        inputs(),
        "tests/guests has changed since it was built; run `tests/conformance/build --keep programs`"
    );
}

/// Run by tests/conformance/build after it has built them.
#[test]
#[ignore = "writes a file"]
fn inputs_are_written_down() {
    std::fs::write(INPUTS, inputs() + "\n").unwrap();
}
