//! JSON of all shapes, for property tests.

use proptest::prelude::*;
use serde_json::Value;

/// Words that mean something in a payload or in what a hook returns.
const WORDS: &str = "tool|name|args|target|persona|step|pct|block|reason|decision|deny|allow|ask|\
                     result|output|reminder|then|body|tags|dedupe_key|ttl_turns|propagate|session";

/// Makes JSON that often has the keys that are looked for.
pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        WORDS.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let key = prop_oneof![4 => WORDS, 1 => any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}
