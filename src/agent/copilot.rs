//! Copilot CLI. A `preToolUse` hook that breaks closes the gate, one that is late opens
//! it, and output that is no JSON is no answer.

use serde_json::{Map, Value, json};

use super::doctor;
use super::install::{Approve, Command, Form, Home, Settings, Shape, Version, Wiring};
use super::patch::APPLY_PATCH;
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, foreign, native, tool};
use crate::dialect::{harn, polytoken};
use crate::json::to_text;

/// GitHub Copilot CLI.
pub(super) static AGENT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    events: &EVENTS,
    // Its payloads do not say.
    event_key: "",
    tools: &TOOLS,
    mcp: |_, _| None,
    merges: false,
    encode,
    wiring: WIRING,
};

/// It reads every file of a folder, so ours is one of our own.
const WIRING: Wiring = Wiring {
    project: ".github/hooks/hookbox.json",
    home: Home {
        variable: Some(("COPILOT_HOME", "")),
        folder: ".copilot",
    },
    user: "hooks/hookbox.json",
    form: Form::Settings(Settings {
        version: Some(Version::Number(1)),
        ..Settings::of(Shape::Lists, entry)
    }),
    approve: Approve {
        project: &[
            "Copilot runs the hooks of a project only in a folder that you trust: say so when it asks",
        ],
        user: &[],
        seen: false,
    },
    doubles: true,
    checks: doctor::copilot,
};

fn entry(event: &AgentEvent, command: &Command) -> Value {
    let shell = if cfg!(windows) { "powershell" } else { "bash" };
    json!({
        "type": "command",
        shell: command.line(event),
        "timeoutSec": event.timeout.as_secs(),
    })
}

const DENY: Option<&str> = Some("permissionDecision: deny, and exit code 2");
const BEHAVIOR: Option<&str> = Some("behavior: deny, and exit code 2");
const GO_ON: Option<&str> = Some("decision: block");
const CONTEXT: Option<&str> = Some("additionalContext");

static EVENTS: [AgentEvent; 14] = [
    AgentEvent {
        context: CONTEXT,
        ..native("sessionStart", "session.start", Carries::Object)
    },
    native(
        "userPromptSubmitted",
        "turn.start",
        Carries::Prompt("prompt"),
    ),
    AgentEvent {
        modify: Some("modifiedTransformedPrompt"),
        ..native(
            "userPromptTransformed",
            "custom.prompt_transformed",
            Carries::Object,
        )
    },
    AgentEvent {
        guards: true,
        block: DENY,
        modify: Some("modifiedArgs"),
        ask: Some("permissionDecision: ask"),
        ..native(
            "preToolUse",
            "tool.pre",
            Carries::Tool {
                name: "toolName",
                input: "toolArgs",
                id: "toolCallId",
            },
        )
    },
    AgentEvent {
        guards: true,
        block: BEHAVIOR,
        // A person is being asked already.
        ask: Some("nothing: the dialog is shown"),
        ..foreign(
            "permissionRequest",
            &harn::DIALECT,
            "permission_asked",
            Carries::Object,
        )
    },
    AgentEvent {
        modify: Some("modifiedResult"),
        context: CONTEXT,
        ..native("postToolUse", "tool.post", output("toolResult", false))
    },
    AgentEvent {
        context: CONTEXT,
        ..native("postToolUseFailure", "tool.post", output("error", true))
    },
    AgentEvent {
        context: CONTEXT,
        ..native("subagentStart", "delegation.pre", Carries::Object)
    },
    AgentEvent {
        block: GO_ON,
        ..native("subagentStop", "delegation.post", Carries::Object)
    },
    AgentEvent {
        block: GO_ON,
        ..native("agentStop", "agent.stop", Carries::Stop("stopReason"))
    },
    foreign(
        "preCompact",
        &polytoken::DIALECT,
        "pre_compaction",
        Carries::Object,
    ),
    AgentEvent {
        context: CONTEXT,
        ..foreign(
            "notification",
            &polytoken::DIALECT,
            "notification",
            Carries::Object,
        )
    },
    native("errorOccurred", "error", Carries::Object),
    native("sessionEnd", "session.end", Carries::Object),
];

