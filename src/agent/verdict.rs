//! What hookbox has to say, in what an agent can hear. What it cannot hear becomes the
//! safer thing, and never silently.

use serde_json::Value;

use super::heard::{Carries, Heard, ToolCall};
use super::place::Root;
use super::{Agent, AgentEvent};
use crate::capability::services::Question;
use crate::decision::{Effect, Ruling};
use crate::failure::Cause;
use crate::outcome::{Outcome, TraceRow};

/// What an agent is told to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Nothing in particular.
    Pass,
    /// Not to do it.
    Block(String),
    /// To ask a person first, about this or about what a hook made of it.
    Ask(String, Option<Value>),
    /// To do something else: the tool's input, the prompt or the output in its own form.
    Rewrite(Value),
}

/// All that an agent is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// What to do.
    pub verdict: Verdict,
    /// Texts for the model.
    pub context: Vec<String>,
    /// What people should know: warnings, and what could not be said.
    pub notes: Vec<String>,
}

/// What one dispatch came to.
#[derive(Debug)]
pub struct Decided {
    /// The outcome of the chain.
    pub outcome: Outcome,
    /// Whether a hook that fails has blocked it already.
    pub gates: bool,
    /// What hooks want a person to be asked; the hooks behind them have looked all the
    /// same.
    pub questions: Vec<Question>,
}

/// How long a text to an agent may be. Some cut what is longer, and a reason without its
/// end is worse than a shorter one.
const MAX_TEXT: usize = 8_000;

impl Said {
    /// Says only what to do.
    #[must_use]
    pub fn only(verdict: Verdict) -> Self {
        Self {
            verdict,
            context: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Refuses.
    #[must_use]
    pub fn block(reason: impl Into<String>) -> Self {
        Self::only(Verdict::Block(bounded(&reason.into())))
    }

    /// Returns the texts for the model as one.
    #[must_use]
    pub fn context(&self) -> Option<String> {
        (!self.context.is_empty()).then(|| bounded(&self.context.join("\n\n")))
    }

    /// Returns what people should know as one text.
    #[must_use]
    pub fn notes(&self) -> Option<String> {
        (!self.notes.is_empty()).then(|| bounded(&self.notes.join("\n")))
    }

    /// Brings the outcomes of an event's dispatches together: the strictest counts.
    #[must_use]
    pub fn of(agent: &Agent, heard: &Heard, decided: &[Decided], root: &Root) -> Self {
        let mut said = Self::only(Verdict::Pass);
        for (index, decision) in decided.iter().enumerate() {
            let Decided {
                outcome, questions, ..
            } = decision;
            for warning in &outcome.warnings {
                said.notes.push(format!("hookbox: {}", clean(warning)));
            }
            said.context.extend(outcome.effects.iter().map(text_of));
            if let Some(why) = kept_going(heard.event, outcome) {
                said.notes.push(why);
                continue;
            }
            let verdict = verdict(agent, heard, index, decision, root).asking(questions);
            if strength(&verdict) > strength(&said.verdict) {
                said.verdict = verdict;
            }
        }
        said.degrade(agent, heard.event)
    }

    /// Makes what the agent cannot hear the safer thing.
    fn degrade(mut self, agent: &Agent, event: &AgentEvent) -> Self {
        let title = agent.title;
        let name = event.name;
        if let Verdict::Ask(question, new) = &self.verdict
            && (event.ask.is_none() || new.is_some() && event.modify.is_none())
        {
            self.verdict = Verdict::Block(format!(
                "{question} ({title} cannot ask a person at {name}, so this is a no)"
            ));
        }
        if matches!(self.verdict, Verdict::Rewrite(_)) && event.modify.is_none() {
            self.verdict = if event.guards {
                Verdict::Block(format!(
                    "a hook rewrote this, and {title} cannot take a rewritten payload at {name}; what it had in mind must not run unchanged"
                ))
            } else {
                self.notes.push(format!(
                    "hookbox: a hook rewrote the payload of {name}, which {title} does not take: it stays as it was"
                ));
                Verdict::Pass
            };
        }
        if let Verdict::Block(reason) = &self.verdict
            && event.block.is_none()
        {
            self.notes.push(format!(
                "hookbox: {name} cannot be blocked in {title}, though a hook would: {reason}"
            ));
            self.verdict = Verdict::Pass;
        }
        if event.context.is_none() && !self.context.is_empty() {
            let lost = self.context.len();
            self.context.clear();
            self.notes.push(format!(
                "hookbox: {title} takes no text for the model at {name}; {lost} of them are lost"
            ));
        }
        self
    }
}

impl Verdict {
    /// Returns the word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Block(_) => "block",
            Self::Ask(..) => "ask",
            Self::Rewrite(_) => "modify",
        }
    }

    /// Puts the questions that the agent's person has to answer before anything happens.
    fn asking(self, questions: &[Question]) -> Self {
        if questions.is_empty() {
            return self;
        }
        let texts = questions.iter().map(|question| {
            format!(
                "{} (hookbox: {})",
                clean(&question.message),
                clean(&question.hook)
            )
        });
        let question = bounded(&texts.collect::<Vec<_>>().join("; "));
        match self {
            Self::Block(reason) => Self::Block(reason),
            Self::Rewrite(new) => Self::Ask(question, Some(new)),
            Self::Pass | Self::Ask(..) => Self::Ask(question, None),
        }
    }
}

