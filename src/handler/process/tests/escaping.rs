//! What has left its parent, its group or its session.

use super::*;

const DAEMON: &str = r#"
import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
with open("ids", "w") as file: file.write(str(os.getpid()))
quiet = os.open("/dev/null", os.O_RDWR)
for number in [0, 1, 2]: os.dup2(quiet, number)
open("ready", "w").close()
time.sleep(60)
"#;

const UNTIL_READY: &str = "until [ -e ready ]; do sleep 0.01; done";

fn python(program: &str) -> String {
    format!("/usr/bin/python3 -c '{program}'")
}

/// Runs a script that ends by itself; all of its processes have to be dead then.
fn left(text: &str) {
    let room = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let ended = run(&bash_in(room.path(), text)).unwrap();
    assert_eq!(ended.exit, Exit::Code(0), "{}", text_of(&ended));
    assert!(began.elapsed() < Duration::from_secs(30), "took too long");
    assert_all_dead(&room.path().join("ids"));
}

fn text_of(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

#[test]
fn a_session_of_its_own_is_no_way_out() {
    left(
        "setsid sh -c 'echo $$ >ids; touch ready; sleep 60' >/dev/null 2>&1 </dev/null & until [ -e ready ]; do sleep 0.01; done",
    );
}

#[test]
fn who_forgets_its_environment_is_found_by_its_session() {
    // An orphan with a group of its own, in the session of one that is marked.
    let program = r#"
import os, time
if os.fork(): os._exit(0)
os.setsid()
quiet = os.open("/dev/null", os.O_RDWR)
for number in [0, 1, 2]: os.dup2(quiet, number)
if os.fork() == 0:
    if os.fork(): os._exit(0)
    os.setpgid(0, 0)
    with open("ids", "w") as file: file.write(str(os.getpid()))
    os.execve("/bin/sh", ["sh", "-c", ": >ready; sleep 60; :"], {})
os.wait()
time.sleep(60)
"#;
    left(&format!("{}; {UNTIL_READY}", python(program)));
}

#[test]
fn who_forgets_its_environment_is_found_by_its_parent() {
    let room = tempfile::tempdir().unwrap();
    let text = "setsid env -i sleep 60 >/dev/null 2>&1 </dev/null & echo $! >ids; exec sleep 60";
    let ran = run_for(&bash_in(room.path(), text), Duration::from_secs(1));
    assert_eq!(killed(&ran), 2);
    assert_all_dead(&room.path().join("ids"));
}

#[test]
fn who_forgets_its_environment_is_found_by_its_group() {
    left("( env -i sleep 60 >/dev/null 2>&1 & echo $! >ids ); exit 0");
}

#[test]
fn a_daemon_is_found_by_its_environment() {
    left(&format!("{}; {UNTIL_READY}", python(DAEMON)));
}

#[test]
fn a_daemon_that_forgets_its_environment_is_found_by_its_output() {
    let keeps = r#"
import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
with open("ids", "w") as file: file.write(str(os.getpid()))
os.execve("/bin/sleep", ["sleep", "60"], {})
"#;
    let room = tempfile::tempdir().unwrap();
    let ran = run_for(
        &bash_in(room.path(), &python(keeps)),
        Duration::from_secs(2),
    );
    assert_eq!(killed(&ran), 1);
    assert_all_dead(&room.path().join("ids"));
}

#[test]
fn hooks_of_hooks_bear_both_marks() {
    let marker = marker::Marker::new();
    let inner = format!("A=b\0{MARKER}=0123.{}.4567\0C=d\0", marker.value());
    assert!(marker.is_in(inner.as_bytes()));
    assert!(!marker::Marker::new().is_in(inner.as_bytes()));
    let other = format!("OTHER={}\0", marker.value());
    assert!(!marker.is_in(other.as_bytes()));
}
