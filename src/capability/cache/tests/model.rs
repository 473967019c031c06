//! Random calls do the same to a store as to a simple model.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::super::{CacheError, Disk, Memory, Namespace, Quota, Redis, Store};
use super::server::Server;
use super::within;

const KEYS: [&str; 4] = ["", "a", "b", "a longer key"];

const VALUES: [&str; 12] = [
    "0",
    "-0",
    "7",
    "\"7\"",
    "1.0",
    "null",
    "[1,[2]]",
    r#"{"a":1,"b":2}"#,
    r#"{"b":2,"a":1}"#,
    "9223372036854775807",
    "9223372036854775808",
    r#""a text that needs a lot of room""#,
];

const QUOTAS: [Quota; 3] = [
    Quota { bytes: 30, keys: 4 },
    Quota { bytes: 70, keys: 2 },
    Quota {
        bytes: 200,
        keys: 9,
    },
];

#[derive(Debug, Clone)]
enum Call {
    Get,
    Set(usize),
    Delete,
    Increment(i64),
    Swap(Option<usize>, usize),
}

#[derive(Debug, Clone)]
struct Step {
    call: Call,
    hook: usize,
    key: usize,
    quota: usize,
    expires: Expiry,
}

#[derive(Debug, Clone, Copy)]
enum Expiry {
    Never,
    AtOnce,
    InAnHour,
}

/// What a call says, in the same words for stores and the model.
#[derive(Debug, PartialEq)]
enum Answer {
    Found(Option<String>),
    Stored,
    Was(bool),
    Sum(i64),
    Full,
    NotAnInteger,
}

/// The values of two hooks. What expires at once was never there.
#[derive(Default)]
struct Model(HashMap<(usize, usize), Value>);

fn value(index: usize) -> Value {
    serde_json::from_str(VALUES[index]).unwrap()
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let call = prop_oneof![
        Just(Call::Get),
        (0..VALUES.len()).prop_map(Call::Set),
        (0..VALUES.len()).prop_map(Call::Set),
        Just(Call::Delete),
        prop_oneof![-9..9_i64, any::<i64>()].prop_map(Call::Increment),
        (proptest::option::of(0..VALUES.len()), 0..VALUES.len())
            .prop_map(|(expected, new)| Call::Swap(expected, new)),
    ];
    let expires = prop_oneof![
        Just(Expiry::Never),
        Just(Expiry::InAnHour),
        Just(Expiry::AtOnce),
    ];
    let step = (call, 0..2_usize, 0..KEYS.len(), 0..QUOTAS.len(), expires).prop_map(
        |(call, hook, key, quota, expires)| Step {
            call,
            hook,
            key,
            quota,
            expires,
        },
    );
    proptest::collection::vec(step, 1..most)
}

impl Model {
    fn run(&mut self, step: &Step) -> Answer {
        let place = (step.hook, step.key);
        let old = self.0.get(&place).cloned();
        match &step.call {
            Call::Get => Answer::Found(old.map(|value| value.to_string())),
            Call::Set(new) => self.put(step, value(*new), Answer::Stored),
            Call::Delete => Answer::Was(self.0.remove(&place).is_some()),
            Call::Increment(delta) => {
                let known = old.as_ref().map_or(Some(0), Value::as_i64);
                match known.and_then(|known| known.checked_add(*delta)) {
                    None => Answer::NotAnInteger,
                    Some(sum) if old.is_some() => {
                        let kept = Step {
                            expires: Expiry::Never,
                            ..step.clone()
                        };
                        self.put(&kept, sum.into(), Answer::Sum(sum))
                    }
                    Some(sum) => self.put(step, sum.into(), Answer::Sum(sum)),
                }
            }
            Call::Swap(expected, new) if old == expected.map(value) => {
                self.put(step, value(*new), Answer::Was(true))
            }
            Call::Swap(..) => Answer::Was(false),
        }
    }

    fn usage(&self, hook: usize) -> (u64, u64) {
        let own = self.0.iter().filter(|entry| entry.0.0 == hook);
        own.fold((0, 0), |(bytes, keys), ((_, key), value)| {
            let size = KEYS[*key].len() + value.to_string().len();
            (bytes + size as u64, keys + 1)
        })
    }

    fn put(&mut self, step: &Step, new: Value, done: Answer) -> Answer {
        let place = (step.hook, step.key);
        let quota = QUOTAS[step.quota];
        let before = self.usage(step.hook);
        let old = self.0.insert(place, new);
        let after = self.usage(step.hook);
        let bytes = after.0 > quota.bytes && after.0 > before.0;
        let keys = after.1 > quota.keys && after.1 > before.1;
        if bytes || keys {
            self.0.remove(&place);
            self.0.extend(old.map(|old| (place, old)));
            return Answer::Full;
        }
        if matches!(step.expires, Expiry::AtOnce) {
            self.0.remove(&place);
        }
        done
    }
}

fn run(store: &dyn Store, hooks: &[Namespace; 2], step: &Step) -> Answer {
    let place = within(&hooks[step.hook], QUOTAS[step.quota]);
    let key = KEYS[step.key];
    let ttl = match step.expires {
        Expiry::Never => None,
        Expiry::AtOnce => Some(Duration::ZERO),
        Expiry::InAnHour => Some(Duration::from_secs(3600)),
    };
    let answer = match &step.call {
        Call::Get => store
            .get(&place, key)
            .map(|found| Answer::Found(found.map(|value| value.to_string()))),
        Call::Set(new) => store
            .set(&place, key, &value(*new), ttl)
            .map(|()| Answer::Stored),
        Call::Delete => store.delete(&place, key).map(Answer::Was),
        Call::Increment(delta) => store.increment(&place, key, *delta, ttl).map(Answer::Sum),
        Call::Swap(expected, new) => store
            .compare_and_set(&place, key, expected.map(value).as_ref(), &value(*new), ttl)
            .map(Answer::Was),
    };
    match answer {
        Ok(answer) => answer,
        Err(CacheError::Quota(_)) => Answer::Full,
        Err(CacheError::NotAnInteger(_)) => Answer::NotAnInteger,
        Err(error) => panic!("{error}"),
    }
}

fn agrees(store: &dyn Store, cases: u32, most: usize) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let count = AtomicUsize::new(0);
    let result = TestRunner::new(config).run(&steps(most), |steps| {
        let case = count.fetch_add(1, Ordering::Relaxed);
        let hooks = [0, 1].map(|hook| Namespace::of_hook(&format!("{case} {hook}")));
        let mut model = Model::default();
        for step in &steps {
            prop_assert_eq!(run(store, &hooks, step), model.run(step), "{:?}", step);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn memory_agrees_with_the_model() {
    agrees(&Memory::default(), 500, 80);
}

#[test]
fn disk_agrees_with_the_model() {
    let dir = tempfile::tempdir().unwrap();
    agrees(&Disk::open(&dir.path().join("cache")).unwrap(), 24, 60);
}

#[test]
fn redis_agrees_with_the_model() {
    let server = Server::start();
    agrees(&Redis::open(&server.url()).unwrap(), 100, 80);
}
