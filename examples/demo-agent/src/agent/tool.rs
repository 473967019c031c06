//! A call of a tool: asked for, perhaps rewritten, perhaps approved, run, and its result
//! looked at before the model sees it.

use serde_json::{Value, json};

use super::Agent;
use super::conversation::Role;
use super::fire::Verdict;
use super::script::Tool;
use super::voice::Moment;

impl Agent<'_> {
    pub(super) fn call_tool(&mut self, call: &Tool) {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let facts = json!({"id": id, "name": call.name, "args": call.args});
        let mut before = self.fire_around(Moment::ToolPre, facts);
        let refused = match &before.verdict {
            Verdict::Pass => None,
            Verdict::Refused(reason) => Some(reason.clone()),
            Verdict::Asked(question) => self.ask_user(question, call.approve),
        };
        if let Some(reason) = refused {
            self.did(format!("{} does not run", call.name));
            // The model reads why, as it would read any other result.
            let told = before.around(format!("{} was blocked: {reason}", call.name));
            self.tell(Role::Tool, &told);
            return;
        }
        let name = before.text("name", &call.name);
        let args = before.rewritten("args").cloned();
        let args = args.unwrap_or_else(|| call.args.clone().into());
        // What is asked about is what would really run, and nobody is asked twice.
        let approved = matches!(before.verdict, Verdict::Asked(_));
        if call.permission
            && !approved
            && let Err(reason) = self.permitted(&name, &args, call.approve)
        {
            self.did(format!("{name} does not run"));
            self.tell(Role::Tool, &format!("{name} is not permitted: {reason}"));
            return;
        }
        self.did(format!("runs {name} {args}"));
        let (moment, result) = match &call.error {
            Some(error) => (Moment::ToolFailed, error.clone()),
            None => (Moment::ToolDone, call.result.to_string()),
        };
        if call.error.is_none() {
            self.edited(&call.edits);
        }
        let facts = json!({"id": id, "name": name, "args": args, "text": result});
        let mut after = self.fire_around(moment, facts);
        let result = match after.refused() {
            Some(reason) => format!("the result of {name} was blocked: {reason}"),
            None => after.text("text", &result),
        };
        let result = after.around(result);
        let result = before.around(result);
        self.tell(Role::Tool, &result);
    }

    /// Asks the user, and returns why not.
    fn ask_user(&mut self, question: &str, approve: bool) -> Option<String> {
        let answer = if approve { "yes" } else { "no" };
        self.did(format!("asks the user: {question} The user says {answer}."));
        (!approve).then(|| format!("the user said no to: {question}"))
    }

    /// Finds out whether a tool may run of which the policy does not know. A hook that
    /// decides does so in the place of everybody else.
    fn permitted(&mut self, name: &str, args: &Value, approve: bool) -> Result<(), String> {
        let asked = self.fire(Moment::PermissionAsked, json!({"name": name, "args": args}));
        let refused = match &asked.verdict {
            Verdict::Pass if asked.is_settled() => None,
            Verdict::Pass => self.ask_user(&format!("may {name} run?"), approve),
            Verdict::Asked(question) => self.ask_user(question, approve),
            Verdict::Refused(reason) => Some(reason.clone()),
        };
        let decision = if refused.is_none() { "allow" } else { "deny" };
        let facts = json!({"name": name, "args": args, "decision": decision, "reason": refused});
        self.fire(Moment::PermissionReplied, facts);
        refused.map_or(Ok(()), Err)
    }

    /// Remembers edits until the turn is over.
    fn edited(&mut self, paths: &[String]) {
        for path in paths {
            self.edits.notify(path, json!({"calls": self.calls}));
        }
    }

    /// Tells the hooks of all edits of the turn, if their dialect wants to know.
    pub(super) fn tell_of_edits(&mut self) {
        let Some(line) = self.voice.line(Moment::FileEdited) else {
            return;
        };
        loop {
            let (told, all): (Vec<_>, _) = match self.edits.drain(self.runtime) {
                Ok(outcomes) => (outcomes.into_iter().map(Ok).collect(), true),
                // It is not told again, and the ones after it are told now.
                Err(error) => (vec![Err(error)], false),
            };
            for answer in told {
                let path = answer.as_ref().ok().and_then(|outcome| {
                    let path = line.find("path", outcome.payload.value())?;
                    Some(format!(" {}", path.as_str()?))
                });
                let path = path.unwrap_or_default();
                self.heard("file_edited", &path, line.clone(), answer);
            }
            if all {
                return;
            }
        }
    }
}
