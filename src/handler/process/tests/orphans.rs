//! Orphans go to the whole process, so these tests run in one of their own.

use std::process::{Command, Output};
use std::thread;

use super::*;

const ALONE: &str = "HOOKBOX_TEST_ALONE";

/// A daemon that bears no mark whatsoever.
const UNMARKED: &str = r#"/usr/bin/python3 -c '
import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
with open("ids", "w") as file: file.write(str(os.getpid()))
quiet = os.open("/dev/null", os.O_RDWR)
for number in [0, 1, 2]: os.dup2(quiet, number)
os.execve("/bin/sh", ["sh", "-c", ": >ready; sleep 60; :"], {})
'; until [ -e ready ]; do sleep 0.01; done"#;

/// Runs one of the tests below in a process of its own.
fn alone(name: &str) -> Output {
    let path = module_path!();
    let path = path.split_once("::").map_or(path, |(_, rest)| rest);
    Command::new(std::env::current_exe().unwrap())
        .args([
            &format!("{path}::{name}"),
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(ALONE, "1")
        .output()
        .unwrap()
}

fn assert_passed(output: &Output) {
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains("1 passed"),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn orphans_are_killed_and_reaped() {
    assert_passed(&alone("adopted_orphans_are_killed"));
}

#[test]
fn orphans_wait_until_no_call_is_under_way() {
    assert_passed(&alone("adopted_orphans_outlive_a_call_beside_others"));
}

#[test]
#[ignore = "is run by orphans_are_killed_and_reaped"]
fn adopted_orphans_are_killed() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    adopt_orphans().unwrap();
    for _ in 0..3 {
        let room = tempfile::tempdir().unwrap();
        let ended = run(&bash_in(room.path(), UNMARKED)).unwrap();
        assert_eq!(ended.exit, Exit::Code(0));
        assert_all_dead(&room.path().join("ids"));
        assert_eq!(children(), []);
    }
    // One that ends by itself has to be waited for as well.
    run(&bash(
        "( env -i setsid /bin/true & ) >/dev/null 2>&1; sleep 0.2",
    ))
    .unwrap();
    assert_eq!(children(), []);
}

#[test]
#[ignore = "is run by orphans_wait_until_no_call_is_under_way"]
fn adopted_orphans_outlive_a_call_beside_others() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    adopt_orphans().unwrap();
    let room = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        let long = scope.spawn(|| run(&bash("sleep 3; echo whole")).unwrap());
        thread::sleep(Duration::from_millis(200));
        run(&bash_in(room.path(), UNMARKED)).unwrap();
        // Nobody can tell whose this one is, so it lives as long as the other call.
        assert!(lives(numbers_in(&room.path().join("ids"))[0]));
        assert_eq!(long.join().unwrap().stdout, b"whole\n");
    });
    assert_all_dead(&room.path().join("ids"));
    assert_eq!(children(), []);
}

fn children() -> Vec<table::Seen> {
    let own = rustix::process::getpid().as_raw_pid();
    let mut children = table::processes();
    children.retain(|seen| seen.parent == own);
    children
}
