//! Answers agents: what `hookbox hook` does, with hooks that are loaded already.

use std::cell::Cell;
use std::time::Duration;

use hyper::body::Bytes;
use serde_json::{Map, Value, json};

use super::fault::Fault;
use super::query::Query;
use super::server::Shared;
use crate::agent::{self, Agent, AgentError, Answered, Asked, Reply, Setting};
use crate::handler::Handler;
use crate::json::to_text;
use crate::runtime::Runtime;

/// What an agent asks, before anything is looked at.
pub(super) struct Question {
    agent: &'static Agent,
    wired: Option<String>,
    setting: Setting,
    deadline: Duration,
    /// Whether whoever asks could run the hooks as well, and in its own surroundings.
    could_itself: bool,
}

impl Question {
    /// A question that `hookbox hook` hands on.
    pub(super) fn handed_on(agent: &str, query: Query) -> Result<Self, Fault> {
        let agent = agent::named(agent).ok_or_else(|| Fault::Agent(agent.to_owned()))?;
        let usual = agent::deadline(agent, query.event.as_deref());
        Ok(Self {
            agent,
            deadline: query.deadline.unwrap_or(usual),
            wired: query.event,
            setting: Setting {
                project: query.project,
                started: query.started,
                directory: query.cwd,
            },
            could_itself: true,
        })
    }

    /// A question of an agent that has HTTP hooks.
    pub(super) fn direct(agent: &str, event: &str, query: Query) -> Result<Self, Fault> {
        let query = Query {
            event: Some(event.to_owned()),
            ..query
        };
        Ok(Self {
            could_itself: false,
            ..Self::handed_on(agent, query)?
        })
    }

    /// Decides in time, on a thread of its own.
    pub(super) async fn decide(
        self,
        shared: &std::sync::Arc<Shared>,
        input: Bytes,
    ) -> Result<Answered, Fault> {
        let (agent, deadline) = (self.agent, self.deadline);
        let event = self.wired.as_deref().and_then(|name| agent.event(name));
        let work = move |shared: &Shared| self.answer(shared, &input);
        match Shared::run(shared, deadline, work).await {
            Ok(answered) => answered,
            Err(Fault::Late(_)) => Ok(Answered {
                reply: agent::refusal(agent, event, &AgentError::Late(deadline)),
                event,
                word: "late",
            }),
            Err(fault) => Err(fault),
        }
    }

    fn answer(&self, shared: &Shared, input: &[u8]) -> Result<Answered, Fault> {
        let asked = Asked {
            agent: self.agent,
            wired: self.wired.as_deref(),
            input,
        };
        let elsewhere = Cell::new(false);
        let answered = agent::answer(&asked, &self.setting, |root, _| {
            let runtime = shared.projects.get(&root.real)?;
            if self.could_itself && depends_on_surroundings(&runtime) {
                elsewhere.set(true);
                return Err(AgentError::Server(Fault::Environment.to_string()));
            }
            Ok(runtime)
        });
        if elsewhere.get() {
            return Err(Fault::Environment);
        }
        Ok(answered)
    }
}

/// Says whether hooks see something of the process they are asked from: the server's
/// environment is not the agent's.
fn depends_on_surroundings(runtime: &Runtime) -> bool {
    // What is recorded is recorded by whoever asks.
    runtime.is_recorded()
        || runtime.hooks().iter().any(|hook| {
            let mut headers = hook.grants.http.entries.iter().flat_map(|it| &it.headers);
            !hook.grants.env.is_empty()
                || matches!(hook.handler, Handler::Process(_))
                || headers.any(|(_, template)| template.secrets().next().is_some())
        })
}

/// Writes an answer for an agent that sees neither an exit code nor standard error.
/// Whatever refuses has to say so in the body.
pub(super) fn in_words(reply: &Reply) -> String {
    let said = serde_json::from_str::<Map<String, Value>>(&reply.stdout);
    if reply.code == 0 {
        return match said {
            Err(_) if reply.stdout.is_empty() => "{}".to_owned(),
            _ => reply.stdout.clone(),
        };
    }
    let mut said = said.unwrap_or_default();
    if !refuses(&said) {
        said.insert("decision".to_owned(), "block".into());
        said.insert("reason".to_owned(), reply.stderr.as_str().into());
    }
    to_text(&Value::Object(said))
}

fn refuses(said: &Map<String, Value>) -> bool {
    let decision = said.get("decision").and_then(Value::as_str);
    let permission = said
        .get("hookSpecificOutput")
        .and_then(|specific| specific.get("permissionDecision"));
    matches!(decision, Some("block" | "deny"))
        || permission == Some(&json!("deny"))
        || said.get("continue") == Some(&Value::Bool(false))
}

/// Refuses a question that did not come so far as to be one, in the agent's words: an
/// agent takes any status but 200 for a broken hook, and goes on.
pub(super) fn refused(agent: &str, event: &str, fault: &Fault) -> Reply {
    let error = AgentError::Server(fault.to_string());
    match agent::named(agent) {
        Some(agent) => agent::refusal(agent, agent.event(event), &error),
        None => Reply::refusal(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_always_shows_in_the_body() {
        let refusal = Reply::refusal("no");
        assert_eq!(
            in_words(&refusal),
            r#"{"decision":"block","reason":"no"}"#,
            "an exit code alone"
        );
        let noted = Reply {
            stdout: r#"{"systemMessage":"m"}"#.to_owned(),
            ..refusal.clone()
        };
        assert_eq!(
            in_words(&noted),
            r#"{"systemMessage":"m","decision":"block","reason":"no"}"#
        );
        let text = Reply {
            stdout: "words".to_owned(),
            ..refusal.clone()
        };
        assert_eq!(in_words(&text), in_words(&refusal));
        for own in [
            r#"{"decision":"block","reason":"own"}"#,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        ] {
            let stdout = own.to_owned();
            let reply = Reply {
                stdout,
                ..refusal.clone()
            };
            assert_eq!(in_words(&reply), own);
        }
        assert_eq!(in_words(&Reply::silence()), "{}");
        assert_eq!(in_words(&Reply::text("words")), "words");
    }

    #[test]
    fn every_agent_hears_a_refusal_at_every_event_that_guards() {
        for agent in agent::ALL {
            for event in agent.events.iter().filter(|event| event.guards) {
                let reply = refused(agent.name, event.name, &Fault::Token);
                let said: Value = serde_json::from_str(&in_words(&reply)).unwrap();
                let text = said.to_string();
                let words = [
                    "\"block\"",
                    "\"deny\"",
                    "\"continue\":false",
                    "\"cancel\":true",
                ];
                let blocks = words.iter().any(|word| text.contains(word));
                assert!(blocks, "{} {}: {text}", agent.name, event.name);
            }
        }
    }
}
