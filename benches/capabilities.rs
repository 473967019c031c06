//! What a call through the border costs beside the same call without one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use hookbox::Runtime;
use hookbox::capability::log::{Level, LogLine};
use hookbox::decision::Ruling;
use serde_json::json;

use crate::measure::{Contest, Row};
use crate::projects;

/// How often a guest does it in one call, so that the call itself hardly counts.
const REPEATS: usize = 1_000;

/// (e) Looking a value up.
pub fn cache_get() {
    let imports = r#"(import "hookbox:hook/cache@1.1.0" "get" (func $do (param i32 i32 i32)))"#;
    let body = "(call $do (i32.const 2048) (i32.const 3) (i32.const 3072))";
    let runtime = looping(imports, body, "");
    let cache = runtime.cache_of("guard").expect("the hook's cache");
    cache.set("key", &json!({"n": 1}), None).expect("room");
    Contest::new("(e) a value from the cache, 1,000 times", 300).run(&mut [
        Row::new("natively", || {
            for _ in 0..REPEATS {
                assert!(matches!(cache.get("key"), Ok(Some(_))));
            }
        }),
        Row::new("from a guest, in one dispatch", || dispatch(&runtime)),
    ]);
}

/// (f) A log line.
pub fn log_line() {
    let imports = r#"(import "hookbox:hook/log@1.1.0" "write" (func $do (param i32 i32 i32)))"#;
    let body = "(call $do (i32.const 1) (i32.const 2048) (i32.const 32))";
    let runtime = looping(imports, body, "");
    let (hook, event): (Arc<str>, Arc<str>) = ("guard".into(), "tool.pre".into());
    Contest::new("(f) a log line, 1,000 times", 300).run(&mut [
        Row::new("natively, kept in a list", || {
            let mut lines = Vec::new();
            for _ in 0..REPEATS {
                lines.push(LogLine {
                    hook: Arc::clone(&hook),
                    event: Arc::clone(&event),
                    level: Level::Info,
                    message: "key............................!".to_owned(),
                });
            }
            assert_eq!(std::hint::black_box(lines).len(), REPEATS);
        }),
        Row::new("from a guest, in one dispatch", || dispatch(&runtime)),
    ]);
}

/// (g) A GET to a server on loopback.
pub fn http_get() {
    let url = format!("http://127.0.0.1:{}/v1/x", server());
    let grant = format!("grant: {{ http: [\"GET {url}\"] }}");
    let url_bytes: String = url.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let body = format!(
        "(call $send (i32.const 2048) (i32.const 3) (i32.const 2064) (i32.const {}) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 3072))
         (if (i32.load8_u (i32.const 3072)) (then unreachable))",
        url.len()
    );
    let module = projects::module(
        &format!(
            "(import \"hookbox:hook/http@1.1.0\" \"send\" (func $send (param {})))",
            "i32 ".repeat(12)
        ),
        &format!("(data (i32.const 2048) \"GET\") (data (i32.const 2064) \"{url_bytes}\")"),
        &body,
    );
    let runtime = load(&module, &grant);
    let plain: ureq::Agent = ureq::Agent::config_builder().build().into();
    let careful: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(2)))
        .build()
        .into();
    let get = |agent: &ureq::Agent| {
        let mut answer = agent.get(&url).call().expect("an answer");
        let text = answer.body_mut().read_to_string().expect("text");
        assert_eq!(text.len(), 13);
    };
    Contest::new("(g) a GET to a server on loopback, connection kept", 2_000).run(&mut [
        Row::new("a plain client without a timeout", || get(&plain)),
        Row::new("a plain client with a timeout", || get(&careful)),
        Row::new("a plain client, connecting each time", || {
            let fresh: ureq::Agent = ureq::Agent::config_builder().build().into();
            get(&fresh);
        }),
        Row::new("hookbox dispatch of a component that asks", || {
            dispatch(&runtime)
        }),
    ]);
}

/// A runtime whose one hook does something many times.
fn looping(imports: &str, body: &str, more: &str) -> Runtime {
    let body = format!(
        "(local $i i32)
         (loop $again
           {body}
           (local.set $i (i32.add (local.get $i) (i32.const 1)))
           (br_if $again (i32.lt_u (local.get $i) (i32.const {REPEATS}))))"
    );
    let data = "(data (i32.const 2048) \"key............................!\")";
    load(&projects::module(imports, data, &body), more)
}

fn load(module: &str, more: &str) -> Runtime {
    let component = projects::componentise(&wat::parse_str(module).expect("valid text"));
    let project = projects::component_project_with(&component, more);
    Runtime::load(project.path()).unwrap_or_else(|error| panic!("{error}"))
}

fn dispatch(runtime: &Runtime) {
    let outcome = runtime
        .dispatch("tool.pre", json!({"name": "x", "args": {}}))
        .expect("the event is decided");
    assert_eq!(outcome.decision, Ruling::Allow, "{:?}", outcome.reason);
}

/// A server that keeps connections and answers at once.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            std::thread::spawn(move || {
                let _ = stream.set_nodelay(true);
                let Ok(reading) = stream.try_clone() else {
                    return;
                };
                let mut lines = BufReader::new(reading).lines();
                while let Some(Ok(line)) = lines.next() {
                    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"ok\": true }";
                    if line.is_empty() && stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}
