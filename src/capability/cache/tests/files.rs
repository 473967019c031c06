//! The files of a store on disk.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::super::{Disk, Namespace, Store};
use super::{at, is_unavailable};

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/deeper/cache");
    let store = Disk::open(&path).unwrap();
    store
        .set(&at(&Namespace::of_hook("own")), "k", &json!(1), None)
        .unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir.path().join("new")), 0o700);
    assert_eq!(mode(&dir.path().join("new/deeper")), 0o700);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&path.with_extension("lock")), 0o600);
}

#[test]
fn values_outlive_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    let own = Namespace::of_hook("own");
    Disk::open(&path)
        .unwrap()
        .set(&at(&own), "k", &json!([1]), None)
        .unwrap();
    assert_eq!(
        Disk::open(&path).unwrap().get(&at(&own), "k"),
        Ok(Some(json!([1])))
    );
}

#[test]
fn a_deleted_file_is_an_empty_cache() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    let store = Disk::open(&path).unwrap();
    let own = Namespace::of_hook("own");
    store.set(&at(&own), "k", &json!(1), None).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(store.get(&at(&own), "k"), Ok(None));
    assert_eq!(store.increment(&at(&own), "k", 1, None), Ok(1));
}

#[test]
fn what_a_killed_process_began_to_make_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    fs::write(dir.path().join("cache.new"), b"half of a file").unwrap();
    let store = Disk::open(&path).unwrap();
    assert_eq!(
        store.increment(&at(&Namespace::of_hook("own")), "k", 1, None),
        Ok(1)
    );
}

#[test]
fn a_path_that_cannot_be_used_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    assert!(is_unavailable(&Disk::open(&file.join("cache"))));
}

#[test]
fn a_file_that_is_no_database_is_refused_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    fs::write(&path, b"somebody's letter").unwrap();
    let store = Disk::open(&path).unwrap();
    let own = Namespace::of_hook("own");
    assert!(is_unavailable(&store.get(&at(&own), "k")));
    assert!(is_unavailable(&store.set(&at(&own), "k", &json!(1), None)));
    assert_eq!(fs::read(&path).unwrap(), b"somebody's letter");
}

#[test]
fn a_damaged_file_is_an_error_and_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    let store = Disk::open(&path).unwrap();
    let own = Namespace::of_hook("own");
    for key in 0..50 {
        store
            .set(&at(&own), &key.to_string(), &json!("x".repeat(100)), None)
            .unwrap();
    }
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for n in 0..150 {
        let mut damaged = whole.clone();
        let place = n * 7919 % damaged.len();
        if n % 3 == 0 {
            damaged.truncate(place);
        } else {
            let end = damaged.len().min(place + 1 + n);
            damaged[place..end].fill(0xff);
        }
        fs::write(&path, damaged).unwrap();
        refused += usize::from(store.get(&at(&own), "1").is_err());
        refused += usize::from(store.increment(&at(&own), "n", 1, None).is_err());
    }
    assert!(refused > 50);
    fs::write(&path, whole).unwrap();
    assert_eq!(store.increment(&at(&own), "n", 1, None), Ok(1));
}
