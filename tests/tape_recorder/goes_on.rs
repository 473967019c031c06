//! Going on with a tape that is there.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use hookbox::Runtime;
use hookbox::tape::{Ending, RecordError, Recorder};
use serde_json::json;

use super::{of_kind, place};
use crate::support::command;
use crate::support::tape::{
    digest, edited, lines, play, play_file, read, read_strictly, record, studio, tape, values,
};

fn append(path: &Path, bytes: &[u8]) {
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Records one more event.
fn record_one(path: &Path) {
    record(&studio(), path, |runtime| {
        runtime.dispatch("tool.pre", command("ls")).unwrap();
    });
}

/// Refuses to go on, and leaves every byte alone.
fn refused(bytes: &[u8]) -> String {
    let (_folder, path) = place();
    std::fs::write(&path, bytes).unwrap();
    let error = Recorder::create(&path).unwrap_err();
    assert!(matches!(error, RecordError::NotATape { .. }), "{error}");
    assert!(
        std::fs::read(&path).unwrap() == bytes,
        "the file was changed"
    );
    error.to_string().replace(path.to_str().unwrap(), "[tape]")
}

#[test]
fn a_closed_tape_goes_on() {
    let (_folder, path) = place();
    for sessions in 0..4_u64 {
        record_one(&path);
        let whole = read_strictly(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(whole.ending, Ending::Closed);
        let played = play_file(&path);
        let numbers: Vec<u64> = played.dispatches.iter().map(|one| one.number).collect();
        assert_eq!(numbers, (1..=sessions + 1).collect::<Vec<_>>());
        let footer = &of_kind(&path, "footer")[0];
        assert_eq!(footer["sessions"], json!(sessions));
        assert_eq!(of_kind(&path, "session").len() as u64, sessions);
        let session = played.dispatches.last().unwrap().start().session;
        assert_eq!(session, sessions);
    }
}

#[test]
fn what_was_there_stays_byte_by_byte() {
    let (_folder, path) = place();
    std::fs::write(&path, tape()).unwrap();
    record_one(&path);
    let kept = lines(tape());
    let kept = kept[..kept.len() - 1].concat();
    assert!(
        std::fs::read(&path).unwrap().starts_with(&kept),
        "only the footer goes"
    );
}

#[test]
fn a_recorder_that_records_nothing_leaves_a_closed_tape_as_it_is() {
    let (_folder, path) = place();
    std::fs::write(&path, tape()).unwrap();
    Recorder::create(&path).unwrap().close().unwrap();
    assert!(std::fs::read(&path).unwrap() == tape());
    drop(Recorder::create(&path).unwrap());
    assert!(std::fs::read(&path).unwrap() == tape());
}

#[test]
fn an_empty_file_becomes_a_tape() {
    let (_folder, path) = place();
    std::fs::write(&path, b"").unwrap();
    record_one(&path);
    assert_eq!(play_file(&path).ending, Ending::Closed);
}

/// A tape that was cut at many places goes on behind its last whole record.
#[test]
fn attack_a_torn_tape_goes_on_behind_its_last_whole_record() {
    let whole = tape();
    let header = lines(whole)[0].len();
    for part in 1..20 {
        let cut = header + (whole.len() - header) * part / 20;
        let (_folder, path) = place();
        std::fs::write(&path, &whole[..cut]).unwrap();
        let before = play(&whole[..cut]).unwrap();
        let torn = match before.ending {
            Ending::Torn { bytes } => Some(bytes),
            _ => None,
        };
        record_one(&path);
        let kept = cut as u64 - torn.unwrap_or(0);
        let now = std::fs::read(&path).unwrap();
        assert!(
            now.starts_with(&whole[..kept as usize]),
            "nothing before is lost"
        );
        let played = play(&now).unwrap();
        assert_eq!(played.ending, Ending::Closed);
        assert_eq!(played.dispatches.len(), before.dispatches.len() + 1);
        let session = &of_kind(&path, "session")[0];
        let recovered = session["project"]
            .get("recovered_bytes")
            .and_then(|bytes| bytes.as_u64());
        assert_eq!(recovered, torn, "cut at {cut}");
        let lost = of_kind(&path, "lost");
        if before.unfinished.is_empty() {
            assert!(lost.is_empty(), "cut at {cut}: {lost:?}");
        } else {
            assert_eq!(lost[0]["lost"], json!(before.unfinished));
            assert_eq!(
                lost[0]["error"],
                "the recording was cut off before they ended"
            );
        }
    }
}

#[test]
fn bytes_that_were_dropped_are_told_once() {
    let (_folder, path) = place();
    std::fs::write(&path, &tape()[..tape().len() - 5]).unwrap();
    let project = studio();
    record(&project, &path, |runtime| runtime.clone().reload().unwrap());
    let told: Vec<bool> = of_kind(&path, "session")
        .iter()
        .map(|session| session["project"].get("recovered_bytes").is_some())
        .collect();
    assert_eq!(told, [true, false]);
}

#[test]
fn attack_bytes_behind_the_footer() {
    for garbage in ["x", "{\"kind\":\"footer\""] {
        let (_folder, path) = place();
        std::fs::write(&path, tape()).unwrap();
        append(&path, garbage.as_bytes());
        record_one(&path);
        let played = play_file(&path);
        assert_eq!(played.ending, Ending::Closed);
        assert_eq!(
            of_kind(&path, "session")[0]["project"]["recovered_bytes"],
            json!(garbage.len())
        );
    }
}

#[test]
fn attack_a_footer_with_room_in_it() {
    let (_folder, path) = place();
    let mut all: Vec<Vec<u8>> = lines(tape()).into_iter().map(<[u8]>::to_vec).collect();
    let footer = all.last_mut().unwrap();
    footer.splice(1..1, std::iter::repeat_n(b' ', 5_000));
    std::fs::write(&path, all.concat()).unwrap();
    assert_eq!(play_file(&path).ending, Ending::Closed);
    record_one(&path);
    assert_eq!(play_file(&path).ending, Ending::Closed);
    assert_eq!(of_kind(&path, "footer").len(), 1);
}

#[test]
fn attack_a_damaged_tape() {
    let all = lines(tape());
    let open = all[..all.len() - 1].concat();
    let mut damaged = open.clone();
    let at = all[0].len() + all[1].len() / 2;
    damaged[at] ^= 1;
    let said = refused(&damaged);
    assert!(
        said.starts_with("[tape] cannot be recorded to: record "),
        "{said}"
    );
    assert!(said.ends_with("; record to another file"), "{said}");
    let mut swapped = all.clone();
    swapped.swap(3, 4);
    assert_eq!(
        refused(&swapped[..swapped.len() - 1].concat()),
        "[tape] cannot be recorded to: record 3 has the number 4: records were removed, repeated or put in another order; record to another file"
    );
}

/// Going on with a closed tape reads its beginning and its end. What is wrong between
/// them stays where everybody finds it.
#[test]
fn attack_a_closed_tape_that_is_damaged_within_stays_damaged() {
    let (_folder, path) = place();
    let mut damaged = tape().to_vec();
    let line = lines(tape())[0].len() + 30;
    damaged[line] ^= 1;
    let before = play(&damaged).unwrap_err().to_string();
    std::fs::write(&path, &damaged).unwrap();
    record_one(&path);
    let after = play(&std::fs::read(&path).unwrap())
        .unwrap_err()
        .to_string();
    assert_eq!(after, before);
}

#[test]
fn attack_something_that_is_no_tape() {
    let expected = "[tape] cannot be recorded to: this is not a tape: its first line is no header; record to another file";
    assert_eq!(refused(b"Dear diary,\nnothing was recorded.\n"), expected);
    assert_eq!(refused(b"\x89PNG\r\n\x1a\n\x00\x00"), expected);
    assert_eq!(refused(b"\n"), expected);
    assert_eq!(
        refused(b"one line"),
        "[tape] cannot be recorded to: this is not a tape: it ends in the middle of its first line; record to another file"
    );
}

#[test]
fn attack_a_footer_behind_something_that_is_no_tape() {
    let footer = *lines(tape()).last().unwrap();
    assert_eq!(
        refused(&[&b"Dear diary,\n"[..], footer].concat()),
        "[tape] cannot be recorded to: this is not a tape: its first line is no header; record to another file"
    );
    assert_eq!(
        refused(footer),
        "[tape] cannot be recorded to: this is not a tape: its first line is no header; record to another file"
    );
}

#[test]
fn attack_a_closed_tape_of_another_version() {
    for (format, what) in [
        ("3.1", "this hookbox reads 3.0"),
        ("4.0", "this hookbox reads 3.0"),
        ("1.9", "no longer reads"),
    ] {
        let other = edited(tape(), |records| records[0]["format"] = json!(format));
        let said = refused(&other);
        assert!(
            said.contains(&format!("the tape has format {format}")),
            "{said}"
        );
        assert!(said.contains(what), "{said}");
    }
}

#[test]
fn attack_a_redacted_tape() {
    let sealed = |redact: bool| {
        edited(tape(), |records| {
            let mut hashes = String::new();
            if redact {
                let was = digest(lines(tape())[1].strip_suffix(b"\n").unwrap());
                records[1]["redacted"] = json!({"paths": ["/id"], "was": was});
                hashes = digest(hookbox::canonical::text(&records[1]));
            }
            let count = u64::from(redact);
            records.push(json!({"kind": "redaction", "count": count, "lines": digest(hashes)}));
        })
    };
    for tape in [sealed(true), sealed(false)] {
        assert_eq!(read(&tape).unwrap().ending, Ending::Closed);
        assert_eq!(
            refused(&tape),
            "[tape] cannot be recorded to: it was redacted; record to another file"
        );
    }
}

#[test]
fn attack_a_second_recorder_for_the_same_tape() {
    let (_folder, path) = place();
    let first = Recorder::create(&path).unwrap();
    let error = Recorder::create(&path).unwrap_err();
    assert!(matches!(error, RecordError::Busy(_)), "{error}");
    assert_eq!(
        error.to_string(),
        format!(
            "{} is being recorded to by somebody else; record to another file",
            path.display()
        )
    );
    first.close().unwrap();
    Recorder::create(&path).unwrap();
}

const CHILD: &str = "HOOKBOX_TEST_RECORDS_TO";

/// Not a test: what the next one starts, and kills.
#[test]
#[ignore = "another test runs it as a process of its own"]
fn child_that_records_for_ever() {
    let path = std::env::var_os(CHILD).unwrap();
    let recorder = Recorder::create(path).unwrap();
    let project = studio();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    loop {
        let long = command(&"echo long ".repeat(500));
        runtime.dispatch("tool.pre", long).unwrap();
        runtime.dispatch("turn.start", json!("hello")).unwrap();
    }
}

#[test]
fn attack_a_process_killed_while_it_records() {
    let (_folder, path) = place();
    for round in 1..=3 {
        let before = std::fs::read(&path).map_or(0, |tape| play(&tape).unwrap().dispatches.len());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "goes_on::child_that_records_for_ever",
                "--ignored",
            ])
            .env(CHILD, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let played = loop {
            // It may have begun with nothing, or with half a header.
            let played = std::fs::read(&path).ok().and_then(|tape| play(&tape).ok());
            match played {
                Some(played) if played.dispatches.len() > before + 20 * round => break played,
                _ => assert!(
                    child.try_wait().unwrap().is_none(),
                    "it has stopped by itself"
                ),
            }
            std::thread::yield_now();
        };
        child.kill().unwrap();
        child.wait().unwrap();
        let killed = play_file(&path);
        assert_ne!(killed.ending, Ending::Closed);
        assert!(killed.dispatches.len() >= played.dispatches.len());
        record_one(&path);
        let after = play_file(&path);
        assert_eq!(after.ending, Ending::Closed);
        assert_eq!(
            after.dispatches.len(),
            killed.dispatches.len() + 1,
            "nothing is lost"
        );
        assert_eq!(
            after.dispatches[..killed.dispatches.len()],
            killed.dispatches
        );
    }
    let sessions = values(&std::fs::read(&path).unwrap());
    let sessions = sessions.iter().filter(|one| one["kind"] == "session");
    assert_eq!(sessions.count(), 5);
}
