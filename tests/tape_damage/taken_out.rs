//! What is taken out of a tape is gone from it, and what is left can be read.

use hookbox::tape::{Reader, Redaction};
use serde_json::{Value, json};

use crate::support::tape::{edited, find, read, recorded, refusal, studio, values};
use crate::support::{Project, command};

fn redacted(tape: &[u8], prepare: impl FnOnce(&mut Redaction)) -> Vec<u8> {
    let mut redaction = Redaction::default();
    prepare(&mut redaction);
    let reader = || Reader::new(tape).unwrap();
    let mut out = Vec::new();
    redaction.write(reader(), reader(), &mut out).unwrap();
    out
}

fn says(tape: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(tape).contains(text)
}

/// Calls as agents make them: the same is said decoded, as a text, and in the agent's words.
fn call(secret: &Value, padding: usize) -> Value {
    let args = json!({"token": secret, "note": "x".repeat(padding)});
    json!({
        "name": "deploy",
        "args": args,
        "arguments": args.to_string(),
        "agent": {"payload": {"tool_input": args, "said": format!("token={secret}!")}},
    })
}

#[test]
fn a_secret_goes_from_wherever_a_payload_says_it() {
    let project = Project::with(&[]);
    for secret in [
        json!("hunter2-hunter2"),
        json!("a \"b\" \\ é"),
        json!(73_501_188),
    ] {
        for padding in [1, 2_000] {
            let mut turned = call(&secret, padding);
            let before = turned.as_object_mut().unwrap();
            let args = before.shift_remove("args").unwrap();
            before.insert("args".to_owned(), args);
            for payload in [call(&secret, padding), turned] {
                let tape = recorded(&project, |runtime| {
                    runtime.dispatch("tool.pre", payload.clone()).unwrap();
                });
                for pointer in [
                    "/payload/args/token",
                    "/payload/arguments/token",
                    "/payload/args",
                ] {
                    let new = redacted(&tape, |redaction| redaction.pointer(pointer).unwrap());
                    let escaped = secret.to_string();
                    let core = escaped.trim_matches('"').split(['"', '\\']).next().unwrap();
                    assert!(says(&tape, core), "{core}");
                    assert!(
                        !says(&new, &format!("{core}!")),
                        "{pointer} {core} {padding}"
                    );
                    assert!(
                        !says(&new, &format!("{core}\\\"")),
                        "{pointer} {core} {padding}"
                    );
                    let read = read(&new).unwrap();
                    assert!(read.records.iter().any(|record| record.redacted.is_some()));
                }
            }
        }
    }
}

#[test]
fn what_only_looks_alike_stays() {
    let tape = recorded(&Project::with(&[]), |runtime| {
        let args = json!({"flag": "a", "count": 1, "path": "a man a plan", "n": 1});
        let payload = json!({"name": "deploy", "args": args});
        runtime.dispatch("tool.pre", payload).unwrap();
    });
    let new = redacted(&tape, |redaction| {
        redaction.pointer("/payload/args/flag").unwrap();
        redaction.pointer("/payload/args/count").unwrap();
    });
    let text = values(&new)[find(&values(&new), "dispatch")]["payload"].clone();
    let payload: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    let gone = "[redacted]";
    assert_eq!(
        payload["args"],
        json!({"flag": gone, "count": gone, "path": "a man a plan", "n": 1})
    );
}

/// Longer than what a reader keeps of the texts it has read.
fn long_tape() -> Vec<u8> {
    recorded(&studio(), |runtime| {
        let often = command(&format!("cat policy {}", "bob@example.org ".repeat(40)));
        for number in 0..700 {
            let once = format!("{number} {}", "mail bob@example.org now; ".repeat(600));
            runtime.dispatch("tool.pre", command(&once)).unwrap();
            if number % 7 == 0 {
                runtime.dispatch("tool.pre", often.clone()).unwrap();
            }
        }
    })
}

#[test]
fn a_long_tape_with_shorter_and_with_longer_texts_can_be_read() {
    let tape = long_tape();
    assert!(tape.len() > 9 << 20, "{}", tape.len());
    for pattern in ["bob@example[.]org", "mail", "now; "] {
        let new = redacted(&tape, |redaction| redaction.pattern(pattern).unwrap());
        assert!(new.len() != tape.len());
        let whole = read(&new).unwrap();
        assert_eq!(whole.records.len(), values(&tape).len() + 1, "{pattern}");
        let twice = redacted(&new, |redaction| redaction.pattern("[0-9]+").unwrap());
        assert!(read(&twice).is_ok(), "{pattern}");
    }
}

#[test]
fn attack_a_redacted_text_that_claims_to_have_been_shorter() {
    let tape = recorded(&Project::with(&[]), |runtime| {
        let long = "take me out ".repeat(90);
        runtime.dispatch("tool.pre", command(&long)).unwrap();
    });
    let new = redacted(&tape, |redaction| redaction.pattern("me").unwrap());
    let at = find(&values(&new), "body");
    for bytes in [json!(0), json!(17), Value::Null] {
        let changed = edited(&new, |records| {
            records[at]["redacted"]["bytes"] = bytes.clone()
        });
        let message = refusal(&changed);
        assert_eq!(
            message,
            format!(
                "record {at} is damaged: how long its text was before it was redacted does not stand there"
            ),
            "{bytes}"
        );
    }
}

#[test]
fn attack_a_record_without_a_text_that_claims_to_have_had_one() {
    let tape = recorded(&Project::with(&[]), |runtime| {
        runtime
            .dispatch("tool.pre", command("take me out"))
            .unwrap();
    });
    let new = redacted(&tape, |redaction| redaction.pattern("me").unwrap());
    let at = find(&values(&new), "dispatch");
    let changed = edited(&new, |records| records[at]["redacted"]["bytes"] = json!(17));
    assert_eq!(
        refusal(&changed),
        format!("record {at} is damaged: it says how long its text was, and has none")
    );
}

#[test]
fn a_pattern_that_matches_nothing_at_all_is_refused() {
    for pattern in ["", "a*", "(secret)?"] {
        let refused = Redaction::default().pattern(pattern).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the pattern cannot be used: it also matches where there is nothing; write `+` for `*`"
        );
    }
}
