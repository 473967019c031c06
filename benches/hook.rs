//! What an agent waits for at each tool call, all in one run: `cargo build --release && cargo
//! run --release --example hook`, with the path of another binary behind `--` to measure that.
//!
//! `hookbox hook claude-code` with the seven hooks of governed-agent beside hooks of the
//! usual kinds that make one of their checks, as `install` wires it and as `install --alone`
//! does, and with ten hooks that match beside a thousand of which ten match.

mod server;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use server::{Any, Serving, binary, whose};

/// Measured in turns, so that whatever else the machine does hits all alike.
const ROUNDS: usize = 64;

/// Longer than the grain of the clock of files, after which hooks are kept.
const SETTLE: Duration = Duration::from_secs(4);

const PAYLOAD: &str = r#"{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la src"},"tool_use_id":"u"}"#;

const BASH: &str = r#"input=$(</dev/stdin)
case "$input" in
  *"rm -rf /"*|*mkfs*|*"dd if="*|*shutdown*) echo "dangerous command" >&2; exit 2 ;;
esac
"#;

const BASH_JQ: &str = r#"command=$(jq -r '.tool_input.command // ""')
case "$command" in
  *"rm -rf /"*|*mkfs*|*"dd if="*|*shutdown*) echo "dangerous command" >&2; exit 2 ;;
esac
"#;

const PYTHON: &str = r#"import json, sys
command = json.load(sys.stdin).get("tool_input", {}).get("command", "")
if any(word in command for word in ["rm -rf /", "mkfs", "dd if=", "shutdown"]):
    print("dangerous command", file=sys.stderr)
    sys.exit(2)
"#;

const NODE: &str = r#"const said = JSON.parse(require("fs").readFileSync(0, "utf8"));
const command = (said.tool_input || {}).command || "";
if (["rm -rf /", "mkfs", "dd if=", "shutdown"].some((word) => command.includes(word))) {
  console.error("dangerous command");
  process.exit(2);
}
"#;

/// Something that is started for each event.
struct Contestant {
    name: &'static str,
    command: Vec<String>,
    /// Where it finds a server.
    serve: String,
    took: Vec<Duration>,
}

fn main() -> Any<()> {
    let folder = tempfile::tempdir()?;
    let hookbox = binary()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let governed = folder.path().join("governed");
    copy(
        &root.join("examples/governed-agent/.harness/hooks"),
        &governed.join(".harness/hooks"),
    )?;
    let few = project(folder.path(), 10)?;
    let many = project(folder.path(), 1_000)?;
    let hook = |project: &Path| {
        let project = project.display().to_string();
        let words = [
            "hook",
            "claude-code",
            "--event",
            "PreToolUse",
            "--project",
            &project,
        ];
        std::iter::once(hookbox.display().to_string())
            .chain(words.map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let serve = |project: &Path| [hook(project), vec!["--serve".to_owned()]].concat();
    let serving = Serving::start(&hookbox, folder.path(), &governed)?;
    let mut all = vec![
        script(folder.path(), "bash", "bash", BASH)?,
        script(folder.path(), "bash+jq", "bash", BASH_JQ)?,
        script(folder.path(), "python3", "python3", PYTHON)?,
        script(folder.path(), "node", "node", NODE)?,
        Contestant {
            serve: serving.socket.display().to_string(),
            ..contestant("hookbox, governed-agent", serve(&governed))
        },
        contestant("the same, alone", hook(&governed)),
        contestant("10 hooks, alone", hook(&few)),
        contestant("1,000 hooks, alone", hook(&many)),
    ];
    std::thread::sleep(SETTLE);
    // The first call compiles, the second one keeps.
    for contestant in &mut all {
        contestant.run()?;
        contestant.run()?;
        contestant.took.clear();
    }
    for round in 0..ROUNDS {
        let count = all.len();
        for turn in 0..count {
            all[whose(round, turn, count)].run()?;
        }
    }
    print(&mut all);
    Ok(())
}

fn print(all: &mut [Contestant]) {
    println!(
        "{:26} {:>10} {:>10}  {:>14}",
        "", "min", "median", "median/bash"
    );
    let medians: Vec<f64> = all.iter_mut().map(Contestant::median).collect();
    for (contestant, median) in all.iter().zip(&medians) {
        let min = contestant.took.first().map_or(0.0, millis);
        println!(
            "{:26} {min:>7.2} ms {median:>7.2} ms  {:>14.2}",
            contestant.name,
            median / medians[0]
        );
    }
    let [_, jq, _, node, wired, alone, few, many] = medians[..] else {
        return;
    };
    println!(
        "\nhookbox is {:.1} times as fast as bash+jq, {:.1} times as fast as node",
        jq / wired,
        node / wired
    );
    println!(
        "alone, {:.1} times as fast as bash+jq, {:.1} times as fast as node",
        jq / alone,
        node / alone
    );
    println!(
        "1,000 hooks of which 10 match cost {:.2} times what 10 cost",
        many / few
    );
}

impl Contestant {
    fn run(&mut self) -> Any<()> {
        let started = Instant::now();
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .env("HOOKBOX_SERVE", &self.serve)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(PAYLOAD.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        self.took.push(started.elapsed());
        if !output.status.success() {
            return Err(format!("{} refused: {output:?}", self.name).into());
        }
        Ok(())
    }

    fn median(&mut self) -> f64 {
        self.took.sort();
        self.took.get(self.took.len() / 2).map_or(0.0, millis)
    }
}

fn millis(time: &Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn contestant(name: &'static str, command: Vec<String>) -> Contestant {
    Contestant {
        name,
        command,
        serve: "off".to_owned(),
        took: Vec::new(),
    }
}

fn script(folder: &Path, name: &'static str, program: &str, text: &str) -> Any<Contestant> {
    let path = folder.join(name);
    std::fs::write(&path, text)?;
    let command = vec![program.to_owned(), path.display().to_string()];
    Ok(contestant(name, command))
}

/// A project with some hooks, ten of which are about the tool that is called.
fn project(folder: &Path, count: usize) -> Any<PathBuf> {
    let project = folder.join(format!("with-{count}"));
    let hooks = project.join(".harness/hooks");
    std::fs::create_dir_all(&hooks)?;
    for number in 0..count {
        let tool = if number < 10 {
            "run_command".to_owned()
        } else {
            format!("tool_{number}")
        };
        let text = format!(
            "---\nevent: tool.pre\npriority: {number}\nwhen: payload[\"name\"] == \"{tool}\"\nscript: |\n  def handle(event, payload):\n      if \"mkfs\" in payload[\"args\"].get(\"command\", \"\"):\n          return block(\"no\")\n      return allow()\n---\n# guard_{number}\n"
        );
        std::fs::write(hooks.join(format!("guard_{number:04}.md")), text)?;
    }
    Ok(project)
}

fn copy(from: &Path, to: &Path) -> Any<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
