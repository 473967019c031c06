//! Claude Code. A refusal is JSON and exit code 2 at once: JSON says more, the exit code
//! is understood by every version, and neither can overrule the other. Anything but 0 and
//! 2 lets the action pass.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::doctor;
use super::install::{Approve, Command, Form, Home, Settings, Shape, Wiring};
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, foreign, native, tool};
use crate::dialect::{harn, polytoken};

/// Claude Code.
pub(super) static AGENT: Agent = Agent {
    name: "claude-code",
    title: "Claude Code",
    events: &EVENTS,
    event_key: "hook_event_name",
    tools: &TOOLS,
    mcp: |_, _| None,
    merges: false,
    encode,
    wiring: WIRING,
};

/// It has an exec form, and since 2.1.295 a switch for hooks that fail; older versions
/// do not look at that.
const WIRING: Wiring = Wiring {
    project: ".claude/settings.json",
    home: Home {
        variable: Some(("CLAUDE_CONFIG_DIR", "")),
        folder: ".claude",
    },
    user: "settings.json",
    form: Form::Settings(Settings::of(Shape::Groups, entry)),
    approve: Approve {
        project: &[
            "Claude Code asks whether you trust this folder when it first starts in it, and runs no hook of the project before (with -p it does not ask)",
        ],
        user: &[],
        seen: false,
    },
    doubles: true,
    checks: doctor::claude_code,
};

fn entry(event: &AgentEvent, command: &Command) -> Value {
    let mut entry = json!({
        "type": "command",
        "command": command.binary,
        "args": command.arguments(event),
        "timeout": event.timeout.as_secs(),
    });
    if event.guards {
        entry["onFailure"] = "block".into();
    }
    entry
}

const DENY: Option<&str> = Some("permissionDecision: deny, and exit code 2");
const ASK: Option<&str> = Some("permissionDecision: ask");
const DECISION: Option<&str> = Some("decision: block, and exit code 2");
const BEHAVIOR: Option<&str> = Some("decision.behavior: deny");
const CONTEXT: Option<&str> = Some("additionalContext");
const EXIT: Option<&str> = Some("exit code 2");

const fn custom(name: &'static str, event: &'static str) -> AgentEvent {
    native(name, event, Carries::Object)
}

const fn output(name: &'static str, failed: bool) -> AgentEvent {
    AgentEvent {
        block: DECISION,
        context: CONTEXT,
        ..native(
            name,
            "tool.post",
            Carries::output("tool_response|error", failed),
        )
    }
}

/// Where it shows nobody what a hook has to say; it keeps standard error in its log.
const DISCARDS_MESSAGES: [&str; 5] = [
    "ConfigChange",
    "PreCompact",
    "Elicitation",
    "ElicitationResult",
    "Notification",
];

