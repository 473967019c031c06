//! The verifier in docs/tape.md does what the page says.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::Project;
use crate::support::tape::{chained, digest, edited, lines, recorded, small_tape, tape, values};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tape.md");
    std::fs::read_to_string(path).unwrap()
}

/// The first code block of a language.
fn block(language: &str) -> String {
    let page = page();
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// Runs the verifier on these bytes.
fn verify(tape: &[u8]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    std::fs::write(&path, tape).unwrap();
    let script = folder.path().join("verify.py");
    std::fs::write(&script, block("python")).unwrap();
    Command::new("python3")
        .arg(script)
        .arg(path)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn the_verifier_of_the_page_accepts_a_real_tape() {
    for tape in [tape(), small_tape()] {
        let output = verify(tape);
        let said = said(&output);
        assert!(output.status.success(), "{said}");
        let last = lines(tape).pop().unwrap();
        let head = digest(last.strip_suffix(b"\n").unwrap());
        assert_eq!(
            said,
            format!("closed: {} records, head {head}\n", lines(tape).len())
        );
    }
}

#[test]
fn the_verifier_of_the_page_accepts_numbers_that_python_does_not_like() {
    let digits = "9".repeat(5_000);
    let text = format!(r#"{{"name":"t","args":{{"n":{digits},"x":1e9999}}}}"#);
    let tape = recorded(&Project::with(&[]), |runtime| {
        let payload = hookbox::json::parse_value(&text).unwrap();
        runtime.dispatch("tool.pre", payload).unwrap();
    });
    assert!(String::from_utf8_lossy(&tape).contains("left_out"));
    let output = verify(&tape);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn the_verifier_of_the_page_accepts_the_example_of_the_page() {
    let example = block("jsonl");
    let output = verify(example.as_bytes());
    assert!(output.status.success(), "{}", said(&output));
    let again = chained(&values(example.as_bytes()));
    assert_eq!(String::from_utf8(again).unwrap(), example);
    assert!(crate::support::tape::play(example.as_bytes()).is_ok());
}

#[test]
fn the_verifier_of_the_page_refuses_a_flipped_bit() {
    let tape = tape();
    for part in 1..40 {
        let mut flipped = tape.to_vec();
        let at = tape.len() * part / 40;
        flipped[at] ^= 1;
        let output = verify(&flipped);
        assert_eq!(
            output.status.code(),
            Some(1),
            "byte {at}: {}",
            said(&output)
        );
        assert!(said(&output).contains("record "), "{}", said(&output));
    }
}

#[test]
fn the_verifier_of_the_page_tells_an_open_tape_and_a_torn_one() {
    let all = lines(tape());
    let open = all[..all.len() - 1].concat();
    assert!(said(&verify(&open)).starts_with("open: "));
    let torn = &tape()[..tape().len() - 5];
    assert!(
        said(&verify(torn)).starts_with("torn: "),
        "{}",
        said(&verify(torn))
    );
}

#[test]
fn the_verifier_of_the_page_refuses_a_body_that_is_another_one() {
    let forged = edited(tape(), |records| {
        let body = records
            .iter_mut()
            .find(|one| one["kind"] == "body")
            .unwrap();
        body["text"] = "x".into();
    });
    assert_eq!(verify(&forged).status.code(), Some(1));
}

/// Every kind of record, and every field there is, is on the page.
#[test]
fn the_page_names_every_field() {
    let page = page();
    let error =
        crate::support::tape::refusal(&edited(tape(), |records| records[1]["?"] = 1.into()));
    let (_, fields) = error.split_once("expected one of ").unwrap();
    let mut names: Vec<&str> = fields.split('`').skip(1).step_by(2).collect();
    let error =
        crate::support::tape::refusal(&edited(tape(), |records| records[1]["kind"] = "?".into()));
    let (_, kinds) = error.split_once("expected one of ").unwrap();
    names.extend(kinds.split('`').skip(1).step_by(2));
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
