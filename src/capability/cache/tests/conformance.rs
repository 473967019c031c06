//! What every store does.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::{CacheError, Disk, Memory, Namespace, Place, Quota, Redis, Store};
use super::server::Server;
use super::{at, is_quota, within};

const HOUR: Option<Duration> = Some(Duration::from_secs(3600));
const SOON: Option<Duration> = Some(Duration::from_millis(100));
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

type Case = (&'static str, fn(&dyn Store, &Namespace));

const CASES: [Case; 16] = [
    ("set, get, delete", set_get_delete),
    ("values come back as they were", values_come_back),
    ("values that are too deep are refused", too_deep),
    ("what has expired is gone", expired_is_gone),
    ("a set without a time is for good", set_clears_the_expiry),
    ("a very long time is no error", very_long_time),
    ("counting", counting),
    ("counting what is no integer", counting_what_is_no_integer),
    ("counting keeps the expiry", counting_keeps_the_expiry),
    (
        "counting never passes 64 bits",
        counting_never_passes_64_bits,
    ),
    ("swapping", swapping),
    ("swapping compares values", swapping_compares_values),
    ("swapping sets the expiry", swapping_sets_the_expiry),
    ("the quota of bytes", quota_of_bytes),
    ("the quota of keys", quota_of_keys),
    ("expired values need no room", expired_values_need_no_room),
];

fn behaves(store: &dyn Store) {
    for (name, case) in CASES {
        println!("{name}");
        case(store, &Namespace::of_hook(name));
    }
    println!("many threads count");
    many_threads_count(store);
}

#[test]
fn memory_behaves() {
    behaves(&Memory::default());
}

#[test]
fn disk_behaves() {
    let dir = tempfile::tempdir().unwrap();
    behaves(&Disk::open(&dir.path().join("cache")).unwrap());
}

#[test]
fn redis_behaves() {
    let server = Server::start();
    behaves(&Redis::open(&server.url()).unwrap());
}

fn text(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn wait_until_gone(store: &dyn Store, place: &Place<'_>, key: &str) {
    while store.get(place, key).unwrap().is_some() {
        thread::sleep(Duration::from_millis(5));
    }
}

fn set_get_delete(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    assert_eq!(store.get(&place, "a"), Ok(None));
    assert_eq!(store.delete(&place, "a"), Ok(false));
    store.set(&place, "a", &json!(1), None).unwrap();
    store.set(&place, "a", &json!([2]), None).unwrap();
    assert_eq!(store.get(&place, "a"), Ok(Some(json!([2]))));
    assert_eq!(store.delete(&place, "a"), Ok(true));
    assert_eq!(store.delete(&place, "a"), Ok(false));
    assert_eq!(store.get(&place, "a"), Ok(None));
}

fn values_come_back(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    let deepest = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let texts = [
        r#"{"b":1,"a":{"z":null,"y":[true,false,"é\u0000\n"]}}"#,
        "123456789012345678901234567890",
        "-0",
        "1.0",
        "0.10",
        "1.5e400",
        "\"\"",
        "null",
        "{}",
        &deepest,
    ];
    for written in texts {
        let value = text(written);
        store.set(&place, "k", &value, HOUR).unwrap();
        let found = store.get(&place, "k").unwrap().unwrap();
        assert_eq!(found.to_string(), value.to_string());
    }
    for key in ["", "\0", "a\nb", "é", "{x}", "a\u{10ffff}"] {
        store.set(&place, key, &json!(key), None).unwrap();
    }
    for key in ["", "\0", "a\nb", "é", "{x}", "a\u{10ffff}"] {
        assert_eq!(store.get(&place, key), Ok(Some(json!(key))));
    }
}

fn too_deep(store: &dyn Store, own: &Namespace) {
    let deep = (0..128).fold(json!(1), |inner, _| json!([inner]));
    assert!(is_quota(&store.set(&at(own), "k", &deep, None)));
    assert!(is_quota(&store.compare_and_set(
        &at(own),
        "k",
        None,
        &deep,
        None
    )));
    assert_eq!(store.get(&at(own), "k"), Ok(None));
}

fn expired_is_gone(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    store.set(&place, "a", &json!(1), AT_ONCE).unwrap();
    assert_eq!(store.get(&place, "a"), Ok(None));
    assert_eq!(store.delete(&place, "a"), Ok(false));
    store.set(&place, "a", &json!(1), AT_ONCE).unwrap();
    assert_eq!(store.increment(&place, "a", 5, HOUR), Ok(5));
    store.set(&place, "a", &json!(1), AT_ONCE).unwrap();
    assert_eq!(
        store.compare_and_set(&place, "a", Some(&json!(1)), &json!(2), None),
        Ok(false)
    );
    assert_eq!(
        store.compare_and_set(&place, "a", None, &json!(2), HOUR),
        Ok(true)
    );
    assert_eq!(store.get(&place, "a"), Ok(Some(json!(2))));
    store.set(&place, "b", &json!(1), SOON).unwrap();
    wait_until_gone(store, &place, "b");
}

fn set_clears_the_expiry(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    store.set(&place, "a", &json!(1), SOON).unwrap();
    store.set(&place, "a", &json!(2), None).unwrap();
    store.set(&place, "later", &json!(1), SOON).unwrap();
    wait_until_gone(store, &place, "later");
    assert_eq!(store.get(&place, "a"), Ok(Some(json!(2))));
}

fn very_long_time(store: &dyn Store, own: &Namespace) {
    for ttl in [
        Duration::MAX,
        Duration::from_millis(u64::MAX),
        Duration::from_secs(1 << 40),
    ] {
        store.set(&at(own), "a", &json!(1), Some(ttl)).unwrap();
        assert_eq!(store.get(&at(own), "a"), Ok(Some(json!(1))));
    }
}

fn counting(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    assert_eq!(store.increment(&place, "n", 2, None), Ok(2));
    assert_eq!(store.increment(&place, "n", -5, None), Ok(-3));
    assert_eq!(store.get(&place, "n"), Ok(Some(json!(-3))));
    store.set(&place, "n", &json!(40), None).unwrap();
    assert_eq!(store.increment(&place, "n", 2, None), Ok(42));
    store.set(&place, "n", &text("-0"), None).unwrap();
    assert_eq!(store.increment(&place, "n", 0, None), Ok(0));
    assert_eq!(store.increment(&place, "gone", 1, AT_ONCE), Ok(1));
    assert_eq!(store.increment(&place, "gone", 1, None), Ok(1));
}

fn counting_what_is_no_integer(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    let refused = Err(CacheError::NotAnInteger("n".to_owned()));
    for written in [
        "\"1\"",
        "1.0",
        "1e2",
        "null",
        "[]",
        "{}",
        "9223372036854775808",
    ] {
        store.set(&place, "n", &text(written), None).unwrap();
        assert_eq!(store.increment(&place, "n", 1, None), refused, "{written}");
        assert_eq!(store.get(&place, "n"), Ok(Some(text(written))));
    }
}

fn counting_keeps_the_expiry(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    loop {
        store.increment(&place, "n", 1, SOON).unwrap();
        // On a slow machine the first may have expired by now.
        if store.increment(&place, "n", 1, HOUR) == Ok(2) {
            break;
        }
        store.delete(&place, "n").unwrap();
    }
    wait_until_gone(store, &place, "n");
    store.increment(&place, "forever", 1, None).unwrap();
    store.increment(&place, "forever", 1, AT_ONCE).unwrap();
    assert_eq!(store.get(&place, "forever"), Ok(Some(json!(2))));
}

fn counting_never_passes_64_bits(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    let refused = Err(CacheError::NotAnInteger("n".to_owned()));
    assert_eq!(store.increment(&place, "n", i64::MAX, None), Ok(i64::MAX));
    assert_eq!(store.increment(&place, "n", 1, None), refused);
    assert_eq!(store.get(&place, "n"), Ok(Some(json!(i64::MAX))));
    assert_eq!(store.increment(&place, "n", -1, None), Ok(i64::MAX - 1));
    store.set(&place, "n", &json!(i64::MIN), None).unwrap();
    assert_eq!(store.increment(&place, "n", -1, None), refused);
    assert_eq!(store.increment(&place, "n", i64::MAX, None), Ok(-1));
}

fn swapping(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    let swap = |expected: Option<Value>, value: i64| {
        store.compare_and_set(&place, "k", expected.as_ref(), &json!(value), None)
    };
    assert_eq!(swap(Some(json!(1)), 9), Ok(false));
    assert_eq!(swap(None, 1), Ok(true));
    assert_eq!(swap(None, 9), Ok(false));
    assert_eq!(swap(Some(json!(2)), 9), Ok(false));
    assert_eq!(swap(Some(json!(1)), 3), Ok(true));
    assert_eq!(store.get(&place, "k"), Ok(Some(json!(3))));
}

fn swapping_compares_values(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    let cases = [
        (r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#, true),
        (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
        ("1", "1.0", false),
        ("1", "\"1\"", false),
        ("[1,2]", "[2,1]", false),
        ("12345678901234567890123", "12345678901234567890123", true),
        ("12345678901234567890123", "12345678901234567890124", false),
    ];
    for (stored, expected, same) in cases {
        store.set(&place, "k", &text(stored), None).unwrap();
        let swapped = store.compare_and_set(&place, "k", Some(&text(expected)), &json!(0), None);
        assert_eq!(swapped, Ok(same), "{stored} {expected}");
    }
}

fn swapping_sets_the_expiry(store: &dyn Store, own: &Namespace) {
    let place = at(own);
    store.set(&place, "k", &json!(1), HOUR).unwrap();
    assert_eq!(
        store.compare_and_set(&place, "k", Some(&json!(1)), &json!(2), SOON),
        Ok(true)
    );
    wait_until_gone(store, &place, "k");
}

fn quota_of_bytes(store: &dyn Store, own: &Namespace) {
    let quota = Quota { bytes: 10, keys: 9 };
    let place = within(own, quota);
    store.set(&place, "a", &json!("12"), None).unwrap();
    store.set(&place, "b", &json!("12"), None).unwrap();
    let refused = CacheError::Quota(format!(
        "the cache namespace {:?} is full: it may hold 10 bytes; delete something, or raise `max` under `grant: cache:`",
        own.as_str()
    ));
    assert_eq!(
        store.set(&place, "a", &json!("123"), None),
        Err(refused.clone())
    );
    assert_eq!(store.increment(&place, "n", 1, None), Err(refused.clone()));
    assert_eq!(
        store.compare_and_set(&place, "a", Some(&json!("12")), &json!("123"), None),
        Err(refused)
    );
    assert_eq!(store.get(&place, "a"), Ok(Some(json!("12"))));
    store.set(&place, "a", &json!("1"), None).unwrap();
    store.set(&place, "b", &json!("123"), None).unwrap();
    store.delete(&place, "a").unwrap();
    assert_eq!(store.increment(&place, "n", 999, None), Ok(999));
    assert!(is_quota(&store.increment(&place, "n", 1, None)));
    assert_eq!(store.get(&place, "n"), Ok(Some(json!(999))));
    let lowered = within(own, Quota { bytes: 1, keys: 1 });
    assert!(is_quota(&store.set(&lowered, "b", &json!("1234"), None)));
    store.set(&lowered, "b", &json!("12"), None).unwrap();
}

fn quota_of_keys(store: &dyn Store, own: &Namespace) {
    let quota = Quota { bytes: 99, keys: 2 };
    let place = within(own, quota);
    store.set(&place, "a", &json!(1), None).unwrap();
    store.increment(&place, "b", 1, None).unwrap();
    let refused = store.set(&place, "c", &json!(1), None);
    assert!(is_quota(&refused));
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("it may hold 2 keys;")
    );
    assert!(is_quota(&store.increment(&place, "c", 1, None)));
    assert!(is_quota(&store.compare_and_set(
        &place,
        "c",
        None,
        &json!(1),
        None
    )));
    store.set(&place, "a", &json!(2), None).unwrap();
    store.delete(&place, "a").unwrap();
    store.set(&place, "c", &json!(1), None).unwrap();
}

fn expired_values_need_no_room(store: &dyn Store, own: &Namespace) {
    let quota = Quota {
        bytes: 4000,
        keys: 40,
    };
    let place = within(own, quota);
    for key in 0..40 {
        let value = json!("x".repeat(90));
        store.set(&place, &format!("{key}"), &value, SOON).unwrap();
    }
    // Waits elsewhere, as a look at this namespace may remove some of them.
    let elsewhere = Namespace::of_hook("elsewhere");
    store.set(&at(&elsewhere), "k", &json!(1), SOON).unwrap();
    wait_until_gone(store, &at(&elsewhere), "k");
    let all = json!("x".repeat(3990));
    store.set(&place, "all", &all, None).unwrap();
    assert!(is_quota(&store.set(&place, "more", &json!("12345"), None)));
}

fn many_threads_count(store: &dyn Store) {
    let own = Namespace::of_hook("threads");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    store.increment(&at(&own), "n", 1, None).unwrap();
                    count_by_swapping(store, &own);
                }
            });
        }
    });
    assert_eq!(store.get(&at(&own), "n"), Ok(Some(json!(200))));
    assert_eq!(store.get(&at(&own), "swapped"), Ok(Some(json!(200))));
}

fn count_by_swapping(store: &dyn Store, own: &Namespace) {
    loop {
        let old = store.get(&at(own), "swapped").unwrap();
        let next = json!(old.as_ref().map_or(0, |n| n.as_i64().unwrap()) + 1);
        if store.compare_and_set(&at(own), "swapped", old.as_ref(), &next, None) == Ok(true) {
            return;
        }
    }
}
