//! Loads the hooks of a project and dispatches events to them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::capability::cache::Cache;
use crate::capability::events::{Echo, Emit, Emitted, Refusal};
use crate::capability::log::LogLine;
use crate::capability::metrics::Metrics;
use crate::capability::{Border, Run};
use crate::chain::{self, Ran, Runner};
use crate::decision::{Answer, Ruling};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Loaded, harness};
use crate::event::Event;
use crate::handler::Workshop;
use crate::hook::Hook;
use crate::json::Json;
use crate::outcome::Outcome;
use crate::sandbox::compiled::{COMPILE_TIME, CodeStore, OnProgress, StoreError};
use crate::sandbox::engine::{Engine, EngineError, Lifetime};
use crate::sandbox::limits::Limits;

/// How deep emitted events may be nested.
const MAX_DEPTH: u32 = 8;

/// How many log lines wait for the next `turn.end`.
const MAX_PENDING_LOGS: usize = 10_000;

/// A project's hooks, ready to decide. Clones share everything.
#[derive(Debug, Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    workshop: Arc<Workshop>,
    loaded: Loaded,
    run: Arc<Run>,
    pending_logs: Mutex<Vec<LogLine>>,
    events: AtomicU64,
    project: PathBuf,
    strict: bool,
}

/// Sets a runtime up.
pub struct RuntimeBuilder {
    project: PathBuf,
    lifetime: Lifetime,
    code_store: Option<CodeStore>,
    on_progress: OnProgress,
    compile_time: Duration,
    strict: bool,
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The machine cannot run the sandbox.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// There is no safe place for compiled code.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The project does not load whole, and a missing guard is an open gate.
    #[error("{}", summary(.0))]
    Project(Vec<Diagnostic>),
}

fn summary(problems: &[Diagnostic]) -> String {
    let errors: Vec<&Diagnostic> = problems
        .iter()
        .filter(|problem| problem.is_error())
        .collect();
    let first = errors.first().map_or("", |error| error.message.as_str());
    match errors.len() {
        1 => format!("the project does not load: {first}"),
        count => format!("the project does not load ({count} errors): {first}"),
    }
}

/// Why an event was not decided.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// There is no such event.
    #[error("there is no event {name:?}; {}", harness::events::advice(.name))]
    UnknownEvent {
        /// What was asked for.
        name: String,
    },
    /// The payload does not fit the event.
    #[error(transparent)]
    Payload(#[from] harness::payload::PayloadError),
    /// The payload is too large.
    #[error(
        "the payload has {size} bytes and may have {limit}; raise `payload` under `limits:` in harness.md to allow more"
    )]
    PayloadTooLarge {
        /// Its size.
        size: usize,
        /// What is allowed.
        limit: usize,
    },
}

impl RuntimeBuilder {
    /// Says how long the process lives; [`Lifetime::LongLived`] unless told otherwise.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Lifetime) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Says where compiled code is kept; in the user's own cache unless told otherwise.
    #[must_use]
    pub fn code_store(mut self, store: CodeStore) -> Self {
        self.code_store = Some(store);
        self
    }

    /// Hears about what takes long.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = on_progress;
        self
    }

    /// Says how long compiling one component may take.
    #[must_use]
    pub fn compile_time(mut self, compile_time: Duration) -> Self {
        self.compile_time = compile_time;
        self
    }

    /// Refuses what the format tolerates: unknown keys, no priority, no `handle`, code
    /// that cannot work.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Loads everything and says all that is wrong or odd, without a runtime.
    ///
    /// # Errors
    /// Returns why nothing could be looked at.
    pub fn inspect(self) -> Result<Loaded, LoadError> {
        let workshop = self.workshop()?;
        Ok(harness::load(&self.project, &workshop, self.strict))
    }

    /// Loads the project.
    ///
    /// # Errors
    /// Returns every problem that keeps it from loading whole.
    pub fn load(self) -> Result<Runtime, LoadError> {
        let workshop = Arc::new(self.workshop()?);
        let loaded = load_whole(&self.project, &workshop, self.strict)?;
        Ok(Runtime {
            inner: Arc::new(Inner {
                workshop,
                loaded,
                run: Arc::default(),
                pending_logs: Mutex::default(),
                events: AtomicU64::new(0),
                project: self.project,
                strict: self.strict,
            }),
        })
    }

    fn workshop(&self) -> Result<Workshop, LoadError> {
        let store = match &self.code_store {
            Some(store) => store.clone(),
            None => CodeStore::open_default()?,
        };
        let engine = Engine::new(self.lifetime)?;
        Ok(Workshop::new(engine, store, Arc::clone(&self.on_progress))
            .with_compile_time(self.compile_time))
    }
}

