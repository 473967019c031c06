//! Payloads that nobody thought of.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value};

use crate::readers::Effect;
use crate::samples::{self, Sample};
use crate::world::{self, Does, World};

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(samples::wired);

/// Any JSON value; names of fields are those that agents use as often as not.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(Value::from("Bash")),
        Just(Value::from(r#"{"command": "id"}"#)),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner),
        ]
    })
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-z_]{0,8}",
        Just("tool_name".to_owned()),
        Just("tool_input".to_owned()),
        Just("toolName".to_owned()),
        Just("toolArgs".to_owned()),
        Just("tool_info".to_owned()),
        Just("tool_call".to_owned()),
        Just("input".to_owned()),
        Just("name".to_owned()),
        Just("command".to_owned()),
        Just("commands".to_owned()),
        Just("prompt".to_owned()),
        Just("cwd".to_owned()),
    ];
    let fields = prop::collection::vec((key, value), 0..6);
    fields.prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into())
}

/// What somebody sends: anything, or what an agent sends with something else in it.
fn changed(right: &Value, wrong: &Value, keep: bool, at: Index) -> Value {
    let (Value::Object(right), Value::Object(wrong)) = (right, wrong) else {
        return wrong.clone();
    };
    if !keep {
        return wrong.clone().into();
    }
    let mut changed = right.clone();
    changed.extend(wrong.clone());
    let place = at.index(right.len());
    if let Some((_, value)) = right.iter().nth(place).and(changed.iter_mut().nth(place)) {
        *value = wrong.clone().into();
    }
    changed.into()
}

#[test]
fn whatever_an_agent_sends_it_gets_an_answer_that_it_understands() {
    let world = World::new(Does::Block);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let input = (
        any::<Index>(),
        object(any_json()),
        any::<bool>(),
        any::<Index>(),
    );
    let outcome = runner.run(&input, |(which, wrong, keep, at)| {
        let sample = which.get(&SAMPLES);
        let right = sample.value(world.path());
        let said = changed(&right, &wrong, keep, at);
        let reply = world.ask_with(sample.agent, sample.event, said.to_string().as_bytes());
        let read = world::read(sample.agent, sample.event, &right, &reply);
        let title = format!("{} {said}: {reply:?} is {read:?}", sample.title());
        prop_assert!(!matches!(read.effect, Effect::FailsOpen(_)), "{}", title);
        prop_assert!(
            !sample.event.guards || world::is_blocked(&read),
            "{}",
            title
        );
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
