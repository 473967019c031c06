//! Cursor. Where it asks for permission it wants an answer every time: silence blocks in
//! the editor. It takes `ask` from some events only, and without a word ignores it in the
//! others.

use serde_json::{Map, Value, json};

use super::doctor;
use super::install::{Approve, Command, Form, Home, Settings, Shape, Version, Wiring};
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, foreign, native, together, tool};
use crate::dialect::polytoken;

/// Cursor.
pub(super) static AGENT: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    events: &EVENTS,
    event_key: "hook_event_name",
    tools: &TOOLS,
    mcp,
    merges: false,
    encode,
    wiring: WIRING,
};

/// One event that it does not know makes it refuse the whole file, and so does `//` in a
/// string.
const WIRING: Wiring = Wiring {
    project: ".cursor/hooks.json",
    home: Home {
        variable: None,
        folder: ".cursor",
    },
    user: "hooks.json",
    form: Form::Settings(Settings {
        version: Some(Version::Number(1)),
        eats_slashes: true,
        ..Settings::of(Shape::Lists, entry)
    }),
    approve: Approve {
        project: &[
            "Cursor runs the hooks of a project only in a workspace that you trust: say so when it asks",
        ],
        user: &[],
        seen: false,
    },
    doubles: true,
    checks: doctor::cursor,
};

fn entry(event: &AgentEvent, command: &Command) -> Value {
    let mut entry = json!({
        "command": command.line(event),
        "timeout": event.timeout.as_secs(),
    });
    if event.guards {
        entry["failClosed"] = true.into();
    }
    entry
}

const DENY: Option<&str> = Some("exit code 2 with the reason on standard error");
const ASK: Option<&str> = Some("permission: ask");
const CONTEXT: Option<&str> = Some("additional_context");
const FOLLOW_UP: Option<&str> = Some("followup_message");

static EVENTS: [AgentEvent; 20] = [
    AgentEvent {
        context: CONTEXT,
        ..native("sessionStart", "session.start", Carries::Object)
    },
    AgentEvent {
        guards: true,
        block: DENY,
        ..native(
            "beforeSubmitPrompt",
            "turn.start",
            Carries::Prompt("prompt"),
        )
    },
    AgentEvent {
        guards: true,
        block: DENY,
        modify: Some("updated_input, whole"),
        ..native("preToolUse", "tool.pre", Carries::TOOL)
    },
    AgentEvent {
        guards: true,
        block: DENY,
        ask: ASK,
        ..native(
            "beforeShellExecution",
            "tool.pre",
            Carries::OneTool {
                tool: "Shell",
                within: None,
                keys: &["command", "cwd"],
            },
        )
    },
    AgentEvent {
        guards: true,
        block: DENY,
        ask: ASK,
        ..native("beforeMCPExecution", "tool.pre", Carries::TOOL)
    },
    AgentEvent {
        guards: true,
        block: DENY,
        ..native("beforeReadFile", "tool.pre", READ)
    },
    AgentEvent {
        guards: true,
        block: DENY,
        ..native("beforeTabFileRead", "tool.pre", READ)
    },
    AgentEvent {
        context: CONTEXT,
        ..native("postToolUse", "tool.post", output("tool_output", false))
    },
    native(
        "postToolUseFailure",
        "tool.post",
        output("error_message", true),
    ),
    native("afterShellExecution", "custom.after_shell", Carries::Object),
    native("afterMCPExecution", "custom.after_mcp", Carries::Object),
    native("afterFileEdit", "custom.after_edit", Carries::Object),
    native("afterTabFileEdit", "custom.after_tab_edit", Carries::Object),
    native("afterAgentResponse", "turn.end", Carries::Object),
    native("afterAgentThought", "custom.after_thought", Carries::Object),
    AgentEvent {
        guards: true,
        block: DENY,
        ..native("subagentStart", "delegation.pre", Carries::Object)
    },
    AgentEvent {
        block: FOLLOW_UP,
        ..native("subagentStop", "delegation.post", Carries::Object)
    },
    foreign(
        "preCompact",
        &polytoken::DIALECT,
        "pre_compaction",
        Carries::Object,
    ),
    AgentEvent {
        block: FOLLOW_UP,
        ..native("stop", "agent.stop", Carries::Stop("status"))
    },
    native("sessionEnd", "session.end", Carries::Object),
];

const READ: Carries = Carries::OneTool {
    tool: "Read",
    within: None,
    keys: &["file_path", "attachments"],
};

const fn output(place: &'static str, failed: bool) -> Carries {
    Carries::output(place, failed)
}

static TOOLS: [Tool; 11] = [
    tool("Shell", "run_command", &[("working_directory", "cwd")]),
    tool("Read", "read_file", FILE),
    tool(
        "Write",
        "write_file",
        &[("file_path", "path"), ("contents", "content")],
    ),
    tool("StrReplace", "edit_file", EDIT),
    tool("Delete", "delete_file", FILE),
    tool("EditNotebook", "edit_file", &[("target_notebook", "path")]),
    tool("Grep", "search_files", &[]),
    tool(
        "Glob",
        "glob",
        &[("glob_pattern", "pattern"), ("target_directory", "path")],
    ),
    tool("WebFetch", "web_fetch", &[]),
    tool("WebSearch", "web_search", &[("search_term", "query")]),
    tool("Task", "delegate", &[("subagent_type", "agent")]),
];

const FILE: &[(&str, &str)] = &[("file_path", "path")];
const EDIT: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("old_string", "old_text"),
    ("new_string", "new_text"),
];

/// It does not say which server a tool is from.
fn mcp(name: &str, said: &Map<String, Value>) -> Option<String> {
    let bare = name.strip_prefix("MCP:");
    let own_event =
        said.get("hook_event_name").and_then(Value::as_str) == Some("beforeMCPExecution");
    let tool = bare.or_else(|| own_event.then_some(name))?;
    Some(format!("mcp__cursor__{tool}"))
}

fn encode(event: &AgentEvent, said: &Said) -> Reply {
    let mut answer = Map::new();
    match &said.verdict {
        Verdict::Block(reason) if event.block == FOLLOW_UP => {
            answer.insert("followup_message".to_owned(), json!(reason));
        }
        Verdict::Block(reason) => return Reply::refusal(&together(reason, said)),
        Verdict::Ask(question, _) => {
            answer.insert("permission".to_owned(), "ask".into());
            answer.insert("user_message".to_owned(), json!(question));
        }
        Verdict::Rewrite(new) => {
            answer.insert("permission".to_owned(), "allow".into());
            answer.insert("updated_input".to_owned(), new.clone());
        }
        Verdict::Pass if event.name == "beforeSubmitPrompt" => {
            answer.insert("continue".to_owned(), true.into());
        }
        Verdict::Pass if event.block == DENY => {
            answer.insert("permission".to_owned(), "allow".into());
        }
        Verdict::Pass => {}
    }
    if let Some(context) = said.context() {
        answer.insert("additional_context".to_owned(), context.into());
    }
    if answer.is_empty() {
        return Reply::silence().noting(&said.notes);
    }
    Reply::json(&answer.into()).noting(&said.notes)
}
