//! Texts that mean harm, or were cut off: an error that says where, and never a panic.

use serde_json::{Value, json};

use super::super::{MAX_DEPTH, Problem};
use super::{Document, EditError, Step};

fn error(text: &str) -> String {
    match Document::parse(text) {
        Ok(document) => panic!("{text:?} was read as {}", document.value()),
        Err(error) => error.to_string(),
    }
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

#[test]
fn broken_texts_are_refused_where_they_break() {
    let cases = [
        (
            "{",
            "line 1, column 2: the text ends where a key in double quotes or '}' has to be",
        ),
        (
            "[1",
            "line 1, column 3: the text ends where ',' or ']' has to be",
        ),
        (
            "{\"a\" 1}",
            "line 1, column 6: found '1' where ':' has to be",
        ),
        (
            "{a: 1}",
            "line 1, column 2: found 'a' where a key in double quotes or '}' has to be",
        ),
        (
            "[1 2]",
            "line 1, column 4: found '2' where ',' or ']' has to be",
        ),
        (
            "[1,,2]",
            "line 1, column 4: found ',' where a value has to be",
        ),
        ("[,]", "line 1, column 2: found ',' where a value has to be"),
        ("{,}", "line 1, column 2: found ','"),
        (
            "{} {}",
            "line 1, column 4: found '{' where the end of the text has to be",
        ),
        ("]", "line 1, column 1: found ']' where a value has to be"),
        (
            "[1}",
            "line 1, column 3: found '}' where ',' or ']' has to be",
        ),
        ("['a']", "line 1, column 2: found '\\''"),
        ("[\n  nul]", "line 2, column 3: nul is not a value of json"),
        ("\r\n\r\nyes", "line 3, column 1: yes is not a value"),
        ("\r\r\u{e9}", "line 3, column 1: \u{e9} is not a value"),
        ("\"\u{1f600}\" x", "line 1, column 5: found 'x'"),
        ("\u{feff}x", "line 1, column 1: x is not a value"),
        ("\u{feff}\u{feff}", "line 1, column 1: found '\\u{feff}'"),
        ("[1]\u{0}", "line 1, column 4: found '\\0' where the end"),
        (
            "\"a\u{0}\"",
            "line 1, column 3: a string has the control character '\\0': write it as \\u0000",
        ),
        ("\u{a0}{}", "line 1, column 1: found '\\u{a0}'"),
        (
            "\"abc",
            "line 1, column 1: a string is not closed on its line",
        ),
        (
            "\"abc\n\"",
            "line 1, column 1: a string is not closed on its line",
        ),
        (
            "\"abc\\",
            "line 1, column 5: a string has an unknown escape",
        ),
        (
            "\"\\x\"",
            "line 1, column 2: a string has an unknown escape",
        ),
        (
            "\"\\u12\"",
            "line 1, column 2: a string has an unknown escape",
        ),
        (
            "\"\\u+123\"",
            "line 1, column 2: a string has an unknown escape",
        ),
        (
            "\"\\u00\u{e9}\u{e9}\"",
            "line 1, column 2: a string has an unknown escape",
        ),
        (
            "[1, /* x",
            "line 1, column 5: a comment is not closed: add */",
        ),
        ("/*/", "line 1, column 1: a comment is not closed: add */"),
        ("/", "line 1, column 1: found '/'"),
        (
            "{\"a\": 1, \"\\u0061\": 2}",
            "line 1, column 10: the key \"a\" is in this object twice",
        ),
    ];
    for (text, expected) in cases {
        let error = error(text);
        assert!(error.starts_with(expected), "{text:?}: {error}");
    }
}

#[test]
fn lone_surrogates_are_refused_and_pairs_are_read() {
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ud83dx""#,
        r#""\ude00\ud83d""#,
    ] {
        assert!(error(text).contains("half of a surrogate pair"), "{text}");
    }
    let document = Document::parse(r#""\ud83d\ude00\u0000""#).unwrap();
    assert_eq!(document.value(), json!("\u{1f600}\0"));
}

#[test]
fn numbers_are_strict() {
    for text in [
        "01",
        "+1",
        "1.",
        ".5",
        "-",
        "1e",
        "1e+",
        "0x1",
        "1_000",
        "--1",
        "1.2.3",
        "-Infinity",
    ] {
        assert!(error(text).contains("is not a number of json"), "{text}");
    }
    for text in ["NaN", "Infinity", "True", "undefined"] {
        assert!(error(text).contains("is not a value of json"), "{text}");
    }
}

#[test]
fn depth_is_limited() {
    assert!(Document::parse(&nested(MAX_DEPTH)).is_ok());
    for depth in [MAX_DEPTH + 1, 1_000_000] {
        let error = Document::parse(&nested(depth)).unwrap_err();
        assert_eq!(error.problem, Problem::TooDeep);
        assert_eq!((error.line, error.column), (1, MAX_DEPTH + 1));
    }
    let open = r#"{"a":"#.repeat(1_000_000);
    assert_eq!(
        Document::parse(&open).unwrap_err().problem,
        Problem::TooDeep
    );
}

#[test]
fn edits_do_not_go_deeper_than_a_text_may() {
    let mut document = Document::parse("").unwrap();
    let path = vec![Step::Key("a"); MAX_DEPTH];
    document.set(&path, &json!(1)).unwrap();
    let text = document.text().to_owned();
    let too_deep = |made| matches!(made, Err(EditError::TooDeep { .. }));
    assert!(too_deep(document.set(&path, &json!([]))));
    assert!(too_deep(document.push(&path, &json!(1))));
    assert!(too_deep(
        document.set(&[&path[..], &[Step::Key("a")]].concat(), &json!(1))
    ));
    let deep: Value = (0..MAX_DEPTH).fold(json!(1), |value, _| json!([value]));
    assert!(too_deep(document.push(&[], &deep)));
    assert_eq!(document.text(), text);
    document.set(&[], &deep).unwrap();
    assert_eq!(document.value(), deep);
}

#[test]
fn huge_numbers_stay_as_written() {
    let text = "[1e999, -0, 1E400, 0.10, 123456789012345678901234567890]";
    let mut document = Document::parse(text).unwrap();
    let first = document.get(&[Step::Index(0)]).unwrap();
    document.set(&[Step::Index(0)], &first).unwrap();
    assert_eq!(document.text(), text);
    document.push(&[], &first).unwrap();
    assert_eq!(document.get(&[Step::Index(5)]), Some(first));
    assert!(document.text().starts_with(&text[..text.len() - 1]));
}

#[test]
fn a_number_that_is_none_is_not_written() {
    let bad = Value::Number(serde_json::Number::from_string_unchecked("1 2".to_owned()));
    let mut document = Document::parse("[1]").unwrap();
    assert!(matches!(
        document.push(&[], &bad),
        Err(EditError::Unreadable(_))
    ));
    assert_eq!(document.text(), "[1]");
}

#[test]
fn comments_end_where_lines_do() {
    for text in [
        "[1, // x\r2]",
        "[1, // x\n2]",
        "[1, // x\r\n2]",
        "[1, // \u{2028}\u{85}\n2]",
    ] {
        let document = Document::parse(text).unwrap();
        assert_eq!(document.value(), json!([1, 2]), "{text:?}");
    }
    let document = Document::parse(r#"["/* no */ // none"]"#).unwrap();
    assert!(!document.has_comments());
}

#[test]
fn more_than_plain_json_is_told() {
    for text in ["[1,]", "{\"a\": 1,}", "//", "[] /**/", "[[1,],2]"] {
        assert!(Document::parse(text).unwrap().has_comments(), "{text}");
    }
    for text in ["", "\u{feff}[1, 2]", "{\"a\": [1, 2], \"b\": 1}"] {
        assert!(!Document::parse(text).unwrap().has_comments(), "{text}");
    }
}

#[test]
fn a_text_without_a_value_says_so() {
    for text in ["", " \r\n\t", "\u{feff}", "// x", "/* x */\n"] {
        let document = Document::parse(text).unwrap();
        assert_eq!((document.get(&[]), document.value()), (None, Value::Null));
    }
    assert_eq!(Document::parse("null").unwrap().get(&[]), Some(Value::Null));
}

#[test]
fn keys_that_mean_something_to_serde_are_keys() {
    let text = r#"{"$serde_json::private::Number": "x"}"#;
    let mut document = Document::parse(text).unwrap();
    let value = document.value();
    assert!(value.is_object());
    document.set(&[Step::Key("a")], &value).unwrap();
    assert_eq!(document.get(&[Step::Key("a")]), Some(value));
}

#[test]
fn cut_off_texts_do_not_panic() {
    let text = "\u{feff}{\r\n  // \u{e9}\r\n  \"a\\ud83d\\ude00\": [1.5e3, tru\u{e9}, {\"b\": null,},], /* \u{1f600} */\r\n}";
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        for start in (0..end).filter(|start| text.is_char_boundary(*start)) {
            let _ = Document::parse(&text[start..end]);
        }
    }
}
