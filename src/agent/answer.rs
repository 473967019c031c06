//! The way of an agent's event: its bytes in, its answer out. Whatever goes wrong on the
//! way, there is an answer that the agent understands.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::heard::{Heard, HeardError, WHOLE_PROMPT};
use super::place::Root;
use super::verdict::{Decided, Said, brief};
use super::{Agent, AgentEvent, Reply};
use crate::capability::services::Question;
use crate::dialect::harness;
use crate::event::About;
use crate::hook::Hook;
use crate::json::{Json, JsonError};
use crate::runtime::{DispatchError, LoadError, Runtime};

/// How large what an agent says may be. Projects set a smaller limit for payloads.
pub const MAX_INPUT: usize = 64 << 20;

/// Why an agent's event was not decided.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// What it said is no JSON that two readers would read alike.
    #[error("what {agent} sent is not the JSON hookbox takes: {error}")]
    Json {
        /// The agent.
        agent: &'static str,
        /// What is wrong.
        error: JsonError,
    },
    /// What it said is no object.
    #[error("what {0} sent is not a JSON object")]
    NoObject(&'static str),
    /// It did not say which event this is.
    #[error("what {agent} sent does not name its event under {key:?}, and there is no --event")]
    NoEvent {
        /// The agent.
        agent: &'static str,
        /// The key.
        key: &'static str,
    },
    /// It says one event, and was wired for another.
    #[error(
        "this entry is for {wired}, and what {agent} sent is {said}; run `hookbox install {agent}` again"
    )]
    OtherEvent {
        /// The agent.
        agent: &'static str,
        /// The event of the entry.
        wired: String,
        /// The event of the payload.
        said: String,
    },
    /// hookbox does not know the event.
    #[error(
        "hookbox does not know the event {event:?} of {agent}; this agent may be newer than this hookbox"
    )]
    UnknownEvent {
        /// The agent.
        agent: &'static str,
        /// The event.
        event: String,
    },
    /// A field is not what it has to be.
    #[error(transparent)]
    Heard(#[from] HeardError),
    /// The hooks of the project do not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The chain came to no decision.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    /// The project has no hooks any more.
    #[error(
        "there are no hooks in {0}, though this agent was told to ask them; put them back, or run `hookbox uninstall`"
    )]
    NoProject(String),
    /// Somebody changed what was reviewed.
    #[error("{0}")]
    Untrusted(String),
    /// It took too long.
    #[error("no decision within {0:?}; hookbox answers before the agent stops waiting")]
    Late(Duration),
    /// The code of the hooks is not compiled yet.
    #[error(
        "the hooks are being compiled for this machine, which goes on in the background after {0:?}; try again in a minute, and run `hookbox validate` before an agent needs them"
    )]
    Compiling(Duration),
    /// The server did not take the question.
    #[error("the hookbox server refused: {0}")]
    Server(String),
    /// The entry in the agent's settings is not one that hookbox understands.
    #[error(
        "the entry in the agent's settings cannot be understood: {0}; run `hookbox install` again"
    )]
    Entry(String),
    /// hookbox itself broke.
    #[error("hookbox broke: {0}; please report this")]
    Broken(String),
    /// The input did not come.
    #[error("what the agent sent cannot be read: {0}")]
    Unreadable(String),
    /// The decision could not be written down.
    #[error("the tape cannot be written: {0}")]
    Tape(String),
}

/// What an agent asks, before anything is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The agent.
    pub agent: &'static Agent,
    /// The event that the entry in its settings is for.
    pub wired: Option<&'a str>,
    /// What it sent.
    pub input: &'a [u8],
}

/// What an agent said, parsed.
#[derive(Debug)]
pub struct Parsed {
    /// The event.
    pub event: &'static AgentEvent,
    /// Everything it sent.
    pub said: Map<String, Value>,
}

impl Asked<'_> {
    /// Parses what the agent sent.
    ///
    /// # Errors
    /// Returns why it is no event of this agent.
    pub fn parse(&self) -> Result<Parsed, AgentError> {
        let agent = self.agent.name;
        // Some write a mark before the text that means nothing in it.
        let input = self
            .input
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(self.input);
        let value = Json::parse(input, MAX_INPUT)
            .map_err(|error| AgentError::Json { agent, error })?
            .into_value();
        let Value::Object(said) = value else {
            return Err(AgentError::NoObject(agent));
        };
        let event = self.event(&said)?;
        Ok(Parsed { event, said })
    }

    fn event(&self, said: &Map<String, Value>) -> Result<&'static AgentEvent, AgentError> {
        let agent = self.agent.name;
        let key = self.agent.event_key;
        let own = said.get(key).and_then(Value::as_str);
        // An agent that names no event in its payloads has it in its settings alone.
        let own = own.filter(|_| !key.is_empty());
        let name = match (own, self.wired) {
            (Some(said), Some(wired)) if !said.eq_ignore_ascii_case(wired) => {
                return Err(AgentError::OtherEvent {
                    agent,
                    wired: wired.to_owned(),
                    said: said.to_owned(),
                });
            }
            (Some(name), _) | (None, Some(name)) => name,
            (None, None) => return Err(AgentError::NoEvent { agent, key }),
        };
        self.agent
            .event(name)
            .ok_or_else(|| AgentError::UnknownEvent {
                agent,
                event: name.to_owned(),
            })
    }

    /// Returns the answer to something that could not be decided: closed, in the agent's
    /// words, where anything waits for it.
    #[must_use]
    pub fn refusal(&self, error: &AgentError) -> Reply {
        refusal(
            self.agent,
            self.wired.and_then(|name| self.agent.event(name)),
            error,
        )
    }
}

