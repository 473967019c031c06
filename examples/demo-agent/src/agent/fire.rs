//! Fires an event and takes the answer apart: what was decided, what the hooks rewrote,
//! and what they want the model to be told.

use hookbox::decision::{Effect, Placement};
use hookbox::runtime::DispatchError;
use hookbox::{Outcome, Ruling};
use serde_json::{Map, Value};

use super::conversation::Role;
use super::transcript::Who;
use super::voice::{Line, Moment};
use super::{Agent, SESSION};

/// What came of an event.
#[derive(Debug, Default)]
pub(super) struct Fired {
    /// The form it had and the outcome; nothing if the dialect has no such event, or if
    /// nothing was decided.
    heard: Option<(Line, Outcome)>,
    pub(super) verdict: Verdict,
    /// Texts for the model that belong before what the event is about.
    before: Vec<String>,
    /// Texts that belong after it.
    after: Vec<String>,
}

/// Whether what the event is about may happen.
#[derive(Debug, Default)]
pub(super) enum Verdict {
    /// It may.
    #[default]
    Pass,
    /// It may not, for this reason.
    Refused(String),
    /// A person decides.
    Asked(String),
}

impl Fired {
    /// Returns why it must not happen. Where nobody is asked, a question is a no.
    pub(super) fn refused(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Pass => None,
            Verdict::Refused(reason) | Verdict::Asked(reason) => Some(reason),
        }
    }

    /// Returns the dialect's word for the decision of the hook that made it.
    pub(super) fn verb(&self) -> Option<&str> {
        Some(&self.outcome()?.said.as_ref()?.verb)
    }

    /// Says whether a hook settled the matter, whichever way.
    pub(super) fn is_settled(&self) -> bool {
        self.outcome().is_some_and(|outcome| outcome.hook.is_some())
    }

    pub(super) fn outcome(&self) -> Option<&Outcome> {
        self.heard.as_ref().map(|(_, outcome)| outcome)
    }

    /// Returns what the hooks made of a fact, if they rewrote the payload.
    pub(super) fn rewritten(&self, fact: &str) -> Option<&Value> {
        let (line, outcome) = self.heard.as_ref()?;
        match outcome.decision {
            Ruling::Modify => line.find(fact, outcome.payload.value()),
            _ => None,
        }
    }

    /// Returns a text as the hooks left it.
    pub(super) fn text(&self, fact: &str, before: &str) -> String {
        match self.rewritten(fact) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => before.to_owned(),
        }
    }

    /// Puts the texts of the hooks around another one.
    pub(super) fn around(&mut self, text: String) -> String {
        let mut parts = std::mem::take(&mut self.before);
        parts.push(text);
        parts.append(&mut self.after);
        parts.join("\n")
    }
}

