//! goose. Only `PreToolUse` keeps anything from happening; the other events are told, not
//! asked, whatever their names promise.

use serde_json::{Value, json};

use super::doctor;
use super::install::{Approve, Command, Form, Home, Settings, Shape, Wiring};
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, native, together, tool};

/// goose.
pub(super) static AGENT: Agent = Agent {
    name: "goose",
    title: "goose",
    events: &EVENTS,
    event_key: "event",
    tools: &TOOLS,
    mcp,
    merges: false,
    encode,
    wiring: WIRING,
};

/// Hooks come in plugins, and of two plugins with one name it takes the project's.
const WIRING: Wiring = Wiring {
    project: ".agents/plugins/hookbox/hooks/hooks.json",
    home: Home {
        variable: None,
        folder: ".agents",
    },
    user: "plugins/hookbox/hooks/hooks.json",
    form: Form::Settings(Settings {
        beside: Some(("plugin.json", PLUGIN)),
        ..Settings::of(Shape::Groups, entry)
    }),
    approve: Approve::NOTHING,
    doubles: false,
    checks: doctor::goose,
};

const PLUGIN: &str = r#"{
  "name": "hookbox",
  "version": "1.0.0",
  "description": "Asks hookbox before tools run"
}
"#;

fn entry(event: &AgentEvent, command: &Command) -> Value {
    json!({
        "type": "command",
        "command": command.line(event),
        "timeout": event.timeout.as_secs(),
    })
}

const EXIT: Option<&str> = Some("exit code 2 with the reason on standard error");

const fn output(name: &'static str, failed: bool) -> AgentEvent {
    native(name, "tool.post", Carries::output("tool_output", failed))
}

static EVENTS: [AgentEvent; 9] = [
    native("SessionStart", "session.start", Carries::Object),
    native("UserPromptSubmit", "turn.start", Carries::Prompt("message")),
    AgentEvent {
        guards: true,
        block: EXIT,
        ..native("PreToolUse", "tool.pre", Carries::TOOL)
    },
    output("PostToolUse", false),
    output("PostToolUseFailure", true),
    native("SubagentStart", "delegation.pre", Carries::Object),
    native("SubagentStop", "delegation.post", Carries::Object),
    native("Stop", "agent.stop", Carries::Stop("message")),
    native("SessionEnd", "session.end", Carries::Object),
];

static TOOLS: [Tool; 5] = [
    tool("developer__shell", "run_command", &[]),
    tool("developer__write", "write_file", &[]),
    tool(
        "developer__edit",
        "edit_file",
        &[("before", "old_text"), ("after", "new_text")],
    ),
    tool(
        "developer__text_editor",
        "edit_file",
        &[
            ("command", "operation"),
            ("file_text", "content"),
            ("old_str", "old_text"),
            ("new_str", "new_text"),
        ],
    ),
    tool("developer__tree", "list_files", &[]),
];

/// Every other tool is one of an extension.
fn mcp(name: &str, _: &serde_json::Map<String, serde_json::Value>) -> Option<String> {
    if TOOLS.iter().any(|tool| tool.own == name) {
        return None;
    }
    let (extension, tool) = name.split_once("__")?;
    Some(format!("mcp__{extension}__{tool}"))
}

fn encode(_: &AgentEvent, said: &Said) -> Reply {
    match &said.verdict {
        Verdict::Block(reason) => Reply::refusal(&together(reason, said)),
        _ => Reply::silence().noting(&said.notes),
    }
}
