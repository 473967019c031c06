//! Windsurf Cascade. Exit code 2 before an action is the only thing it understands.

use serde_json::{Value, json};

use super::install::{Approve, Command, Form, Home, Settings, Shape, Wiring};
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, native, together, tool};

/// Windsurf.
pub(super) static AGENT: Agent = Agent {
    name: "windsurf",
    title: "Windsurf",
    events: &EVENTS,
    event_key: "agent_action_name",
    tools: &TOOLS,
    mcp: |_, _| None,
    merges: false,
    encode,
    wiring: WIRING,
};

/// It has no key for how long it waits.
const WIRING: Wiring = Wiring {
    project: ".windsurf/hooks.json",
    home: Home {
        variable: None,
        folder: ".codeium/windsurf",
    },
    user: "hooks.json",
    form: Form::Settings(Settings::of(Shape::Lists, entry)),
    approve: Approve::NOTHING,
    doubles: true,
    checks: |_| Vec::new(),
};

fn entry(event: &AgentEvent, command: &Command) -> Value {
    json!({"command": command.line(event)})
}

const EXIT: Option<&str> = Some("exit code 2 with the reason on standard error");

const fn before(name: &'static str, carries: Carries) -> AgentEvent {
    AgentEvent {
        guards: true,
        block: EXIT,
        ..native(name, "tool.pre", carries)
    }
}

const fn one(tool: &'static str, keys: &'static [&'static str]) -> Carries {
    Carries::OneTool {
        tool,
        within: Some("tool_info"),
        keys,
    }
}

static EVENTS: [AgentEvent; 11] = [
    AgentEvent {
        guards: true,
        block: EXIT,
        ..native(
            "pre_user_prompt",
            "turn.start",
            Carries::Prompt("tool_info.user_prompt"),
        )
    },
    before("pre_read_code", one("read_code", &["file_path"])),
    before("pre_write_code", one("write_code", &["file_path", "edits"])),
    before(
        "pre_run_command",
        one("run_command", &["command_line", "cwd"]),
    ),
    before(
        "pre_mcp_tool_use",
        Carries::Mcp {
            server: "tool_info.mcp_server_name",
            name: "tool_info.mcp_tool_name",
            input: "tool_info.mcp_tool_arguments",
        },
    ),
    native("post_read_code", "custom.after_read", Carries::Object),
    native("post_write_code", "custom.after_edit", Carries::Object),
    native("post_run_command", "custom.after_shell", Carries::Object),
    native("post_mcp_tool_use", "custom.after_mcp", Carries::Object),
    native("post_cascade_response", "turn.end", Carries::Object),
    native(
        "post_setup_worktree",
        "custom.worktree_created",
        Carries::Object,
    ),
];

static TOOLS: [Tool; 3] = [
    tool("read_code", "read_file", &[("file_path", "path")]),
    tool("write_code", "edit_file", &[("file_path", "path")]),
    tool("run_command", "run_command", &[("command_line", "command")]),
];

fn encode(_: &AgentEvent, said: &Said) -> Reply {
    match &said.verdict {
        Verdict::Block(reason) => Reply::refusal(&together(reason, said)),
        _ => Reply::silence().noting(&said.notes),
    }
}