fn load_whole(project: &Path, workshop: &Workshop, strict: bool) -> Result<Loaded, LoadError> {
    let loaded = harness::load(project, workshop, strict);
    if loaded.problems.iter().any(Diagnostic::is_error) {
        return Err(LoadError::Project(loaded.problems));
    }
    Ok(loaded)
}

impl Runtime {
    /// Starts to set a runtime up for the project in a directory.
    #[must_use]
    pub fn builder(project: impl Into<PathBuf>) -> RuntimeBuilder {
        RuntimeBuilder {
            project: project.into(),
            lifetime: Lifetime::LongLived,
            code_store: None,
            on_progress: Arc::new(|_| {}),
            compile_time: COMPILE_TIME,
            strict: false,
        }
    }

    /// Loads the project in a directory with the defaults of a long-lived process.
    ///
    /// # Errors
    /// Returns every problem that keeps it from loading whole.
    pub fn load(project: impl Into<PathBuf>) -> Result<Self, LoadError> {
        Self::builder(project).load()
    }

    /// Reads the project again. Cache, metrics and waiting log lines stay; events
    /// on their way finish with the hooks they started with.
    ///
    /// # Errors
    /// Returns every problem that keeps it from loading whole; the hooks loaded
    /// before stay in force then.
    pub fn reload(&mut self) -> Result<(), LoadError> {
        let old = &self.inner;
        let loaded = load_whole(&old.project, &old.workshop, old.strict)?;
        self.inner = Arc::new(Inner {
            workshop: Arc::clone(&old.workshop),
            loaded,
            run: Arc::clone(&old.run),
            pending_logs: Mutex::new(old.take_logs()),
            events: AtomicU64::new(old.events.load(Ordering::Relaxed)),
            project: old.project.clone(),
            strict: old.strict,
        });
        Ok(())
    }

    /// Returns the hooks, in the order of registration.
    #[must_use]
    pub fn hooks(&self) -> &[Arc<Hook>] {
        &self.inner.loaded.hooks
    }

    /// Returns what is odd about the project, though it loads.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.inner.loaded.problems
    }

    /// Returns the limits the project sets.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.loaded.limits
    }

    /// Returns the cache that hooks share with the host's tools.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.inner.run.cache
    }

    /// Returns the counters and gauges of the run.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.inner.run.metrics
    }

    /// Sends an event through its chain.
    ///
    /// # Errors
    /// Returns what kept hookbox from deciding: the caller must not go on as if
    /// it had been allowed.
    pub fn dispatch(&self, event: &str, payload: Value) -> Result<Outcome, DispatchError> {
        let event = self.inner.decode(event, payload, 0)?;
        let mut outcome = Inner::dispatch(&self.inner, &event, &Caller::agent());
        outcome.metrics = self.inner.run.metrics.snapshot();
        if self.hooks().is_empty() {
            outcome.warnings.push(format!(
                "no hooks were found in {}: every event passes",
                self.inner.project.display()
            ));
        }
        self.inner.remember(&outcome.logs);
        Ok(outcome)
    }
}

/// Who fired an event: the agent, or a hook in the middle of another event.
#[derive(Debug, Clone)]
struct Caller {
    path: Vec<Arc<str>>,
    latest: Option<Instant>,
}

impl Caller {
    fn agent() -> Self {
        Self {
            path: Vec::new(),
            latest: None,
        }
    }
}

impl Inner {
    /// Makes an event of what came in: checked, complete, with an identity.
    fn decode(&self, name: &str, payload: Value, depth: u32) -> Result<Event, DispatchError> {
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
        let (size, limit) = (payload.text().len(), self.loaded.limits.payload);
        if size > limit {
            return Err(DispatchError::PayloadTooLarge { size, limit });
        }
        if name == "turn.end" {
            payload = self.hand_over_logs(payload, limit - size);
        }
        Ok(Event {
            name: name.into(),
            payload,
            id,
            subject,
            depth,
        })
    }

    fn dispatch(inner: &Arc<Self>, event: &Event, caller: &Caller) -> Outcome {
        let mut path = caller.path.clone();
        path.push(Arc::clone(&event.name));
        let dispatcher = Dispatcher {
            inner,
            emit: Self::emitter(inner, path, event.depth),
            latest: caller.latest,
        };
        chain::run(&inner.loaded.hooks, event, &dispatcher)
    }

