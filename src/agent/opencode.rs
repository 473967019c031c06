//! OpenCode, through a plugin that `install` writes: it runs the binary, and throws where
//! that says no, or says nothing it understands.

use serde_json::json;

use super::install::{Approve, Form, Home, Wiring};
use super::patch::APPLY_PATCH;
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, native, together, tool};

/// OpenCode.
pub(super) static AGENT: Agent = Agent {
    name: "opencode",
    title: "OpenCode",
    events: &EVENTS,
    event_key: "event",
    tools: &TOOLS,
    mcp: |_, _| None,
    merges: false,
    encode,
    wiring: WIRING,
};

/// It loads every file of a folder.
const WIRING: Wiring = Wiring {
    project: ".opencode/plugin/hookbox.js",
    home: Home {
        variable: Some(("XDG_CONFIG_HOME", "opencode")),
        folder: ".config/opencode",
    },
    user: "plugin/hookbox.js",
    form: Form::Plugin,
    approve: Approve::NOTHING,
    doubles: true,
    checks: |_| Vec::new(),
};

const THROW: Option<&str> = Some("exit code 2: the plugin throws the reason");

static EVENTS: [AgentEvent; 3] = [
    AgentEvent {
        guards: true,
        block: THROW,
        ..native("chat.message", "turn.start", Carries::Prompt("prompt"))
    },
    AgentEvent {
        guards: true,
        block: THROW,
        modify: Some("args, which the plugin puts in the place of the old ones"),
        ..native(
            "tool.execute.before",
            "tool.pre",
            Carries::Tool {
                name: "tool",
                input: "args",
                id: "callID",
            },
        )
    },
    native(
        "tool.execute.after",
        "tool.post",
        Carries::Output {
            name: "tool",
            input: "args",
            output: "output",
            id: "callID",
            failed: false,
        },
    ),
];

static TOOLS: [Tool; 12] = [
    tool("bash", "run_command", &[("workdir", "cwd")]),
    tool("read", "read_file", FILE),
    tool("write", "write_file", FILE),
    tool(
        "edit",
        "edit_file",
        &[
            ("filePath", "path"),
            ("oldString", "old_text"),
            ("newString", "new_text"),
        ],
    ),
    tool("multiedit", "edit_file", FILE),
    tool("apply_patch", APPLY_PATCH, &[("patchText", "patch")]),
    tool("patch", APPLY_PATCH, &[("patchText", "patch")]),
    tool("list", "list_files", &[]),
    tool("glob", "glob", &[]),
    tool("grep", "search_files", &[]),
    tool("webfetch", "web_fetch", &[]),
    tool("task", "delegate", &[("subagent_type", "agent")]),
];

const FILE: &[(&str, &str)] = &[("filePath", "path")];

fn encode(_: &AgentEvent, said: &Said) -> Reply {
    match &said.verdict {
        Verdict::Block(reason) => Reply::refusal(&together(reason, said)),
        Verdict::Rewrite(new) => Reply::json(&json!({"args": new})).noting(&said.notes),
        Verdict::Pass | Verdict::Ask(..) => Reply::silence().noting(&said.notes),
    }
}
