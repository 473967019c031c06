//! Puts the questions of hooks to whoever can answer them. The answer is on the tape.

use std::sync::PoisonError;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::inner::Dispatcher;
use crate::capability::services::{Ask, Question};
use crate::chain::Reply;
use crate::hook::Hook;
use crate::tape::reel::Reel;

/// An answer as it stands on a tape.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Answered {
    /// Who answered: `person`, `nobody`, or `agent` for a question that went on to the agent's
    /// own person.
    by: String,
    yes: bool,
}

impl Dispatcher<'_> {
    /// Puts a question. In the middle of another call nobody is asked: the outcome is
    /// the question, and that is a no there.
    pub(super) fn put(&self, hook: &Hook, message: &str) -> Reply {
        if self.alone {
            return Reply::Later;
        }
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let reel = last.as_ref().map(|(_, reel)| reel.clone());
        drop(last);
        let reel = reel.unwrap_or_default();
        let request = || json!({"message": message});
        let answered = if reel.plays() {
            reel.recall("ask", request)
        } else {
            self.live(hook, message, &reel)
        };
        match answered {
            None => Reply::Later,
            Some(Answered { yes: true, .. }) => Reply::Yes,
            Some(Answered { by, .. }) if by == "person" => {
                Reply::No(format!("a person said no: {message}"))
            }
            Some(_) => Reply::No(format!("nobody could be asked: {message}")),
        }
    }

    fn question(&self, hook: &Hook, message: &str) -> Question {
        Question {
            hook: hook.name.to_string(),
            event: self.event.name.to_string(),
            subject: self.event.subject.clone(),
            message: message.to_owned(),
        }
    }

    fn live(&self, hook: &Hook, message: &str, reel: &Reel) -> Option<Answered> {
        let (by, yes) = match &self.inner.run.services.ask {
            Ask::Later => return None,
            Ask::Nobody => ("nobody", false),
            Ask::Person(ask) => ("person", ask(&self.question(hook, message))),
            Ask::Agent(hand_on) if hand_on(&self.question(hook, message)) => ("agent", true),
            Ask::Agent(_) => return None,
        };
        let answered = Answered {
            by: by.to_owned(),
            yes,
        };
        let request = || json!({"message": message});
        // A tape that records has no say in the answer.
        reel.cross("ask", request, || answered).ok()
    }
}
