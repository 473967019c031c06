use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;

fn wrong(text: &str) -> (String, &str) {
    let (message, span) = parse(text).unwrap_err();
    (message, &text[span])
}

#[test]
fn values_and_keys_keep_their_places() {
    let text = "{\n  \"hooks\": [\"é\", 1.50, {\"on\": true}],\n  \"n\" : null\n}\n";
    let node = parse(text).unwrap();
    assert_eq!(&text[node.span.clone()], text.trim());
    let (key, hooks) = node.entry("hooks").unwrap();
    assert_eq!(&text[key.span.clone()], "\"hooks\"");
    let items = hooks.as_list().unwrap();
    let written: Vec<_> = items.iter().map(|item| &text[item.span.clone()]).collect();
    assert_eq!(written, ["\"é\"", "1.50", "{\"on\": true}"]);
    assert_eq!(items[0].style, Style::DoubleQuoted);
    assert_eq!(items[1].style, Style::Plain);
    assert_eq!(items[2].style, Style::Flow);
    assert!(node.get("n").unwrap().is_null());
}

#[test]
fn scalars() {
    for (text, value) in [
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        (" false\r\n", Value::Bool(false)),
        ("0", Value::Int(0)),
        ("-0", Value::Int(0)),
        ("-9223372036854775808", Value::Int(i64::MIN)),
        (
            "9223372036854775808",
            Value::BigInt("9223372036854775808".to_owned()),
        ),
        ("1.0", Value::Float(1.0)),
        ("-0.5E+2", Value::Float(-50.0)),
        ("1e2", Value::Float(100.0)),
        ("\"\"", Value::String(String::new())),
        (
            r#""\"\\\/\b\f\n\r\t""#,
            Value::String("\"\\/\u{8}\u{c}\n\r\t".to_owned()),
        ),
        (
            r#""\u00e9\uD83D\ude00\u0000""#,
            Value::String("é😀\0".to_owned()),
        ),
        ("[]", Value::List(Vec::new())),
        ("{ }", Value::Map(Vec::new())),
    ] {
        assert_eq!(parse(text).unwrap().value, value, "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_in_plain_words() {
    for (text, message, place) in [
        ("", "unexpected end: a value is missing", ""),
        (" \n", "unexpected end: a value is missing", ""),
        ("[1", "unexpected end: the `[` of line 1 has no `]`", ""),
        (
            "\n{\"a\":1,",
            "unexpected end: the `{` of line 2 has no `}`",
            "",
        ),
        (
            "{\"a\"",
            "unexpected end: a `:` after the key is missing",
            "",
        ),
        ("{\"a\":", "unexpected end: a value is missing", ""),
        ("[1 2]", "a comma is missing before this value", "2"),
        (
            "{\"a\":1\n\"b\":2}",
            "a comma is missing before this key",
            "\"",
        ),
        ("[1,]", "JSON has no comma before `]`; remove it", ","),
        (
            "{\"a\":1 , }",
            "JSON has no comma before `}`; remove it",
            ",",
        ),
        ("[,1]", "a value is missing before `,`", ","),
        ("[1,,2]", "a value is missing before `,`", ","),
        ("[1}", "unexpected '}' where a comma or `]` has to be", "}"),
        (
            "{\"a\" 1}",
            "unexpected '1' where a `:` after the key has to be",
            "1",
        ),
        ("{\"a\":}", "a value is missing before `}`", "}"),
        ("{1:2}", "the key `1` needs double quotes around it", "1"),
        (
            "{a-b: 1}",
            "the key `a-b` needs double quotes around it",
            "a-b",
        ),
        (
            "{,}",
            "unexpected ',' where a key in double quotes has to be",
            ",",
        ),
        (
            "['a']",
            "JSON has no single quotes; put strings and keys in double quotes",
            "'",
        ),
        (
            "{'a':1}",
            "JSON has no single quotes; put strings and keys in double quotes",
            "'",
        ),
        (
            "[1] // one",
            "JSON has no comments; remove this one",
            "// one",
        ),
        (
            "{ /* a */ }",
            "JSON has no comments; remove this one",
            "/* a */",
        ),
        ("# a\n1", "JSON has no comments; remove this one", "# a"),
        ("/* a", "JSON has no comments; remove this one", "/* a"),
        ("/", "unexpected '/' where a value has to be", "/"),
        (
            "{\"a\":1,\"\\u0061\":2}",
            "the key \"a\" is there twice; remove one",
            "\"\\u0061\"",
        ),
        ("\"a", "this string has no closing quote", "\""),
        (
            "\"ab\n\"",
            "this string has no closing quote in its line; close it, or write \\n for a line break",
            "\"ab",
        ),
        (
            "\"a\tb\"",
            "a control character in a string; write \\u0009 instead",
            "\t",
        ),
        (
            "\"\\x41\"",
            "JSON has no such escape; it has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits",
            "\\x",
        ),
        (
            "\"\\é\"",
            "JSON has no such escape; it has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits",
            "\\é",
        ),
        (
            "\"\\u12g4\"",
            "four hexadecimal digits have to follow \\u",
            "\\u12",
        ),
        (
            "\"\\ud83d\"",
            "half of a surrogate pair; write both halves, as in \\ud83d\\ude00, or the character itself",
            "\\ud83d",
        ),
        (
            "\"\\ude00\"",
            "half of a surrogate pair; write both halves, as in \\ud83d\\ude00, or the character itself",
            "\\ude00",
        ),
        (
            "\"\\ud83d\\u0041\"",
            "half of a surrogate pair; write both halves, as in \\ud83d\\ude00, or the character itself",
            "\\ud83d\\u0041",
        ),
        (
            "NaN",
            "`NaN` is not a JSON value; JSON has no such number",
            "NaN",
        ),
        (
            "-Infinity",
            "`-Infinity` is not a JSON number: it has to begin with a digit, after a `-` at most",
            "-Infinity",
        ),
        (
            "True",
            "`True` is not a JSON value; write `true`, in lower case",
            "True",
        ),
        ("None", "`None` is not a JSON value; write `null`", "None"),
        (
            "[block]",
            "`block` is not a JSON value; put text in double quotes",
            "block",
        ),
        (
            "nullx",
            "`nullx` is not a JSON value; put text in double quotes",
            "nullx",
        ),
        (
            "01",
            "`01` is not a JSON number: remove the leading zero",
            "01",
        ),
        (
            "-012",
            "`-012` is not a JSON number: remove the leading zero",
            "-012",
        ),
        ("+1", "`+1` is not a JSON number: remove the `+`", "+1"),
        (
            ".5",
            "`.5` is not a JSON number: it has to begin with a digit, after a `-` at most",
            ".5",
        ),
        (
            "1.",
            "`1.` is not a JSON number: a digit has to follow the dot",
            "1.",
        ),
        (
            "1e+",
            "`1e+` is not a JSON number: a digit has to follow the exponent's `e`",
            "1e+",
        ),
        (
            "0x1F",
            "`0x1F` is not a JSON number: it has to be decimal, and nothing may be glued to it",
            "0x1F",
        ),
        (
            "1_000",
            "`1_000` is not a JSON number: it has to be decimal, and nothing may be glued to it",
            "1_000",
        ),
        (
            "{} {} \n",
            "there is more text after the value; a file holds one value",
            "{}",
        ),
        (
            "1 ]",
            "there is more text after the value; a file holds one value",
            "]",
        ),
        (
            "\u{feff}{}",
            "the file begins with a byte order mark; save it as UTF-8 without one",
            "\u{feff}",
        ),
        (
            "\u{a0}1",
            "unexpected '\\u{a0}' where a value has to be",
            "\u{a0}",
        ),
    ] {
        assert_eq!(wrong(text), (message.to_owned(), place), "{text}");
    }
}

#[test]
fn the_second_of_two_equal_keys_is_pointed_at() {
    let text = "{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}";
    let (_, span) = parse(text).unwrap_err();
    assert_eq!(span, 24..27);
}

#[test]
fn nesting_ends_where_serde_ends_it() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    for levels in [126, 127] {
        assert!(parse(&nested(levels)).is_ok());
        assert!(serde_json::from_str::<Json>(&nested(levels)).is_ok());
    }
    assert!(serde_json::from_str::<Json>(&nested(128)).is_err());
    let (message, span) = parse(&nested(128)).unwrap_err();
    assert_eq!(message, "nested too deep: over 127 levels");
    assert_eq!(span, 127..128);
    assert!(parse(&"{\"a\":".repeat(100_000)).is_err());
    // Beside each other is not inside each other.
    assert!(parse(&format!("[{}[]]", "[],".repeat(500))).is_ok());
}

#[test]
fn a_message_does_not_grow_with_the_file() {
    let word = "é".repeat(100_000);
    let twice = format!("{{\"{word}\": 1, \"{word}\": 2}}");
    for text in [
        word.clone(),
        format!("{{{word}: 1}}"),
        format!("1{word}"),
        twice,
    ] {
        let (message, span) = parse(&text).unwrap_err();
        assert!(message.chars().count() < 200, "{message}");
        assert!(span.len() >= word.len());
    }
}

/// Tells whether both are the same, apart from places.
fn same(node: &Node, json: &Json) -> bool {
    match (&node.value, json) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(a), Json::Bool(b)) => a == b,
        (Value::String(a), Json::String(b)) => a == b,
        (Value::Int(a), Json::Number(b)) => Some(*a) == b.as_i64(),
        (Value::BigInt(a), Json::Number(b)) => *a == b.to_string() && b.as_i64().is_none(),
        (Value::Float(a), Json::Number(b)) => b.to_string().parse() == Ok(*a),
        (Value::List(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Json::Object(b)) => {
            let mut pairs = a.iter().zip(b);
            a.len() == b.len() && pairs.all(|((key, a), (name, b))| key.name == *name && same(a, b))
        }
        _ => false,
    }
}

