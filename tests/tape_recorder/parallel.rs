//! Many at once: threads, processes, and readers while somebody writes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use hookbox::Runtime;
use hookbox::tape::{Ending, Entry, Recorder, Replay};
use serde_json::json;

use super::{of_kind, place, run_command};
use crate::support::server::{Server, ok};
use crate::support::tape::{play_file, read, read_strictly, studio};
use crate::support::{Project, command, hook_file};

#[test]
fn dispatches_of_eight_threads_can_be_told_apart() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let project = studio();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    thread::scope(|scope| {
        for thread in 0..8 {
            let runtime = runtime.clone();
            scope.spawn(move || {
                for round in 0..10 {
                    let text = format!(
                        "{} {thread} {round}",
                        if round % 2 == 0 { "ls" } else { "rm " }
                    );
                    let outcome = runtime.dispatch("tool.pre", command(&text)).unwrap();
                    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
                }
            });
        }
    });
    recorder.close().unwrap();
    read_strictly(&std::fs::read(&path).unwrap()).unwrap();
    let played = play_file(&path);
    assert_eq!(
        (played.ending, played.dispatches.len()),
        (Ending::Closed, 80)
    );
    let numbers: BTreeSet<u64> = played.dispatches.iter().map(|one| one.number).collect();
    assert_eq!(numbers, (1..=80).collect());
    let payloads: BTreeSet<_> = played
        .dispatches
        .iter()
        .map(|one| one.start().payload.clone())
        .collect();
    assert_eq!(payloads.len(), 80);
    for dispatch in &played.dispatches {
        let blocks = dispatch.start().payload.contains("rm ");
        assert_eq!(dispatch.end().unwrap().reason.is_some(), blocks);
    }
    let begun: Vec<u64> = of_kind(&path, "dispatch")
        .iter()
        .map(|one| one["in"].as_u64().unwrap())
        .collect();
    assert_eq!(
        begun,
        (1..=80).collect::<Vec<_>>(),
        "they are numbered in the order of the tape"
    );
}

#[test]
fn nested_dispatches_have_their_parent_whoever_else_dispatches() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let project = studio();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    thread::scope(|scope| {
        for thread in 0..8 {
            let runtime = runtime.clone();
            scope.spawn(move || {
                for round in 0..5 {
                    let text = format!("{thread}.{round}");
                    runtime.dispatch("turn.start", json!(text)).unwrap();
                }
            });
        }
    });
    recorder.close().unwrap();
    let played = play_file(&path);
    assert_eq!(played.dispatches.len(), 40);
    for dispatch in &played.dispatches {
        let [child] = &dispatch.children[..] else {
            panic!("{:?}", dispatch.children);
        };
        assert_eq!(child.start().parent, Some(dispatch.number));
        assert_eq!(child.start().depth, 1);
        assert_eq!(&*child.start().event, "custom.told");
        let own = dispatch.start().payload.to_string();
        assert_eq!(*child.start().payload, format!("{{\"text\":{own}}}"));
        let numbers: Vec<u64> = dispatch
            .all_records()
            .iter()
            .map(|record| record.number)
            .collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}

/// Runtimes that begin at once stand on the tape under their own numbers.
#[test]
fn sessions_that_begin_at_once_are_not_mixed_up() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let projects: Vec<Project> = (0..8)
        .map(|index| {
            let script = format!("def handle(event, payload):\n    return block(\"hook{index}\")");
            Project::with(&[(
                &format!("hook{index}"),
                &hook_file("tool.pre", "priority: 1", &script),
            )])
        })
        .collect();
    thread::scope(|scope| {
        for project in &projects {
            let recorder = &recorder;
            scope.spawn(move || {
                let runtime = Runtime::builder(project.path())
                    .tape(recorder)
                    .load()
                    .unwrap();
                runtime.dispatch("tool.pre", command("ls")).unwrap();
            });
        }
    });
    recorder.close().unwrap();
    let played = play_file(&path);
    assert_eq!(played.dispatches.len(), 8);
    for dispatch in &played.dispatches {
        let hook = dispatch.end().unwrap().hook.clone().unwrap();
        assert_eq!(dispatch.project.hooks[0].name, *hook);
    }
}

