//! Files that are no tapes, or tapes of other versions.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use hookbox::tape::{LONGEST_LINE, Reader, Replay, TapeError};
use insta::assert_snapshot;
use serde_json::json;
use tempfile::TempDir;

use crate::support::tape::{chained, edited, lines, refusal, tape};

/// A tape whose header says another version of the format.
fn of_version(format: Option<&str>) -> Vec<u8> {
    edited(tape(), |records| {
        records[0]["project"]["hookbox"] = json!("7.8.9");
        match format {
            Some(format) => records[0]["format"] = json!(format),
            None => drop(records[0].as_object_mut().unwrap().shift_remove("format")),
        }
    })
}

#[test]
fn a_newer_minor_version() {
    assert_snapshot!(refusal(&of_version(Some("3.1"))), @"the tape has format 3.1 and this hookbox reads 3.0; use hookbox 7.8.9 or newer");
}

#[test]
fn a_newer_major_version() {
    assert_snapshot!(refusal(&of_version(Some("4.0"))), @"the tape has format 4.0 and this hookbox reads 3.0; use hookbox 7.8.9 or newer");
}

#[test]
fn a_newer_version_whose_records_nobody_here_knows() {
    let header = json!({"kind": "header", "format": "4.1", "zones": [1], "project": {"hookbox": "9.0.0", "moods": 2}});
    let tape = chained(&[header, json!({"kind": "mood"})]);
    assert_snapshot!(refusal(&tape), @"the tape has format 4.1 and this hookbox reads 3.0; use hookbox 9.0.0 or newer");
}

#[test]
fn an_older_major_version() {
    assert_snapshot!(refusal(&of_version(Some("1.9"))), @"the tape has format 1.9, which this hookbox (format 3.0) no longer reads; hookbox 7.8.9 wrote it and does");
}

#[test]
fn no_version() {
    assert_snapshot!(refusal(&of_version(None)), @"this is not a tape: its first line is no header");
}

#[test]
fn a_version_that_is_none() {
    assert_snapshot!(refusal(&of_version(Some("one"))), @r#"this is not a tape: "one" is no version of a format"#);
    for version in [
        "1",
        "1.",
        ".0",
        "1.0.0",
        "+1.0",
        "1.00",
        "01.0",
        " 1.0",
        "1.0 ",
        "-1.0",
        "1,0",
        "4294967296.0",
        "",
    ] {
        assert_eq!(
            refusal(&of_version(Some(version))),
            format!("this is not a tape: {version:?} is no version of a format")
        );
    }
}

#[test]
fn a_version_that_is_not_a_text() {
    for version in [json!(1.0), json!(null), json!(["3.0"])] {
        let tape = edited(tape(), |records| records[0]["format"] = version);
        assert_eq!(
            refusal(&tape),
            "this is not a tape: its first line is no header"
        );
    }
}

/// A file with these bytes.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// What is said about a path, without the folder that is another one every time.
fn said(path: &Path) -> String {
    let by_reader = Reader::open(path).unwrap_err().to_string();
    let by_replay = Replay::open(path).unwrap_err().to_string();
    assert_eq!(by_reader, by_replay);
    by_reader.replace(path.parent().unwrap().to_str().unwrap(), "[folder]")
}

#[test]
fn an_empty_file() {
    let (_folder, path) = file(b"");
    assert_snapshot!(said(&path), @"the tape is empty; record one with `hookbox run … --tape FILE`");
}

#[test]
fn a_picture() {
    let (_folder, path) = file(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00");
    assert_snapshot!(said(&path), @"this is not a tape: its first line is no header");
}

#[test]
fn a_text() {
    let (_folder, path) = file(b"Dear diary,\nnothing was recorded today.\n");
    assert_snapshot!(said(&path), @"this is not a tape: its first line is no header");
}

#[test]
fn a_text_of_one_line() {
    let (_folder, path) = file(b"nothing was recorded today");
    assert_snapshot!(said(&path), @"this is not a tape: it ends in the middle of its first line");
}

#[test]
fn json_of_another_kind() {
    for bytes in [
        &b"{}\n"[..],
        b"[]\n",
        b"null\n",
        b"{\"kind\":\"header\"}\n",
        b"{\"kind\":\"tape\",\"format\":\"3.0\"}\n",
    ] {
        let (_folder, path) = file(bytes);
        assert_eq!(
            said(&path),
            "this is not a tape: its first line is no header"
        );
    }
}

#[test]
fn a_header_with_nothing_in_it() {
    let (_folder, path) = file(b"{\"kind\":\"header\",\"format\":\"3.0\"}\n");
    assert_snapshot!(said(&path), @"record 0 is damaged: missing field `n` at column 32");
}

#[test]
fn a_tape_without_its_header() {
    let rest = lines(tape())[1..].concat();
    let (_folder, path) = file(&rest);
    assert_snapshot!(said(&path), @"this is not a tape: its first line is no header");
}

#[test]
fn a_tape_with_a_byte_order_mark() {
    let (_folder, path) = file(&[b"\xef\xbb\xbf", tape()].concat());
    assert_snapshot!(said(&path), @"this is not a tape: its first line is no header");
}

#[test]
fn a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    std::fs::create_dir(&path).unwrap();
    assert_snapshot!(said(&path), @"this is not a tape: [folder]/run.tape is not a regular file");
}

#[test]
fn a_pipe_that_nobody_writes_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    assert_snapshot!(said(&path), @"this is not a tape: [folder]/run.tape is not a regular file");
}