/// Takes what is inside of a place by parsing it again.
fn check_places(text: &str, node: &Node) {
    let written = &text[node.span.clone()];
    let again = parse(written).unwrap();
    assert_eq!(again.span, 0..written.len());
    assert!(same(&again, &serde_json::from_str(written).unwrap()));
    for item in node.as_list().unwrap_or_default() {
        check_places(text, item);
    }
    for (key, value) in node.as_map().unwrap_or_default() {
        let again = parse(&text[key.span.clone()]).unwrap();
        assert_eq!(again.as_str(), Some(&*key.name));
        check_places(text, value);
    }
}

fn check_against_serde(text: &str) {
    match (parse(text), serde_json::from_str::<Json>(text)) {
        (Ok(node), Ok(json)) => {
            assert!(same(&node, &json), "{text}");
            check_places(text, &node);
        }
        (Err((message, span)), json) => {
            assert!(text.get(span).is_some(), "{text}: {message}");
            // Keys that are there twice are all that serde does not mind.
            assert!(
                json.is_err() || message.contains("is there twice"),
                "{text}: {message}"
            );
        }
        (Ok(_), Err(error)) => panic!("serde does not take {text}: {error}"),
    }
}

/// Makes JSON as text, with blanks, escapes and keys that are there twice.
fn any_text() -> impl Strategy<Value = String> {
    let string = || r#""([a-c é😀/]|\\["\\/bfnrt]|\\u00[0-9a-fA-F]{2}|\\ud83d\\ude0[0-9]){0,4}""#;
    let leaf = prop_oneof![
        "true|false|null",
        "-?(0|[1-9][0-9]{0,20})",
        r"-?(0|[1-9][0-9]{0,2})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
        string(),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let entry = (string(), "[ \n\t]?:[ \r\n]?", inner.clone());
        let entry = entry.prop_map(|(key, colon, value)| key + &colon + &value);
        let joined = |items: Vec<String>| items.join(", ");
        prop_oneof![
            prop::collection::vec(inner, 0..4)
                .prop_map(move |items| format!("[{}]", joined(items))),
            prop::collection::vec(entry, 0..4)
                .prop_map(move |items| format!("{{ {}\n}}", joined(items))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn agrees_with_serde_on_json(text in any_text()) {
        check_against_serde(&text);
    }

    #[test]
    fn agrees_with_serde_on_json_with_a_slip(
        text in any_text(),
        at in any::<prop::sample::Index>(),
        length in 0_usize..3,
        slip in "|[\\[\\]{}\",:0-9eE.+ \\\\u'/#\\-tnd\n\t\u{feff}é]{1,2}",
    ) {
        let start = text.floor_char_boundary(at.index(text.len() + 1));
        let end = text.floor_char_boundary(start + length).max(start);
        check_against_serde(&format!("{}{slip}{}", &text[..start], &text[end..]));
    }

    #[test]
    fn agrees_with_serde_on_anything(text in any::<String>()) {
        check_against_serde(&text);
    }

    #[test]
    fn agrees_with_serde_on_pieces_of_json(text in r#"([\[\]{},:'/# ]|"a?"|\\u?|-?[0-9]{1,2}|\.|e|true|null){0,12}"#) {
        check_against_serde(&text);
    }
}
