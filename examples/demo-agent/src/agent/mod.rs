//! The loop around the hooks. Every file has one part of it, and every part has the same
//! shape: fire the event, look at the answer, and only then act.

mod compaction;
mod conversation;
mod delegation;
mod finish;
mod fire;
mod persona;
pub mod script;
mod tool;
pub mod transcript;
mod turn;
mod voice;

use hookbox::Runtime;
use hookbox::dialect::Dialect;
use hookbox::edits::Edits;
use serde_json::json;

use conversation::Conversation;
use script::{Script, Step};
use transcript::{Transcript, Who};
use voice::{Moment, Voice};

/// What hooks know the session by.
const SESSION: &str = "demo";

/// How often hooks can keep the agent from stopping. A hook that never lets it go must not
/// keep it running for ever.
pub const MOST_CONTINUES: u32 = 5;

/// How often hooks can send one call of the model back.
pub const MOST_RETRIES: u32 = 3;

/// An agent in the middle of its session.
struct Agent<'r> {
    runtime: &'r Runtime,
    voice: Voice,
    transcript: Transcript,
    conversation: Conversation,
    /// What was written in this turn, for the hooks at the end of it.
    edits: Edits,
    /// The tools the model can call.
    tools: Vec<String>,
    /// How many calls of the model there were.
    turns: u32,
    /// How many calls of tools there were.
    calls: u32,
}

/// Plays a session and returns what happened.
///
/// # Errors
/// Returns that there is no table of events for the dialect.
pub fn run(
    runtime: &Runtime,
    dialect: &'static Dialect,
    script: &Script,
) -> anyhow::Result<Transcript> {
    let agent = Agent {
        runtime,
        voice: Voice::of(dialect)?,
        transcript: Transcript::default(),
        conversation: Conversation::default(),
        edits: Edits::of_session(SESSION),
        tools: script.tools.clone(),
        turns: 0,
        calls: 0,
    };
    Ok(agent.session(script))
}

impl Agent<'_> {
    fn session(mut self, script: &Script) -> Transcript {
        let start = self.fire(Moment::SessionStart, json!({}));
        match start.refused() {
            Some(reason) => self.did(format!("the session does not begin: {reason}")),
            None => {
                if let Err(message) = self.play(script) {
                    self.did(format!("the loop ends with an error: {message}"));
                    self.fire(Moment::Error, json!({"message": message}));
                }
            }
        }
        self.fire(Moment::SessionEnd, json!({}));
        self.join();
        self.transcript
    }

    /// Plays all steps, or those up to an error that nothing can be done about.
    fn play(&mut self, script: &Script) -> Result<(), String> {
        for step in &script.session {
            // What a dialect has no event for is not what its session is about.
            if moment_of(step).is_some_and(|moment| self.voice.line(moment).is_none()) {
                continue;
            }
            match step {
                Step::User(user) => self.user_turn(user),
                Step::Compact(compact) => self.compact(compact),
                Step::Notify(message) => self.notify(message),
                Step::Facet(facet) => self.switch_facet(facet),
                Step::Idle(milliseconds) => self.idle(*milliseconds),
                Step::Persona(persona) => self.persona(persona),
                Step::Register(tool) => self.register(tool),
                Step::Emit(custom) => self.emit(custom),
                Step::Finish(finish) => self.finish(finish),
                Step::Fail(message) => return Err(message.clone()),
            }
        }
        Ok(())
    }

    fn notify(&mut self, message: &str) {
        let fired = self.fire(Moment::Notification, json!({"message": message}));
        match fired.refused() {
            // Quietly: neither the user nor the model hears of it.
            Some(_) => self.did("the notification is dropped"),
            None => self.did(format!("notifies the user: {message}")),
        }
    }

    fn switch_facet(&mut self, facet: &str) {
        self.did(format!("the facet is now {facet}"));
        self.fire(Moment::Facet, json!({"facet": facet}));
    }

    fn idle(&mut self, milliseconds: u64) {
        let fired = self.fire(Moment::Idle, json!({"wake_interval_ms": milliseconds}));
        match fired.refused() {
            Some(reason) => self.did(format!("does not wait: {reason}")),
            None => self.did(format!("waits {milliseconds} ms for something to do")),
        }
    }

    /// The agent makes a tool for itself.
    fn register(&mut self, tool: &str) {
        let facts = json!({"name": "tool_register", "payload": {"name": tool}});
        let fired = self.fire(Moment::Meta, facts);
        match fired.refused() {
            Some(reason) => self.did(format!("the tool {tool} is not registered: {reason}")),
            None => {
                self.tools.push(tool.to_owned());
                self.did(format!("the tool {tool} is registered"));
            }
        }
    }

    fn emit(&mut self, custom: &script::Custom) {
        let facts = json!({"name": custom.name, "payload": custom.payload});
        self.fire(Moment::Custom, facts);
    }

    /// Waits for the hooks that nobody waited for. It is too late to act on them, so what
    /// they answered is only told.
    fn join(&mut self) {
        for outcome in self.runtime.flush() {
            for row in outcome.trace.iter().filter(|row| row.matched) {
                let came_of_it = match &row.error {
                    Some(error) => format!("failed: {error}"),
                    None => "done".to_owned(),
                };
                let line = format!("{} → {} {came_of_it}", outcome.event, row.hook);
                self.transcript.add(Who::Background, &line);
            }
            self.transcript.logs(&outcome);
        }
    }

    /// Writes down what the loop did.
    fn did(&mut self, what: impl AsRef<str>) {
        self.transcript.add(Who::Agent, what.as_ref());
    }
}

/// Returns the moment without which a step means nothing.
fn moment_of(step: &Step) -> Option<Moment> {
    match step {
        Step::User(_) | Step::Fail(_) => None,
        Step::Compact(_) => Some(Moment::CompactPre),
        Step::Notify(_) => Some(Moment::Notification),
        Step::Facet(_) => Some(Moment::Facet),
        Step::Idle(_) => Some(Moment::Idle),
        Step::Persona(_) => Some(Moment::StepPre),
        Step::Register(_) => Some(Moment::Meta),
        Step::Emit(_) => Some(Moment::Custom),
        Step::Finish(_) => Some(Moment::FinishPre),
    }
}

/// Writes a number of messages.
fn messages(count: usize) -> String {
    match count {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    }
}
