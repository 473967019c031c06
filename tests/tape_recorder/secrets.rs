//! Secrets stay off the tape, however they are spelled.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hookbox::Runtime;
use hookbox::tape::Recorder;
use serde_json::{Value, json};

use super::place;
use crate::support::server::Server;
use crate::support::tape::{play_file, read_strictly};
use crate::support::{Project, hook_file};

const SECRET: &str = "correct-horse/battery+staple";
const TOKEN: &str = "tok_9f8e7d6c5b4a3210";
/// A key as people keep them: several lines, and characters that JSON escapes.
const PRIVATE: &str = "-----BEGIN KEY-----\nMIIB\\\"VwIBADANBgkq\n-----END KEY-----";

/// Asks a server that echoes all it gets, and says everything it knows everywhere.
const SCRIPT: &str = r#"
def handle(event, payload):
    answer = http.get(payload["args"]["url"], headers = {"x-mine": payload["args"]["said"]})
    token = env("NAME_TOKEN")
    key = env("DEPLOY_PRIVATE_KEY")
    log.info("token " + token)
    log.info("key " + key)
    log.info("answer " + answer["body"])
    cache.set("token", {"token": token, "key": key})
    return block(json.encode({"answer": answer, "token": token, "key": key, "said": payload["args"]["said"]}))
"#;

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Every way to write a value that a reader of the tape could look for.
fn spellings(value: &str) -> Vec<String> {
    let json = |text: &str| {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let escaped: Vec<String> = (0..4)
        .scan(value.to_owned(), |text, _| {
            let now = text.clone();
            *text = json(text);
            Some(now)
        })
        .collect();
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut all = escaped;
    all.extend([
        STANDARD.encode(value),
        URL_SAFE_NO_PAD.encode(value),
        percent(value),
        hex,
    ]);
    // Within a longer text, base64 begins at another place.
    all.push(STANDARD.encode(format!("Bearer {value}")));
    all.push(STANDARD.encode(format!("{{\"a\":{value}")));
    all
}

/// Records one event that carries a text, and returns the tape.
fn tape_of(said: &str) -> String {
    let server = Server::answering(|arrived| {
        let mut head = arrived.head.replace("\r\n", " ");
        head += &STANDARD.encode(&head);
        format!(
            "HTTP/1.1 200 OK\r\nX-Echo: {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{head}",
            head.len()
        )
        .into_bytes()
    });
    let more = format!(
        "priority: 1\nlimits: {{ wall_time: 10s }}\ngrant:\n  env: [NAME_TOKEN, DEPLOY_PRIVATE_KEY]\n  http: [{{ allow: \"GET {}\", headers: {{ authorization: \"Bearer {{secret:API}}\" }} }}]",
        server.url("/*")
    );
    let project = Project::with(&[("probe", &hook_file("tool.pre", &more, SCRIPT.trim()))]);
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .secrets(|name| (name == "API").then(|| SECRET.to_owned()))
        .environment(|name| match name {
            "NAME_TOKEN" => Some(TOKEN.to_owned()),
            "DEPLOY_PRIVATE_KEY" => Some(PRIVATE.to_owned()),
            _ => None,
        })
        .load()
        .unwrap();
    let header = said.replace(|c: char| c.is_control(), " ");
    let payload =
        json!({"name": "x", "args": {"url": server.url("/"), "said": header, "raw": said}});
    let outcome = runtime.dispatch("tool.pre", payload).unwrap();
    assert!(
        outcome.trace[0].error.is_none(),
        "{:?}",
        outcome.trace[0].error
    );
    assert!(
        server.arrived()[0].head.contains(SECRET),
        "the server got the secret itself"
    );
    recorder.close().unwrap();
    let tape = std::fs::read(&path).unwrap();
    read_strictly(&tape).unwrap();
    assert_eq!(play_file(&path).dispatches.len(), 1);
    String::from_utf8(tape).unwrap()
}

fn stays_off(tape: &str, value: &str) {
    let tape = tape.to_lowercase();
    for spelling in spellings(value) {
        assert!(
            !tape.contains(&spelling.to_lowercase()),
            "{spelling} is on the tape"
        );
    }
}

fn label(tape: &str, begin: &str) -> String {
    let (_, rest) = tape
        .split_once(begin)
        .unwrap_or_else(|| panic!("no {begin}"));
    let digits = rest.split_once(']').unwrap().0;
    assert_eq!(digits.len(), 16, "{digits}");
    assert!(
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
        "{digits}"
    );
    digits.to_owned()
}

#[test]
fn attack_a_secret_that_is_sent_echoed_logged_and_returned() {
    let tape = tape_of("nothing");
    for value in [SECRET, TOKEN, PRIVATE] {
        stays_off(&tape, value);
    }
    assert!(tape.contains("Bearer [secret:API]"), "the server's echo");
    label(&tape, "[env:NAME_TOKEN:sha256:");
    label(&tape, "[env:DEPLOY_PRIVATE_KEY:sha256:");
}

#[test]
fn attack_a_payload_that_contains_secrets() {
    for value in [SECRET, TOKEN, PRIVATE] {
        for spelling in spellings(value) {
            let tape = tape_of(&format!("it is {spelling}, really"));
            for value in [SECRET, TOKEN, PRIVATE] {
                stays_off(&tape, value);
            }
        }
    }
}

#[test]
fn a_label_tells_whether_a_secret_was_the_same() {
    let (one, other) = (tape_of(SECRET), tape_of(&percent(SECRET)));
    let begin = "[secret:API:sha256:";
    assert_eq!(label(&one, begin), label(&other, begin));
    assert_ne!(label(&one, begin), label(&one, "[env:NAME_TOKEN:sha256:"));
}

#[test]
fn what_is_no_secret_stays_as_it_is() {
    let tape = tape_of("horse and battery");
    assert!(tape.contains("horse and battery"));
}

/// A secret can look like a number, or like the border between two texts. What stands on
/// the tape is JSON all the same.
#[test]
fn attack_secrets_that_leave_no_json_behind() {
    for (secret, payload) in [
        (
            "8675309123",
            json!({"name": "x", "args": {"a": 8_675_309_123_u64, "b": [-8_675_309_123_i64, "8675309123"]}}),
        ),
        (
            "a\",\"b\":\"c",
            json!({"name": "x", "args": {"z": "a", "b": "c", "c": "d"}}),
        ),
    ] {
        let script = "def handle(event, payload):\n    return modify({\"args\": {\"all\": payload[\"args\"]}})";
        let project = Project::with(&[(
            "probe",
            &hook_file(
                "tool.pre",
                "priority: 1\ngrant:\n  env: [PIN_TOKEN]",
                script,
            ),
        )]);
        let (_folder, path) = place();
        let recorder = Recorder::create(&path).unwrap();
        let runtime = Runtime::builder(project.path())
            .tape(&recorder)
            .environment(move |name| (name == "PIN_TOKEN").then(|| secret.to_owned()))
            .load()
            .unwrap();
        runtime.dispatch("tool.pre", payload).unwrap();
        recorder.close().unwrap();
        let tape = std::fs::read_to_string(&path).unwrap();
        stays_off(&tape, secret);
        label(&tape, "[env:PIN_TOKEN:sha256:");
        let played = play_file(&path);
        let dispatch = &played.dispatches[0];
        serde_json::from_str::<Value>(&dispatch.start().payload).unwrap();
        assert_eq!(
            dispatch.outcome().unwrap().decision,
            hookbox::Ruling::Modify
        );
    }
}
