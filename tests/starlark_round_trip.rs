//! Any JSON survives the way into Starlark and out again.

mod support;

use hookbox::Runtime;
use hookbox::decision::Ruling;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Project, hook_file};

fn echo() -> Runtime {
    let script = "def handle(event, payload):\n    return modify({\"out\": payload[\"in\"], \"text\": json.encode(payload[\"in\"]), \"again\": json.decode(json.encode(payload[\"in\"]))})";
    Project::with(&[("echo", &hook_file("custom.echo", "priority: 1", script))]).runtime()
}

fn through(runtime: &Runtime, value: &Value) -> Value {
    let outcome = runtime
        .dispatch("custom.echo", json!({"in": value}))
        .unwrap();
    assert_eq!(outcome.decision, Ruling::Modify, "{:?}", outcome.warnings);
    outcome.payload.into_value()
}

fn any_json() -> impl Strategy<Value = Value> {
    let integer = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "-?[1-9][0-9]{0,60}",
        Just("0".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        integer.prop_map(|digits| serde_json::from_str(&digits).unwrap()),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Equal, with numbers compared as numbers: `1e3` may come back as `1000.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let float = |number: &serde_json::Number| number.to_string().contains(['.', 'e', 'E']);
            if float(a) {
                float(b) && a.as_f64() == b.as_f64()
            } else {
                a == b
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            // In the same order, too.
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((ka, a), (kb, b))| ka == kb && same(a, b))
        }
        _ => a == b,
    }
}

#[test]
fn any_json_survives_the_way_in_and_out() {
    let runtime = echo();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    runner
        .run(&any_json(), |value| {
            let payload = through(&runtime, &value);
            prop_assert!(
                same(&payload["out"], &value),
                "{} became {}",
                value,
                payload["out"]
            );
            prop_assert!(same(&payload["again"], &value));
            let text = payload["text"].as_str().unwrap();
            prop_assert!(same(&serde_json::from_str(text).unwrap(), &value));
            Ok(())
        })
        .unwrap();
}

#[test]
fn nesting_survives_as_deep_as_json_may_be() {
    let runtime = echo();
    let nested = |depth: usize| {
        let text = "[".repeat(depth) + "1" + &"]".repeat(depth);
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(through(&runtime, &nested(120))["out"], nested(120));
}
