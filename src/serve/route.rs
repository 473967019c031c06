//! Which request is meant for what.

use hyper::Method;

use super::fault::Fault;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// What `hookbox hook` would do.
    Hook { agent: String },
    /// The same for an agent that has HTTP hooks.
    Agent { agent: String, event: String },
    /// An event of a program that knows hookbox's own words.
    Dispatch,
    /// To load hooks again.
    Reload,
    /// To end.
    Stop,
    /// Whether somebody is there.
    Health,
    /// What was counted.
    Metrics,
    /// The JSON Schema of all this.
    Schema,
}

impl Route {
    pub(super) fn of(method: &Method, path: &str) -> Result<Self, Fault> {
        let (route, takes) = match path.split('/').collect::<Vec<_>>()[..] {
            ["", "v1", "hook", agent] => {
                let agent = agent.to_owned();
                (Self::Hook { agent }, Method::POST)
            }
            ["", "v1", "agents", agent, event] => {
                let (agent, event) = (agent.to_owned(), event.to_owned());
                (Self::Agent { agent, event }, Method::POST)
            }
            ["", "v1", "dispatch"] => (Self::Dispatch, Method::POST),
            ["", "v1", "reload"] => (Self::Reload, Method::POST),
            ["", "v1", "stop"] => (Self::Stop, Method::POST),
            ["", "v1", "health"] => (Self::Health, Method::GET),
            ["", "v1", "schema"] => (Self::Schema, Method::GET),
            ["", "metrics"] => (Self::Metrics, Method::GET),
            _ => return Err(Fault::Path(path.to_owned())),
        };
        if *method != takes {
            let takes = if takes == Method::POST { "POST" } else { "GET" };
            let path = path.to_owned();
            return Err(Fault::Method { path, takes });
        }
        Ok(route)
    }

    /// Returns the word in metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Hook { .. } => "hook",
            Self::Agent { .. } => "agents",
            Self::Dispatch => "dispatch",
            Self::Reload => "reload",
            Self::Stop => "stop",
            Self::Health => "health",
            Self::Metrics => "metrics",
            Self::Schema => "schema",
        }
    }
}
