//! The catalogue of Harn events.

use std::fmt;

use serde::Serialize;

/// One event of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Info {
    /// The name as manifests and tapes spell it.
    pub name: &'static str,
    /// The other spelling, which only session events have.
    pub snake: Option<&'static str>,
    /// Where it is registered.
    pub surface: Surface,
    /// What a hook can do about it.
    pub veto: Veto,
    /// What the chain calls it.
    pub canonical: &'static str,
    /// When it fires.
    pub fires: &'static str,
}

/// One of the three rings of hooks around a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// Around each tool call.
    Tool,
    /// Around the steps of a persona.
    Persona,
    /// Around the whole session.
    Session,
}

impl Surface {
    /// Returns the word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Persona => "persona",
            Self::Session => "session",
        }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What a hook can do about an event, beside reminding the model of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Veto {
    /// Nothing: it is told, not asked.
    Advisory,
    /// Refuse, with `{block}`.
    Block,
    /// Answer in the policy's place, with `{decision}`.
    Decision,
    /// Refuse, with `{deny}`.
    Deny,
    /// Refuse, or change the arguments with `{args}`.
    DenyOrArgs,
    /// Refuse, or change the output with `{output}`.
    DenyOrOutput,
    /// Change the result with `{result}`; it is too late to refuse.
    Result,
}

impl Veto {
    /// Tells whether a veto stops something.
    #[must_use]
    pub fn refuses(self) -> bool {
        !matches!(self, Self::Advisory | Self::Result)
    }

    /// Says in a few words what a hook can do.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Advisory => "advisory",
            Self::Block => "block",
            Self::Decision => "decision",
            Self::Deny => "deny",
            Self::DenyOrArgs => "deny, args",
            Self::DenyOrOutput => "deny, output",
            Self::Result => "result",
        }
    }
}

const fn tool(
    name: &'static str,
    canonical: &'static str,
    veto: Veto,
    fires: &'static str,
) -> Info {
    Info {
        name,
        snake: None,
        surface: Surface::Tool,
        veto,
        canonical,
        fires,
    }
}

const fn persona(
    name: &'static str,
    canonical: &'static str,
    veto: Veto,
    fires: &'static str,
) -> Info {
    Info {
        surface: Surface::Persona,
        ..tool(name, canonical, veto, fires)
    }
}

const fn session(
    name: &'static str,
    snake: &'static str,
    canonical: &'static str,
    veto: Veto,
    fires: &'static str,
) -> Info {
    Info {
        snake: Some(snake),
        surface: Surface::Session,
        ..tool(name, canonical, veto, fires)
    }
}

/// The one event whose name can carry a number.
const BUDGET: &str = "OnBudgetThreshold";

/// All events, from the innermost surface to the outermost.
pub const CATALOGUE: [Info; 23] = [
    tool(
        "PreToolUse",
        "tool.pre",
        Veto::DenyOrArgs,
        "before a tool is called",
    ),
    tool(
        "PostToolUse",
        "tool.post",
        Veto::Result,
        "after a tool returned",
    ),
    persona(
        "PreStep",
        "step.pre",
        Veto::DenyOrArgs,
        "before a persona's step runs",
    ),
    persona(
        "PostStep",
        "step.post",
        Veto::DenyOrOutput,
        "after a persona's step ran",
    ),
    persona(
        "OnApprovalRequested",
        "approval.requested",
        Veto::Deny,
        "a persona asks for approval",
    ),
    persona(
        "OnHandoffEmitted",
        "handoff.emitted",
        Veto::Deny,
        "a persona hands its work over",
    ),
    persona(
        "OnPersonaPaused",
        "persona.paused",
        Veto::Deny,
        "a persona is paused",
    ),
    persona(
        "OnPersonaResumed",
        "persona.resumed",
        Veto::Deny,
        "a paused persona goes on",
    ),
    persona(
        BUDGET,
        "budget.threshold",
        Veto::Deny,
        "a share of the budget is spent",
    ),
    session(
        "SessionStart",
        "session_start",
        "session.start",
        Veto::Advisory,
        "the session is open and its loop not yet begun",
    ),
    session(
        "UserPromptSubmit",
        "user_prompt_submit",
        "turn.start",
        Veto::Block,
        "before the agent sees the user's prompt",
    ),
    session(
        "PermissionAsked",
        "permission_asked",
        "permission.asked",
        Veto::Decision,
        "the permission policy wants someone to decide",
    ),
    session(
        "PermissionReplied",
        "permission_replied",
        "permission.replied",
        Veto::Advisory,
        "after the permission policy decided",
    ),
    session(
        "FileEdited",
        "file_edited",
        "file.edited",
        Veto::Advisory,
        "a turn is over, for each edit that it queued",
    ),
    session(
        "PostTurn",
        "post_turn",
        "turn.end",
        Veto::Advisory,
        "a turn is recorded, before it is decided whether to go on",
    ),
    session(
        "PreCompact",
        "pre_compact",
        "compaction.pre",
        Veto::Block,
        "before the transcript is compacted; a block skips this one pass",
    ),
    session(
        "PostCompact",
        "post_compact",
        "compaction.post",
        Veto::Advisory,
        "after the compacted messages took their place",
    ),
    session(
        "SessionIdle",
        "session_idle",
        "session.idle",
        Veto::Advisory,
        "a daemon begins to wait between two turns",
    ),
    session(
        "PreFinish",
        "pre_finish",
        "finish.pre",
        Veto::Advisory,
        "just before a pipeline finishes",
    ),
    session(
        "OnUnsettledDetected",
        "on_unsettled_detected",
        "finish.unsettled",
        Veto::Advisory,
        "after pre_finish, if something is left unsettled",
    ),
    session(
        "PostFinish",
        "post_finish",
        "finish.post",
        Veto::Advisory,
        "a pipeline has finished, before the host gets its value",
    ),
    session(
        "SessionError",
        "session_error",
        "error",
        Veto::Advisory,
        "before session_end, if the loop ended with an error",
    ),
    session(
        "SessionEnd",
        "session_end",
        "session.end",
        Veto::Advisory,
        "after the loop has ended",
    ),
];