#[test]
fn eight_processes_at_once_all_end_up_on_the_tape() {
    let (_folder, path) = place();
    let project = studio();
    let children: Vec<_> = (0..8)
        .map(|index| {
            let mut run = run_command(&project, &format!("ls {index}"), Some(&path));
            run.stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let played = play_file(&path);
    assert_eq!(
        (played.ending, played.dispatches.len()),
        (Ending::Closed, 8)
    );
    let payloads: BTreeSet<_> = played
        .dispatches
        .iter()
        .map(|one| one.start().payload.clone())
        .collect();
    assert_eq!(payloads.len(), 8);
    assert_eq!(of_kind(&path, "session").len(), 7);
}

#[test]
fn a_reader_of_a_tape_that_is_written_sees_ever_more_of_it() {
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let project = studio();
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    recorder.flush().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let writer = {
        let over = Arc::clone(&over);
        thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                runtime
                    .dispatch("turn.start", json!("hello ".repeat(200)))
                    .unwrap();
            }
        })
    };
    let (mut seen, mut grew) = (0, 0);
    while grew < 20 {
        let mut replay = Replay::open(&path).unwrap();
        let mut count = 0;
        while replay.next_dispatch().unwrap().is_some() {
            count += 1;
        }
        assert_ne!(replay.reader().ending(), Some(Ending::Closed));
        assert!(count >= seen, "{count} after {seen}");
        grew += usize::from(count > seen);
        seen = count;
    }
    over.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    recorder.close().unwrap();
    assert_eq!(play_file(&path).ending, Ending::Closed);
}

/// Whoever looks at the tape of a hook that hangs sees which one it is.
#[test]
fn hn_047_a_hook_call_is_in_the_file_while_its_handler_still_runs() {
    let (hold, held) = mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let server = Server::answering(move |_| {
        let _ = held.lock().unwrap().recv();
        ok("at last")
    });
    let (_folder, path) = place();
    let recorder = Recorder::create(&path).unwrap();
    let script = format!(
        "def handle(event, payload):\n    if payload[\"args\"][\"command\"] == \"wait\":\n        http.get(\"{}\")\n    return allow()",
        server.url("/")
    );
    let more = format!(
        "priority: 1\nlimits: {{ wall_time: 60s }}\ngrant:\n  http: [\"GET {}\"]",
        server.url("/*")
    );
    let project = Project::with(&[("waits", &hook_file("tool.pre", &more, &script))]);
    let runtime = Runtime::builder(project.path())
        .tape(&recorder)
        .load()
        .unwrap();
    let so_far = || {
        let mut replay = Replay::open(&path).unwrap();
        let mut whole = 0;
        while replay.next_dispatch().unwrap().is_some() {
            whole += 1;
        }
        (whole, replay.reader().records(), replay.unfinished())
    };
    recorder.flush().unwrap();
    // What was there before has nothing to do with when this one is written.
    for count in 1..=5 {
        runtime.dispatch("tool.pre", command("ls")).unwrap();
        while so_far().0 < count {
            thread::yield_now();
        }
    }
    let before = so_far().1;
    let waits = thread::spawn(move || runtime.dispatch("tool.pre", command("wait")).unwrap());
    while so_far().1 < before + 2 {
        assert!(!waits.is_finished());
        thread::yield_now();
    }
    assert_eq!(so_far().2, [6]);
    let records = read(&std::fs::read(&path).unwrap()).unwrap().records;
    let last = &records[before as usize + 1].entry;
    assert!(
        matches!(last, Entry::HookCall(call) if &*call.hook == "waits"),
        "{last:?}"
    );
    drop(hold);
    waits.join().unwrap();
    recorder.close().unwrap();
    let played = play_file(&path);
    let mut kinds = played.dispatches[5]
        .records
        .iter()
        .map(|record| &record.entry);
    assert!(
        kinds
            .any(|entry| matches!(entry, Entry::HostCall(call) if call.answer.contains("at last")))
    );
}
