//! What a tape costs, all in one run: `cargo run --release --example tape`.
//!
//! Recording beside not recording, replay beside live dispatch, `--check` beside plain
//! dispatch, and how much memory a reader holds while the tape grows. `-- --gigabytes 4`
//! makes the last tape larger, and `-- --only 16` measures only what has that in its name.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hookbox::Runtime;
use hookbox::tape::{Checker, Recorder, Replay};
use serde_json::{Value, json};

type Any<T> = Result<T, Box<dyn std::error::Error>>;

const SOURCE: &str = include_str!("../src/tape/quick.rs");

/// Measured in turns, so that whatever else the machine does hits all alike.
const ROUNDS: usize = 60;

fn main() -> Any<()> {
    let scratch = tempfile::tempdir()?;
    let mut args = std::env::args().skip(1);
    let (mut gigabytes, mut only) = (0.5, None);
    while let Some(arg) = args.next() {
        // What the memory of a reader is measured in: a process of its own.
        if arg == "--read" {
            return read_along(Path::new(&args.next().ok_or("which tape?")?));
        }
        if arg == "--gigabytes" {
            gigabytes = args.next().ok_or("how many?")?.parse()?;
        }
        if arg == "--only" {
            only = args.next();
        }
    }
    let mut projects = vec![
        ("one small component", component(scratch.path())?, call(40)),
        (
            "one small component, 16 KB",
            component(scratch.path())?,
            call(16_000),
        ),
        (
            "the same, source code",
            component(scratch.path())?,
            // What an agent writes has something to escape in each line.
            json!({"name": "write_file", "args": {"content": &SOURCE[..16_000]}}),
        ),
        ("one Starlark hook", starlark(scratch.path())?, call(40)),
        (
            "governed-agent, 5 hooks",
            root().join("examples/governed-agent"),
            call(40),
        ),
    ];
    projects.retain(|(name, ..)| only.as_deref().is_none_or(|part| name.contains(part)));
    println!("recording (medians of {ROUNDS} turns)\n");
    println!("| hooks | dispatch | recorded | recording costs | on the tape |");
    println!("|---|---:|---:|---:|---:|");
    for (name, project, payload) in &projects {
        recording(name, project, payload, scratch.path())?;
    }
    println!("\nreading back\n");
    println!(
        "| hooks | live | replay | against live | replay reads | check | against live on one core |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, project, payload) in &projects {
        reading(name, project, payload, scratch.path())?;
    }
    if only.is_some() {
        return Ok(());
    }
    memory(&projects[1], gigabytes, scratch.path())
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn call(length: usize) -> Value {
    let command = "x".repeat(length);
    json!({"name": "run_command", "args": {"command": command}})
}

fn component(scratch: &Path) -> Any<PathBuf> {
    let wasm = std::fs::read(root().join("tests/conformance/components/rust.wasm"))?;
    let hook = "---\nevent: tool.pre\npriority: 1\ncomponent: guard.wasm\ngrant: { http: [\"GET https://example.com/*\"], tools: [t], env: [E], read: [\".\"], hooks: read }\n---\n# guard\n";
    let folder = scratch.join("component");
    let hooks = folder.join(".harness/hooks");
    std::fs::create_dir_all(&hooks)?;
    std::fs::write(hooks.join("guard.wasm"), wasm)?;
    std::fs::write(hooks.join("guard.md"), hook)?;
    Ok(folder)
}

fn starlark(scratch: &Path) -> Any<PathBuf> {
    let hook = "---\nevent: tool.pre\npriority: 1\nscript: |\n  def handle(event, payload):\n      if \"rm -rf /\" in payload[\"args\"][\"command\"]:\n          return block(\"no\")\n      return allow()\n---\n# guard\n";
    let folder = scratch.join("starlark");
    let hooks = folder.join(".harness/hooks");
    std::fs::create_dir_all(&hooks)?;
    std::fs::write(hooks.join("guard.md"), hook)?;
    Ok(folder)
}

/// Dispatches for about a millisecond and a half, and returns the time of one.
fn turn(runtime: &Runtime, payload: &Value, calls: usize) -> Any<Duration> {
    let started = Instant::now();
    for _ in 0..calls {
        runtime.dispatch("tool.pre", payload.clone())?;
    }
    Ok(started.elapsed() / u32::try_from(calls)?)
}

fn recording(name: &str, project: &Path, payload: &Value, scratch: &Path) -> Any<()> {
    let path = scratch.join("recording.tape");
    let plain = Runtime::load(project)?;
    let recorder = Recorder::create(&path)?;
    let recorded = Runtime::builder(project).tape(&recorder).load()?;
    let calls = calls_in(&plain, payload, Duration::from_millis(20))?;
    let (mut without, mut with, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (one, other) = (
            turn(&plain, payload, calls)?,
            turn(&recorded, payload, calls)?,
        );
        ratios.push(other.as_secs_f64() / one.as_secs_f64());
        without.push(one);
        with.push(other);
    }
    ratios.sort_by(f64::total_cmp);
    recorder.close()?;
    let bytes = std::fs::metadata(&path)?.len() / (ROUNDS * calls) as u64;
    std::fs::remove_file(&path)?;
    let (without, with) = (median(without), median(with));
    println!(
        "| {name} | {} | {} | {:+.1} % | {bytes} B |",
        shown(without),
        shown(with),
        (ratios[ratios.len() / 2] - 1.0) * 100.0
    );
    Ok(())
}

fn calls_in(runtime: &Runtime, payload: &Value, time: Duration) -> Any<usize> {
    turn(runtime, payload, 5)?;
    let one = turn(runtime, payload, 5)?;
    Ok(((time.as_secs_f64() / one.as_secs_f64()) as usize).clamp(3, 5_000))
}

fn reading(name: &str, project: &Path, payload: &Value, scratch: &Path) -> Any<()> {
    let path = scratch.join("reading.tape");
    let plain = Runtime::load(project)?;
    let count = calls_in(&plain, payload, Duration::from_millis(1_500))?;
    record(project, payload, count, &path)?;
    let checker = Checker::load(Runtime::builder(project))?;
    let bytes = std::fs::metadata(&path)?.len();
    let (mut live, mut replays, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        live.push(turn(&plain, payload, count)?);
        let started = Instant::now();
        let mut replay = Replay::open(&path)?;
        while replay.next_dispatch()?.is_some() {}
        replays.push(started.elapsed() / u32::try_from(count)?);
        let started = Instant::now();
        let mut differing = 0;
        checker.check_all(&mut Replay::open(&path)?, |seen| {
            if let hookbox::tape::Seen::Checked(_, checked) = seen {
                differing += usize::from(checked.difference.is_some());
            }
        })?;
        checks.push(started.elapsed() / u32::try_from(count)?);
        assert_eq!(differing, 0, "today's hooks are the recorded ones");
    }
    std::fs::remove_file(&path)?;
    let (live, replay, check) = (median(live), median(replays), median(checks));
    println!(
        "| {name} | {} | {} | {:.0} times as fast | {:.0} MB/s | {} | {:.2} times as long |",
        shown(live),
        shown(replay),
        live.as_secs_f64() / replay.as_secs_f64(),
        bytes as f64 / count as f64 / replay.as_secs_f64() / 1e6,
        shown(check),
        check.as_secs_f64() / live.as_secs_f64(),
    );
    Ok(())
}

fn record(project: &Path, payload: &Value, count: usize, path: &Path) -> Any<()> {
    let recorder = Recorder::create(path)?;
    let runtime = Runtime::builder(project).tape(&recorder).load()?;
    for _ in 0..count {
        runtime.dispatch("tool.pre", payload.clone())?;
    }
    Ok(recorder.close()?)
}

/// Lets a process of its own read tapes of growing length, and shows what it held.
fn memory(case: &(&str, PathBuf, Value), gigabytes: f64, scratch: &Path) -> Any<()> {
    println!("\nmemory of a reader\n");
    println!("| tape | read in | most memory |");
    println!("|---:|---:|---:|");
    let (_, project, _) = case;
    let path = scratch.join("large.tape");
    let recorder = Recorder::create(&path)?;
    let runtime = Runtime::builder(project).tape(&recorder).load()?;
    let mut steps = vec![gigabytes / 8.0, gigabytes / 4.0, gigabytes / 2.0, gigabytes];
    steps.reverse();
    let mut number = 0_u64;
    while let Some(step) = steps.pop() {
        while (std::fs::metadata(&path)?.len() as f64) < step * 1e9 {
            for _ in 0..2_000 {
                number += 1;
                // Every payload is another one, so that nothing is stored only once.
                let command = format!("{number} {}", "x".repeat(4_000));
                let payload = json!({"name": "run_command", "args": {"command": command}});
                runtime.dispatch("tool.pre", payload)?;
            }
            recorder.flush()?;
        }
        let started = Instant::now();
        let output = Command::new(std::env::current_exe()?)
            .arg("--read")
            .arg(&path)
            .output()?;
        let took = started.elapsed();
        let held = String::from_utf8(output.stdout)?;
        println!(
            "| {:.2} GB | {:.1} s | {} |",
            std::fs::metadata(&path)?.len() as f64 / 1e9,
            took.as_secs_f64(),
            held.trim()
        );
    }
    Ok(())
}

fn read_along(path: &Path) -> Any<()> {
    let mut replay = Replay::open(path)?;
    while replay.next_dispatch()?.is_some() {}
    let status = std::fs::read_to_string("/proc/self/status")?;
    let most = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "{}",
        most.ok_or("no VmHWM")?.trim_start_matches("VmHWM:").trim()
    );
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn shown(time: Duration) -> String {
    let microseconds = time.as_secs_f64() * 1e6;
    if microseconds < 1_000.0 {
        format!("{microseconds:.1} µs")
    } else {
        format!("{:.2} ms", microseconds / 1e3)
    }
}
