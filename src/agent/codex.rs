//! Codex, the strictest reader: an unknown key, `ask`, a bare `allow` or exit code 2
//! without a word is a broken hook to it, and then the tool runs. So it gets exit code 2
//! with a reason, or the few keys that it takes, and nothing else.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::doctor;
use super::install::{Approve, Command, Form, Home, Settings, Shape, Wiring};
use super::patch::APPLY_PATCH;
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, foreign, native, together, tool};
use crate::dialect::{harn, polytoken};

/// Codex.
pub(super) static AGENT: Agent = Agent {
    name: "codex",
    title: "Codex",
    events: &EVENTS,
    event_key: "hook_event_name",
    tools: &TOOLS,
    mcp: |_, _| None,
    merges: false,
    encode,
    wiring: WIRING,
};

/// It has no exec form, and no switch for hooks that fail.
const WIRING: Wiring = Wiring {
    project: ".codex/hooks.json",
    home: Home {
        variable: Some(("CODEX_HOME", "")),
        folder: ".codex",
    },
    user: "hooks.json",
    form: Form::Settings(Settings::of(Shape::Groups, entry)),
    approve: Approve {
        project: &[
            "Codex reads .codex/ only in projects that it trusts: say yes when it asks on its first start here",
            REVIEW,
        ],
        user: &[REVIEW],
        seen: true,
    },
    doubles: true,
    checks: doctor::codex,
};

const REVIEW: &str = "Codex skips new and changed hooks without a word until you have reviewed them: start `codex` and approve them there";

fn entry(event: &AgentEvent, command: &Command) -> Value {
    json!({
        "type": "command",
        "command": command.line(event),
        "timeout": event.timeout.as_secs(),
    })
}

const EXIT: Option<&str> = Some("exit code 2 with the reason on standard error");
const BEHAVIOR: Option<&str> = Some("decision.behavior: deny");
const CONTEXT: Option<&str> = Some("additionalContext");

/// It does not read what a hook of this event writes.
const SESSION_END: &str = "SessionEnd";

static EVENTS: [AgentEvent; 11] = [
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
        modify: Some("permissionDecision: allow with the whole updatedInput"),
        context: CONTEXT,
        ..native("PreToolUse", "tool.pre", Carries::TOOL)
    },
    AgentEvent {
        guards: true,
        block: BEHAVIOR,
        // A person is being asked already.
        ask: Some("nothing: the dialog is shown"),
        ..foreign(
            "PermissionRequest",
            &harn::DIALECT,
            "permission_asked",
            Carries::Object,
        )
    },
    AgentEvent {
        block: EXIT,
        context: CONTEXT,
        ..native(
            "PostToolUse",
            "tool.post",
            Carries::output("tool_response", false),
        )
    },
    AgentEvent {
        guards: true,
        block: Some("continue: false with stopReason"),
        ..foreign(
            "PreCompact",
            &polytoken::DIALECT,
            "pre_compaction",
            Carries::Object,
        )
    },
    foreign(
        "PostCompact",
        &polytoken::DIALECT,
        "post_compaction",
        Carries::Object,
    ),
    AgentEvent {
        context: CONTEXT,
        ..native("SubagentStart", "delegation.pre", Carries::Object)
    },
    AgentEvent {
        block: EXIT,
        ..native("SubagentStop", "delegation.post", Carries::Object)
    },
    AgentEvent {
        block: EXIT,
        ..native(
            "Stop",
            "agent.stop",
            Carries::Stop("last_assistant_message"),
        )
    },
    AgentEvent {
        // It waits no longer than that.
        timeout: Duration::from_secs(3),
        ..native(SESSION_END, "session.end", Carries::Object)
    },
];

static TOOLS: [Tool; 5] = [
    tool("Bash", "run_command", &[]),
    tool("shell", "run_command", &[]),
    tool("apply_patch", APPLY_PATCH, &[("command", "patch")]),
    tool("view_image", "read_file", &[]),
    tool(
        "spawn_agent",
        "delegate",
        &[("message", "prompt"), ("agent_type", "agent")],
    ),
];

fn encode(event: &AgentEvent, said: &Said) -> Reply {
    if event.name == SESSION_END {
        return Reply::silence().noting(&said.notes);
    }
    let specific = match &said.verdict {
        Verdict::Block(reason) => return refuse(event, reason, said),
        // The dialog of a permission request is the question; elsewhere a question is a
        // block by now.
        Verdict::Pass | Verdict::Ask(..) => Map::new(),
        Verdict::Rewrite(new) => Map::from_iter([
            ("permissionDecision".to_owned(), "allow".into()),
            ("updatedInput".to_owned(), new.clone()),
        ]),
    };
    reply(event, said, specific)
}

fn refuse(event: &AgentEvent, reason: &str, said: &Said) -> Reply {
    if event.block == BEHAVIOR {
        let decision = json!({"behavior": "deny", "message": reason});
        return reply(
            event,
            said,
            Map::from_iter([("decision".to_owned(), decision)]),
        );
    }
    if event.block == EXIT {
        return Reply::refusal(&together(reason, said));
    }
    Reply::json(&json!({"continue": false, "stopReason": reason}))
}

fn reply(event: &AgentEvent, said: &Said, mut specific: Map<String, Value>) -> Reply {
    if let Some(context) = said.context() {
        specific.insert("additionalContext".to_owned(), context.into());
    }
    let mut answer = Map::new();
    if let Some(notes) = said.notes() {
        answer.insert("systemMessage".to_owned(), notes.into());
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
