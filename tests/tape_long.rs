//! A tape that is long enough to be read by several threads tells the same as one that
//! is read line by line, also where it is damaged.

mod support;

use std::path::Path;

use hookbox::Runtime;
use hookbox::tape::{Dispatch, Ending, Reader, Recorder, Replay};
use serde_json::json;
use support::Project;

/// All that a replay comes across: its dispatches, and how it ends.
type Told = (Vec<Dispatch>, Result<Option<Ending>, String>, u64, u64);

fn told<R: std::io::BufRead>(mut replay: Replay<R>) -> Told {
    let mut all = Vec::new();
    let end = loop {
        match replay.next_dispatch() {
            Ok(Some(dispatch)) => all.push(dispatch),
            Ok(None) => break Ok(replay.reader().ending()),
            Err(error) => break Err(error.to_string()),
        }
    };
    let reader = replay.reader();
    (all, end, reader.records(), reader.bytes())
}

fn both(path: &Path) -> Told {
    let one = told(Replay::new(Reader::open(path).unwrap()));
    let other = told(Replay::open(path).unwrap());
    assert!(one == other, "{:?} and {:?}", one.1, other.1);
    other
}

fn long_tape(path: &Path) -> Vec<u8> {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    let recorder = Recorder::create(path).unwrap();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    for number in 0..2_000 {
        // Two of them are longer than what is read at once.
        let length = match number {
            700 | 701 => 600_000,
            _ => number * 3 % 5_000,
        };
        let command = format!("{number} {}", "x".repeat(length));
        let payload = json!({"name": "run_command", "args": {"command": command}});
        runtime.dispatch("tool.pre", payload).unwrap();
    }
    recorder.close().unwrap();
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.len() > 5 << 20, "{} bytes", bytes.len());
    bytes
}

#[test]
fn many_threads_read_what_one_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.tape");
    let bytes = long_tape(&path);
    let (all, end, _, read) = both(&path);
    assert_eq!(all.len(), 2_000);
    assert_eq!(end, Ok(Some(Ending::Closed)));
    assert_eq!(read, bytes.len() as u64);

    // Cut anywhere.
    let longest = bytes
        .split_inclusive(|&byte| byte == b'\n')
        .max_by_key(|line| line.len());
    let longest = longest.unwrap().as_ptr() as usize - bytes.as_ptr() as usize;
    let ends = [bytes.len() - 1, bytes.len() - 700, 5 << 20, (4 << 20) + 1];
    let inside = [0, 1, 256 << 10, 500 << 10].map(|at| longest + at);
    for cut in ends.into_iter().chain(inside) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (_, end, ..) = both(&path);
        assert!(
            matches!(end, Ok(Some(Ending::Open | Ending::Torn { .. }))),
            "{end:?}"
        );
    }
    // One bit anywhere.
    for place in [5_000, 1 << 20, (3 << 20) + 17, bytes.len() - 40] {
        let mut flipped = bytes.clone();
        flipped[place] ^= 4;
        std::fs::write(&path, &flipped).unwrap();
        let (_, end, ..) = both(&path);
        let error = end.unwrap_err();
        assert!(error.starts_with("record "), "{error}");
    }
}

#[test]
fn whoever_stops_reading_early_leaves_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.tape");
    long_tape(&path);
    for _ in 0..20 {
        let mut replay = Replay::open(&path).unwrap();
        replay.next_dispatch().unwrap().unwrap();
    }
}
