//! What an answer in the words of the contract means for an event of Polytoken: a
//! component knows allow and block, an event its own outcomes.

use super::events::{Rules, find};
use crate::decision::{Answer, Decision, Effect, Said};
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::hook::Hook;

/// Takes an answer. What the event has no outcome for is an error, as it would be if a
/// script had said it.
pub(super) fn judge(hook: &Hook, _: &Event, answer: Answer) -> Result<Answer, Failure> {
    // A program has said it in Polytoken's own words.
    if answer.said.is_some() {
        return Ok(answer);
    }
    let event = &hook.event;
    let cannot = |what: &str| {
        let message = format!("the hook {what}, and {event} has no outcome for that");
        Err(Failure::new(Cause::BadAnswer, message))
    };
    let Some(rules) = find(event) else {
        return cannot("answers an event of another dialect");
    };
    for effect in &answer.effects {
        if !is_read(rules, effect) {
            return cannot("adds a text for the model");
        }
    }
    let said = match (&answer.decision, &rules.stop) {
        (Decision::Allow, _) => Said::verb(rules.proceed),
        (Decision::Block(_), Some(stop)) => Said::verb(stop.verb),
        (Decision::Block(_), None) if rules.suppress => Said::verb("suppress"),
        (Decision::Block(_), None) => return cannot("blocks"),
        (Decision::Modify(_), _) => return cannot("rewrites the payload"),
        (Decision::Ask(_), _) => return cannot("asks a person"),
    };
    Ok(Answer {
        said: Some(said),
        ..answer
    })
}

/// Says whether an event reads a text: every one of those it reads has one place to go.
fn is_read(rules: &Rules, effect: &Effect) -> bool {
    match (effect, rules.adds) {
        (Effect::Context { placement, .. }, Some((_, read))) => *placement == read,
        _ => false,
    }
}

/// Makes the outcome that lets an event go on.
pub(super) fn proceed(rules: &Rules, effect: Option<Effect>) -> Answer {
    Answer {
        effects: effect.into_iter().collect(),
        said: Some(Said::verb(rules.proceed)),
        ..Decision::Allow.into()
    }
}

/// Makes the outcome that stops an event.
pub(super) fn stop(said: Said, reason: String) -> Answer {
    Answer {
        said: Some(said),
        ..Decision::Block(reason).into()
    }
}
