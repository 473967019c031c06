//! Cline. It does not look at the exit code: a refusal is `cancel` on standard output, and
//! stops the task. What replaces a tool's input is ignored by one of its two runners, so
//! it counts as something Cline cannot do.

use serde_json::{Map, Value, json};

use super::install::{Approve, Form, Home, Wiring};
use super::patch::APPLY_PATCH;
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, native, tool};

/// Cline.
pub(super) static AGENT: Agent = Agent {
    name: "cline",
    title: "Cline",
    events: &EVENTS,
    // Its two runners have different names for one event.
    event_key: "",
    tools: &TOOLS,
    mcp,
    merges: false,
    encode,
    wiring: WIRING,
};

/// Both of its runners read these folders.
const WIRING: Wiring = Wiring {
    project: ".clinerules/hooks",
    home: Home {
        variable: None,
        folder: "Documents/Cline",
    },
    user: "Hooks",
    form: Form::Scripts,
    approve: Approve {
        project: &[ENABLE],
        user: &[ENABLE],
        seen: false,
    },
    doubles: true,
    checks: |_| Vec::new(),
};

const ENABLE: &str = "in VS Code hooks have to be enabled in the settings of Cline";

const CANCEL: Option<&str> = Some("cancel: true with errorMessage");
const CONTEXT: Option<&str> = Some("contextModification");

static EVENTS: [AgentEvent; 8] = [
    AgentEvent {
        block: CANCEL,
        context: CONTEXT,
        ..native("TaskStart", "session.start", Carries::Object)
    },
    AgentEvent {
        block: CANCEL,
        context: CONTEXT,
        ..native("TaskResume", "custom.task_resumed", Carries::Object)
    },
    AgentEvent {
        guards: true,
        block: CANCEL,
        context: CONTEXT,
        ..native(
            "UserPromptSubmit",
            "turn.start",
            Carries::Prompt("userPromptSubmit.prompt"),
        )
    },
    AgentEvent {
        guards: true,
        block: CANCEL,
        context: CONTEXT,
        ..native(
            "PreToolUse",
            "tool.pre",
            Carries::Tool {
                name: "tool_call.name|preToolUse.toolName",
                input: "tool_call.input|preToolUse.parameters",
                id: "tool_call.id",
            },
        )
    },
    AgentEvent {
        block: CANCEL,
        context: CONTEXT,
        ..native(
            "PostToolUse",
            "tool.post",
            Carries::Output {
                name: "tool_result.name|postToolUse.toolName",
                input: "tool_result.input|postToolUse.parameters",
                output: "tool_result.output|postToolUse.result",
                id: "tool_result.id",
                failed: false,
            },
        )
    },
    native("TaskComplete", "agent.stop", Carries::Stop("turn")),
    native("TaskError", "error", Carries::Object),
    native("TaskCancel", "custom.task_cancelled", Carries::Object),
];

static TOOLS: [Tool; 12] = [
    tool("run_commands", super::tool::RUN_COMMANDS, &[]),
    tool("execute_command", "run_command", &[]),
    tool("read_files", "read_file", &[]),
    tool("read_file", "read_file", &[]),
    tool("editor", "edit_file", &[]),
    tool("write_to_file", "write_file", &[]),
    tool("replace_in_file", "edit_file", &[("diff", "patch")]),
    tool("apply_patch", APPLY_PATCH, &[("input", "patch")]),
    tool("list_files", "list_files", &[]),
    tool("search_files", "search_files", &[("regex", "pattern")]),
    tool("search_codebase", "search_files", &[]),
    tool("web_fetch", "web_fetch", &[]),
];

/// It has one tool for the tools of all servers, or writes `server__tool`.
fn mcp(name: &str, said: &Map<String, Value>) -> Option<String> {
    if name != "use_mcp_tool" {
        let (server, tool) = name.split_once("__")?;
        return Some(format!("mcp__{server}__{tool}"));
    }
    let places = [
        ("tool_call", "input"),
        ("preToolUse", "parameters"),
        ("tool_result", "input"),
        ("postToolUse", "parameters"),
    ];
    let find = |(call, key): (&str, &str)| said.get(call)?.get(key);
    let input = places.into_iter().find_map(find)?;
    let part = |key: &str| input.get(key)?.as_str();
    Some(format!(
        "mcp__{}__{}",
        part("server_name")?,
        part("tool_name")?
    ))
}

fn encode(_: &AgentEvent, said: &Said) -> Reply {
    let mut answer = Map::new();
    if let Verdict::Block(reason) = &said.verdict {
        answer.insert("cancel".to_owned(), true.into());
        answer.insert("errorMessage".to_owned(), json!(reason));
    }
    if let Some(context) = said.context() {
        answer.insert("contextModification".to_owned(), context.into());
    }
    if answer.is_empty() {
        return Reply::silence().noting(&said.notes);
    }
    Reply::json(&answer.into()).noting(&said.notes)
}
