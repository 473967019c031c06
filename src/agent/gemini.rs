//! Gemini CLI. It merges a rewritten input over the old one, so an argument can be
//! changed and not taken away. Text that is no JSON means allow.

use serde_json::{Map, Value, json};

use super::doctor;
use super::install::{Approve, Command, Form, Home, Settings, Shape, Wiring};
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, foreign, native, together, tool};
use crate::dialect::polytoken;
use crate::json::to_text;

/// Gemini CLI.
pub(super) static AGENT: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    events: &EVENTS,
    event_key: "hook_event_name",
    tools: &TOOLS,
    mcp,
    merges: true,
    encode,
    wiring: WIRING,
};

/// It counts in milliseconds, and knows hooks by their names.
const WIRING: Wiring = Wiring {
    project: ".gemini/settings.json",
    home: Home {
        variable: None,
        folder: ".gemini",
    },
    user: "settings.json",
    form: Form::Settings(Settings::of(Shape::Groups, entry)),
    approve: Approve {
        project: &[
            "Gemini CLI runs the hooks of a project only in a folder that you trust: say so when it asks; `gemini --skip-trust` runs without them, and without a word",
        ],
        user: &[],
        seen: true,
    },
    doubles: true,
    checks: doctor::gemini,
};

fn entry(event: &AgentEvent, command: &Command) -> Value {
    json!({
        "type": "command",
        "name": "hookbox",
        "command": command.line(event),
        "timeout": event.timeout.as_secs() * 1000,
    })
}

const DENY: Option<&str> = Some("decision: deny, and exit code 2");
const CONTEXT: Option<&str> = Some("additionalContext");

const TOOL_SELECTION: &str = "BeforeToolSelection";

static EVENTS: [AgentEvent; 11] = [
    AgentEvent {
        context: CONTEXT,
        ..native("SessionStart", "session.start", Carries::Object)
    },
    AgentEvent {
        guards: true,
        block: DENY,
        context: CONTEXT,
        ..native("BeforeAgent", "turn.start", Carries::Prompt("prompt"))
    },
    AgentEvent {
        guards: true,
        block: DENY,
        modify: Some("llm_request"),
        ..native(
            "BeforeModel",
            "completion.pre",
            Carries::Model("llm_request"),
        )
    },
    native(TOOL_SELECTION, "custom.tool_selection", Carries::Object),
    AgentEvent {
        block: DENY,
        modify: Some("llm_response"),
        ..native(
            "AfterModel",
            "completion.post",
            Carries::Model("llm_response"),
        )
    },
    AgentEvent {
        guards: true,
        block: DENY,
        modify: Some("tool_input, merged over the old one"),
        ..native("BeforeTool", "tool.pre", Carries::TOOL)
    },
    AgentEvent {
        block: DENY,
        context: CONTEXT,
        ..native(
            "AfterTool",
            "tool.post",
            Carries::output("tool_response", false),
        )
    },
    AgentEvent {
        block: DENY,
        ..native("AfterAgent", "agent.stop", Carries::Stop("prompt_response"))
    },
    foreign(
        "PreCompress",
        &polytoken::DIALECT,
        "pre_compaction",
        Carries::Object,
    ),
    foreign(
        "Notification",
        &polytoken::DIALECT,
        "notification",
        Carries::Object,
    ),
    native("SessionEnd", "session.end", Carries::Object),
];

static TOOLS: [Tool; 12] = [
    tool(
        "run_shell_command",
        "run_command",
        &[("dir_path", "cwd"), ("directory", "cwd")],
    ),
    tool("read_file", "read_file", FILE),
    tool("read_many_files", "read_many_files", &[]),
    tool("write_file", "write_file", FILE),
    tool(
        "replace",
        "edit_file",
        &[
            ("file_path", "path"),
            ("old_string", "old_text"),
            ("new_string", "new_text"),
        ],
    ),
    tool("list_directory", "list_files", &[("dir_path", "path")]),
    tool("glob", "glob", &[("dir_path", "path")]),
    tool(
        "search_file_content",
        "search_files",
        &[("dir_path", "path")],
    ),
    tool("grep_search", "search_files", &[("dir_path", "path")]),
    tool("web_fetch", "web_fetch", &[]),
    tool("invoke_agent", "delegate", &[("agent_name", "agent")]),
    tool("google_web_search", "web_search", &[]),
];

const FILE: &[(&str, &str)] = &[("file_path", "path")];

fn encode(event: &AgentEvent, said: &Said) -> Reply {
    let mut specific = Map::new();
    match &said.verdict {
        Verdict::Pass | Verdict::Ask(..) => {}
        Verdict::Block(reason) => {
            let reason = together(reason, said);
            // It reads whatever parses as JSON before it looks at the exit code, also on
            // standard error.
            return Reply {
                stdout: to_text(&json!({"decision": "deny", "reason": reason})),
                ..Reply::refusal(&reason)
            };
        }
        Verdict::Rewrite(new) => {
            let key = match event.name {
                "BeforeModel" => "llm_request",
                "AfterModel" => "llm_response",
                _ => "tool_input",
            };
            specific.insert(key.to_owned(), new.clone());
        }
    }
    if let Some(context) = said.context() {
        specific.insert("additionalContext".to_owned(), context.into());
    }
    let mut answer = Map::new();
    if event.name == TOOL_SELECTION {
        // No message is read here, but text that is no JSON is shown.
        return Reply::silence().noting(&said.notes);
    }
    if let Some(notes) = said.notes() {
        answer.insert("systemMessage".to_owned(), json!(notes));
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), event.name.into());
        answer.insert("hookSpecificOutput".to_owned(), specific.into());
    }
    if answer.is_empty() {
        return Reply::silence();
    }
    Reply::json(&Value::Object(answer))
}

fn mcp(_: &str, said: &Map<String, Value>) -> Option<String> {
    let context = said.get("mcp_context")?;
    let part = |key: &str| context.get(key)?.as_str();
    Some(format!(
        "mcp__{}__{}",
        part("server_name")?,
        part("tool_name")?
    ))
}
