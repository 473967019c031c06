//! The real agents, asked by a model that follows a script to run `touch MARKER`: a
//! policy of this project stops them, changes the command, or lets them go on. They run
//! where there is no network but a loopback, with a home of their own. `install` in
//! `tests/real_agents` puts them in place; then
//! `cargo test --release --test real_agents -- --include-ignored`.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

const REASON: &str = "touching is not allowed here";
const PROMPT: &str = "please touch the file";
/// Nobody else is in the namespace, so any port is free.
const PORT: u16 = 8917;
/// A first start reads hundreds of megabytes from disk.
const PATIENCE_SECONDS: &str = "180";

const BLOCKS: &str = r#"if "touch" in payload["args"]["command"]:
          return block("touching is not allowed here")
      return allow()"#;
const ALLOWS: &str = "return allow()";
const REWRITES: &str = r#"command = payload["args"]["command"]
      return modify({"args": {"command": command.replace("/marker", "/rewritten")}})"#;

/// An agent, and what it takes to start it without a person or a network.
struct Agent {
    /// As `hookbox install` calls it.
    name: &'static str,
    /// What Node starts, below `node_modules`.
    script: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    /// Settings of the user, in the home.
    settings: Option<(&'static str, &'static str)>,
    /// How the agent itself tells that a hook for tool calls was run.
    ran_hook: &'static str,
}

/// Hooks of a folder run without a question under `-p`.
const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    // The package's own program is there only after its install script.
    script: "@anthropic-ai/claude-code/cli-wrapper.cjs",
    arguments: &[
        "-p",
        PROMPT,
        "--dangerously-skip-permissions",
        "--output-format=stream-json",
        "--verbose",
        "--include-hook-events",
    ],
    environment: &[
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8917"),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        // Otherwise it refuses to skip permissions as root.
        ("IS_SANDBOX", "1"),
    ],
    settings: None,
    ran_hook: r#""hook_event":"PreToolUse","output":"#,
};

/// Hooks of a folder run only in a trusted one, and only those that were reviewed.
const CODEX: Agent = Agent {
    name: "codex",
    script: "@openai/codex/bin/codex.js",
    arguments: &[
        "exec",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "--trust",
        PROMPT,
    ],
    environment: &[("OPENAI_API_KEY", "none")],
    settings: Some((
        ".codex/config.toml",
        r#"
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:8917/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
"#,
    )),
    ran_hook: "hook: PreToolUse",
};

/// Hooks of a folder run only in a trusted one; `--skip-trust` would leave them out
/// without a word.
const GEMINI: Agent = Agent {
    name: "gemini",
    script: "@google/gemini-cli/bundle/gemini.js",
    // Any other model is chosen by asking a model.
    arguments: &["--yolo", "--debug", "-m", "gemini-2.5-flash", "-p", PROMPT],
    environment: &[
        ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:8917"),
        ("GEMINI_API_KEY", "none"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        // Its parent process would only start a second one with more memory.
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ],
    settings: Some((
        ".gemini/settings.json",
        r#"{
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "privacy": {"usageStatisticsEnabled": false}
        }"#,
    )),
    ran_hook: "Hook execution for BeforeTool",
};

/// What came of a session.
struct Session {
    folder: TempDir,
    output: Output,
    /// What the model was asked.
    requests: Vec<Value>,
}

impl Session {
    fn touched(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }

    /// Says whether the agent told the model this of its call.
    fn told_model(&self, text: &str) -> bool {
        self.requests
            .iter()
            .any(|request| request["outcome"] == true && request.to_string().contains(text))
    }

    /// Everything that helps to see what happened.
    fn story(&self) -> String {
        let asked = self.requests.iter().map(|request| {
            let text = request.to_string();
            // The end has the conversation; before that are instructions, at length.
            let end = text.char_indices().rev().nth(4000).map_or(0, |(at, _)| at);
            format!("asked: …{}", &text[end..])
        });
        format!(
            "{}\n--- output ---\n{}\n--- errors ---\n{}\n--- model ---\n{}",
            self.output.status,
            String::from_utf8_lossy(&self.output.stdout),
            String::from_utf8_lossy(&self.output.stderr),
            asked.collect::<Vec<_>>().join("\n"),
        )
    }

