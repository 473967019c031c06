//! What holds for all texts: random values with random comments and white space between tokens.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Document, Step, steps};

const TRIVIA: [&str; 16] = [
    "",
    "",
    "",
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    "\n  ",
    "\r\n    ",
    "\r",
    "// \", ] } /*\n",
    "// \u{e9}\r\n",
    "/* // */",
    "/*\n \"{[,\n*/",
    "/***/",
];

/// A text with noise, and the same without.
struct Writer<'n> {
    noise: &'n [u8],
    at: usize,
    noisy: String,
    plain: String,
}

impl Writer<'_> {
    fn roll(&mut self) -> usize {
        self.at += 1;
        let roll = self.noise.get(self.at % self.noise.len().max(1));
        usize::from(roll.copied().unwrap_or_default())
    }

    fn trivia(&mut self) {
        let roll = self.roll();
        self.noisy.push_str(TRIVIA[roll % TRIVIA.len()]);
        if roll > 150 {
            self.noisy.push_str(TRIVIA[roll / 7 % TRIVIA.len()]);
        }
    }

    fn token(&mut self, token: &str) {
        self.trivia();
        self.noisy.push_str(token);
        self.plain.push_str(token);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| (None, item)).collect();
                self.container(["[", "]"], items);
            }
            Value::Object(items) => {
                let items = items.iter().map(|(key, item)| (Some(key), item)).collect();
                self.container(["{", "}"], items);
            }
            _ => self.token(&value.to_string()),
        }
    }

    fn container(&mut self, [open, close]: [&str; 2], items: Vec<(Option<&String>, &Value)>) {
        let count = items.len();
        self.token(open);
        for (index, (key, value)) in items.into_iter().enumerate() {
            if let Some(key) = key {
                self.token(&json!(key).to_string());
                self.token(":");
            }
            self.value(value);
            if index + 1 < count {
                self.token(",");
            } else if self.roll().is_multiple_of(3) {
                self.trivia();
                self.noisy.push(',');
            }
        }
        self.token(close);
    }
}

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| json!(number)),
        "[a-c/*,\"\\\\\u{e9}\n]{0,4}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        let members = vec(("[a-e/\"]{0,2}", inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Texts with noise, with and without a byte order mark, and the same without noise.
fn texts() -> impl Strategy<Value = (String, String)> {
    (values(), vec(any::<u8>(), 1..60), any::<bool>()).prop_map(|(value, noise, bom)| {
        let mut writer = Writer {
            noise: &noise,
            at: 0,
            noisy: if bom {
                "\u{feff}".into()
            } else {
                String::new()
            },
            plain: String::new(),
        };
        writer.value(&value);
        writer.trivia();
        (writer.noisy, writer.plain)
    })
}

/// The paths to everything in a value.
fn paths(value: &Value) -> Vec<Vec<Value>> {
    let children: Vec<(Value, &Value)> = match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, v)| (json!(i), v))
            .collect(),
        Value::Object(items) => items.iter().map(|(k, v)| (json!(k), v)).collect(),
        _ => Vec::new(),
    };
    let below = children.into_iter().flat_map(|(step, child)| {
        let longer = move |mut path: Vec<Value>| {
            path.insert(0, step.clone());
            path
        };
        paths(child).into_iter().map(longer)
    });
    std::iter::once(Vec::new()).chain(below).collect()
}

fn at<'v>(value: &'v mut Value, path: &[Value]) -> &'v mut Value {
    path.iter().fold(value, |value, step| match step.as_u64() {
        Some(index) => &mut value[index as usize],
        None => &mut value[step.as_str().unwrap()],
    })
}

/// The text before and behind the value at a path.
fn around(document: &Document, path: &[Value]) -> (String, String) {
    let root = document.root.as_ref().unwrap();
    let node = steps(path)
        .iter()
        .fold(root, |node, step| node.child(*step).unwrap());
    let (before, after) = (
        &document.text[..node.span.start],
        &document.text[node.span.end..],
    );
    (before.to_owned(), after.to_owned())
}

/// A text without what comes and goes with an item: commas and white space.
fn bare(text: &str) -> String {
    text.replace([',', ' ', '\t', '\n', '\r'], "")
}

/// The text up to an item, and from the next one on, both bare.
fn neighbours(document: &Document, parent: &[Value], last: &Value) -> (String, String) {
    let root = document.root.as_ref().unwrap();
    let node = steps(parent)
        .iter()
        .fold(root, |node, step| node.child(*step).unwrap());
    let step = steps(std::slice::from_ref(last))[0];
    let index = node.position(step).unwrap();
    let next = node.items().get(index + 1);
    let next = next.map_or(node.span.end - 1, |next| next.start());
    let (before, after) = (
        &document.text[..node.items()[index].start()],
        &document.text[next..],
    );
    (bare(before), bare(after))
}