/// How much a verdict keeps from happening.
fn strength(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Rewrite(_) => 1,
        Verdict::Ask(..) => 2,
        Verdict::Block(_) => 3,
    }
}

fn verdict(agent: &Agent, heard: &Heard, index: usize, decided: &Decided, root: &Root) -> Verdict {
    let outcome = &decided.outcome;
    let reason = || {
        let reason = outcome.reason.as_deref().unwrap_or("a hook refused it");
        let hook = outcome.hook.as_deref().unwrap_or("a hook");
        bounded(&format!("{} (hookbox: {})", clean(reason), clean(hook)))
    };
    if let Some(row) = failed_open(heard.event, decided) {
        let error = clean(row.error.as_deref().unwrap_or_default());
        let why = format!(
            "hookbox could not decide: hook {:?} failed: {error}",
            row.hook
        );
        return Verdict::Block(bounded(&why));
    }
    match outcome.decision {
        Ruling::Allow => Verdict::Pass,
        Ruling::Block => Verdict::Block(reason()),
        Ruling::Ask => Verdict::Ask(reason(), None),
        Ruling::Modify => rewrite(agent, heard, index, outcome, root),
    }
}

/// Finds a hook that failed on something that waits for the answer, though the event it
/// stands for does not usually. One whose condition failed has sat the event out.
fn failed_open<'o>(event: &AgentEvent, decided: &'o Decided) -> Option<&'o TraceRow> {
    let sat_out = |row: &TraceRow| !row.matched && row.cause == Some(Cause::HookError);
    let failed = |row: &&TraceRow| row.error.is_some() && !sat_out(row);
    let trace = &decided.outcome.trace;
    trace
        .iter()
        .find(failed)
        .filter(|_| event.guards && !decided.gates)
}

/// Says why a hook that failed keeps nothing from going on: nothing waits, and an agent
/// that is told to go on working, each time that it wants to stop, never does.
fn kept_going(event: &AgentEvent, outcome: &Outcome) -> Option<String> {
    let blocks = !event.guards && outcome.decision == Ruling::Block;
    let hook = outcome.hook.as_ref().filter(|_| blocks)?;
    let failed = |row: &&TraceRow| row.hook == *hook && row.error.is_some();
    let error = outcome.trace.iter().find(failed)?.error.as_deref()?;
    Some(format!("hookbox: hook {hook:?} failed: {}", clean(error)))
}

/// What a rewritten payload means for the agent.
fn rewrite(agent: &Agent, heard: &Heard, index: usize, outcome: &Outcome, root: &Root) -> Verdict {
    let new = outcome.payload.value();
    match (&heard.event.carries, &heard.tool) {
        (Carries::Tool { .. } | Carries::OneTool { .. }, Some(tool)) => {
            rewritten_call(agent, tool, index, new, root)
        }
        (Carries::Output { .. }, _) => {
            Verdict::Rewrite(new.get("result").cloned().unwrap_or(Value::Null))
        }
        (Carries::Model(_), _) => {
            let mut new = new.clone();
            if let Some(object) = new.as_object_mut() {
                object.shift_remove("agent");
            }
            Verdict::Rewrite(new)
        }
        _ => Verdict::Rewrite(new.clone()),
    }
}

fn rewritten_call(
    agent: &Agent,
    tool: &ToolCall,
    index: usize,
    new: &Value,
    root: &Root,
) -> Verdict {
    let cannot = |what: &str| {
        let title = agent.title;
        Verdict::Block(format!("a hook {what}, and {title} has no words for that"))
    };
    let (Some(call), Some(args)) = (
        tool.calls.get(index),
        new.get("args").and_then(Value::as_object),
    ) else {
        return cannot("left no arguments");
    };
    if new.get("name").and_then(Value::as_str) != Some(&call.name) {
        return cannot("put another tool in the place of this one");
    }
    if *args == call.args {
        return Verdict::Pass;
    }
    if tool.calls.len() > 1 {
        return cannot("rewrote one file of a patch");
    }
    let gone = |key: &String| !args.contains_key(key);
    if agent.merges && call.args.keys().any(gone) {
        return cannot("took an argument away");
    }
    match (tool.own, &tool.input) {
        (Some(own), Value::Object(input)) if call.name == own.canonical => {
            Verdict::Rewrite(own.input(input, &call.args, args, root).into())
        }
        (None, Value::Object(_)) => Verdict::Rewrite(args.clone().into()),
        (Some(_), _) => cannot("rewrote one file of a patch"),
        (None, _) => cannot("rewrote arguments that have no names"),
    }
}

fn text_of(effect: &Effect) -> String {
    let text = match effect {
        Effect::Context { text, .. } => text,
        Effect::Reminder(reminder) => &reminder.body,
    };
    clean(text)
}

/// Text for an agent: what is no text to anybody is left out.
fn clean(text: &str) -> String {
    let kept = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    text.chars().filter(kept).collect()
}

/// What somebody else wrote, in what an agent takes.
pub(super) fn brief(text: &str) -> String {
    bounded(&clean(text))
}

/// As much of a text as agents take.
fn bounded(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}
