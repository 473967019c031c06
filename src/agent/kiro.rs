//! Kiro. Exit code 2 blocks; what stands on standard output is context for some events
//! and nothing for the others.

use serde_json::{Value, json};

use super::install::{Approve, Command, Form, Home, Settings, Shape, Version, Wiring};
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, native, together, tool};

/// Kiro CLI.
pub(super) static AGENT: Agent = Agent {
    name: "kiro",
    title: "Kiro",
    events: &EVENTS,
    event_key: "hook_event_name",
    tools: &TOOLS,
    mcp,
    merges: false,
    encode,
    wiring: WIRING,
};

/// It reads every file of a folder, so ours is one of our own.
const WIRING: Wiring = Wiring {
    project: ".kiro/hooks/hookbox.json",
    home: Home {
        variable: None,
        folder: ".kiro",
    },
    user: "hooks/hookbox.json",
    form: Form::Settings(Settings {
        version: Some(Version::Word("v1")),
        ..Settings::of(Shape::Triggers, entry)
    }),
    approve: Approve {
        project: &[],
        user: &["Kiro reads ~/.kiro/hooks/ since 2.13; with an older one install for the project"],
        seen: false,
    },
    doubles: true,
    checks: |_| Vec::new(),
};

fn entry(event: &AgentEvent, command: &Command) -> Value {
    json!({
        "name": format!("hookbox-{}", event.name),
        "trigger": event.name,
        "action": {"type": "command", "command": command.line(event)},
        "timeout": event.timeout.as_secs(),
    })
}

const EXIT: Option<&str> = Some("exit code 2 with the reason on standard error");
const GO_ON: Option<&str> = Some("decision: block");
const CONTEXT: Option<&str> = Some("standard output");

static EVENTS: [AgentEvent; 6] = [
    AgentEvent {
        context: CONTEXT,
        ..native("SessionStart", "session.start", Carries::Object)
    },
    AgentEvent {
        guards: true,
        block: EXIT,
        context: CONTEXT,
        ..native("UserPromptSubmit", "turn.start", Carries::Prompt("prompt"))
    },
    AgentEvent {
        guards: true,
        block: EXIT,
        ..native("PreToolUse", "tool.pre", Carries::TOOL)
    },
    native(
        "PostToolUse",
        "tool.post",
        Carries::output("tool_response", false),
    ),
    AgentEvent {
        guards: true,
        block: EXIT,
        ..native("PreTaskExec", "delegation.pre", Carries::Object)
    },
    AgentEvent {
        block: GO_ON,
        ..native("Stop", "agent.stop", Carries::Stop("assistant_response"))
    },
];

static TOOLS: [Tool; 13] = [
    tool("execute_bash", "run_command", &[]),
    tool("execute_cmd", "run_command", &[]),
    tool("shell", "run_command", &[]),
    tool("fs_read", "read_file", &[]),
    tool("read", "read_file", &[]),
    tool("read_file", "read_file", &[]),
    tool("fs_write", "write_file", WRITE),
    tool("write", "write_file", WRITE),
    tool("str_replace", "edit_file", WRITE),
    tool("delete_file", "delete_file", &[]),
    tool("grep", "search_files", &[]),
    tool("glob", "glob", &[]),
    tool("web_fetch", "web_fetch", &[]),
];

const WRITE: &[(&str, &str)] = &[
    ("command", "operation"),
    ("file_text", "content"),
    ("old_str", "old_text"),
    ("new_str", "new_text"),
];

/// It writes `@server/tool`.
fn mcp(name: &str, _: &serde_json::Map<String, serde_json::Value>) -> Option<String> {
    let (server, tool) = name.strip_prefix('@')?.split_once('/')?;
    Some(format!("mcp__{server}__{tool}"))
}

fn encode(event: &AgentEvent, said: &Said) -> Reply {
    match &said.verdict {
        Verdict::Block(reason) if event.block == GO_ON => {
            Reply::json(&json!({"decision": "block", "reason": reason}))
        }
        Verdict::Block(reason) => Reply::refusal(&together(reason, said)),
        _ => Reply::text(said.context().unwrap_or_default()).noting(&said.notes),
    }
}
