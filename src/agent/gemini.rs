//! Gemini CLI. It merges a rewritten input over the old one, so an argument can be
//! changed and not taken away. Text that is no JSON means allow.

use serde_json::{Map, Value, json};

use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, Carries, Reply, Tool, foreign, native};
use crate::dialect::polytoken;

/// Gemini CLI.
pub(super) static AGENT: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    events: &EVENTS,
    event_key: "hook_event_name",
    tools: &TOOLS,
    merges: true,
    encode,
};

const DENY: Option<&str> = Some("exit code 2 with the reason on standard error");
const CONTEXT: Option<&str> = Some("additionalContext");

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
    native(
        "BeforeToolSelection",
        "custom.tool_selection",
        Carries::Object,
    ),
    AgentEvent {
        guards: true,
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
        ..native(
            "BeforeTool",
            "tool.pre",
            Carries::Tool {
                name: "tool_name",
                input: "tool_input",
                id: "tool_use_id",
            },
        )
    },
    AgentEvent {
        block: DENY,
        context: CONTEXT,
        ..native(
            "AfterTool",
            "tool.post",
            Carries::Output {
                name: "tool_name",
                input: "tool_input",
                output: &["tool_response"],
                id: "tool_use_id",
                failed: false,
            },
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

static TOOLS: [Tool; 10] = [
    Tool {
        own: "run_shell_command",
        canonical: "run_command",
        keys: &[("dir_path", "cwd"), ("directory", "cwd")],
    },
    Tool {
        own: "read_file",
        canonical: "read_file",
        keys: FILE,
    },
    Tool {
        own: "read_many_files",
        canonical: "read_many_files",
        keys: &[],
    },
    Tool {
        own: "write_file",
        canonical: "write_file",
        keys: FILE,
    },
    Tool {
        own: "replace",
        canonical: "edit_file",
        keys: &[
            ("file_path", "path"),
            ("old_string", "old_text"),
            ("new_string", "new_text"),
        ],
    },
    Tool {
        own: "list_directory",
        canonical: "list_files",
        keys: &[("dir_path", "path")],
    },
    Tool {
        own: "glob",
        canonical: "glob",
        keys: &[("dir_path", "path")],
    },
    Tool {
        own: "search_file_content",
        canonical: "search_files",
        keys: &[("dir_path", "path")],
    },
    Tool {
        own: "web_fetch",
        canonical: "web_fetch",
        keys: &[],
    },
    Tool {
        own: "google_web_search",
        canonical: "web_search",
        keys: &[],
    },
];

const FILE: &[(&str, &str)] = &[("file_path", "path")];

fn encode(event: &AgentEvent, said: &Said) -> Reply {
    let mut specific = Map::new();
    match &said.verdict {
        Verdict::Pass | Verdict::Ask(..) => {}
        Verdict::Block(reason) => {
            let texts = std::iter::once(reason.clone()).chain(said.context());
            return Reply::refusal(&texts.collect::<Vec<_>>().join("\n\n"));
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
