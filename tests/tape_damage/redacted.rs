//! Tapes that were redacted, and tapes that only look so.

use hookbox::tape::Ending;
use serde_json::{Value, json};

use crate::support::tape::{
    chained, digest, find, lines, play, read, read_strictly, refusal, tape, values,
};

/// Takes the reason out of the veto and seals what is left.
fn redacted(change: impl FnOnce(&mut Vec<Value>)) -> Vec<u8> {
    let mut records = values(tape());
    let at = find(&records, "hook_vetoed");
    let was = lines(tape())[at].strip_suffix(b"\n").unwrap();
    records[at]["reason"] = json!("[redacted]");
    records[at]["redacted"] = json!({"paths": ["/reason"], "was": digest(was)});
    let seal = digest(digest(hookbox::canonical::text(&records[at])));
    records.push(json!({"kind": "redaction", "count": 1, "lines": seal}));
    change(&mut records);
    chained(&records)
}

fn seal_at() -> usize {
    values(tape()).len()
}

#[test]
fn a_redacted_tape_is_whole_and_keeps_the_hashes_it_had() {
    let tape_now = redacted(|_| {});
    let whole = read_strictly(&tape_now).unwrap();
    assert_eq!(whole.ending, Ending::Closed);
    assert_eq!(whole.records.len(), seal_at() + 1);
    assert!(
        !String::from_utf8(tape_now.clone())
            .unwrap()
            .contains("\"kind\":\"hook_vetoed\",\"reason\":\"dangerous")
    );
    assert_eq!(play(&tape_now).unwrap().dispatches.len(), 6);
    let at = find(&values(tape()), "hook_vetoed");
    assert_eq!(lines(&tape_now)[at + 1..seal_at()], lines(tape())[at + 1..]);
}

#[test]
fn attack_a_redacted_record_changed_afterwards() {
    let at = find(&values(tape()), "hook_vetoed");
    let changed = redacted(|records| records[at]["reason"] = json!("something else"));
    assert_eq!(
        refusal(&changed),
        format!(
            "record {} is damaged: the seal does not fit: a redacted record was changed afterwards",
            seal_at()
        )
    );
}

#[test]
fn attack_a_record_changed_under_the_name_of_a_redaction() {
    let unsealed = redacted(|records| drop(records.pop()));
    assert_eq!(
        refusal(&unsealed),
        format!(
            "record {} does not fit: records are marked as redacted, and no seal vouches for them",
            seal_at()
        )
    );
}

#[test]
fn attack_a_seal_that_counts_wrong() {
    for count in [0, 2] {
        let wrong = redacted(|records| records.last_mut().unwrap()["count"] = json!(count));
        assert!(refusal(&wrong).starts_with(&format!("record {} is damaged: the seal", seal_at())));
    }
}

#[test]
fn attack_a_seal_in_front_of_the_footer() {
    let at = seal_at() - 1;
    let early = redacted(|records| records.swap(at, at + 1));
    assert_eq!(
        refusal(&early),
        format!("record {at} does not fit: a seal that has no tape before it")
    );
}

#[test]
fn attack_two_seals() {
    let twice = redacted(|records| {
        let seal = records.last().unwrap().clone();
        records.push(seal);
    });
    assert_eq!(
        refusal(&twice),
        format!(
            "record {} does not fit: a seal that has no tape before it",
            seal_at() + 1
        )
    );
}

#[test]
fn attack_a_redacted_record_that_was_another_one() {
    let at = find(&values(tape()), "hook_vetoed");
    let mut lines: Vec<String> = lines(&redacted(|_| {}))
        .into_iter()
        .map(|line| String::from_utf8(line.to_vec()).unwrap())
        .collect();
    let mut record: Value = serde_json::from_str(&lines[at]).unwrap();
    record["redacted"]["was"] = json!(digest("another one"));
    lines[at] = format!("{}\n", hookbox::canonical::text(&record));
    let message = refusal(lines.concat().as_bytes());
    assert!(
        message.starts_with(&format!("record {} does not follow", at + 1)),
        "{message}"
    );
}

/// A redacted body has a hash that nothing can be checked against, so it can come twice
/// with two texts; the memory it takes is counted all the same.
#[test]
fn attack_a_redacted_body_that_grows() {
    let mut records = values(tape());
    let at = find(&records, "body");
    let body = |text: &str| {
        let hash = digest("gone");
        json!({"kind": "body", "body": hash, "text": text, "redacted": {"bytes": text.len(), "paths": ["/text"], "was": digest(text)}})
    };
    let fillers = (0..4_100).map(|index| {
        let text = format!("body {index}");
        json!({"kind": "body", "body": digest(&text), "text": text})
    });
    let more: Vec<Value> = [body(""), body(&"x".repeat(1_000))]
        .into_iter()
        .chain(fillers)
        .collect();
    records.splice(at..at, more);
    records.pop();
    let whole = read(&chained(&records)).unwrap();
    assert_eq!(
        (whole.records.len(), whole.ending),
        (records.len(), Ending::Open)
    );
}
