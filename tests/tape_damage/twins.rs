//! Bodies that leave out what another member says.

use hookbox::tape::{Entry, Redaction};
use serde_json::{Value, json};

use crate::support::tape::{
    chained, digest, edited, find, lines, read, read_strictly, recorded, refusal, studio, tape,
    values,
};
use crate::support::{Project, command};

/// The bodies of a tape, as they are written.
fn bodies(tape: &[u8]) -> Vec<Value> {
    let records = values(tape).into_iter();
    records.filter(|one| one["kind"] == "body").collect()
}

/// The texts of the bodies of a tape, as they are read.
fn texts(tape: &[u8]) -> Vec<String> {
    let records = read(tape).unwrap().records.into_iter();
    records
        .filter_map(|record| match record.entry {
            Entry::Body(body) => Some(body.text.to_string()),
            _ => None,
        })
        .collect()
}

fn redacted(tape: &[u8], prepare: impl FnOnce(&mut Redaction)) -> Vec<u8> {
    let mut redaction = Redaction::default();
    prepare(&mut redaction);
    let reader = || hookbox::tape::Reader::new(tape).unwrap();
    let mut out = Vec::new();
    redaction.write(reader(), reader(), &mut out).unwrap();
    out
}

#[test]
fn long_arguments_stand_on_the_tape_once_and_are_read_twice() {
    let long = format!("echo {} \" \\ \n é", "long ".repeat(200));
    let tape = recorded(&studio(), |runtime| {
        runtime.dispatch("tool.pre", command(&long)).unwrap();
    });
    let [body] = &bodies(&tape)[..] else {
        panic!("one body")
    };
    assert_eq!(body["left_out"], "arguments");
    let written: Value = serde_json::from_str(body["text"].as_str().unwrap()).unwrap();
    assert_eq!(written["args"], json!({"command": long}));
    assert!(written.get("arguments").is_none());
    let [text] = &texts(&tape)[..] else {
        panic!("one body")
    };
    let whole: Value = serde_json::from_str(text).unwrap();
    assert_eq!(whole["args"], json!({"command": long}));
    assert_eq!(whole["arguments"], json!({"command": long}).to_string());
    let (before, _) = text.rsplit_once(r#""{\""#).unwrap();
    assert!(before.ends_with(r#","arguments":"#), "{before}");
    assert_eq!(body["body"], digest(before), "the rest follows from that");
    assert!(read_strictly(&tape).is_ok());
}

#[test]
fn so_does_a_long_result_whether_it_is_json_or_not() {
    let project = Project::with(&[]);
    for content in [
        json!({"lines": vec!["a \"line\""; 100]}).to_string(),
        "no JSON: \\ \" \n ".repeat(100),
    ] {
        let tape = recorded(&project, |runtime| {
            let result = json!({"name": "read", "content": content});
            runtime.dispatch("tool.post", result.clone()).unwrap();
            let decoded: Value = serde_json::from_str(&content).unwrap_or(json!(content));
            let result = json!({"name": "read", "result": decoded});
            runtime.dispatch("tool.post", result).unwrap();
        });
        // What came with `content` has that before `result`, and stays as it is.
        let left_out: Vec<_> = bodies(&tape)
            .iter()
            .map(|body| body.get("left_out").cloned())
            .collect();
        assert!(left_out.contains(&Some(json!("content"))), "{left_out:?}");
        for text in texts(&tape) {
            let whole: Value = serde_json::from_str(&text).unwrap();
            assert!(whole["content"].as_str().unwrap().len() > 500);
        }
    }
}

/// A body with another `left_out`, and every hash made anew.
fn with(left_out: Value, text: Option<&str>) -> (Vec<u8>, usize) {
    let at = find(&values(tape()), "body");
    let tape = edited(tape(), |records| {
        records[at]["left_out"] = left_out;
        if let Some(text) = text {
            records[at]["text"] = text.into();
        }
    });
    (tape, at)
}

#[test]
fn attack_a_body_that_leaves_out_what_it_has_nothing_to_make_of() {
    for text in [
        "{}",
        "[]",
        "",
        r#"{"args":{}"#,
        r#"{ "args":{}}"#,
        r#"{"args": {}}"#,
        r#"{"args":{} }"#,
        r#"{"\u0061rgs":{}}"#,
        r#"{"\u0061":1,"args":{}}"#,
    ] {
        let (tape, at) = with(json!("arguments"), Some(text));
        assert_eq!(
            refusal(&tape),
            format!(
                "record {at} is damaged: \"arguments\" was left out of its text, which has no \"args\" to make it of"
            ),
            "{text}"
        );
    }
}

#[test]
fn attack_a_body_that_leaves_out_something_else() {
    let (tape, at) = with(json!("content"), None);
    assert!(refusal(&tape).contains("which has no \"result\" to make it of"));
    let (tape, _) = with(json!("content"), Some(r#"{"args":{},"result":1}"#));
    assert_eq!(
        refusal(&tape),
        format!("record {at} is damaged: the body is not the one its hash names")
    );
    let (tape, _) = with(json!("args"), None);
    let message = refusal(&tape);
    assert!(message.contains("unknown variant `args`"), "{message}");
}

#[test]
fn attack_a_body_that_says_it_leaves_out_nothing() {
    let at = find(&values(tape()), "body");
    let whole = edited(tape(), |records| {
        records[at]
            .as_object_mut()
            .unwrap()
            .shift_remove("left_out");
    });
    assert_eq!(
        refusal(&whole),
        format!("record {at} is damaged: the body is not the one its hash names")
    );
}

/// It could: what a writer need not do, a reader does not ask for.
#[test]
fn a_body_may_leave_out_nothing() {
    let at = find(&values(tape()), "body");
    let whole = edited(tape(), |records| {
        let text = texts(tape())[0].clone();
        let (was, is) = (records[at]["body"].clone(), json!(digest(&text)));
        for record in &mut records[at + 1..] {
            if record["payload"]["body"] == was {
                record["payload"]["body"] = is.clone();
            }
        }
        let body = records[at].as_object_mut().unwrap();
        body.shift_remove("left_out");
        body["text"] = text.into();
        body["body"] = is;
    });
    assert_eq!(texts(&whole), texts(tape()));
    assert!(read_strictly(&whole).is_ok());
}

#[test]
fn attack_another_record_that_leaves_something_out() {
    for kind in ["dispatch", "outcome", "footer"] {
        let at = find(&values(tape()), kind);
        let mut records = values(tape());
        records[at]["left_out"] = json!("arguments");
        let message = refusal(&chained(&records));
        assert!(
            message.contains("with fields that belong to another kind of record"),
            "{kind}: {message}"
        );
    }
}

#[test]
fn what_is_taken_out_of_one_is_gone_from_both() {
    let secret = "long long long";
    for pointer in [
        "/payload/args/command",
        "/payload/args",
        "/payload/arguments/command",
        "/payload/arguments",
        "/payload/*",
        "/payload",
    ] {
        assert!(String::from_utf8_lossy(tape()).contains(secret));
        let redacted = redacted(tape(), |redaction| redaction.pointer(pointer).unwrap());
        let text = &texts(&redacted)[0];
        assert!(!text.contains(secret), "{pointer}: {text}");
        let bytes = bodies(&redacted)[0].to_string();
        assert!(!bytes.contains(secret), "{pointer}: {bytes}");
        assert!(read(&redacted).is_ok());
    }
    let redacted = redacted(tape(), |redaction| redaction.pattern("long ").unwrap());
    assert!(!String::from_utf8_lossy(&redacted).contains(secret));
    assert!(!texts(&redacted)[0].contains(secret));
    assert_eq!(lines(&redacted).len(), lines(tape()).len() + 1);
}