/// A share of a budget, from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Percentage(f64);

impl Percentage {
    /// Returns the number.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }

    /// Reads a whole or decimal number, without a sign or an exponent.
    fn parse(text: &str) -> Option<Self> {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let plain = match text.split_once('.') {
            Some((whole, fraction)) => digits(whole) && digits(fraction),
            None => digits(text),
        };
        let number = text.parse().ok().filter(|_| plain)?;
        (0.0..=100.0).contains(&number).then_some(Self(number))
    }
}

/// Why a text does not name an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// There is no event of that name.
    #[error("unknown hook event `{0}`")]
    Unknown(String),
    /// There is no tool event of that name.
    #[error("unknown tool hook event `{0}`")]
    UnknownTool(String),
    /// There is no persona event of that name.
    #[error("unknown persona hook event `{0}`")]
    UnknownPersona(String),
    /// There is no session event of that name.
    #[error("unknown session hook event `{0}`")]
    UnknownSession(String),
    /// What stands after the budget's event is not a share of it.
    #[error(
        "invalid budget threshold `{0}`; write a number from 0 to 100, as in `OnBudgetThreshold(80)`"
    )]
    Threshold(String),
}

/// Finds an event by either of its names.
#[must_use]
pub fn find(name: &str) -> Option<&'static Info> {
    // `error` is what Harn itself also takes.
    let name = if name == "error" {
        "session_error"
    } else {
        name
    };
    CATALOGUE
        .iter()
        .find(|info| info.name == name || info.snake == Some(name))
}

/// Returns every name that an event of a surface can be written with.
pub fn names(surface: Surface) -> impl Iterator<Item = &'static str> {
    CATALOGUE
        .iter()
        .filter(move |info| info.surface == surface)
        .flat_map(|info| [Some(info.name), info.snake])
        .flatten()
}

/// Reads the name of an event of any surface, with the threshold it may carry.
///
/// # Errors
/// Returns what is wrong with the name or the threshold.
pub fn parse(name: &str) -> Result<(&'static Info, Option<Percentage>), EventError> {
    if let Some(info) = find(name) {
        return Ok((info, None));
    }
    let budget = name.strip_prefix(BUDGET).zip(find(BUDGET));
    let Some((rest, info)) = budget.filter(|(rest, _)| rest.starts_with('(')) else {
        return Err(EventError::Unknown(name.to_owned()));
    };
    let inside = rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .map(str::trim);
    let percentage = inside.and_then(Percentage::parse);
    let wrong = || EventError::Threshold(inside.unwrap_or(rest).to_owned());
    Ok((info, Some(percentage.ok_or_else(wrong)?)))
}