const fn output(place: &'static str, failed: bool) -> Carries {
    Carries::Output {
        name: "toolName",
        input: "toolArgs",
        output: place,
        id: "toolCallId",
        failed,
    }
}

static TOOLS: [Tool; 13] = [
    tool("bash", "run_command", &[]),
    tool("powershell", "run_command", &[]),
    tool("view", "read_file", &[]),
    tool("create", "write_file", &[("file_text", "content")]),
    tool(
        "edit",
        "edit_file",
        &[("old_str", "old_text"), ("new_str", "new_text")],
    ),
    tool(
        "str_replace_editor",
        "edit_file",
        &[
            ("command", "operation"),
            ("old_str", "old_text"),
            ("new_str", "new_text"),
            ("file_text", "content"),
        ],
    ),
    tool("apply_patch", APPLY_PATCH, &[("input", "patch")]),
    tool("grep", "search_files", &[]),
    tool("rg", "search_files", &[]),
    tool("glob", "glob", &[]),
    tool("web_fetch", "web_fetch", &[]),
    tool("web_search", "web_search", &[]),
    tool("task", "delegate", &[("agent_type", "agent")]),
];

fn encode(event: &AgentEvent, said: &Said) -> Reply {
    let mut answer = Map::new();
    let mut refused = None;
    match &said.verdict {
        Verdict::Pass => {}
        Verdict::Block(reason) => {
            refused = (event.block != GO_ON).then_some(reason);
            refuse(event, reason, &mut answer);
        }
        Verdict::Ask(question, new) if event.block == DENY => {
            answer.insert("permissionDecision".to_owned(), "ask".into());
            answer.insert("permissionDecisionReason".to_owned(), json!(question));
            if let Some(new) = new {
                answer.insert("modifiedArgs".to_owned(), new.clone());
            }
        }
        // The dialog is the question.
        Verdict::Ask(..) => {}
        Verdict::Rewrite(new) => rewrite(event, new, &mut answer),
    }
    if let Some(context) = said.context() {
        answer.insert("additionalContext".to_owned(), context.into());
    }
    let reply = if answer.is_empty() {
        Reply::silence()
    } else {
        Reply::json(&answer.into())
    };
    match refused {
        Some(reason) => Reply {
            stdout: reply.stdout,
            ..Reply::refusal(reason)
        },
        None => reply.noting(&said.notes),
    }
}

fn refuse(event: &AgentEvent, reason: &str, answer: &mut Map<String, Value>) {
    let (key, word, told) = if event.block == DENY {
        ("permissionDecision", "deny", "permissionDecisionReason")
    } else if event.block == BEHAVIOR {
        ("behavior", "deny", "message")
    } else {
        ("decision", "block", "reason")
    };
    answer.insert(key.to_owned(), word.into());
    answer.insert(told.to_owned(), reason.into());
}

fn rewrite(event: &AgentEvent, new: &Value, answer: &mut Map<String, Value>) {
    match event.name {
        "preToolUse" => answer.insert("modifiedArgs".to_owned(), new.clone()),
        "postToolUse" => answer.insert("modifiedResult".to_owned(), result(new)),
        _ => {
            let prompt = new.get("transformedPrompt").cloned().unwrap_or_default();
            answer.insert("modifiedTransformedPrompt".to_owned(), prompt)
        }
    };
}

/// A result in the shape it takes, also where a hook made a text of it.
fn result(new: &Value) -> Value {
    match new {
        Value::Object(object) if object.contains_key("textResultForLlm") => new.clone(),
        Value::String(text) => json!({"resultType": "success", "textResultForLlm": text}),
        other => json!({"resultType": "success", "textResultForLlm": to_text(other)}),
    }
}
