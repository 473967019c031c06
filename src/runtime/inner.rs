//! The inside of a runtime: what it has loaded, what its hooks share, and how one
//! event goes through its chain.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;

use super::builder::load_whole;
use super::logs::PendingLogs;
use super::reentry::Reentry;
use super::taping::Taping;
use super::{DispatchError, LoadError};
use crate::capability::cache::{Memory, Store};
use crate::capability::doors::Doors;
use crate::capability::metrics::Metrics;
use crate::capability::services::Services;
use crate::capability::{Border, Pass, Run, back::Back};
use crate::chain::{self, Control, Ran, Runner};
use crate::decision::Answer;
use crate::dialect::{Loaded, harness};
use crate::event::Event;
use crate::handler::Workshop;
use crate::hook::Hook;
use crate::json::Json;
use crate::outcome::{Outcome, TraceRow};
use crate::tape::reel::Reel;
use crate::tape::scene::Scene;
use crate::tape::{Phase, Used};

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
    pub(super) taping: Taping,
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
    /// The number of this session on its tape.
    session: u64,
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
        let session = origin.taping.begin(&workshop, &loaded, &services);
        Ok(Self {
            session,
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
            session: origin.taping.begin(&self.workshop, &loaded, &services),
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
        parent: Option<&Parent<'_>>,
    ) -> Result<Event, DispatchError> {
        if harness::events::find(name).is_none() {
            return Err(DispatchError::UnknownEvent {
                name: name.to_owned(),
            });
        }
        let id = harness::payload::own_id(&payload).unwrap_or_else(|| match parent {
            // Events of other threads have no part in it, so that a replay says the same.
            Some(parent) => format!("{}.{}", parent.id, parent.number),
            None => format!("event-{}", self.events.fetch_add(1, Ordering::Relaxed) + 1),
        });
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
            depth: parent.map_or(0, |parent| parent.depth + 1),
        })
    }

    /// Sends an event through its chain.
    pub(super) fn dispatch(inner: &Arc<Self>, event: &Event, caller: &Caller) -> Outcome {
        let mut path = caller.path.clone();
        path.push(caller.step(event));
        let dispatcher = Dispatcher {
            inner,
            back: Arc::new(Reentry::new(Arc::clone(inner), path, event)),
            latest: caller.latest,
            scene: caller.scene.clone(),
            used: Mutex::default(),
        };
        chain::run(&inner.loaded.hooks, event, &dispatcher)
    }

    /// Says that nobody guards anything.
    pub(super) fn warn_of_nothing(&self, outcome: &mut Outcome) {
        if self.loaded.hooks.is_empty() {
            outcome.warnings.push(format!(
                "no hooks were found in {}: every event passes",
                self.origin.project.display()
            ));
        }
    }

    /// Opens an event of the agent's own on the tape, if one runs.
    pub(super) fn scene(&self, event: &Event) -> Option<Arc<Scene>> {
        let recorder = self.origin.taping.recorder.as_ref()?;
        Some(Scene::record(recorder.track(), self.session, event))
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
    /// The event on the tape, if one runs.
    pub(super) scene: Option<Arc<Scene>>,
}

/// The event that caused another one.
#[derive(Debug)]
pub(super) struct Parent<'a> {
    pub(super) id: &'a str,
    pub(super) depth: u32,
    /// How many it has caused, with this one.
    pub(super) number: u64,
}

impl Caller {
    pub(super) fn agent(scene: Option<Arc<Scene>>) -> Self {
        Self {
            path: Vec::new(),
            tool: None,
            latest: None,
            scene,
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
    scene: Option<Arc<Scene>>,
    /// What the handler that was called last used, until it is heard what came of it.
    used: Mutex<Option<Used>>,
}

impl Dispatcher<'_> {
    fn border(&self, hook: &Hook, event: &Event, reel: Reel) -> Border {
        Border::new(Pass {
            hook: Arc::clone(&hook.name),
            limits: hook.limits,
            event: event.clone(),
            doors: self.inner.doors(hook),
            run: Arc::clone(&self.inner.run),
            back: Arc::clone(&self.back),
            latest: self.latest,
            reel,
        })
    }
}

impl Runner for Dispatcher<'_> {
    fn matches(&self, hook: &Hook, event: &Event) -> Ran<bool> {
        let workshop = &self.inner.workshop;
        let run = |reel| workshop.matches(hook, event, || self.border(hook, event, reel));
        match &self.scene {
            // What always matches is not evaluated.
            Some(scene) if hook.when().is_some() => {
                let reel = scene.reel(hook, Phase::When);
                scene.matches(hook, &reel, || run(reel.clone()))
            }
            _ => run(Reel::default()),
        }
    }

    fn handle(&self, hook: &Hook, event: &Event) -> Ran<Answer> {
        let workshop = &self.inner.workshop;
        let run = |reel| workshop.handle(hook, event, || self.border(hook, event, reel));
        let Some(scene) = &self.scene else {
            return run(Reel::default());
        };
        let reel = scene.reel(hook, Phase::Handle);
        let (ran, used) = scene.handle(hook, event, &reel, || run(reel.clone()));
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(used);
        ran
    }

    fn heard(&self, hook: &Hook, row: &TraceRow, control: &Control<'_>) {
        if let Some(scene) = &self.scene {
            let used = self
                .used
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            scene.returned(hook, row, control, used);
        }
    }
}
