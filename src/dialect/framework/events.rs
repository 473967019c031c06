//! The six lifecycle events.

use crate::dialect::EventInfo;

const fn event(
    name: &'static str,
    point: &'static str,
    payload: &'static str,
    fires: &'static str,
) -> EventInfo {
    EventInfo {
        name,
        point,
        fires,
        payload,
        // Failing open is what this framework wants.
        gates: false,
        waits: true,
        experimental: false,
    }
}

const BASE: &str = "{session_id, transcript_path, hook_event_name}";

/// All events, in the order in which a session meets them.
pub static EVENTS: [EventInfo; 6] = [
    event(
        "SessionStart",
        "session.start",
        BASE,
        "a new session begins",
    ),
    event(
        "UserPromptSubmit",
        "turn.start",
        "{session_id, transcript_path, hook_event_name, prompt}",
        "the user sends a message",
    ),
    event(
        "PreToolUse",
        "tool.pre",
        "{session_id, transcript_path, hook_event_name, tool_name, tool_input}",
        "before a tool runs",
    ),
    event(
        "SubagentStop",
        "delegation.post",
        BASE,
        "a subagent is done",
    ),
    event("Stop", "agent.stop", BASE, "the model has answered"),
    event("SessionEnd", "session.end", BASE, "the session ends"),
];

/// Finds an event by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static EventInfo> {
    EVENTS.iter().find(|info| info.name == name)
}

/// Says whether there is anything left to stop.
pub(super) fn can_stop(event: &str) -> bool {
    event != "SessionEnd"
}

/// Says whether standard output can be a decision: elsewhere it is always context.
pub(super) fn decides(event: &str) -> bool {
    event == "PreToolUse"
}
