//! What an answer means for an event of the framework. What it has no word for is
//! ignored, with a warning: nothing but a refusal stops anything here.

use super::events::can_stop;
use crate::decision::{Answer, Decision, Effect, Placement, Said};
use crate::event::Event;
use crate::failure::Failure;
use crate::hook::Hook;

/// Takes an answer in the words of the contract.
pub(super) fn judge(hook: &Hook, _: &Event, answer: Answer) -> Result<Answer, Failure> {
    // A program has said it in the framework's own words.
    if answer.said.is_some() {
        return Ok(answer);
    }
    let effects = answer.effects;
    let judged = match answer.decision {
        Decision::Allow => allow(),
        Decision::Block(reason) => block(&hook.event, reason),
        Decision::Ask(question) => Answer {
            said: Some(Said::verb("ask")),
            ..Decision::Ask(question).into()
        },
        Decision::Modify(_) => Answer {
            warnings: vec![
                "it rewrites the payload, which this framework has no word for: ignored".to_owned(),
            ],
            ..allow()
        },
    };
    Ok(Answer { effects, ..judged })
}

/// Lets an event go on.
pub(super) fn allow() -> Answer {
    Answer {
        said: Some(Said::verb("continue")),
        ..Decision::Allow.into()
    }
}

/// Lets an event go on with a text for the model.
pub(super) fn context(text: &str) -> Answer {
    Answer {
        effects: vec![Effect::Context {
            text: text.trim_end_matches(['\r', '\n']).to_owned(),
            placement: Placement::SystemMessage,
        }],
        ..allow()
    }
}

/// Stops an event, where there is anything to stop.
pub(super) fn block(event: &str, reason: String) -> Answer {
    if can_stop(event) {
        return Answer {
            said: Some(Said::verb("block")),
            ..Decision::Block(reason).into()
        };
    }
    Answer {
        warnings: vec![format!(
            "it blocks {event}, and there is nothing left to stop: {reason}"
        )],
        said: Some(Said::verb("block")),
        ..Decision::Allow.into()
    }
}
