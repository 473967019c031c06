//! Several processes use one file, and some of them are killed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::super::{Disk, Namespace, Store};
use super::{at, hurried, is_unavailable};

const FILE: &str = "HOOKBOX_TEST_CACHE_FILE";
const COUNT: &str = "HOOKBOX_TEST_CACHE_COUNT";

/// Counts in another process, which says each sum on its output.
fn count_elsewhere(path: &Path, times: usize) -> Child {
    // Test names do not start with the name of the crate.
    let module = module_path!().split_once("::").unwrap().1;
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::counts_for_another_test")])
        .args(["--ignored", "--nocapture"])
        .env(FILE, path)
        .env(COUNT, times.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "other tests run it in a process of its own"]
fn counts_for_another_test() {
    let path = PathBuf::from(std::env::var_os(FILE).expect("only other tests run this"));
    let times: usize = std::env::var(COUNT).unwrap().parse().unwrap();
    let store = Disk::open(&path).unwrap();
    let own = Namespace::of_hook("count");
    for _ in 0..times {
        println!("sum {}", store.increment(&at(&own), "n", 1, None).unwrap());
    }
}

fn sum_of(line: &str) -> Option<i64> {
    line.split_once("sum ")?.1.trim().parse().ok()
}

#[test]
fn four_processes_lose_no_count() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    let children: Vec<_> = (0..4).map(|_| count_elsewhere(&path, 50)).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let store = Disk::open(&path).unwrap();
    let own = Namespace::of_hook("count");
    assert_eq!(store.get(&at(&own), "n"), Ok(Some(json!(200))));
}

#[test]
fn what_was_counted_survives_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    let store = Disk::open(&path).unwrap();
    let own = Namespace::of_hook("count");
    let mut known = 0;
    for round in 0..25 {
        let mut child = count_elsewhere(&path, usize::MAX);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut sums = lines
            .by_ref()
            .map_while(Result::ok)
            .filter_map(|line| sum_of(&line));
        known = sums.nth(round % 7).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        known = sums.last().unwrap_or(known);
        let found = store
            .get(&at(&own), "n")
            .unwrap()
            .unwrap()
            .as_i64()
            .unwrap();
        // One more may have been stored just before it could be said.
        assert!(found == known || found == known + 1, "{found} {known}");
        assert_eq!(store.increment(&at(&own), "n", 1, None), Ok(found + 1));
    }
    assert!(known > 25);
}

#[test]
fn a_process_that_stops_with_the_lock_does_not_hang_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    let store = Disk::open(&path).unwrap();
    let own = Namespace::of_hook("own");
    store.set(&at(&own), "k", &json!(1), None).unwrap();
    let lock = std::fs::File::open(dir.path().join("cache.lock")).unwrap();
    lock.lock().unwrap();
    assert!(is_unavailable(&store.get(&hurried(&own), "k")));
    let refused = store.increment(&hurried(&own), "k", 1, None);
    assert!(is_unavailable(&refused));
    assert!(refused.unwrap_err().to_string().contains("another process"));
    drop(lock);
    assert_eq!(store.increment(&at(&own), "k", 1, None), Ok(2));
}
