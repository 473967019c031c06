//! Kiro. Exit code 2 blocks; what stands on standard output is context for some events
//! and nothing for the others.

use serde_json::json;

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
};

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
        ..native(
            "PreToolUse",
            "tool.pre",
            Carries::Tool {
                name: "tool_name",
                input: "tool_input",
                id: "tool_use_id",
            },
        )
    },
    native(
        "PostToolUse",
        "tool.post",
        Carries::Output {
            name: "tool_name",
            input: "tool_input",
            output: "tool_response",
            id: "tool_use_id",
            failed: false,
        },
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