static EVENTS: [AgentEvent; 33] = [
    custom("Setup", "custom.setup"),
    AgentEvent {
        context: CONTEXT,
        ..custom("SessionStart", "session.start")
    },
    custom("InstructionsLoaded", "custom.instructions_loaded"),
    AgentEvent {
        guards: true,
        block: DECISION,
        context: CONTEXT,
        ..native("UserPromptSubmit", "turn.start", Carries::Prompt("prompt"))
    },
    AgentEvent {
        guards: true,
        block: DECISION,
        context: CONTEXT,
        ..custom("UserPromptExpansion", "custom.prompt_expansion")
    },
    AgentEvent {
        guards: true,
        block: DENY,
        modify: Some("the whole updatedInput"),
        ask: ASK,
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
    custom("PermissionDenied", "custom.permission_denied"),
    AgentEvent {
        modify: Some("updatedToolOutput"),
        ..output("PostToolUse", false)
    },
    output("PostToolUseFailure", true),
    AgentEvent {
        block: DECISION,
        context: CONTEXT,
        ..custom("PostToolBatch", "custom.tool_batch")
    },
    AgentEvent {
        context: CONTEXT,
        ..foreign(
            "Notification",
            &polytoken::DIALECT,
            "notification",
            Carries::Object,
        )
    },
    AgentEvent {
        timeout: Duration::from_secs(10),
        ..custom("MessageDisplay", "custom.message_display")
    },
    AgentEvent {
        context: CONTEXT,
        ..custom("SubagentStart", "delegation.pre")
    },
    AgentEvent {
        block: DECISION,
        ..custom("SubagentStop", "delegation.post")
    },
    AgentEvent {
        guards: true,
        block: EXIT,
        ..custom("TaskCreated", "custom.task_created")
    },
    AgentEvent {
        guards: true,
        block: EXIT,
        ..custom("TaskCompleted", "custom.task_completed")
    },
    AgentEvent {
        block: DECISION,
        ..native(
            "Stop",
            "agent.stop",
            Carries::Stop("last_assistant_message"),
        )
    },
    custom("StopFailure", "error"),
    AgentEvent {
        block: EXIT,
        ..custom("TeammateIdle", "custom.teammate_idle")
    },
    AgentEvent {
        guards: true,
        block: DECISION,
        ..custom("ConfigChange", "meta.config_change")
    },
    custom("CwdChanged", "custom.cwd_changed"),
    custom("DirectoryAdded", "custom.directory_added"),
    custom("FileChanged", "custom.file_changed"),
    AgentEvent {
        guards: true,
        block: EXIT,
        // A hook on it has to make the worktree itself.
        wired: false,
        ..custom("WorktreeCreate", "custom.worktree_create")
    },
    custom("WorktreeRemove", "custom.worktree_remove"),
    AgentEvent {
        guards: true,
        block: DECISION,
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
        guards: true,
        block: EXIT,
        ..custom("Elicitation", "custom.elicitation")
    },
    AgentEvent {
        guards: true,
        block: EXIT,
        ..custom("ElicitationResult", "custom.elicitation_result")
    },
    AgentEvent {
        guards: true,
        block: DENY,
        ask: ASK,
        ..custom("PreModelSwitch", "custom.model_switch")
    },
    custom("PostModelSwitch", "custom.model_switched"),
    AgentEvent {
        // Without a timeout of its own it has a second and a half.
        timeout: Duration::from_secs(10),
        ..custom("SessionEnd", "session.end")
    },
];

static TOOLS: [Tool; 16] = [
    tool("Bash", "run_command", &[]),
    tool("PowerShell", "run_command", &[]),
    tool("Read", "read_file", FILE),
    tool("Write", "write_file", FILE),
    tool(
        "Edit",
        "edit_file",
        &[
            ("file_path", "path"),
            ("old_string", "old_text"),
            ("new_string", "new_text"),
        ],
    ),
    tool("MultiEdit", "edit_file", FILE),
    tool(
        "NotebookEdit",
        "edit_file",
        &[("notebook_path", "path"), ("new_source", "new_text")],
    ),
    tool("LS", "list_files", &[]),
    tool("Glob", "glob", &[]),
    tool("Grep", "search_files", &[]),
    tool("WebFetch", "web_fetch", &[]),
    tool("WebSearch", "web_search", &[]),
    tool("Task", "delegate", &[("subagent_type", "agent")]),
    tool("Agent", "delegate", &[("subagent_type", "agent")]),
    // Cursor runs Claude Code's hooks as well, with two of its own names.
    tool("Shell", "run_command", &[("working_directory", "cwd")]),
    tool("Delete", "delete_file", FILE),
];

const FILE: &[(&str, &str)] = &[("file_path", "path")];

fn encode(event: &AgentEvent, said: &Said) -> Reply {
    let mut answer = Map::new();
    let mut specific = Map::new();
    let mut refused = None;
    match &said.verdict {
        Verdict::Pass => {}
        Verdict::Block(reason) => {
            refuse(event, reason, &mut answer, &mut specific);
            refused = Some(reason);
        }
        Verdict::Ask(question, new) if event.ask == ASK => {
            specific.insert("permissionDecision".to_owned(), "ask".into());
            let reason = question.clone().into();
            specific.insert("permissionDecisionReason".to_owned(), reason);
            if let Some(new) = new {
                specific.insert("updatedInput".to_owned(), new.clone());
            }
        }
        // The dialog of a permission request is the question.
        Verdict::Ask(..) => {}
        Verdict::Rewrite(new) => rewrite(event, new, &mut specific),
    }
    if let Some(context) = said.context() {
        specific.insert("additionalContext".to_owned(), context.into());
    }
    let silent = DISCARDS_MESSAGES.contains(&event.name);
    if let Some(notes) = said.notes().filter(|_| !silent) {
        answer.insert("systemMessage".to_owned(), notes.into());
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), event.name.into());
        answer.insert("hookSpecificOutput".to_owned(), specific.into());
    }
    let reply = reply(event, answer, refused);
    if silent {
        return reply.noting(&said.notes);
    }
    reply
}

fn reply(event: &AgentEvent, answer: Map<String, Value>, refused: Option<&String>) -> Reply {
    let mut reply = if answer.is_empty() {
        Reply::silence()
    } else {
        Reply::json(&Value::Object(answer))
    };
    // The exit code says nothing to a permission request.
    if let Some(reason) = refused
        && event.block != BEHAVIOR
    {
        let refusal = Reply::refusal(reason);
        reply.stderr = refusal.stderr;
        reply.code = refusal.code;
    }
    reply
}

fn refuse(
    event: &AgentEvent,
    reason: &str,
    answer: &mut Map<String, Value>,
    specific: &mut Map<String, Value>,
) {
    if event.block == DENY {
        specific.insert("permissionDecision".to_owned(), "deny".into());
        specific.insert("permissionDecisionReason".to_owned(), reason.into());
    } else if event.block == BEHAVIOR {
        let decision = json!({"behavior": "deny", "message": reason});
        specific.insert("decision".to_owned(), decision);
    } else if event.block == DECISION {
        answer.insert("decision".to_owned(), "block".into());
        answer.insert("reason".to_owned(), reason.into());
    }
}

fn rewrite(event: &AgentEvent, new: &Value, specific: &mut Map<String, Value>) {
    if event.name == "PreToolUse" {
        // Without a decision: rewriting a call must not approve it in the person's place.
        specific.insert("updatedInput".to_owned(), new.clone());
    } else {
        specific.insert("updatedToolOutput".to_owned(), new.clone());
    }
}