impl Agent<'_> {
    /// Fires the event of a moment that has nothing to put texts around.
    pub(super) fn fire(&mut self, moment: Moment, facts: Value) -> Fired {
        let mut fired = self.fire_around(moment, facts);
        let before = std::mem::take(&mut fired.before);
        for text in before.into_iter().chain(std::mem::take(&mut fired.after)) {
            self.tell(Role::System, &text);
        }
        fired
    }

    /// Fires the event of a moment. Texts that go before or after what it is about are
    /// left to the caller; others are told at once.
    pub(super) fn fire_around(&mut self, moment: Moment, facts: Value) -> Fired {
        let Some(line) = self.voice.line(moment) else {
            return Fired::default();
        };
        let facts = complete(facts);
        let event = line.event(&facts);
        let answer = self.runtime.dispatch(&event, line.payload(&facts));
        self.heard(&event, &subject(&facts), line, answer)
    }

    /// Takes the answer to an event, wherever it was fired.
    pub(super) fn heard(
        &mut self,
        event: &str,
        subject: &str,
        line: Line,
        answer: Result<Outcome, DispatchError>,
    ) -> Fired {
        self.transcript.fired.push(event.to_owned());
        let outcome = match answer {
            Ok(outcome) => outcome,
            // What hookbox could not decide must not happen.
            Err(error) => {
                let text = format!("{event}{subject} → not decided: {error}");
                self.transcript.add(Who::Event, &text);
                return Fired {
                    verdict: Verdict::Refused(error.to_string()),
                    ..Fired::default()
                };
            }
        };
        let text = format!("{event}{subject} → {}", self.decided(&outcome));
        self.transcript.add(Who::Event, &text);
        self.transcript.logs(&outcome);
        let mut fired = Fired {
            verdict: verdict(&outcome),
            ..Fired::default()
        };
        for effect in &outcome.effects {
            self.take(effect, &mut fired);
        }
        fired.heard = Some((line, outcome));
        fired
    }

    /// Puts a decision into words: the dialect's own where it has one.
    fn decided(&self, outcome: &Outcome) -> String {
        if outcome.trace.iter().any(|row| row.background) {
            return "nobody waits".to_owned();
        }
        let native = self.runtime.native(outcome).unwrap_or_default();
        let native: Value = serde_json::from_str(&native).unwrap_or_default();
        let said = outcome.said.as_ref().map(|said| &*said.verb);
        let word = said
            .or_else(|| native.get("outcome")?.as_str())
            .unwrap_or(outcome.decision.name());
        match (&outcome.hook, &outcome.reason) {
            (Some(hook), Some(reason)) => format!("{word} by {hook}: {reason}"),
            (Some(hook), None) => format!("{word} by {hook}"),
            (None, _) => word.to_owned(),
        }
    }

    fn take(&mut self, effect: &Effect, fired: &mut Fired) {
        match effect {
            Effect::Reminder(reminder) => {
                let added = self.conversation.remind(reminder);
                self.did(added);
            }
            Effect::Context { text, placement } => match placement {
                Placement::SystemReminder => self.tell(Role::SystemReminder, text),
                Placement::SystemMessage => self.tell(Role::System, text),
                Placement::PrependToPrompt => fired.before.push(text.clone()),
                Placement::AppendToOutput => fired.after.push(text.clone()),
            },
        }
    }

    /// Makes a text part of what the model sees.
    pub(super) fn tell(&mut self, role: Role, text: &str) {
        self.conversation.record(role, text);
        let line = format!("[{}] {text}", role.name());
        self.transcript.add(Who::Told, &line);
    }
}

fn verdict(outcome: &Outcome) -> Verdict {
    match outcome.decision {
        Ruling::Allow | Ruling::Modify => Verdict::Pass,
        Ruling::Block => Verdict::Refused(reason(outcome)),
        Ruling::Ask => Verdict::Asked(reason(outcome)),
    }
}

/// The reason, and what else the program of the hook printed: the model is to see it.
fn reason(outcome: &Outcome) -> String {
    let mut reason = outcome.reason.clone().unwrap_or_default();
    let said = outcome.said.iter();
    for printed in said.flat_map(|said| said.stdout.iter().chain(&said.stderr)) {
        if !reason.contains(printed.as_str()) {
            reason = format!("{reason}\n{printed}");
        }
    }
    reason
}

/// Every event can say which session it belongs to.
fn complete(facts: Value) -> Map<String, Value> {
    let mut facts = match facts {
        Value::Object(facts) => facts,
        _ => Map::new(),
    };
    facts.insert("session".to_owned(), SESSION.into());
    facts
}

/// What an event is about, for whoever reads the transcript.
fn subject(facts: &Map<String, Value>) -> String {
    let known = ["agent", "step", "persona", "trigger"];
    // The name of a custom event is in the event's own.
    let name = facts.get("name").filter(|_| !facts.contains_key("payload"));
    let mut found = name
        .into_iter()
        .chain(known.iter().filter_map(|key| facts.get(*key)));
    match found.next() {
        Some(Value::String(subject)) => format!(" {subject}"),
        _ => String::new(),
    }
}