/// Returns the answer to an event that could not be decided: closed, in the agent's words,
/// where anything waits for it.
#[must_use]
pub fn refusal(agent: &Agent, event: Option<&AgentEvent>, error: &AgentError) -> Reply {
    // What an agent sent may be in it.
    let error = brief(&error.to_string());
    let reason = format!("hookbox could not decide, so this is a no: {error}");
    match event {
        Some(event) if event.guards => (agent.encode)(event, &Said::block(reason)),
        Some(event) => {
            let note = format!("hookbox could not run the hooks of {}: {error}", event.name);
            let said = Said {
                notes: vec![note],
                ..Said::only(super::Verdict::Pass)
            };
            (agent.encode)(event, &said)
        }
        // Whatever this was, it may have been something that waits.
        None => unknown(agent, &reason),
    }
}

/// Refuses an event that nobody knows: by exit code, unless that says nothing to the agent.
fn unknown(agent: &Agent, reason: &str) -> Reply {
    let guard = agent.events.iter().find(|event| event.guards);
    let words = guard.map(|guard| (agent.encode)(guard, &Said::block(reason)));
    let refusal = Reply::refusal(reason);
    match words {
        Some(words) if words.code != refusal.code => Reply {
            stdout: words.stdout,
            ..refusal
        },
        _ => refusal,
    }
}

thread_local! {
    /// What hooks want to be asked in the dispatch on this thread, while an agent
    /// listens.
    static QUESTIONS: RefCell<Option<Vec<Question>>> = const { RefCell::new(None) };
}

/// Keeps a question for the agent, whose person answers it. The chain goes on: a yes
/// speaks only for the hook that asked. Says whether there is an agent: an event that
/// somebody else fired on the same hooks ends with the question.
pub fn hand_on(question: &Question) -> bool {
    QUESTIONS.with_borrow_mut(|questions| match questions {
        Some(questions) => {
            questions.push(question.clone());
            true
        }
        None => false,
    })
}

/// An agent that listens on this thread. However the dispatch ends, nobody does after it.
struct Listening;

impl Listening {
    fn start() -> Self {
        QUESTIONS.set(Some(Vec::new()));
        Self
    }

    fn heard(self) -> Vec<Question> {
        QUESTIONS.take().unwrap_or_default()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        QUESTIONS.set(None);
    }
}

/// Decides an event with the hooks of its project.
///
/// # Errors
/// Returns why there is no decision.
pub fn decide(
    agent: &'static Agent,
    runtime: &Runtime,
    heard: &Heard,
    root: &Root,
) -> Result<Said, AgentError> {
    let event = heard.event;
    let gates = event.info().is_none_or(|info| info.gates);
    let payloads = heard.payloads.iter();
    let mut all: Vec<_> = payloads
        .map(|payload| (event.dialect, event.event, payload, gates))
        .collect();
    let listens = |hook: &Arc<Hook>| *hook.point == *WHOLE_PROMPT;
    if let Some(prompt) = &heard.prompt
        && runtime.hooks().iter().any(listens)
    {
        all.push((&harness::DIALECT, WHOLE_PROMPT, prompt, false));
    }
    let mut decided = Vec::new();
    for (dialect, name, payload, gates) in all {
        let listening = Listening::start();
        let about = About {
            session: heard.session.clone(),
            transcript: heard.transcript.clone(),
            ..About::default()
        };
        let outcome = runtime.dispatch_in(dialect, name, payload.clone(), about)?;
        decided.push(Decided {
            outcome,
            gates,
            questions: listening.heard(),
        });
    }
    Ok(Said::of(agent, heard, &decided, root))
}

/// Returns the directory that an event happened in, as the agent says it.
#[must_use]
pub fn directory(said: &Map<String, Value>) -> Option<&Path> {
    directories(said).next()
}

/// Returns the directories that an event may belong to, the nearest first: a command may
/// be run far from what the agent works on.
pub(super) fn directories(said: &Map<String, Value>) -> impl Iterator<Item = &Path> {
    let named = ["cwd", "working_dir", "directory"];
    let named = named.into_iter().filter_map(|key| said.get(key));
    let info = said.get("tool_info").and_then(|info| info.get("cwd"));
    let roots = ["workspace_roots", "workspaceRoots"];
    let roots = roots
        .into_iter()
        .filter_map(|key| said.get(key)?.as_array());
    let texts = named.chain(info).chain(roots.flatten());
    let paths = texts.filter_map(Value::as_str).map(Path::new);
    paths.filter(|path| path.is_absolute())
}
