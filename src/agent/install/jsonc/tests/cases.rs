//! A case a folder in `cases/`: `edit.json` makes `after.jsonc` of `before.jsonc`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Document, make};

fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join(file!());
    here.ancestors()
        .nth(2)
        .expect("a module has a folder")
        .join("cases")
}

/// Returns what is wrong with a case.
fn check(case: &Path) -> Option<String> {
    let read = |name: &str| fs::read_to_string(case.join(name)).expect(name);
    let before = read("before.jsonc");
    let edit: Value = serde_json::from_str(&read("edit.json")).expect("edit.json is JSON");
    let mut document = Document::parse(&before).expect("before.jsonc is readable");
    let made = make(&mut document, &edit);
    let (error, found) = match &made {
        Ok(found) => (Value::Null, *found),
        Err(error) => (Value::from(error.to_string()), true),
    };
    let expected = (&edit["error"], edit["found"] != false);
    let wrong = document.text() != read("after.jsonc") || (&error, found) != expected;
    wrong.then(|| {
        let name = case.file_name().unwrap_or_default().display();
        format!(
            "{name}: {made:?}\n{:?}\n{}",
            document.text(),
            document.text()
        )
    })
}

#[test]
fn cases_give_what_they_say() {
    let mut cases: Vec<_> = fs::read_dir(folder())
        .expect("cases are there")
        .map(|entry| entry.expect("a case is readable").path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    assert!(cases.len() > 40, "only {} cases found", cases.len());
    let wrong: Vec<_> = cases.iter().filter_map(|case| check(case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}

#[test]
fn sets_of_what_is_there_change_nothing() {
    for entry in fs::read_dir(folder()).expect("cases are there") {
        let path = entry.expect("a case is readable").path();
        let Ok(text) = fs::read_to_string(path.join("after.jsonc")) else {
            continue;
        };
        let mut document = Document::parse(&text).expect("after.jsonc is readable");
        let Some(value) = document.get(&[]) else {
            continue;
        };
        document.set(&[], &value).expect("an equal value is fine");
        assert_eq!(document.text(), text);
    }
}
