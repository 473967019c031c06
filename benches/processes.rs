//! The same check as a process of its own, as agents run hooks today.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::projects::governed_agent;

const BASH: &str = r#"payload=$(</dev/stdin)
for pattern in 'rm -rf /' ':(){ :|:& };:' mkfs 'dd if=' shutdown; do
  [[ $payload == *"$pattern"* ]] && exit 2
done
exit 0"#;

const NODE: &str = r#"const payload = JSON.parse(require("fs").readFileSync(0, "utf8"));
const command = payload.args.command;
const patterns = ["rm -rf /", ":(){ :|:& };:", "mkfs", "dd if=", "shutdown"];
process.exit(patterns.some((pattern) => command.includes(pattern)) ? 2 : 0);"#;

pub fn bash(payload: &str) {
    run(Command::new("bash").args(["-c", BASH]), payload);
}

pub fn node(payload: &str) {
    run(Command::new("node").args(["-e", NODE]), payload);
}

pub fn hookbox(payload: &str) {
    let mut binary = std::env::current_exe().expect("a path");
    binary.set_file_name("hookbox");
    assert!(binary.exists(), "build it first: cargo build --release");
    let mut command = Command::new(binary);
    command
        .args(["run", "tool.pre", "--payload", "-", "--project"])
        .arg(governed_agent());
    run(&mut command, payload);
}

fn run(command: &mut Command, payload: &str) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(payload.as_bytes()).expect("a reader");
    drop(stdin);
    assert!(child.wait().expect("a child").success(), "{command:?}");
}
