//! What narrows a hook of Harn, on the payload in Harn's own form.

use super::pattern::{Pattern, PersonaPattern, ToolGlob};
use super::payload::view;
use crate::event::Event;
use crate::hook::Rule;

/// A pattern of one of the surfaces, for one event.
#[derive(Debug)]
pub(super) struct Narrowed {
    pub(super) event: &'static str,
    pub(super) by: By,
}

/// The kinds of patterns.
#[derive(Debug)]
pub(super) enum By {
    /// A glob on the tool's name.
    Tool(ToolGlob),
    /// A persona, a step, and how much of the budget has to be used.
    Persona(PersonaPattern),
    /// The pattern of a manifest entry or a session hook, with the budget of its event.
    Pattern(Pattern, PersonaPattern),
}

impl Rule for Narrowed {
    fn matches(&self, event: &Event) -> bool {
        let payload = view(self.event, event);
        let payload = payload.value();
        match &self.by {
            By::Tool(glob) => glob.matches(payload),
            By::Persona(pattern) => pattern.matches(payload),
            By::Pattern(pattern, budget) => pattern.matches(payload) && budget.matches(payload),
        }
    }

    fn text(&self) -> Option<String> {
        let text = match &self.by {
            By::Tool(glob) => glob.text().to_owned(),
            By::Persona(pattern) => match pattern.step() {
                Some(step) => format!("{}.{step}", pattern.persona()),
                None => pattern.persona().to_owned(),
            },
            By::Pattern(pattern, _) => pattern.text().to_owned(),
        };
        let least = match &self.by {
            By::Tool(_) => None,
            By::Persona(pattern) | By::Pattern(_, pattern) => pattern.least(),
        };
        let budget = least.map(|least| format!("pct >= {}", least.value()));
        match (matches!(&*text, "" | "*"), budget) {
            (true, budget) => budget,
            (false, None) => Some(text),
            (false, Some(budget)) => Some(format!("{text} and {budget}")),
        }
    }
}