/// Reads the name of an event that has to be one of a surface.
///
/// # Errors
/// Returns what is wrong with the name or the threshold.
pub fn parse_on(
    surface: Surface,
    name: &str,
) -> Result<(&'static Info, Option<Percentage>), EventError> {
    let unknown = |name: String| match surface {
        Surface::Tool => EventError::UnknownTool(name),
        Surface::Persona => EventError::UnknownPersona(name),
        Surface::Session => EventError::UnknownSession(name),
    };
    match parse(name) {
        Ok((info, _)) if info.surface != surface => Err(unknown(name.to_owned())),
        Err(EventError::Unknown(name)) => Err(unknown(name)),
        Err(_) if surface != Surface::Persona => Err(unknown(name.to_owned())),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn named(surface: Surface) -> Vec<&'static str> {
        let of_it = CATALOGUE.iter().filter(|info| info.surface == surface);
        of_it.map(|info| info.name).collect()
    }

    #[test]
    fn hn_001_there_are_three_surfaces() {
        assert_eq!(named(Surface::Tool), ["PreToolUse", "PostToolUse"]);
        assert_eq!(named(Surface::Persona).len(), 7);
        assert_eq!(named(Surface::Session).len(), 14);
        let words = [Surface::Tool, Surface::Persona, Surface::Session].map(Surface::name);
        assert_eq!(words, ["tool", "persona", "session"]);
    }

    #[test]
    fn hn_044_session_events_parse_in_either_spelling() {
        for info in CATALOGUE
            .iter()
            .filter(|info| info.surface == Surface::Session)
        {
            let snake = info.snake.unwrap();
            assert_eq!(parse(info.name).unwrap(), (info, None));
            assert_eq!(parse(snake).unwrap(), (info, None));
            assert_eq!(pascal(snake), info.name);
        }
        assert_eq!(parse("error").unwrap().0.name, "SessionError");
    }

    fn pascal(snake: &str) -> String {
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        snake.split('_').map(capital).collect()
    }

    #[test]
    fn hn_014_persona_events_parse_and_others_do_not() {
        for name in [
            "PreStep",
            "PostStep",
            "OnApprovalRequested",
            "OnHandoffEmitted",
            "OnPersonaPaused",
            "OnPersonaResumed",
            "OnBudgetThreshold",
            "OnBudgetThreshold(80)",
        ] {
            let (info, _) = parse_on(Surface::Persona, name).unwrap();
            assert_eq!(info.surface, Surface::Persona, "{name}");
        }
        let wrong = parse_on(Surface::Persona, "OnLunch").unwrap_err();
        assert_eq!(wrong.to_string(), "unknown persona hook event `OnLunch`");
        for name in ["pre_step", "pre_tool_use", "PreStep(80)", "prestep", ""] {
            assert_eq!(parse(name), Err(EventError::Unknown(name.to_owned())));
        }
    }

    #[test]
    fn hn_015_a_threshold_is_a_number_from_0_to_100() {
        let threshold = |text: &str| parse(&format!("OnBudgetThreshold{text}"));
        for (text, number) in [
            ("(80)", 80.0),
            ("(0)", 0.0),
            ("(100)", 100.0),
            ("(99.5)", 99.5),
            ("( 7 )", 7.0),
        ] {
            let (info, found) = threshold(text).unwrap();
            assert_eq!(info.name, BUDGET);
            assert_eq!(found.map(Percentage::value), Some(number), "{text}");
        }
        assert_eq!(threshold("").unwrap().1, None);
        for (text, shown) in [
            ("()", ""),
            ("(101)", "101"),
            ("(-1)", "-1"),
            ("(+1)", "+1"),
            ("(80%)", "80%"),
            ("(1e1)", "1e1"),
            ("(.5)", ".5"),
            ("(5.)", "5."),
            ("(inf)", "inf"),
            ("(NaN)", "NaN"),
            ("(80", "(80"),
            ("(80) ", "(80) "),
        ] {
            let wrong = threshold(text).unwrap_err();
            assert_eq!(wrong, EventError::Threshold(shown.to_owned()), "{text}");
        }
        let wrong = threshold("(most)").unwrap_err().to_string();
        assert!(wrong.starts_with("invalid budget threshold `most`; write a number"));
    }

    #[test]
    fn a_name_of_another_surface_is_unknown_on_this_one() {
        let on = |surface, name| parse_on(surface, name).unwrap_err().to_string();
        assert_eq!(
            on(Surface::Session, "PreToolUse"),
            "unknown session hook event `PreToolUse`"
        );
        assert_eq!(
            on(Surface::Session, "OnBudgetThreshold(1000)"),
            "unknown session hook event `OnBudgetThreshold(1000)`"
        );
        assert_eq!(
            on(Surface::Tool, "session_start"),
            "unknown tool hook event `session_start`"
        );
        assert!(on(Surface::Persona, "OnBudgetThreshold(x)").starts_with("invalid budget"));
    }

    #[test]
    fn no_name_and_no_canonical_point_is_there_twice() {
        let all = [Surface::Tool, Surface::Persona, Surface::Session];
        let spelled: Vec<_> = all.into_iter().flat_map(names).collect();
        assert_eq!(spelled.iter().collect::<HashSet<_>>().len(), spelled.len());
        assert_eq!(spelled.len(), 2 + 7 + 2 * 14);
        let points: HashSet<_> = CATALOGUE.iter().map(|info| info.canonical).collect();
        assert_eq!(points.len(), CATALOGUE.len());
    }

    #[test]
    fn only_these_session_events_can_be_refused() {
        let asked = |info: &&Info| info.surface == Surface::Session && info.veto.refuses();
        let names: Vec<_> = CATALOGUE.iter().filter(asked).map(|i| i.name).collect();
        assert_eq!(names, ["UserPromptSubmit", "PermissionAsked", "PreCompact"]);
    }
}
