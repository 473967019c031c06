//! What the host lends to the hooks of a runtime. Two runtimes share nothing
//! unless they are given the same.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::cache::{Memory, Store};
use super::http::{Resolve, Secrets, StandIn, system_resolver};
use super::metrics::Sink;
use super::wasi::TellTime;

/// A tool of the agent: takes its arguments, returns its result or why there is none.
pub type Tool = Arc<dyn Fn(Value) -> Result<Value, String> + Send + Sync>;

/// A question of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The hook that asks.
    pub hook: String,
    /// The event it asks about.
    pub event: String,
    /// What that event is about, for example the name of the tool.
    pub subject: Option<String>,
    /// The question.
    pub message: String,
}

/// Puts a question to a person and returns whether they agree.
pub type AskPerson = Arc<dyn Fn(&Question) -> bool + Send + Sync>;

/// Who answers the questions of hooks.
#[derive(Clone, Default)]
pub enum Ask {
    /// Whoever fired the event: the outcome is the question.
    #[default]
    Later,
    /// Nobody can: the answer is no.
    Nobody,
    /// Somebody, through the host.
    Person(AskPerson),
    /// The agent's own person, later: the question is handed on, and the chain goes on.
    Agent(HandOn),
}

/// Hears a question that somebody else will put, and says whether somebody will.
pub type HandOn = fn(&Question) -> bool;

/// Looks an environment variable up.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What the environment variable of a secret starts with. A grant names a secret
/// without it, so that no grant can name any other variable.
pub const SECRET_PREFIX: &str = "HOOKBOX_SECRET_";

/// What a host lends to its hooks.
#[derive(Clone)]
pub struct Services {
    /// Where granted namespaces are kept.
    pub store: Arc<dyn Store>,
    /// The tools hooks can call, by name.
    pub tools: BTreeMap<String, Tool>,
    /// Secrets for requests, by name.
    pub secrets: Secrets,
    /// Names to addresses.
    pub resolve: Resolve,
    /// Who answers granted requests instead of the network.
    pub http: Option<StandIn>,
    /// The time, for hooks that were granted it.
    pub clock: TellTime,
    /// The environment, for hooks that were granted a part of it.
    pub environment: Environment,
    /// Hears of every change of a metric.
    pub metrics: Option<Sink>,
    /// Who answers the questions of hooks.
    pub ask: Ask,
}

impl Default for Services {
    fn default() -> Self {
        Self {
            store: Arc::new(Memory::default()),
            tools: BTreeMap::new(),
            secrets: Arc::new(|name| std::env::var(format!("{SECRET_PREFIX}{name}")).ok()),
            resolve: system_resolver(),
            http: None,
            clock: Arc::new(SystemTime::now),
            environment: Arc::new(|name| std::env::var(name).ok()),
            metrics: None,
            ask: Ask::Later,
        }
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Services")
            .field("store", &self.store)
            .field("tools", &self.tools.keys())
            .finish_non_exhaustive()
    }
}
