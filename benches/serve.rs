//! What an agent waits for, all in one run: `cargo build --release && cargo run --release
//! --example serve`, with the path of another binary behind `--` to measure that.
//!
//! A `hookbox hook` process for each event beside a server that is there: asked by such a
//! process, by a program that connects each time, and by one that stays connected.

mod server;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use server::{Any, Serving, binary, whose};

/// Asks once.
type Work<'a> = Box<dyn FnMut() -> Any<()> + 'a>;

/// Measured in turns, so that whatever else the machine does hits all alike.
const ROUNDS: usize = 300;

const HOOK: &str = r#"---
event: tool.pre
priority: 10
script: |
  def handle(event, payload):
      cmd = payload["args"].get("command", "")
      for pattern in ["rm -rf /", "mkfs", "dd if=", "shutdown"]:
          if pattern in cmd:
              return block("dangerous command pattern blocked")
      return allow()
---
# guard
"#;

fn main() -> Any<()> {
    let scratch = tempfile::tempdir()?;
    let small = scratch.path().join("small");
    std::fs::create_dir_all(small.join(".harness/hooks"))?;
    std::fs::write(small.join(".harness/hooks/guard.md"), HOOK)?;
    let governed = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/governed-agent");
    let serving = Serving::start(&binary()?, scratch.path(), &governed)?;
    // A file that was written just now is read again each time.
    std::thread::sleep(Duration::from_secs(3));
    contest("one Starlark hook", &serving, &small, scratch.path())?;
    contest("governed-agent", &serving, &governed, scratch.path())
}

fn contest(title: &str, serving: &Serving, project: &Path, scratch: &Path) -> Any<()> {
    let input = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": project,
        "tool_name": "Bash", "tool_input": {"command": "cargo test --release"},
    })
    .to_string();
    let request = request(serving, &input);
    let mut socket = UnixStream::connect(&serving.socket)?;
    let mut port = TcpStream::connect(("127.0.0.1", serving.port))?;
    port.set_nodelay(true)?;
    let path = serving.socket.display().to_string();
    let mut contestants: Vec<(&str, Work<'_>)> = vec![
        (
            "a `hookbox hook` process, on its own",
            Box::new(|| process("off", &input, scratch)),
        ),
        (
            "a `hookbox hook` process that asks the server",
            Box::new(|| process(&path, &input, scratch)),
        ),
        (
            "the Unix socket, connected each time",
            Box::new(|| ask(&mut UnixStream::connect(&serving.socket)?, &request)),
        ),
        (
            "the Unix socket, connection kept",
            Box::new(|| ask(&mut socket, &request)),
        ),
        (
            "loopback, connection kept",
            Box::new(|| ask(&mut port, &request)),
        ),
    ];
    let mut times = vec![Vec::new(); contestants.len()];
    let count = contestants.len();
    for round in 0..ROUNDS + ROUNDS / 10 {
        for turn in 0..count {
            let who = whose(round, turn, count);
            let started = Instant::now();
            contestants[who].1()?;
            // The first tenth warms caches up.
            if round >= ROUNDS / 10 {
                times[who].push(started.elapsed());
            }
        }
    }
    println!("\n{title} (minimum and median of {ROUNDS} turns)\n");
    println!("| | minimum | | median | |");
    println!("|---|---:|---:|---:|---:|");
    for times in &mut times {
        times.sort();
    }
    let (least, middle) = (times[0][0], times[0][ROUNDS / 2]);
    for (times, (name, _)) in times.iter().zip(&contestants) {
        let (min, median) = (times[0], times[ROUNDS / 2]);
        println!(
            "| {name} | {} | {:.3} | {} | {:.3} |",
            shown(min),
            ratio(min, least),
            shown(median),
            ratio(median, middle)
        );
    }
    Ok(())
}

fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

fn shown(time: Duration) -> String {
    format!("{:.0} µs", time.as_secs_f64() * 1e6)
}

fn process(serve: &str, input: &str, folder: &Path) -> Any<()> {
    let mut child = Command::new(binary()?)
        .args(["hook", "claude-code", "--event", "PreToolUse"])
        .env("HOOKBOX_SERVE", serve)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("no pipe")?
        .write_all(input.as_bytes())?;
    if !child.wait()?.success() {
        return Err("the hooks said no".into());
    }
    Ok(())
}

fn ask(stream: &mut (impl Read + Write), request: &[u8]) -> Any<()> {
    stream.write_all(request)?;
    let mut room = [0; 4 << 10];
    let read = stream.read(&mut room)?;
    let answer = String::from_utf8_lossy(&room[..read]);
    if answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(r#""code":0}"#) {
        return Ok(());
    }
    Err(format!("an odd answer: {answer}").into())
}

fn request(serving: &Serving, body: &str) -> Vec<u8> {
    format!(
        "POST /v1/hook/claude-code?event=PreToolUse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        serving.token,
        body.len()
    )
    .into_bytes()
}