    /// Makes the function through which a hook's own events come back in.
    fn emitter(inner: &Arc<Self>, path: Vec<Arc<str>>, depth: u32) -> Emit {
        let inner = Arc::clone(inner);
        Arc::new(move |emitted| {
            if let Some(refusal) = refuse_emit(&emitted, &path, depth) {
                return echo(Err(Refusal::Refused(refusal)));
            }
            let name = &emitted.name;
            let event = match inner.decode(name, emitted.payload.into_value(), depth + 1) {
                Ok(event) => event,
                Err(error) => return echo(Err(Refusal::Refused(error.to_string()))),
            };
            let caller = Caller {
                path: path.clone(),
                latest: Some(emitted.latest),
            };
            let outcome = Self::dispatch(&inner, &event, &caller);
            let result = match outcome.decision {
                Ruling::Allow | Ruling::Modify => Ok(outcome.payload),
                // In the middle of a call nobody can be asked.
                Ruling::Block | Ruling::Ask => {
                    Err(Refusal::Blocked(outcome.reason.unwrap_or_default()))
                }
            };
            Echo {
                result,
                logs: outcome.logs,
                warnings: outcome.warnings,
            }
        })
    }

    /// Keeps log lines for the next `turn.end`.
    fn remember(&self, lines: &[LogLine]) {
        let mut pending = self
            .pending_logs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        pending.extend_from_slice(lines);
        let over = pending.len().saturating_sub(MAX_PENDING_LOGS);
        pending.drain(..over);
    }

    fn take_logs(&self) -> Vec<LogLine> {
        std::mem::take(
            &mut *self
                .pending_logs
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Puts what hooks logged since the last `turn.end` into this one's payload, as
    /// far as there is room. Where there is no place for lines, they wait.
    fn hand_over_logs(&self, payload: Json, room: usize) -> Json {
        let has_place = match payload.value() {
            Value::Object(object) => object.get("logs").is_none_or(Value::is_array),
            _ => false,
        };
        if !has_place {
            return payload;
        }
        let lines = fitting(&self.take_logs(), room);
        let mut value = payload.into_value();
        if !lines.is_empty()
            && let Some(object) = value.as_object_mut()
            && let Value::Array(logs) = object
                .entry("logs")
                .or_insert_with(|| Value::Array(Vec::new()))
        {
            logs.extend(lines);
        }
        Json::from(value)
    }
}

/// How much the key and the brackets around log lines take, and the line that says
/// how many are missing.
const LOGS_FRAME: usize = 256;

/// Returns the newest lines that fit, as JSON, after one that counts the others.
fn fitting(lines: &[LogLine], room: usize) -> Vec<Value> {
    let mut left = room.saturating_sub(LOGS_FRAME);
    let mut fitting: Vec<Value> = Vec::new();
    for line in lines.iter().rev() {
        let Ok(value) = serde_json::to_value(line) else {
            continue;
        };
        let size = value.to_string().len() + 1;
        if size > left {
            break;
        }
        left -= size;
        fitting.push(value);
    }
    let missing = lines.len() - fitting.len();
    if missing > 0 && room > LOGS_FRAME {
        let message = format!("{missing} earlier log lines did not fit into this payload");
        fitting.push(serde_json::json!({"hook": "hookbox", "level": "warn", "message": message}));
    }
    fitting.reverse();
    fitting
}

fn refuse_emit(emitted: &Emitted, path: &[Arc<str>], depth: u32) -> Option<String> {
    if !emitted.name.starts_with("custom.") {
        return Some(format!(
            "event must start with \"custom.\", and {:?} does not",
            emitted.name
        ));
    }
    if path.iter().any(|name| **name == *emitted.name) {
        let circle: Vec<&str> = path
            .iter()
            .map(|name| &**name)
            .chain([&*emitted.name])
            .collect();
        return Some(format!("hooks emit in a circle: {}", circle.join(" → ")));
    }
    (depth + 1 > MAX_DEPTH).then(|| format!("events may be nested {MAX_DEPTH} deep"))
}

fn echo(result: Result<Json, Refusal>) -> Echo {
    Echo {
        result,
        logs: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Runs the hooks of one event in the sandbox.
struct Dispatcher<'a> {
    inner: &'a Inner,
    emit: Emit,
    latest: Option<Instant>,
}

impl Dispatcher<'_> {
    fn border(&self, hook: &Hook) -> Border {
        Border::new(
            Arc::clone(&hook.name),
            hook.limits,
            Arc::clone(&self.inner.run),
            Arc::clone(&self.emit),
            self.latest,
        )
    }
}

impl Runner for Dispatcher<'_> {
    fn matches(&self, hook: &Hook, event: &Event) -> Ran<bool> {
        self.inner
            .workshop
            .matches(hook, event, || self.border(hook))
    }

    fn handle(&self, hook: &Hook, event: &Event) -> Ran<Answer> {
        self.inner
            .workshop
            .handle(hook, event, || self.border(hook))
    }
}
