//! A turn: from the user's prompt until the model hands back.

use serde_json::{Value, json};

use super::conversation::Role;
use super::script::{Answer, Call, User};
use super::transcript::Who;
use super::voice::Moment;
use super::{Agent, MOST_CONTINUES, MOST_RETRIES, messages};

/// What the turn has come to so far.
#[derive(Debug, Default)]
struct Turn {
    text: String,
    tool_calls: Vec<Value>,
    words: usize,
}

impl Agent<'_> {
    pub(super) fn user_turn(&mut self, user: &User) {
        self.transcript.add(Who::User, &user.prompt);
        let mut fired = self.fire_around(Moment::Prompt, json!({"prompt": user.prompt}));
        if let Some(reason) = fired.refused() {
            let end = match fired
                .outcome()
                .and_then(|outcome| self.stop_reason(outcome))
            {
                Some(word) => format!("and the turn ends with stop_reason {word}"),
                None => "and the turn ends".to_owned(),
            };
            self.did(format!("the prompt is not recorded, {end}: {reason}"));
            return;
        }
        let prompt = fired.text("prompt", &user.prompt);
        let prompt = fired.around(prompt);
        self.tell(Role::User, &prompt);
        let mut turn = Turn::default();
        if self.work(&user.model, &mut turn) {
            let facts = json!({"text": turn.text, "tool_calls": turn.tool_calls, "usage": usage(turn.words)});
            self.fire(Moment::TurnEnd, facts);
        }
    }

    /// Lets the model work until it stops and may. Says whether it came to an end of its
    /// own.
    fn work(&mut self, answers: &[Answer], turn: &mut Turn) -> bool {
        let mut answers = answers.iter();
        let mut stops = 0;
        loop {
            let Some(answer) = self.call_model(&mut answers, turn) else {
                return false;
            };
            for call in &answer.calls {
                match call {
                    Call::Tool(tool) => self.call_tool(tool),
                    Call::Delegate(delegate) => self.delegate(delegate),
                }
            }
            self.turn_boundary(&answer.say);
            if !answer.calls.is_empty() {
                continue;
            }
            stops += 1;
            let facts = json!({"iteration": stops, "text": answer.say});
            let fired = self.fire(Moment::Stop, facts);
            let Some(reason) = fired.refused() else {
                self.did("hands the turn back to the user");
                return true;
            };
            if stops > MOST_CONTINUES {
                self.did(format!(
                    "was kept going {MOST_CONTINUES} times, and hands the turn back all the same"
                ));
                return true;
            }
            self.did("goes on");
            self.tell(Role::User, reason);
        }
    }

    /// Calls the model, unless the hooks are against it.
    fn call_model(
        &mut self,
        answers: &mut std::slice::Iter<'_, Answer>,
        turn: &mut Turn,
    ) -> Option<Answer> {
        self.turns += 1;
        let messages = self.request()?;
        let reminders = self.conversation.reminders_of_this_turn();
        self.did(format!("calls the model with {messages}"));
        for reminder in &reminders {
            self.transcript.add(Who::Told, reminder);
        }
        let nothing = || Answer {
            say: "There is nothing left to do.".to_owned(),
            ..Answer::default()
        };
        let mut answer = answers.next().cloned().unwrap_or_else(nothing);
        self.transcript.add(Who::Model, &answer.say);
        let calls: Vec<Value> = answer.calls.iter().map(as_json).collect();
        let words = answer.say.split_whitespace().count();
        let finish_reason = if calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        let facts = json!({
            "turn": self.turns, "text": answer.say, "tool_calls": calls,
            "usage": usage(words), "finish_reason": finish_reason,
        });
        let fired = self.fire(Moment::ModelPost, facts);
        if let Some(reason) = fired.refused() {
            self.did(format!(
                "the answer is thrown away, and the turn ends: {reason}"
            ));
            return None;
        }
        answer.say = fired.text("text", &answer.say);
        self.conversation.record(Role::Assistant, &answer.say);
        turn.text.clone_from(&answer.say);
        turn.tool_calls.extend(calls);
        turn.words += words;
        Some(answer)
    }

    /// Asks the hooks whether the model may be called, and says how much it gets to see.
    fn request(&mut self) -> Option<String> {
        let mut attempt = 1;
        loop {
            let messages = self.conversation.messages();
            let facts = json!({
                "turn": self.turns, "attempt": attempt,
                "messages": messages, "tools": self.tools,
            });
            let fired = self.fire(Moment::ModelPre, facts);
            let Some(reason) = fired.refused() else {
                let all = self::messages(messages.len());
                let sent = fired.rewritten("messages").and_then(Value::as_array);
                return Some(match sent {
                    Some(sent) => format!("{} of {all}", sent.len()),
                    None => all,
                });
            };
            // Everything but a wish to try again ends the turn: a veto, and a hook that
            // could not decide.
            if fired.verb() != Some("retry") {
                self.did(format!(
                    "the model is not called, and the turn ends: {reason}"
                ));
                return None;
            }
            if attempt > MOST_RETRIES {
                self.did(format!(
                    "was sent back {MOST_RETRIES} times, and gives the turn up"
                ));
                return None;
            }
            attempt += 1;
            self.did("tries again");
            self.tell(Role::System, reason);
        }
    }

    /// Between two calls of the model: now the hooks hear which files were edited.
    fn turn_boundary(&mut self, text: &str) {
        self.tell_of_edits();
        self.fire(
            Moment::TurnRecorded,
            json!({"turn": self.turns, "text": text}),
        );
    }

    /// Returns the word for the end of a turn that never began, where the dialect has one.
    fn stop_reason(&self, outcome: &hookbox::Outcome) -> Option<String> {
        let native = self.runtime.native(outcome).ok()?;
        let native: Value = serde_json::from_str(&native).ok()?;
        Some(native.get("stop_reason")?.as_str()?.to_owned())
    }
}

fn as_json(call: &Call) -> Value {
    match call {
        Call::Tool(tool) => json!({"name": tool.name, "args": tool.args}),
        Call::Delegate(work) => {
            json!({"name": "delegate", "args": {"agent": work.agent, "prompt": work.prompt}})
        }
    }
}

fn usage(words: usize) -> Value {
    json!({"output_tokens": words})
}
