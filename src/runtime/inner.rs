//! The inside of a runtime: what it has loaded, what its hooks share, and how one
//! event goes through its chain.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::Value;

use super::builder::load_whole;
use super::logs::PendingLogs;
use super::reentry::Reentry;
use super::{DispatchError, LoadError};
use crate::capability::cache::{Memory, Store};
use crate::capability::doors::Doors;
use crate::capability::metrics::Metrics;
use crate::capability::services::Services;
use crate::capability::{Border, Pass, Run, back::Back};
use crate::chain::{self, Ran, Runner};
use crate::decision::Answer;
use crate::dialect::{Loaded, harness};
use crate::event::Event;
use crate::handler::Workshop;
use crate::hook::Hook;
use crate::json::Json;
use crate::outcome::Outcome;

/// Where a runtime came from, to load it again.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) project: PathBuf,
    pub(super) strict: bool,
    /// The file whose hooks are the only ones, if there is one.
    pub(super) only: Option<String>,
    pub(super) services: Services,
    /// Whether the host gave the store, or the project's settings name it.
    pub(super) own_store: bool,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) loaded: Loaded,
    pub(super) run: Arc<Run>,
    pub(super) origin: Origin,
    pub(super) logs: PendingLogs,
    workshop: Arc<Workshop>,
    /// What hooks without a grant keep: as old as the run.
    memory: Arc<Memory>,
    /// The doors of each hook, by its position; none where a hook did not load.
    doors: Vec<Option<Arc<Doors>>>,
    events: AtomicU64,
}

impl Inner {
    pub(super) fn new(
        workshop: Arc<Workshop>,
        loaded: Loaded,
        origin: Origin,
    ) -> Result<Self, LoadError> {
        let memory = Arc::new(Memory::default());
        let services = Services {
            store: store(&origin, &loaded, &memory)?,
            ..origin.services.clone()
        };
        let metrics = Arc::new(Metrics::heard_by(services.metrics.clone()));
        Ok(Self {
            doors: doors(&loaded, &memory, &services),
            run: Arc::new(Run { metrics, services }),
            loaded,
            origin,
            logs: PendingLogs::default(),
            workshop,
            memory,
            events: AtomicU64::new(0),
        })
    }

    /// Reads the project again. What is in memory stays.
    pub(super) fn reload(&self) -> Result<Self, LoadError> {
        let origin = self.origin.clone();
        let loaded = load_whole(&origin, &self.workshop)?;
        let store = if loaded.config.cache == self.loaded.config.cache {
            Arc::clone(&self.run.services.store)
        } else {
            store(&origin, &loaded, &self.memory)?
        };
        let services = Services {
            store,
            ..origin.services.clone()
        };
        Ok(Self {
            doors: doors(&loaded, &self.memory, &services),
            run: Arc::new(Run {
                metrics: Arc::clone(&self.run.metrics),
                services,
            }),
            loaded,
            origin,
            logs: self.logs.take().into(),
            workshop: Arc::clone(&self.workshop),
            memory: Arc::clone(&self.memory),
            events: AtomicU64::new(self.events.load(Ordering::Relaxed)),
        })
    }

    /// Returns the doors of a hook.
    pub(super) fn doors(&self, hook: &Hook) -> Arc<Doors> {
        match self.doors.get(hook.position) {
            Some(Some(doors)) => Arc::clone(doors),
            // Every hook that was loaded has its doors; one that was not gets none.
            _ => Doors::closed(),
        }
    }

    /// Makes an event of what came in: checked, complete, with an identity.
    pub(super) fn decode(
        &self,
        name: &str,
        payload: Value,
        depth: u32,
    ) -> Result<Event, DispatchError> {
        if harness::events::find(name).is_none() {
            return Err(DispatchError::UnknownEvent {
                name: name.to_owned(),
            });
        }
        let number = self.events.fetch_add(1, Ordering::Relaxed) + 1;
        let id = harness::payload::own_id(&payload).unwrap_or_else(|| format!("event-{number}"));
        let payload = harness::payload::complete(name, &id, payload)?;
        let subject = harness::payload::subject(name, &payload);
        let mut payload = Json::from(payload);
        let (size, limit) = (payload.text().len(), self.loaded.config.limits.payload);
        if size > limit {
            return Err(DispatchError::PayloadTooLarge { size, limit });
        }
        if name == "turn.end" {
            payload = self.logs.hand_over(payload, limit - size);
        }
        Ok(Event {
            name: name.into(),
            payload,
            id,
            subject,
            depth,
        })
    }

    /// Sends an event through its chain.
    pub(super) fn dispatch(inner: &Arc<Self>, event: &Event, caller: &Caller) -> Outcome {
        let mut path = caller.path.clone();
        path.push(caller.step(event));
        let dispatcher = Dispatcher {
            inner,
            back: Arc::new(Reentry::new(Arc::clone(inner), path, event.depth)),
            latest: caller.latest,
        };
        chain::run(&inner.loaded.hooks, event, &dispatcher)
    }
}

fn store(
    origin: &Origin,
    loaded: &Loaded,
    memory: &Arc<Memory>,
) -> Result<Arc<dyn Store>, LoadError> {
    match &loaded.config.cache {
        _ if origin.own_store => Ok(Arc::clone(&origin.services.store)),
        Some(backend) => Ok(backend.open(&origin.project)?),
        None => Ok(Arc::clone(memory) as Arc<dyn Store>),
    }
}

fn doors(loaded: &Loaded, memory: &Arc<Memory>, services: &Services) -> Vec<Option<Arc<Doors>>> {
    let domains = loaded.config.domains.as_ref();
    let last = loaded.hooks.iter().map(|hook| hook.position).max();
    let mut all = vec![None; last.map_or(0, |last| last + 1)];
    for hook in &loaded.hooks {
        let doors = Doors::open(
            &hook.identity(),
            &hook.grants,
            &hook.limits,
            domains,
            memory,
            services,
        );
        all[hook.position] = Some(Arc::new(doors));
    }
    all
}

/// Who fired an event: the agent, or a hook in the middle of another event.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// The way here: events, and the tools whose calls caused them.
    pub(super) path: Vec<Arc<str>>,
    /// The tool that the event is about, if a hook calls it.
    pub(super) tool: Option<Arc<str>>,
    pub(super) latest: Option<Instant>,
}

impl Caller {
    pub(super) fn agent() -> Self {
        Self {
            path: Vec::new(),
            tool: None,
            latest: None,
        }
    }

    fn step(&self, event: &Event) -> Arc<str> {
        self.tool.clone().unwrap_or_else(|| Arc::clone(&event.name))
    }
}

/// Runs the hooks of one event in the sandbox.
struct Dispatcher<'a> {
    inner: &'a Inner,
    back: Arc<dyn Back>,
    latest: Option<Instant>,
}

impl Dispatcher<'_> {
    fn border(&self, hook: &Hook, event: &Event) -> Border {
        Border::new(Pass {
            hook: Arc::clone(&hook.name),
            limits: hook.limits,
            event: event.clone(),
            doors: self.inner.doors(hook),
            run: Arc::clone(&self.inner.run),
            back: Arc::clone(&self.back),
            latest: self.latest,
        })
    }
}

impl Runner for Dispatcher<'_> {
    fn matches(&self, hook: &Hook, event: &Event) -> Ran<bool> {
        self.inner
            .workshop
            .matches(hook, event, || self.border(hook, event))
    }

    fn handle(&self, hook: &Hook, event: &Event) -> Ran<Answer> {
        self.inner
            .workshop
            .handle(hook, event, || self.border(hook, event))
    }
}
