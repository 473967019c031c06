//! The fourteen events, and for each the outcomes it knows. A table and nothing else:
//! whoever reads or writes an outcome looks here.

use std::sync::LazyLock;

use crate::decision::Placement;
use crate::dialect::EventInfo;

/// An event with its outcomes.
#[derive(Debug)]
pub struct Rules {
    /// The event.
    pub info: EventInfo,
    /// The outcome that lets it go on.
    pub proceed: &'static str,
    /// The field with which that outcome adds a text, and where the text goes.
    pub adds: Option<(&'static str, Placement)>,
    /// The outcome that stops it.
    pub stop: Option<Stop>,
    /// Whether `suppress` holds it back quietly.
    pub suppress: bool,
}

/// An outcome that stops an event.
#[derive(Debug)]
pub struct Stop {
    /// Its name.
    pub verb: &'static str,
    /// Whether it can carry what a script printed.
    pub prints: bool,
}

const fn rules(
    name: &'static str,
    point: &'static str,
    payload: &'static str,
    fires: &'static str,
) -> Rules {
    Rules {
        info: EventInfo {
            name,
            point,
            fires,
            payload,
            gates: false,
            waits: true,
            experimental: false,
        },
        proceed: "allow",
        adds: None,
        stop: None,
        suppress: false,
    }
}

/// One whose handlers run in the background.
const fn forgotten(mut rules: Rules) -> Rules {
    rules.info.waits = false;
    rules.proceed = "acknowledged";
    rules
}

/// One that a failing hook stops.
const fn closed(mut rules: Rules) -> Rules {
    rules.info.gates = true;
    rules
}

const fn going_on(mut rules: Rules, verb: &'static str) -> Rules {
    rules.proceed = verb;
    rules
}

const fn adding(mut rules: Rules, field: &'static str, placement: Placement) -> Rules {
    rules.adds = Some((field, placement));
    rules
}

const fn stopping(mut rules: Rules, verb: &'static str, prints: bool) -> Rules {
    rules.stop = Some(Stop { verb, prints });
    rules
}

const fn suppressing(mut rules: Rules) -> Rules {
    rules.suppress = true;
    rules
}

const TOOL: &str = "{event, subject, tool_name, input}";
const AGENT: &str = "{event, subject, subagent_type}";
const PLAIN: &str = "{event, subject}";

/// All events, in the order in which a session meets them.
pub static EVENTS: [Rules; 14] = [
    adding(
        rules("session_start", "session.start", PLAIN, "a session begins"),
        "additional_context",
        Placement::SystemReminder,
    ),
    stopping(
        adding(
            going_on(
                rules(
                    "pre_user_prompt",
                    "turn.start",
                    "{event, subject, prompt}",
                    "before a submitted prompt is recorded",
                ),
                "accept",
            ),
            "additional_context",
            Placement::SystemReminder,
        ),
        "reject",
        true,
    ),
    closed(stopping(
        adding(
            going_on(
                rules(
                    "pre_model_turn",
                    "completion.pre",
                    PLAIN,
                    "before the model is called for a turn",
                ),
                "proceed",
            ),
            "additional_context",
            Placement::SystemReminder,
        ),
        "retry",
        true,
    )),
    forgotten(rules(
        "post_model_turn",
        "completion.post",
        PLAIN,
        "after the model finished a turn",
    )),
    closed(stopping(
        rules("pre_tool_use", "tool.pre", TOOL, "before a tool runs"),
        "deny",
        true,
    )),
    forgotten(rules(
        "post_tool_use",
        "tool.post",
        TOOL,
        "after a tool succeeded",
    )),
    forgotten(rules(
        "post_tool_use_failure",
        "tool.post",
        TOOL,
        "after a tool failed",
    )),
    closed(stopping(
        going_on(
            rules(
                "stop",
                "agent.stop",
                PLAIN,
                "the model would finish and hand the turn back",
            ),
            "stop",
        ),
        "continue",
        true,
    )),
    closed(suppressing(stopping(
        adding(
            rules(
                "pre_compaction",
                "compaction.pre",
                PLAIN,
                "before the session is compacted",
            ),
            "prepend_to_prompt",
            Placement::PrependToPrompt,
        ),
        "cancel",
        false,
    ))),
    adding(
        rules(
            "post_compaction",
            "compaction.post",
            PLAIN,
            "after the session was compacted",
        ),
        "append_to_output",
        Placement::AppendToOutput,
    ),
    suppressing(rules(
        "notification",
        "notification",
        PLAIN,
        "a notification would be raised",
    )),
    forgotten(rules(
        "facet_switch",
        "facet.switch",
        PLAIN,
        "after the active facet changed",
    )),
    forgotten(rules(
        "subagent_start",
        "delegation.start",
        AGENT,
        "after a subagent started",
    )),
    forgotten(rules(
        "subagent_stop",
        "delegation.post",
        AGENT,
        "after a subagent finished",
    )),
];

/// Returns the events without their outcomes.
pub(super) fn catalogue() -> &'static [EventInfo] {
    static CATALOGUE: LazyLock<Vec<EventInfo>> =
        LazyLock::new(|| EVENTS.iter().map(|rules| rules.info).collect());
    &CATALOGUE
}

/// Finds an event by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rules> {
    EVENTS.iter().find(|rules| rules.info.name == name)
}

/// Returns whether an event after a tool is the one of its failure; nothing for others.
pub(super) fn after_tool(name: &str) -> Option<bool> {
    match name {
        "post_tool_use" => Some(false),
        "post_tool_use_failure" => Some(true),
        _ => None,
    }
}
