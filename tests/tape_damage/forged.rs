//! Records that no recorder writes, with hashes that fit: an encoder of the tests' own
//! makes them.

use hookbox::tape::Ending;
use serde_json::{Value, json};

use crate::support::tape::{
    chained, chained_as, digest, edited, find, lines, play, read, read_strictly, refusal,
    small_tape, tape, values,
};

/// A tape whose record of a kind was changed, and the number of that record.
fn changed(kind: &str, change: impl FnOnce(&mut Value)) -> (Vec<u8>, usize) {
    let at = find(&values(tape()), kind);
    (edited(tape(), |records| change(&mut records[at])), at)
}

fn damaged(kind: &str, change: impl FnOnce(&mut Value)) -> String {
    let (tape, at) = changed(kind, change);
    let message = refusal(&tape);
    let why = message.strip_prefix(&format!("record {at} is damaged: "));
    why.unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn attack_a_field_that_nobody_knows() {
    let why = damaged("dispatch", |record| record["mood"] = json!("good"));
    assert!(
        why.starts_with("unknown field `mood`, expected one of "),
        "{why}"
    );
}

#[test]
fn attack_a_field_that_nobody_knows_deep_inside() {
    for (kind, pointer) in [
        ("header", "/project"),
        ("header", "/project/hooks/0"),
        ("outcome", "/stages"),
        ("outcome", "/trace/0"),
    ] {
        let why = damaged(kind, |record| {
            record.pointer_mut(pointer).unwrap()["mood"] = json!(1)
        });
        assert!(why.starts_with("unknown field `mood`"), "{pointer}: {why}");
    }
}

#[test]
fn attack_a_kind_that_nobody_knows() {
    let why = damaged("hook_call", |record| record["kind"] = json!("hook_calls"));
    assert!(why.starts_with("unknown variant `hook_calls`"), "{why}");
}

#[test]
fn attack_a_field_that_is_missing() {
    for (kind, fields) in [
        (
            "dispatch",
            &["event", "id", "depth", "payload", "session", "time"][..],
        ),
        (
            "predicate",
            &["hook", "matched", "memory_bytes", "at_us", "took_us"],
        ),
        ("hook_call", &["hook", "handler", "payload", "at_us"]),
        (
            "host_call",
            &[
                "hook",
                "phase",
                "capability",
                "request",
                "answer",
                "at_us",
                "took_us",
            ],
        ),
        (
            "hook_returned",
            &["hook", "decision", "memory_bytes", "at_us", "took_us"],
        ),
        ("hook_vetoed", &["hook", "decision", "reason"]),
        (
            "outcome",
            &["decision", "payload", "stages", "trace", "took_us"],
        ),
        ("body", &["body", "text"]),
        ("header", &["project"]),
    ] {
        for field in fields {
            let why = damaged(kind, |record| {
                record
                    .as_object_mut()
                    .unwrap()
                    .shift_remove(*field)
                    .unwrap();
            });
            assert_eq!(why, format!("`{field}` is missing"), "{kind}");
        }
    }
}

#[test]
fn attack_a_field_of_another_kind_of_record() {
    for (kind, field, value) in [
        ("hook_vetoed", "fuel", json!(1)),
        ("hook_call", "decision", json!("allow")),
        ("dispatch", "warnings", json!(["x"])),
        ("dispatch", "derived", json!(true)),
        ("outcome", "lost", json!([1])),
        ("header", "text", json!("x")),
        ("body", "payload", json!("x")),
        ("hook_call", "format", json!("3.0")),
    ] {
        let why = damaged(kind, |record| record[field] = value);
        let article = format!("a {kind} with fields that belong to another kind of record");
        assert_eq!(why, article, "{field}");
    }
}

#[test]
fn attack_a_field_of_another_type() {
    for (kind, field, value) in [
        ("dispatch", "time", json!("noon")),
        ("dispatch", "time", json!(-1)),
        ("dispatch", "depth", json!(4_294_967_296_u64)),
        ("dispatch", "payload", json!(["x"])),
        ("dispatch", "payload", json!({"bodies": "x"})),
        ("hook_returned", "decision", json!("permit")),
        ("host_call", "phase", json!("after")),
        ("predicate", "matched", json!(1)),
    ] {
        let why = damaged(kind, |record| record[field] = value.clone());
        let is_told = ["invalid ", "unknown "]
            .iter()
            .any(|word| why.starts_with(word));
        assert!(is_told, "{field} {value}: {why}");
    }
}

#[test]
fn attack_a_hash_in_another_spelling() {
    for hash in ["", "00", &"A".repeat(64), &"g".repeat(64), &"0".repeat(65)] {
        let why = damaged("body", |record| record["body"] = json!(hash));
        assert!(
            why.contains("a hash of 64 lower-case hexadecimal digits"),
            "{why}"
        );
    }
}

#[test]
fn attack_a_record_that_belongs_to_no_dispatch() {
    let drop_in = |record: &mut Value| drop(record.as_object_mut().unwrap().shift_remove("in"));
    for kind in [
        "dispatch",
        "predicate",
        "hook_call",
        "host_call",
        "hook_returned",
        "hook_vetoed",
        "outcome",
    ] {
        assert_eq!(damaged(kind, drop_in), format!("a {kind} that has no `in`"));
    }
    for kind in ["header", "body", "footer"] {
        let why = damaged(kind, |record| record["in"] = json!(1));
        assert_eq!(why, format!("a {kind} that has an `in`"));
    }
}

#[test]
fn attack_a_veto_that_lets_the_event_pass() {
    let why = damaged("hook_vetoed", |record| {
        record["decision"] = json!("modify");
    });
    assert_eq!(why, "a veto that changes the payload");
    // One that is the last word has to be the hook's own.
    let (tape, at) = changed("hook_vetoed", |record| record["decision"] = json!("allow"));
    assert_eq!(
        refusal(&tape),
        format!("record {at} does not fit: hook \"guard\" vetoes, and has not returned that")
    );
}

#[test]
fn attack_a_body_that_does_not_fit_its_hash() {
    let why = damaged("body", |record| record["text"] = json!("{\"args\":{}}"));
    assert_eq!(why, "the body is not the one its hash names");
}

#[test]
fn attack_a_body_that_is_missing() {
    let records = values(tape());
    let at = find(&records, "body");
    let hash = records[at]["body"].as_str().unwrap().to_owned();
    let without = edited(tape(), |records| drop(records.remove(at)));
    let message = refusal(&without);
    assert_eq!(
        message,
        format!(
            "record {at} is damaged: the body {} is not on the tape before it",
            &hash[..12]
        )
    );
}

#[test]
fn attack_a_body_that_comes_too_late() {
    let at = find(&values(tape()), "body");
    let late = edited(tape(), |records| records.swap(at, at + 1));
    let message = refusal(&late);
    assert!(
        message.starts_with(&format!("record {at} is damaged: the body ")),
        "{message}"
    );
}

/// What a session before knew is forgotten: whoever goes on with a tape need not read it.
#[test]
fn attack_a_body_of_the_session_before() {
    let records = values(tape());
    let at = find(&records, "body");
    let session = edited(tape(), |records| {
        let project = records[0]["project"].clone();
        records.insert(at + 1, json!({"kind": "session", "project": project}));
    });
    let message = refusal(&session);
    assert!(
        message.starts_with(&format!("record {} is damaged: the body ", at + 2)),
        "{message}"
    );
}

/// A reader holds no more bodies than a writer does, or a tape could fill its memory.
#[test]
fn attack_a_body_that_is_forgotten_already() {
    let records = values(tape());
    let at = find(&records, "body");
    let filler = |index: usize| {
        let text = format!("body {index}");
        json!({"kind": "body", "body": digest(&text), "text": text})
    };
    let with = |count: usize| {
        edited(tape(), |records| {
            records.splice(at + 1..at + 1, (0..count).map(filler));
        })
    };
    assert_eq!(read(&with(4_095)).unwrap().ending, Ending::Closed);
    let message = refusal(&with(4_096));
    let next = at + 1 + 4_096;
    assert!(
        message.starts_with(&format!("record {next} is damaged: the body ")),
        "{message}"
    );
}

#[test]
fn attack_a_footer_in_the_middle() {
    let at = find(&values(tape()), "outcome") + 1;
    let middle = edited(tape(), |records| {
        let footer = records.last().unwrap().clone();
        records.insert(at, footer);
    });
    assert_eq!(
        refusal(&middle),
        format!("record {at} is damaged: the footer does not fit the tape before it")
    );
}

/// The same when it fits what is before it.
#[test]
fn attack_records_behind_the_footer() {
    let records = values(small_tape());
    let at = records.len();
    let behind = |record: Value| edited(small_tape(), |records| records.push(record));
    let session = json!({"kind": "session", "project": records[0]["project"]});
    let body = json!({"kind": "body", "body": digest("x"), "text": "x"});
    for record in [body, records[at - 1].clone()] {
        assert_eq!(
            refusal(&behind(record)),
            format!("record {at} does not fit: it stands behind the footer")
        );
    }
    // This footer counts sessions, and the one behind it is none of them.
    let message = refusal(&behind(session));
    let expected = format!(
        "record {} is damaged: the footer does not fit the tape before it",
        at - 1
    );
    assert_eq!(message, expected);
}

#[test]
fn attack_a_footer_that_counts_wrong() {
    for (field, value) in [
        ("count", json!(1)),
        ("dispatches", json!(99)),
        ("sessions", json!(1)),
        ("head", json!("0".repeat(64))),
    ] {
        let mut lines: Vec<Vec<u8>> = lines(tape()).into_iter().map(<[u8]>::to_vec).collect();
        let last = lines.pop().unwrap();
        let mut footer: Value = serde_json::from_slice(&last).unwrap();
        footer[field] = value;
        lines.push(format!("{}\n", hookbox::canonical::text(&footer)).into_bytes());
        assert_eq!(
            refusal(&lines.concat()),
            format!(
                "record {} is damaged: the footer does not fit the tape before it",
                lines.len() - 1
            )
        );
    }
}

#[test]
fn attack_two_headers() {
    let twice = edited(tape(), |records| {
        let header = records[0].clone();
        records.insert(3, header);
    });
    assert_eq!(refusal(&twice), "record 3 does not fit: a second header");
}

#[test]
fn attack_a_header_that_follows_something() {
    let mut records = values(tape());
    let mut first: Value = records.remove(0);
    first["prev"] = json!(digest("something"));
    let line = format!("{}\n", hookbox::canonical::text(&first));
    assert_eq!(
        refusal(line.as_bytes()),
        "record 0 does not follow the one before it: record 0 was changed, or the tape is put together from two"
    );
}

#[test]
fn attack_a_dispatch_of_a_session_that_has_not_begun() {
    let why = damaged("dispatch", |record| record["session"] = json!(1));
    assert_eq!(why, "it belongs to a session that has not begun");
}

#[test]
fn attack_an_effect_that_is_none() {
    let why = damaged("hook_returned", |record| {
        record["effects"] = json!([{"kind": "bribe"}])
    });
    assert!(
        why.starts_with("an effect is none: unknown variant `bribe`"),
        "{why}"
    );
}

/// Writes one record of the tape in another way, with a chain that fits.
fn spelled(kind: &str, spell: impl Fn(&Value) -> String) -> (Vec<u8>, usize) {
    let records = values(tape());
    let at = find(&records, kind);
    let tape = chained_as(&records, |index, record| {
        let canonical = hookbox::canonical::text(record);
        if index != at {
            return canonical;
        }
        let spelled = spell(record);
        assert_ne!(spelled, canonical);
        spelled
    });
    (tape, at)
}

fn not_canonical(kind: &str, spell: impl Fn(&Value) -> String) {
    let (tape, at) = spelled(kind, spell);
    assert_eq!(
        read(&tape).unwrap().ending,
        Ending::Closed,
        "it says the same"
    );
    assert_eq!(
        read_strictly(&tape).unwrap_err().to_string(),
        format!("record {at} is damaged: it is not written in the canonical way")
    );
}

#[test]
fn attack_spaces() {
    for kind in ["header", "dispatch", "outcome", "footer"] {
        not_canonical(kind, |record| record.to_string().replacen("\":", "\": ", 1));
        not_canonical(kind, |record| {
            format!(" {}", hookbox::canonical::text(record))
        });
        not_canonical(kind, |record| {
            format!("{}\r", hookbox::canonical::text(record))
        });
    }
}

/// The chain does not hold the text of a body, so there may be only one way to write it.
#[test]
fn attack_a_body_that_is_written_in_another_way() {
    let canonical = hookbox::canonical::text;
    let ways: [&dyn Fn(&Value) -> String; 8] = [
        &|record| record.to_string().replacen("\":", "\": ", 1),
        &|record| format!(" {}", canonical(record)),
        &|record| format!("{}\r", canonical(record)),
        &|record| canonical(record).replace("\"text\":", "\"text\": "),
        &|record| canonical(record).replacen("long", "\\u006cong", 1),
        &|record| canonical(record).replacen("\\\"", "\\u0022", 1),
        &|record| canonical(record).replacen("long", "l\\u006Fng", 1),
        &|record| {
            let (before, text) = (canonical(record), record["text"].to_string());
            before.replace(&format!(",\"text\":{text}"), "").replacen(
                '{',
                &format!("{{\"text\":{text},"),
                1,
            )
        },
    ];
    for (index, way) in ways.iter().enumerate() {
        let (tape, at) = spelled("body", way);
        let why = format!("record {at} is damaged: it is not written in the canonical way");
        assert_eq!(refusal(&tape), why, "{index}");
        assert_eq!(
            read_strictly(&tape).unwrap_err().to_string(),
            why,
            "{index}"
        );
    }
}

/// Short ways to write a character come before long ones.
#[test]
fn attack_a_body_with_a_long_escape_where_there_is_a_short_one() {
    let text = format!("a\nb{}", "x".repeat(600));
    let body = json!({"kind": "body", "body": digest(&text), "text": text});
    let at = find(&values(tape()), "body");
    let with = |write: &dyn Fn(&Value) -> String| {
        let mut records = values(tape());
        records.insert(at, body.clone());
        chained_as(&records, |index, record| match index == at {
            true => write(record),
            false => hookbox::canonical::text(record),
        })
    };
    let canonical = hookbox::canonical::text;
    assert_eq!(read(&with(&canonical)).unwrap().ending, Ending::Closed);
    for long in ["\\u000a", "\\u000A"] {
        let tape = with(&|record| canonical(record).replacen("\\n", long, 1));
        let why = format!("record {at} is damaged: it is not written in the canonical way");
        assert_eq!(refusal(&tape), why, "{long}");
    }
}

#[test]
fn attack_keys_in_another_order() {
    for kind in ["header", "predicate", "hook_returned", "footer"] {
        not_canonical(kind, |record| {
            let mut keys: Vec<_> = record.as_object().unwrap().clone().into_iter().collect();
            keys.sort_by(|(one, _), (other, _)| other.cmp(one));
            Value::Object(keys.into_iter().collect()).to_string()
        });
    }
}

#[test]
fn attack_characters_that_are_escaped_for_nothing() {
    not_canonical("hook_call", |record| {
        hookbox::canonical::text(record).replace("guard", "gu\\u0061rd")
    });
    not_canonical("header", |record| {
        hookbox::canonical::text(record).replace("tool.pre", "tool\\u002epre")
    });
    not_canonical("hook_call", |record| {
        hookbox::canonical::text(record)
            .replace("script", "\\u0073cript")
            .replace("starlark", "st\\u0061rlark")
    });
}

#[test]
fn attack_defaults_that_are_written_out() {
    for (kind, field, value) in [
        ("dispatch", "parent", json!(null)),
        ("outcome", "warnings", json!([])),
        ("host_call", "derived", json!(false)),
    ] {
        not_canonical(kind, |record| {
            let mut record = record.clone();
            record[field] = value.clone();
            hookbox::canonical::text(&record)
        });
    }
}

#[test]
fn attack_an_effect_whose_keys_are_in_another_order() {
    let wish = r#"{"text":"x","kind":"context","placement":"system_message"}"#;
    let canonical = r#"{"kind":"context","placement":"system_message","text":"x"}"#;
    let records = {
        let mut records = values(small_tape());
        for kind in ["hook_returned", "outcome"] {
            let at = find(&records, kind);
            records[at]["effects"] = json!([serde_json::from_str::<Value>(canonical).unwrap()]);
        }
        records
    };
    assert_eq!(
        read_strictly(&chained(&records)).unwrap().ending,
        Ending::Closed
    );
    let at = find(&records, "hook_returned");
    let tape = chained_as(&records, |index, record| {
        let text = hookbox::canonical::text(record);
        if index == at {
            text.replace(canonical, wish)
        } else {
            text
        }
    });
    assert_eq!(
        read(&tape).unwrap().ending,
        Ending::Closed,
        "it says the same"
    );
    assert_eq!(
        read_strictly(&tape).unwrap_err().to_string(),
        format!("record {at} is damaged: it is not written in the canonical way")
    );
}

#[test]
fn attack_a_key_twice() {
    let (tape, at) = spelled("dispatch", |record| {
        hookbox::canonical::text(record).replacen('{', "{\"depth\":7,", 1)
    });
    let message = refusal(&tape);
    assert!(
        message.starts_with(&format!("record {at} is damaged: duplicate field `depth`")),
        "{message}"
    );
}

#[test]
fn a_clock_that_was_set_back_is_accepted_and_told() {
    let records = values(tape());
    let starts: Vec<usize> = (0..records.len())
        .filter(|&index| records[index]["kind"] == "dispatch")
        .collect();
    assert_eq!(play(tape()).unwrap().clock_set_back, None);
    let back = edited(tape(), |records| {
        let earlier = records[starts[1]]["time"].as_u64().unwrap() - 60_000;
        records[starts[2]]["time"] = json!(earlier);
    });
    let played = play(&back).unwrap();
    assert_eq!(played.ending, Ending::Closed);
    assert_eq!(played.clock_set_back, Some(starts[2] as u64));
}