#[test]
fn a_device_without_an_end() {
    assert_eq!(
        Reader::open(Path::new("/dev/zero"))
            .unwrap_err()
            .to_string(),
        "this is not a tape: /dev/zero is not a regular file"
    );
}

#[test]
fn a_file_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    assert_snapshot!(said(&folder.path().join("run.tape")), @"[folder]/run.tape cannot be read: No such file or directory (os error 2)");
}

/// A file of a gigabyte that takes no room: all zeros behind what it begins with.
fn gigabyte(begin: &[u8]) -> (TempDir, PathBuf) {
    let (folder, path) = file(begin);
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(1 << 30)).unwrap();
    file.write_all(b"}\n").unwrap();
    (folder, path)
}

#[test]
fn attack_a_line_of_a_gigabyte() {
    for (begin, record) in [(lines(tape())[0], 1), (&b"{"[..], 0)] {
        let (_folder, path) = gigabyte(begin);
        let read = Reader::open(&path).and_then(|mut reader| {
            while reader.next_record()?.is_some() {}
            Ok(reader.records())
        });
        // Long tapes are read by other threads.
        let replayed = Replay::open(&path).and_then(|mut replay| {
            while replay.next_dispatch()?.is_some() {}
            Ok(replay.reader().records())
        });
        for error in [read.unwrap_err(), replayed.unwrap_err()] {
            assert!(matches!(error, TapeError::TooLong { .. }), "{error}");
            assert_eq!(
                error.to_string(),
                format!(
                    "record {record} is longer than the {LONGEST_LINE} bytes a record may have"
                )
            );
        }
    }
}

#[test]
fn attack_a_record_nested_a_hundred_thousand_deep() {
    let (begin, end) = ("[".repeat(100_000), "]".repeat(100_000));
    let deep = format!("{{\"effects\":{begin}{end},\"kind\":\"outcome\",\"n\":1}}\n");
    let tape = [lines(tape())[0], deep.as_bytes()].concat();
    let message = refusal(&tape);
    assert!(
        message.starts_with("record 1 is damaged: recursion limit exceeded"),
        "{message}"
    );
}

#[test]
fn attack_bytes_that_are_no_text() {
    let mut broken = lines(tape())[..2].concat();
    let header = lines(tape())[0].len();
    broken[header + 9] = 0xff;
    assert_snapshot!(refusal(&broken), @"record 1 is damaged: byte 9 is not UTF-8");
}

#[test]
fn numbers_that_no_record_can_have() {
    for number in ["-1", "1.5", "1e0", "18446744073709551616", "\"1\"", "null"] {
        let line = format!("{{\"kind\":\"footer\",\"n\":{number},\"prev\":null}}\n");
        let tape = [lines(tape())[0], line.as_bytes()].concat();
        let message = refusal(&tape);
        assert!(
            message.starts_with("record 1 is damaged: invalid "),
            "{number}: {message}"
        );
    }
}
