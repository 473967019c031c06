//! Work for a sub-agent, which hooks can keep from starting, rewrite, and send back.

use hookbox::verify::{MAX_VERIFY_RETRIES, Verification, Verified};
use serde_json::{Map, json};

use super::Agent;
use super::conversation::Role;
use super::script::Delegate;
use super::voice::Moment;

impl Agent<'_> {
    pub(super) fn delegate(&mut self, work: &Delegate) {
        let agent = &work.agent;
        let facts = json!({"agent": agent, "prompt": work.prompt});
        let fired = self.fire(Moment::DelegationPre, facts);
        if let Some(reason) = fired.refused() {
            self.did(format!("{agent} does not start"));
            self.tell(Role::Tool, &format!("{agent} was blocked: {reason}"));
            return;
        }
        let prompt = fired.text("prompt", &work.prompt);
        self.did(format!("{agent} starts: {prompt}"));
        for reminder in self.conversation.reminders_for_all() {
            self.did(format!("{agent} is told: {reminder}"));
        }
        self.fire(Moment::DelegationStart, json!({"agent": agent}));
        let told = match self.verified(work) {
            Ok(result) => result,
            Err(reason) => {
                self.did(format!("what {agent} did is not used"));
                format!("the work of {agent} was not accepted: {reason}")
            }
        };
        self.tell(Role::Tool, &told);
    }

    /// Lets the sub-agent work until its work is accepted, or has been sent back too often.
    fn verified(&mut self, work: &Delegate) -> Result<String, String> {
        let verify = self.voice.line(Moment::DelegationVerify);
        let mut verification = Verification::new(MAX_VERIFY_RETRIES);
        let mut results = work.results.iter();
        let mut last = "";
        loop {
            last = results.next().map_or(last, String::as_str);
            let result = self.attempt(work, last)?;
            let Some(line) = verify.as_ref().filter(|_| work.verify) else {
                return Ok(result);
            };
            let mut facts = Map::new();
            facts.insert("agent".to_owned(), work.agent.as_str().into());
            facts.insert("result".to_owned(), result.as_str().into());
            let subject = format!(" {}, attempt {}", work.agent, verification.attempt());
            let verified = verification.ask(self.runtime, line.payload(&facts));
            let (again, answer) = match verified {
                Ok(Verified::Again(outcome)) => (true, Ok(outcome)),
                Ok(Verified::Accepted(outcome) | Verified::Rejected(outcome)) => {
                    (false, Ok(outcome))
                }
                Err(error) => (false, Err(error)),
            };
            let fired = self.heard(&line.event(&facts), &subject, line.clone(), answer);
            match fired.refused() {
                None => return Ok(fired.text("result", &result)),
                Some(reason) if again => {
                    self.did(format!("{} is sent back: {reason}", work.agent));
                }
                Some(reason) => {
                    let attempts = verification.attempt();
                    return Err(format!("{reason} (after {attempts} attempts)"));
                }
            }
        }
    }

    /// Lets the sub-agent work once.
    fn attempt(&mut self, work: &Delegate, result: &str) -> Result<String, String> {
        self.did(format!("{} brings back: {result}", work.agent));
        let facts = json!({"agent": work.agent, "result": result});
        let fired = self.fire(Moment::DelegationPost, facts);
        match fired.refused() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(fired.text("result", result)),
        }
    }
}
