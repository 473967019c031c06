//! What a hook may try against the cache and its neighbours.

use serde_json::json;

use super::super::{Disk, Memory, Namespace, Quota, Redis, Store};
use super::server::Server;
use super::{at, is_quota, within};

/// Names that would meet if a store glued them to keys or to its own words.
const NAMES: [&str; 14] = [
    "a",
    "a\0",
    "a\n",
    "a/b",
    "{a}",
    "a}",
    "}",
    "}:values",
    "a}:values",
    "a}:bytes",
    "",
    "/",
    "a\r\nDEL x",
    "*",
];

/// Runs an attack on every store.
fn on_each(attack: impl Fn(&dyn Store)) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start();
    attack(&Memory::default());
    attack(&Disk::open(&dir.path().join("cache")).unwrap());
    attack(&Redis::open(&server.url()).unwrap());
}

#[test]
fn a_hook_that_fills_the_cache_stops_at_its_bytes() {
    let quota = Quota {
        bytes: 100_000,
        keys: 1000,
    };
    on_each(|store| {
        let (greedy, other) = (Namespace::of_hook("greedy"), Namespace::of_hook("other"));
        let big = json!("x".repeat(9_900));
        let stored = (0..1000)
            .take_while(|n| {
                store
                    .set(&within(&greedy, quota), &n.to_string(), &big, None)
                    .is_ok()
            })
            .count();
        assert_eq!(stored, 10);
        store.set(&within(&other, quota), "k", &big, None).unwrap();
    });
}

#[test]
fn a_hook_that_stores_many_keys_stops_at_its_keys() {
    let quota = Quota {
        bytes: 1 << 20,
        keys: 50,
    };
    on_each(|store| {
        let greedy = Namespace::of_hook("greedy");
        let stored = (0..1_000_000)
            .take_while(|n| {
                store
                    .increment(&within(&greedy, quota), &n.to_string(), 1, None)
                    .is_ok()
            })
            .count();
        assert_eq!(stored, 50);
    });
}

#[test]
fn a_million_keys_stop_at_the_default_quota_of_memory() {
    let store = Memory::default();
    let greedy = Namespace::of_hook("greedy");
    let stored = (0..1_000_000)
        .take_while(|n| {
            store
                .set(&at(&greedy), &n.to_string(), &json!(1), None)
                .is_ok()
        })
        .count();
    assert_eq!(stored, 10_000);
}

#[test]
fn many_greedy_hooks_together_stop_at_the_bytes_of_memory() {
    let store = Memory::default();
    let quota = Quota {
        bytes: u64::MAX,
        keys: u64::MAX,
    };
    let big = json!("x".repeat((1 << 20) - 3));
    for hook in 0..64 {
        let greedy = Namespace::of_hook(&hook.to_string());
        store.set(&within(&greedy, quota), "k", &big, None).unwrap();
    }
    let last = Namespace::of_hook("last");
    let refused = store
        .set(&within(&last, quota), "k", &json!(1), None)
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("all its namespaces together may hold 67108864 bytes")
    );
    store
        .delete(&within(&Namespace::of_hook("0"), quota), "k")
        .unwrap();
    store
        .set(&within(&last, quota), "k", &json!(1), None)
        .unwrap();
}

#[test]
fn many_greedy_hooks_together_stop_at_the_keys_of_memory() {
    let store = Memory::default();
    for hook in 0..10 {
        let greedy = Namespace::of_hook(&hook.to_string());
        for key in 0..10_000 {
            store
                .set(&at(&greedy), &key.to_string(), &json!(1), None)
                .unwrap();
        }
    }
    let last = Namespace::of_hook("last");
    assert!(is_quota(&store.set(&at(&last), "k", &json!(1), None)));
}

#[test]
fn many_greedy_hooks_together_stop_at_the_bound_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let bound = Quota {
        bytes: 100,
        keys: 5,
    };
    let store = Disk::with_bound(&dir.path().join("cache"), bound).unwrap();
    for hook in 0..5 {
        let greedy = Namespace::of_hook(&hook.to_string());
        store.set(&at(&greedy), "k", &json!(1), None).unwrap();
    }
    let last = Namespace::of_hook("last");
    assert!(is_quota(&store.set(&at(&last), "k", &json!(1), None)));
    let first = Namespace::of_hook("0");
    assert!(is_quota(&store.set(
        &at(&first),
        "k",
        &json!("x".repeat(100)),
        None
    )));
    assert_eq!(store.delete(&at(&first), "k"), Ok(true));
    store.set(&at(&last), "k", &json!(1), None).unwrap();
}

#[test]
fn a_hook_cannot_reach_into_the_namespace_of_another() {
    on_each(|store| {
        let spaces: Vec<_> = NAMES.iter().map(|name| Namespace::of_hook(name)).collect();
        for (n, space) in spaces.iter().enumerate() {
            store.set(&at(space), "k", &json!(n), None).unwrap();
        }
        for (n, space) in spaces.iter().enumerate() {
            assert_eq!(store.get(&at(space), "k"), Ok(Some(json!(n))), "{space:?}");
            assert_eq!(store.get(&at(space), "b\0k"), Ok(None));
            assert_eq!(store.get(&at(space), "/bk"), Ok(None));
        }
        assert_eq!(store.delete(&at(&spaces[0]), "k"), Ok(true));
        for space in &spaces[1..] {
            assert!(store.get(&at(space), "k").unwrap().is_some());
        }
    });
}

#[test]
fn a_huge_key_counts_and_is_not_repeated_in_errors() {
    on_each(|store| {
        let own = Namespace::of_hook("huge");
        let key = "k".repeat((1 << 20) - 3);
        store.set(&at(&own), &key, &json!("x"), None).unwrap();
        let refused = store.increment(&at(&own), &key, 1, None).unwrap_err();
        assert!(refused.to_string().len() < 300);
        assert_eq!(store.delete(&at(&own), &key), Ok(true));
        let longer = "k".repeat(1 << 20);
        assert!(is_quota(&store.set(&at(&own), &longer, &json!(1), None)));
        assert_eq!(store.get(&at(&own), &longer), Ok(None));
    });
}

#[test]
fn values_are_not_shown_when_a_store_is_printed() {
    on_each(|store| {
        let own = Namespace::of_hook("own");
        store.set(&at(&own), "k", &json!("hunter2"), None).unwrap();
        assert!(!format!("{store:?}").contains("hunter2"));
    });
}
