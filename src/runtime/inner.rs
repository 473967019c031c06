//! The inside of a runtime: what it has loaded, what its hooks share, and how one
//! event goes through its chain.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;

use super::background::Background;
use super::builder::load_whole;
use super::logs::PendingLogs;
use super::reentry::Reentry;
use super::taping::Taping;
use super::{DispatchError, LoadError};
use crate::capability::cache::{Memory, Store};
use crate::capability::doors::Doors;
use crate::capability::metrics::Metrics;
use crate::capability::services::{Ask, Services};
use crate::capability::{Border, Pass, Run, back::Back};
use crate::chain::{self, Control, Ran, Reply, Runner};
use crate::decision::{Answer, Ruling};
use crate::defence;
use crate::dialect::{Dialect, Incoming, Loaded, Options, harness};
use crate::event::{About, Event};
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
    pub(super) options: Options,
    /// The dialect that events come in, if one was chosen.
    pub(super) dialect: Option<&'static Dialect>,
    /// The file whose hooks are the only ones, if there is one.
    pub(super) only: Option<String>,
    pub(super) services: Services,
    /// Whether the host gave the store, or the project's settings name it.
    pub(super) own_store: bool,
    pub(super) taping: Taping,
    /// Whether the hook is added that keeps an agent from changing what guards it.
    pub(super) defended: bool,
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
    /// What runs after the events that caused it.
    pub(super) background: Arc<Background>,
    /// Where the project is, if any of its hooks is told.
    project: Option<String>,
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
            background: Arc::default(),
            project: told_project(&loaded, &origin),
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
        self.reload_from(self.origin.clone())
    }

    /// Reads the project again, with hookbox's own hook before the others.
    pub(super) fn reload_defended(&self) -> Result<Self, LoadError> {
        self.reload_from(Origin {
            defended: true,
            ..self.origin.clone()
        })
    }

    fn reload_from(&self, origin: Origin) -> Result<Self, LoadError> {
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
            background: Arc::clone(&self.background),
            project: told_project(&loaded, &origin),
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
        dialect: &'static Dialect,
        name: &str,
        payload: Value,
        about: About,
        parent: Option<&Parent<'_>>,
    ) -> Result<Event, DispatchError> {
        let Some(info) = (dialect.find)(name) else {
            return Err(DispatchError::UnknownEvent {
                name: name.to_owned(),
            });
        };
        let id = harness::payload::own_id(&payload).unwrap_or_else(|| match parent {
            // Events of other threads have no part in it, so that a replay says the same.
            Some(parent) => format!("{}.{}", parent.id, parent.number),
            None => format!("event-{}", self.events.fetch_add(1, Ordering::Relaxed) + 1),
        });
        let incoming = Incoming {
            name: name.to_owned(),
            id: id.clone(),
            payload,
        };
        let mut decoded = (dialect.decode)(info, incoming)?;
        let own = &mut decoded.about;
        own.session = own.session.take().or(about.session);
        own.transcript = own.transcript.take().or(about.transcript);
        if let Some(project) = &self.project {
            decoded.about.project = Some(project.clone());
            decoded.about.interactive = Some(matches!(
                self.run.services.ask,
                Ask::Person(_) | Ask::Agent(_)
            ));
        }
        let point = info.point_of(name);
        let subject = harness::payload::subject(point, &decoded.payload);
        let mut payload = Json::from(decoded.payload);
        let (size, limit) = (
            payload.text().len() + decoded.about.size(),
            self.loaded.config.limits.payload,
        );
        if size > limit {
            return Err(DispatchError::PayloadTooLarge { size, limit });
        }
        if point == "turn.end" {
            payload = self.logs.hand_over(payload, limit - size);
        }
        Ok(Event {
            name: name.into(),
            point: point.into(),
            dialect,
            payload,
            about: Arc::new(decoded.about),
            background: false,
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
            alone: caller.latest.is_some() || event.background,
            event,
            last: Mutex::default(),
            settled: AtomicBool::new(false),
        };
        chain::run(&inner.loaded.hooks, event, &dispatcher)
    }

    /// Says whether the project has no hooks of its own.
    pub(super) fn has_nothing(&self) -> bool {
        let own = |hook: &Arc<Hook>| *hook.name != *defence::NAME;
        !self.loaded.narrowed && !self.loaded.hooks.iter().any(own)
    }

    /// Says that nobody guards anything.
    pub(super) fn warn_of_nothing(&self, outcome: &mut Outcome) {
        if self.has_nothing() {
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

/// Returns where the project is, if the dialect of any of its hooks tells them.
fn told_project(loaded: &Loaded, origin: &Origin) -> Option<String> {
    let told = loaded.hooks.iter().any(|hook| hook.dialect.tells);
    let project = told.then(|| std::path::absolute(&origin.project).ok())??;
    Some(project.display().to_string())
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
pub(super) struct Dispatcher<'a> {
    pub(super) inner: &'a Inner,
    back: Arc<dyn Back>,
    latest: Option<Instant>,
    scene: Option<Arc<Scene>>,
    pub(super) event: &'a Event,
    /// Whether nobody can be asked: in the middle of another call, or in the background.
    pub(super) alone: bool,
    /// What the handler that was called last used, until it is heard what came of it,
    /// and what stood at the border.
    pub(super) last: Mutex<Option<(Used, Reel)>>,
    /// Whether a hook had the last word.
    settled: AtomicBool,
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
        let collected = self.settled.load(Ordering::Relaxed);
        let (ran, used) = scene.handle(hook, event, &reel, collected, || run(reel.clone()));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((used, reel));
        ran
    }

    fn ask(&self, hook: &Hook, question: &str) -> Reply {
        self.put(hook, question)
    }

    fn heard(&self, hook: &Hook, row: &TraceRow, control: &Control<'_>) {
        if let Some(scene) = &self.scene {
            let last = self.last.lock();
            let used = last.unwrap_or_else(PoisonError::into_inner).take();
            scene.returned(hook, row, control, used.map(|(used, _)| used));
            let settles = control.last || matches!(control.ruling, Ruling::Block | Ruling::Ask);
            self.settled.fetch_or(settles, Ordering::Relaxed);
        }
    }
}
