use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn yaml(text: &str) -> Node {
    parse(text, 0..text.len()).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

fn fails(text: &str) -> (String, &str) {
    let error = parse(text, 0..text.len()).unwrap_err();
    let shown = error.to_string();
    (shown, &text[error.span])
}

/// Writes a tree with the raw text of every scalar.
fn show(text: &str, node: &Node) -> String {
    let raw = &text[node.span.clone()];
    match &node.value {
        Value::List(nodes) => {
            let nodes: Vec<_> = nodes.iter().map(|node| show(text, node)).collect();
            format!("[{}]", nodes.join(", "))
        }
        Value::Map(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, node)| format!("{}: {}", &text[key.span.clone()], show(text, node)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => format!("<{raw}>"),
    }
}

fn shown(text: &str) -> String {
    show(text, &yaml(text))
}

fn span_of<'a>(text: &'a str, key: &str) -> &'a str {
    let node = yaml(text);
    &text[node.get(key).unwrap().span.clone()]
}

fn quickly<T>(work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "took {:?}",
        began.elapsed()
    );
    done
}

#[test]
fn reads_a_hook() {
    let file = "---\nevent: tool.pre\npriority: 10\nwhen: payload[\"name\"] == \"run_command\"\nscript: |\n  def handle(event, payload):\n    return allow()\n---\n# body\n";
    let node = parse(file, 4..file.find("---\n#").unwrap()).unwrap();
    assert_eq!(node.get("event").and_then(Node::as_str), Some("tool.pre"));
    assert_eq!(node.get("priority").and_then(Node::as_int), Some(10));
    let script = node.get("script").unwrap();
    assert_eq!(
        script.as_str(),
        Some("def handle(event, payload):\n  return allow()\n")
    );
    assert_eq!(script.style, Style::Literal);
    assert!(file[script.span.clone()].starts_with("def handle"));
    assert!(file[script.span.clone()].ends_with("allow()"));
    assert_eq!(node.get("missing"), None);
    let (key, _) = node.entry("when").unwrap();
    assert_eq!(&file[key.span.clone()], "when");
    let map = &file[node.span];
    assert!(map.starts_with("event:") && map.ends_with("allow()"));
}

#[test]
fn empty_input_is_null() {
    for text in ["", "\n\n", "# comment\n", "~", "\r\n"] {
        assert!(yaml(text).is_null(), "{text:?}");
    }
    let file = "---\n---\n";
    assert_eq!(parse(file, 4..4).unwrap().span, 4..4);
}

#[test]
fn keeps_scalars_in_place() {
    let text = "é: ü # ö\n\"ä b\": 'it''s' # c\nx: \"a\\\"b\"   \ny: [1, 'z' , {k: v}] # e\nz:\n- 1\n- two words\n";
    assert_eq!(
        shown(text),
        r#"{é: <ü>, "ä b": <'it''s'>, x: <"a\"b">, y: [<1>, <'z'>, {k: <v>}], z: [<1>, <two words>]}"#
    );
    assert_eq!(span_of(text, "y"), "[1, 'z' , {k: v}]");
    assert_eq!(span_of(text, "z"), "- 1\n- two words");
}

#[test]
fn keeps_scalars_in_place_behind_tags_and_anchors() {
    let text = "a: &x !!str 1\nb: !!str |2\n\n    c\n   d\ne: &y\n  - 1\nf: &z # [\n  'q'\ng: !!str\nh: *x\n";
    assert_eq!(span_of(text, "a"), "1");
    assert_eq!(span_of(text, "b"), "  c\n   d");
    assert_eq!(
        yaml(text).get("b").and_then(Node::as_str),
        Some("\n  c\n d\n")
    );
    assert_eq!(span_of(text, "e"), "&y\n  - 1");
    assert_eq!(span_of(text, "f"), "'q'");
    assert_eq!(span_of(text, "g"), "!!str");
    assert_eq!(yaml(text).get("h").and_then(Node::as_str), Some("1"));
    assert_eq!(span_of(text, "h"), "1");
}

#[test]
fn keeps_empty_values_near_their_key() {
    let text = "a:\nb: |\nc: |+\n\nd: {e, f: }\ng: |-\n";
    for (key, at) in [("a", 2), ("b", 6), ("c", 12), ("d", 18), ("g", 30)] {
        assert_eq!(yaml(text).get(key).unwrap().span.start, at, "{key}");
    }
    assert!(yaml(text).get("a").unwrap().is_null());
    assert_eq!(yaml(text).get("c").and_then(Node::as_str), Some("\n"));
}

#[test]
fn finds_the_ends_of_lists() {
    let text = "a:\n- [1]\n- {b: c} # x\n\nd: [a: b, c] # ]\ne:\n  - - f\n    - g\n  - *x0\n"
        .replace("*x0", "h");
    assert_eq!(span_of(&text, "a"), "- [1]\n- {b: c}");
    assert_eq!(span_of(&text, "d"), "[a: b, c]");
    assert_eq!(span_of(&text, "e"), "- - f\n    - g\n  - h");
}