fn is_subsequence(short: &str, long: &str) -> bool {
    let mut long = long.bytes();
    short.bytes().all(|byte| long.any(|other| other == byte))
}

fn parse(text: &str) -> Document {
    Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Adds to a container what no random one has, and returns the path to it.
fn add(document: &mut Document, path: &[Value], value: &Value) -> Option<Vec<Value>> {
    let mut longer = path.to_vec();
    match document.get(&steps(path))? {
        Value::Array(items) => {
            document.push(&steps(path), value).unwrap();
            longer.push(json!(items.len()));
        }
        Value::Object(_) => {
            longer.push(json!("new"));
            document.set(&steps(&longer), value).unwrap();
        }
        _ => return None,
    }
    Some(longer)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn values_are_those_of_the_text_without_noise((noisy, plain) in texts()) {
        let value: Value = serde_json::from_str(&plain).unwrap();
        prop_assert_eq!(parse(&noisy).value(), value.clone());
        let document = parse(&plain);
        prop_assert!(!document.has_comments());
        prop_assert_eq!(document.value(), value);
    }

    #[test]
    fn equal_sets_change_nothing((text, _) in texts()) {
        let mut document = parse(&text);
        for path in paths(&document.value()) {
            let value = document.get(&steps(&path)).unwrap();
            document.set(&steps(&path), &value).unwrap();
            prop_assert_eq!(document.text(), &text);
        }
    }

    #[test]
    fn what_is_added_and_removed_leaves_no_trace((text, _) in texts(), value in values()) {
        for path in paths(&parse(&text).value()) {
            let mut document = parse(&text);
            let before = document.value();
            let container = document.get(&steps(&path)).unwrap();
            let empty = container == json!([]) || container == json!({});
            let Some(added) = add(&mut document, &path, &value) else { continue };
            prop_assert_eq!(document.get(&steps(&added)), Some(value.clone()));
            prop_assert!(empty || is_subsequence(&text, document.text()), "{}", document.text());
            prop_assert!(document.remove(&steps(&added)).unwrap());
            prop_assert_eq!(document.value(), before);
            prop_assert!(empty || document.text() == text, "{:?}\n{:?}", text, document.text());
        }
    }

    #[test]
    fn what_was_made_on_the_way_goes_with_its_first_key((text, _) in texts(), value in values()) {
        let mut document = parse(&text);
        let path = [Step::Key("new"), Step::Key("b"), Step::Key("c")];
        if document.value().is_object() {
            document.push(&path, &value).unwrap();
            prop_assert_eq!(document.get(&path), Some(json!([value])));
            prop_assert!(document.remove(&path[..1]).unwrap());
            prop_assert_eq!(document.value(), parse(&text).value());
        }
    }

    #[test]
    fn sets_replace_one_value_and_no_other_byte((text, _) in texts(), value in values()) {
        for path in paths(&parse(&text).value()) {
            let mut document = parse(&text);
            let mut model = document.value();
            let (before, after) = around(&document, &path);
            *at(&mut model, &path) = value.clone();
            document.set(&steps(&path), &value).unwrap();
            prop_assert_eq!(document.value(), model);
            prop_assert_eq!(around(&document, &path), (before, after));
            let once = document.text().to_owned();
            document.set(&steps(&path), &value).unwrap();
            prop_assert_eq!(document.text(), once);
        }
    }

    #[test]
    fn removals_only_take_away((text, _) in texts()) {
        for path in paths(&parse(&text).value()) {
            let Some((last, parent)) = path.split_last() else { continue };
            let mut document = parse(&text);
            let mut model = document.value();
            match at(&mut model, parent) {
                Value::Array(items) => drop(items.remove(last.as_u64().unwrap() as usize)),
                Value::Object(items) => drop(items.shift_remove(last.as_str().unwrap())),
                _ => unreachable!("a parent is a container"),
            }
            prop_assert!(document.remove(&steps(&path)).unwrap());
            prop_assert_eq!(document.value(), model, "{:?}\n{:?}", text, document.text());
            prop_assert!(is_subsequence(document.text(), &text));
            let (before, after) = neighbours(&parse(&text), parent, last);
            let left = bare(document.text());
            prop_assert!(left.starts_with(&before) && left.ends_with(&after), "{:?}\n{:?}", text, left);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}:,\"\\\\/*\r\n 0-1eu.\\-\u{feff}\u{0}\u{e9}]{0,40}") {
        if let Ok(mut document) = Document::parse(&text) {
            let _ = document.set(&[Step::Key("new")], &json!({"x": [1]}));
            let _ = document.push(&[], &json!([{}]));
            let _ = document.remove(&[Step::Index(0)]);
        }
    }
}
