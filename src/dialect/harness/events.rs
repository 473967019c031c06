//! The catalogue of AI Harness events.

use crate::diagnostic::did_you_mean;
use crate::dialect::EventInfo;

const fn event(
    name: &'static str,
    gates: bool,
    payload: &'static str,
    fires: &'static str,
) -> EventInfo {
    EventInfo {
        name,
        point: name,
        fires,
        payload,
        gates,
        waits: true,
        experimental: false,
    }
}

/// All events, in the order in which a session meets them.
pub const CATALOGUE: [EventInfo; 15] = [
    event("session.start", false, "none", "a new session begins"),
    event(
        "turn.start",
        true,
        "the user's message, a string",
        "before the model is called for a new turn",
    ),
    event(
        "completion.pre",
        true,
        "the provider's request {model, messages, tools}",
        "before a completion request is sent",
    ),
    event(
        "completion.post",
        false,
        "the provider's response {choices, usage, finish_reason}",
        "after a completion response came",
    ),
    event(
        "tool.pre",
        true,
        "{id, name, arguments, args}",
        "after arguments are validated, before the tool runs",
    ),
    event(
        "tool.post",
        false,
        "{call_id, name, content, is_error, result}",
        "after the tool returned",
    ),
    event(
        "delegation.pre",
        true,
        "{agent, prompt, depth, ...}",
        "before work is delegated to a sub-agent",
    ),
    event(
        "delegation.post",
        false,
        "{agent, result, depth, ...}",
        "after a sub-agent is done",
    ),
    event(
        "delegation.post_verify",
        true,
        "{agent, result, depth, attempt, ...}",
        "after delegation.post, where the delegation asks for verification",
    ),
    event(
        "turn.end",
        false,
        "{text, tool_calls, usage, logs}",
        "after the model produced its turn",
    ),
    EventInfo {
        experimental: true,
        ..event(
            "agent.stop",
            true,
            "{id, finish_reason, iteration, response, ...}",
            "before the agent's loop ends; a block keeps it going",
        )
    },
    event(
        "error",
        false,
        "the error",
        "an error ends the agent's loop",
    ),
    event("session.end", false, "none", "the session ends"),
    event(
        "custom.*",
        false,
        "anything",
        "a tool or a hook emits it; lower case letters, digits and _ after the dot",
    ),
    event(
        "meta.*",
        true,
        "what is registered",
        "an agent changes its own tools, hooks or agents",
    ),
];

/// Finds the entry a name falls under; none if there is no such event.
#[must_use]
pub fn find(name: &str) -> Option<&'static EventInfo> {
    CATALOGUE
        .iter()
        .find(|info| match info.name.strip_suffix('*') {
            None => info.name == name,
            Some("custom.") => name.strip_prefix("custom.").is_some_and(is_custom_suffix),
            Some(prefix) => name.strip_prefix(prefix).is_some_and(is_meta_suffix),
        })
}

/// Says what to write instead of a name that is none.
#[must_use]
pub fn advice(name: &str) -> String {
    let names = CATALOGUE.iter().map(|info| info.name);
    if name.starts_with("custom.") {
        return "after `custom.` come lower case letters, digits and `_`".to_owned();
    }
    let family = name.split('.').next().unwrap_or_default();
    let siblings: Vec<String> = names
        .clone()
        .filter(|known| !known.ends_with('*') && known.split('.').next() == Some(family))
        .map(|known| format!("`{known}`"))
        .collect();
    let guess = did_you_mean(name, names.clone().filter(|name| !name.ends_with('*')));
    match (guess, siblings.as_slice()) {
        (Some(guess), _) => format!("did you mean `{guess}`?"),
        (None, []) => format!("the events are {}", names.collect::<Vec<_>>().join(", ")),
        (None, siblings) => format!("did you mean {}?", siblings.join(" or ")),
    }
}

fn is_custom_suffix(suffix: &str) -> bool {
    !suffix.is_empty()
        && suffix
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Any name goes after `meta.`, as long as it can be printed on one line.
fn is_meta_suffix(suffix: &str) -> bool {
    !suffix.is_empty() && !suffix.chars().any(|c| c.is_control() || c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::OnError;

    #[test]
    fn ah_047_custom_names_follow_the_pattern() {
        for name in ["custom.my_event", "custom.a", "custom.0_1"] {
            assert!(find(name).is_some(), "{name}");
        }
        for name in [
            "custom.",
            "custom.A",
            "custom.a-b",
            "custom.a.b",
            "custom",
            "custom.é",
        ] {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn ah_049_any_meta_name_is_valid() {
        for name in [
            "meta.tool_register",
            "meta.hook_register",
            "meta.register_tool",
            "meta.x",
        ] {
            assert!(find(name).is_some(), "{name}");
        }
        for name in ["meta.", "meta", "meta.a b", "meta.a\n"] {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn ah_019_ah_046_only_agent_stop_is_experimental() {
        let experimental: Vec<_> = CATALOGUE.iter().filter(|info| info.experimental).collect();
        assert_eq!(experimental.len(), 1);
        assert_eq!(experimental[0].name, "agent.stop");
    }

    #[test]
    fn failures_close_exactly_the_events_that_gate() {
        let closed: Vec<_> = CATALOGUE
            .iter()
            .filter(|info| info.default_on_error() == OnError::Block)
            .map(|info| info.name)
            .collect();
        assert_eq!(
            closed,
            [
                "turn.start",
                "completion.pre",
                "tool.pre",
                "delegation.pre",
                "delegation.post_verify",
                "agent.stop",
                "meta.*"
            ]
        );
    }
}