#[test]
fn quoted_and_block_scalars_are_strings() {
    for text in [
        "'1'",
        "\"true\"",
        "|\n  null",
        ">-\n  1.5",
        "! 1",
        "!!str 1",
    ] {
        assert_eq!(yaml(text).kind_name(), "a string", "{text}");
    }
}

#[test]
fn honours_core_tags_only() {
    assert_eq!(yaml("!!int '7'").value, Value::Int(7));
    assert_eq!(yaml("!!float 7").value, Value::Float(7.0));
    assert_eq!(yaml("!<tag:yaml.org,2002:str> 7").as_str(), Some("7"));
    assert_eq!(yaml("!!seq [1]").kind_name(), "a list");
    assert_eq!(yaml("!!map {}").kind_name(), "a map");
    assert_eq!(
        fails("a: !!int x").0,
        "yaml: line 1: `x` does not fit the tag `!!int`"
    );
    assert_eq!(
        fails("a: !!map [1]").0,
        "yaml: line 1: the tag `!!map` does not fit a list"
    );
    assert_eq!(
        fails("a: !!binary eA==").0,
        "yaml: line 1: the tag `!!binary` is not supported"
    );
    assert_eq!(
        fails("\na: !env HOME"),
        (
            "yaml: line 2: the tag `!env` is not supported".into(),
            "!env HOME"
        )
    );
    assert!(
        fails("a: !!python/object:os.system x")
            .0
            .contains("is not supported")
    );
}

#[test]
fn names_kinds() {
    let node = yaml("[~, true, 1, 99999999999999999999, 1.5, x, [], {}]");
    let names: Vec<_> = node
        .as_list()
        .unwrap()
        .iter()
        .map(Node::kind_name)
        .collect();
    let number = "a number";
    let expected = [
        "nothing",
        "a boolean",
        number,
        number,
        number,
        "a string",
        "a list",
        "a map",
    ];
    assert_eq!(names, expected);
}

#[test]
fn refuses_a_key_twice() {
    let file = "---\nevent: a\nx: {y: 1}\n\"event\": b\n---\n";
    let error = parse(file, 4..file.len() - 4).unwrap_err();
    assert_eq!(
        error.to_string(),
        "yaml: line 4: key `event` is already set on line 2"
    );
    assert_eq!(&file[error.span], "\"event\"");
    assert_eq!(fails("a: 1\nb: {c: 1, c: 2}").1, "c");
}

#[test]
fn takes_scalar_keys_as_written() {
    let node = yaml("1: a\ntrue: b\n~: c\n0x10: d\n'': e\n!!str f: g\n");
    let names: Vec<_> = node
        .as_map()
        .unwrap()
        .iter()
        .map(|(key, _)| key.name.as_str())
        .collect();
    assert_eq!(names, ["1", "true", "~", "0x10", "", "f"]);
}

#[test]
fn refuses_other_keys() {
    let collection = "yaml: line 1: a list or a map cannot be a key";
    assert_eq!(fails("[a]: b").0, collection);
    assert_eq!(fails("{a: b}: c").0, collection);
    assert_eq!(fails("? - a\n: b").0, collection);
    assert_eq!(fails(": a").0, "yaml: line 1: a key is missing");
    assert!(
        fails("a: &x {b: c}\nd:\n  <<: *x\n")
            .0
            .starts_with("yaml: line 3: merge keys")
    );
    assert_eq!(
        fails("a: &x [1]\n*x : b").0,
        "yaml: line 2: a list cannot be a key, as `*x` is"
    );
}

#[test]
fn refuses_more_than_one_document() {
    let more = "yaml: line 2: more than one document is not allowed";
    assert_eq!(fails("a: 1\n--- b\n").0, more);
    assert_eq!(yaml("a: 1\n...\n").kind_name(), "a map");
    assert!(
        fails("a: 1\n...\nb: 2\n")
            .0
            .contains("more than one document")
    );
}

#[test]
fn points_to_syntax_errors() {
    let file = "\u{feff}---\r\nümlaut: ü\r\nkey: [ü, \r\nb: }\r\n---\r\n";
    let start = file.find("üml").unwrap();
    let error = parse(file, start..file.len() - 5).unwrap_err();
    assert!(error.to_string().starts_with("yaml: line 4: "), "{error}");
    let (message, at) = fails("a: b: c");
    assert_eq!(
        message,
        "yaml: line 1: mapping values are not allowed in this context"
    );
    assert_eq!(at, ":");
    assert!(fails("a:\n\tb: c").0.starts_with("yaml: line 2: "));
    assert!(fails("a: \"x").0.starts_with("yaml: line 1: "));
    assert!(fails("a: *x").0.contains("unknown anchor"));
}

#[test]
fn refuses_control_characters() {
    let message = "yaml: line 2: control characters are not allowed, found '\\0'";
    assert_eq!(fails("a: b\nc: d\0e: f").0, message);
    assert!(fails("a: '\u{1b}[2J'").0.contains("control characters"));
    assert_eq!(
        yaml("a: \"\\e\\0\"").get("a").and_then(Node::as_str),
        Some("\u{1b}\0")
    );
}