    fn printed(&self, text: &str) -> bool {
        [&self.output.stdout, &self.output.stderr]
            .iter()
            .any(|bytes| String::from_utf8_lossy(bytes).contains(text))
    }

    /// The agent came to its end, and the model heard what became of its call.
    #[track_caller]
    fn finished(&self) {
        assert!(self.output.status.success(), "{}", self.story());
        assert!(self.told_model(""), "no outcome: {}", self.story());
    }
}

/// Runs an agent in a new project, with a policy or without any hook.
fn run(agent: &Agent, policy: Option<&str>) -> Option<Session> {
    let start = match program(agent).and_then(|program| separate().map(|()| program)) {
        Ok(program) => program,
        Err(why) => {
            skip(agent, &why);
            return None;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["home", "project", "tmp"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let project = folder.path().join("project");
    assert!(git_init(&project), "git init");
    if let Some((path, text)) = agent.settings {
        write(&folder.path().join("home").join(path), text);
    }
    if let Some(policy) = policy {
        write(&project.join(".harness/hooks/no_touch.md"), &hook(policy));
        hookbox(folder.path(), &["validate"]);
        hookbox(folder.path(), &["install", agent.name, "--project"]);
    }
    let output = inside(folder.path(), agent, &start);
    let log = fs::read_to_string(folder.path().join("requests")).unwrap_or_default();
    let requests = log.lines().map(|line| serde_json::from_str(line).unwrap());
    Some(Session {
        requests: requests.collect(),
        folder,
        output,
    })
}

/// A direct write is seen even when the test harness keeps what tests print.
fn skip(agent: &Agent, why: &str) {
    let line = format!("SKIPPED: nothing was proved about {}: {why}\n", agent.name);
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

fn program(agent: &Agent) -> Result<PathBuf, String> {
    let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/agents");
    let script = chosen("HOOKBOX_AGENTS", agents)
        .join("node_modules")
        .join(agent.script);
    if script.exists() {
        Ok(script)
    } else {
        Err(format!("there is no {}", script.display()))
    }
}

/// What puts a command where it has no network and leaves nothing running behind.
const SEPARATE: [&str; 6] = [
    "--map-root-user",
    "--net",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
];

/// Says why there is no way to shut the network out.
fn separate() -> Result<(), String> {
    static ONCE: OnceLock<Result<(), String>> = OnceLock::new();
    ONCE.get_or_init(try_separate).clone()
}

fn try_separate() -> Result<(), String> {
    let output = Command::new("unshare")
        .args(SEPARATE)
        .args(["stat", "-c", "%u", "/"])
        .output()
        .map_err(|error| format!("unshare: {error}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("no namespace: {why}"));
    }
    // Whoever is not root sees the system's folders as a stranger's in there, and
    // hookbox loads no code from below those.
    if output.stdout.trim_ascii() != b"0" {
        return Err("the tests have to be run as root".to_owned());
    }
    Ok(())
}

fn git_init(folder: &Path) -> bool {
    Command::new("git")
        .args(["init", "-q"])
        .current_dir(folder)
        .status()
        .is_ok_and(|status| status.success())
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn hook(body: &str) -> String {
    format!(
        r#"---
event: tool.pre
priority: 1
when: payload["name"] == "run_command"
script: |
  def handle(event, payload):
      {body}
---
# no_touch

refuse touch
"#
    )
}

/// Compiled code is kept, so that only the first hook waits for the compiler.
fn cache() -> PathBuf {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents-cache");
    chosen("HOOKBOX_CACHE_DIR", own)
}

/// A folder from the environment, for processes that start elsewhere.
fn chosen(variable: &str, otherwise: PathBuf) -> PathBuf {
    let folder = std::env::var_os(variable).map_or(otherwise, PathBuf::from);
    std::path::absolute(folder).unwrap()
}

/// Runs the binary as a person in the project would.
fn hookbox(folder: &Path, arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args(arguments)
        .current_dir(folder.join("project"))
        .env("HOME", folder.join("home"))
        .env("HOOKBOX_CACHE_DIR", cache())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// Runs the agent beside its model. Whatever the environment of the test says of keys,
/// proxies or other agents does not reach it.
fn inside(folder: &Path, agent: &Agent, program: &Path) -> Output {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_agents/beside_model");
    let mut command = Command::new("timeout");
    command
        .args(["--kill-after=5", PATIENCE_SECONDS, "unshare"])
        .args(SEPARATE)
        .arg(beside)
        .arg(folder.join("marker"))
        .arg(folder.join("requests"))
        .arg(PORT.to_string())
        .args(["env", "-i", "TERM=dumb", "LANG=C.UTF-8"])
        .arg(format!("HOME={}", folder.join("home").display()))
        .arg(format!("TMPDIR={}", folder.join("tmp").display()))
        .arg(format!(
            "CLAUDE_CODE_TMPDIR={}",
            folder.join("tmp").display()
        ))
        .arg(format!("HOOKBOX_CACHE_DIR={}", cache().display()))
        .arg(format!("PATH={}", std::env::var("PATH").unwrap()))
        .args(
            agent
                .environment
                .iter()
                .map(|(key, value)| format!("{key}={value}")),
        )
        .arg("node")
        .arg(program)
        .args(agent.arguments)
        .current_dir(folder.join("project"));
    command.output().unwrap()
}

/// The other tests prove something only because of this one.
#[track_caller]
fn runs_without_hooks(agent: &Agent) {
    let Some(session) = run(agent, None) else {
        return;
    };
    session.finished();
    assert!(session.touched("marker"), "{}", session.story());
    assert!(!session.printed(agent.ran_hook), "{}", session.story());
}

#[track_caller]
fn blocks(agent: &Agent) {
    let Some(session) = run(agent, Some(BLOCKS)) else {
        return;
    };
    session.finished();
    assert!(session.printed(agent.ran_hook), "{}", session.story());
    assert!(!session.touched("marker"), "{}", session.story());
    assert!(session.told_model(REASON), "{}", session.story());
}

#[track_caller]
fn allows(agent: &Agent) {
    let Some(session) = run(agent, Some(ALLOWS)) else {
        return;
    };
    session.finished();
    assert!(session.printed(agent.ran_hook), "{}", session.story());
    assert!(session.touched("marker"), "{}", session.story());
    assert!(!session.told_model(REASON), "{}", session.story());
}

#[track_caller]
fn rewrites(agent: &Agent) {
    let Some(session) = run(agent, Some(REWRITES)) else {
        return;
    };
    session.finished();
    assert!(!session.touched("marker"), "{}", session.story());
    assert!(session.touched("rewritten"), "{}", session.story());
}

macro_rules! proofs {
    ($($name:ident: $proof:ident($agent:expr);)*) => {
        $(
            #[test]
            #[ignore = "needs the real agents: tests/real_agents/install"]
            fn $name() {
                $proof(&$agent);
            }
        )*
    };
}

proofs! {
    claude_code_runs_without_hooks: runs_without_hooks(CLAUDE_CODE);
    claude_code_blocks: blocks(CLAUDE_CODE);
    claude_code_allows: allows(CLAUDE_CODE);
    claude_code_rewrites: rewrites(CLAUDE_CODE);
    codex_runs_without_hooks: runs_without_hooks(CODEX);
    codex_blocks: blocks(CODEX);
    codex_allows: allows(CODEX);
    codex_rewrites: rewrites(CODEX);
    gemini_runs_without_hooks: runs_without_hooks(GEMINI);
    gemini_blocks: blocks(GEMINI);
    gemini_allows: allows(GEMINI);
    gemini_rewrites: rewrites(GEMINI);
}