#[test]
fn expands_aliases() {
    let text = "a: &x [1, &y two]\nb: *x\nc: {*y : *y}\n&k d: *y\ne: *k\n";
    let node = yaml(text);
    assert_eq!(node.get("a"), node.get("b"));
    assert_eq!(
        node.get("c")
            .and_then(|c| c.get("two"))
            .and_then(Node::as_str),
        Some("two")
    );
    assert_eq!(node.get("e").and_then(Node::as_str), Some("d"));
    assert_eq!(&text[node.span.clone()], text.trim_end());
    assert!(
        fails("&a [*a]")
            .0
            .contains("stands inside of what it stands for")
    );
    assert!(
        fails("a: &x\n  b: *x")
            .0
            .contains("stands inside of what it stands for")
    );
}

#[test]
fn defuses_bombs() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..20 {
        let nine = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{nine}]\n"));
    }
    assert!(quickly(|| fails(&laughs).0.contains("too many values")));

    let long = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(1 << 19),
        ["*a"; 9].join(", ")
    );
    assert!(quickly(|| fails(&long).0.contains("too much text")));

    let mut deep = String::from("a0: &a0 []\n");
    for level in 1..100 {
        deep.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert!(quickly(|| fails(&deep).0.contains("nested too deeply")));

    // Copies of what has an anchor must not pile up either.
    let text = "y".repeat(1 << 19);
    let nested = (0..60)
        .map(|level| format!("&a{level} ["))
        .collect::<String>();
    let nested = format!("{nested}{text}{}", "]".repeat(60));
    assert!(quickly(|| fails(&nested).0.contains("too much text")));
}

#[test]
fn bounds_depth() {
    let too_deep = "nested too deeply: at most 64 levels are allowed";
    for opening in ["[", "{a: ", "- ", "? ", "[[a, ", "[{a: "] {
        for times in [65, 300, 10_000, 100_000] {
            let text = opening.repeat(times);
            let (message, _) = quickly(|| fails(&text));
            let key = message.contains("cannot be a key");
            assert!(
                message.contains(too_deep) || key,
                "{opening} {times}: {message}"
            );
        }
    }
    let block: String = (0..10_000)
        .map(|depth| " ".repeat(depth.min(90)) + "a:\n")
        .collect();
    assert!(quickly(|| fails(&block)).0.contains("nested too deeply"));
    let just = format!("{}1{}", "[".repeat(63), "]".repeat(63));
    assert_eq!(yaml(&just).kind_name(), "a list");
    let over = format!("{}1{}", "[".repeat(64), "]".repeat(64));
    assert!(fails(&over).0.contains(too_deep));
}

#[test]
fn bounds_size() {
    let list = format!("[{}]", "a,".repeat(50_000));
    assert!(quickly(|| fails(&list)).0.contains("too many values"));
    let map: String = (0..10_000).map(|key| format!("k{key}: 1\n")).collect();
    assert!(quickly(|| fails(&map)).0.contains("too many values"));
    let long = "a".repeat(10_000_000);
    assert!(quickly(|| fails(&long)).0.contains("too long"));
    let script = format!("a: |\n{}", "  line of a script\n".repeat(50_000));
    assert_eq!(
        quickly(|| yaml(&script)).get("a").map(Node::kind_name),
        Some("a string")
    );
}

#[test]
fn copes_with_impossible_ranges() {
    let text = "ü: ä";
    for start in 0..9 {
        for end in 0..9 {
            let _ = parse(text, start..end);
        }
    }
}

fn check(node: &Node, text: &str, within: &Range<usize>) {
    let span = &node.span;
    assert!(span.start <= span.end && within.start <= span.start && span.end <= within.end);
    let raw = &text[span.clone()];
    match &node.value {
        Value::List(nodes) => nodes.iter().for_each(|node| check(node, text, within)),
        Value::Map(entries) => entries.iter().for_each(|(key, node)| {
            assert!(text.get(key.span.clone()).is_some());
            check(node, text, within);
        }),
        Value::String(string) if node.style == Style::Plain && !string.contains(['\n', ' ']) => {
            assert!(
                raw == string || raw.starts_with('!') || string.is_empty(),
                "{raw:?} {string:?}"
            );
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn never_panics(text in r#"([-ab1:?,\[\]{}#&*!|>'"%@`\\~ \t\r\nü.<=+]|: |- |\n  |&a |\*a |!!str |\|\n |"a"|---|\.\.\.|\u{feff}){0,30}"#) {
        let file = format!("ü\n{text}ü");
        let range = 3..file.len() - 2;
        match parse(&file, range.clone()) {
            Ok(node) => check(&node, &file, &range),
            Err(error) => {
                prop_assert!(file.get(error.span.clone()).is_some());
                prop_assert!(range.start <= error.span.start && error.span.end <= range.end);
            }
        }
    }
}
