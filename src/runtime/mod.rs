//! Loads the hooks of a project and dispatches events to them.

mod ask;
mod background;
mod builder;
mod inner;
mod logs;
mod reentry;
mod replay;
mod taping;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::capability::cache::{Cache, CacheError, Namespace, NamespaceError};
use crate::capability::metrics::Metrics;
use crate::diagnostic::Diagnostic;
use crate::dialect::{self, Dialect, harness};
use crate::event::About;
use crate::hook::Hook;
use crate::outcome::Outcome;
use crate::sandbox::compiled::StoreError;
use crate::sandbox::engine::EngineError;
use crate::sandbox::limits::Limits;
use crate::tape::RecordError;
use background::Joined;
pub use builder::RuntimeBuilder;
use inner::{Caller, Inner};

/// A project's hooks, ready to decide. Clones share everything.
#[derive(Debug, Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
    /// The last one to go waits for what runs in the background.
    _joined: Arc<Joined>,
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
    /// The cache the project names cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
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
    #[error("there is no event {name:?}; {}", dialect::advice(.name))]
    UnknownEvent {
        /// What was asked for.
        name: String,
    },
    /// Several dialects have an event of this name.
    #[error(
        "{name:?} is an event of {}; say which is meant with `--dialect`, or through `RuntimeBuilder::dialect`",
        .dialects.join(" and of ")
    )]
    AmbiguousEvent {
        /// What was asked for.
        name: String,
        /// The dialects.
        dialects: Vec<&'static str>,
    },
    /// A hook failed in a dialect in which that is an error of the whole event.
    #[error("{}", .0.reason.as_deref().unwrap_or("a hook failed"))]
    Raised(Box<Outcome>),
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
    /// The project wants every decision on a tape, and none runs.
    #[error(
        "the project has `tape: required` and nothing is recorded, so nothing is decided; record with `--tape FILE`, or through `RuntimeBuilder::tape`"
    )]
    NoTape,
    /// The decision is not on the tape it has to be on.
    #[error(
        "the decision cannot be recorded, and `tape: required` means that it does not count: {0}"
    )]
    Tape(RecordError),
}

impl Runtime {
    /// Starts to set a runtime up for the project in a directory.
    #[must_use]
    pub fn builder(project: impl Into<PathBuf>) -> RuntimeBuilder {
        RuntimeBuilder::new(project.into())
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
        self.inner = Arc::new(self.inner.reload()?);
        Ok(())
    }

    /// Returns the same hooks with hookbox's own before them.
    ///
    /// # Errors
    /// Returns every problem that keeps the project from loading whole.
    pub(crate) fn defended(&self) -> Result<Self, LoadError> {
        let mut defended = self.clone();
        defended.inner = Arc::new(self.inner.reload_defended()?);
        Ok(defended)
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
        &self.inner.loaded.config.limits
    }

    /// Returns the cache of a hook, as the hook sees it; none if there is no such hook.
    #[must_use]
    pub fn cache_of(&self, hook: &str) -> Option<Cache> {
        let hook = self.hooks().iter().find(|known| *known.name == *hook)?;
        Some(self.inner.doors(hook).cache.clone())
    }

    /// Returns the namespace of the cache that hooks share under a name, for the
    /// host's own tools.
    ///
    /// # Errors
    /// Returns that this cannot be the name of a namespace.
    pub fn cache(&self, namespace: &str) -> Result<Cache, NamespaceError> {
        let namespace = Namespace::shared(namespace)?;
        let granted = self.hooks().iter().find_map(|hook| {
            let grant = hook.grants.cache.as_ref()?;
            (grant.namespace.as_ref() == Some(&namespace)).then_some(grant)
        });
        let cache = Cache::new(
            Arc::clone(&self.inner.run.services.store),
            namespace.clone(),
        );
        Ok(match granted {
            Some(grant) => cache.with_quota(grant.quota).with_ttl(grant.ttl),
            None => cache,
        })
    }

    /// Returns the counters and gauges of the run.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.inner.run.metrics
    }

    /// Says whether the project has no hooks of its own.
    pub(crate) fn has_nothing(&self) -> bool {
        self.inner.has_nothing()
    }

    /// Says whether the project wants the events of its agents on a tape.
    pub(crate) fn is_recorded(&self) -> bool {
        self.inner.loaded.config.record.is_some()
    }

    /// Says whether a decision that is not on a tape counts.
    pub(crate) fn requires_tape(&self) -> bool {
        self.inner.loaded.config.tape_required
    }

    /// Says what it means that an outcome is not on its tape: nothing was decided where
    /// a tape is required, and a warning elsewhere.
    ///
    /// # Errors
    /// Returns that the outcome does not count.
    pub fn not_recorded(
        &self,
        error: RecordError,
        outcome: &mut Outcome,
    ) -> Result<(), DispatchError> {
        let taping = &self.inner.origin.taping;
        taping.not_recorded(&self.inner.loaded.config, error, outcome)
    }

    /// Sends an event through its chain. Its name and payload are those of the dialect
    /// that has the event.
    ///
    /// # Errors
    /// Returns what kept hookbox from deciding: the caller must not go on as if
    /// it had been allowed.
    pub fn dispatch(&self, event: &str, payload: Value) -> Result<Outcome, DispatchError> {
        self.dispatch_as(event, payload, About::default(), |runtime| {
            runtime.dialect_of(event)
        })
    }

    /// Sends an event of a certain dialect through its chain, with what is known of the
    /// session beside it.
    ///
    /// # Errors
    /// Returns what kept hookbox from deciding.
    pub(crate) fn dispatch_in(
        &self,
        dialect: &'static Dialect,
        event: &str,
        payload: Value,
        about: About,
    ) -> Result<Outcome, DispatchError> {
        self.dispatch_as(event, payload, about, |_| Ok(dialect))
    }

    fn dispatch_as(
        &self,
        event: &str,
        payload: Value,
        about: About,
        dialect: impl FnOnce(&Self) -> Result<&'static Dialect, DispatchError>,
    ) -> Result<Outcome, DispatchError> {
        let taping = &self.inner.origin.taping;
        let losses = taping.check(&self.inner.loaded.config)?;
        let decoded = dialect(self)
            .and_then(|dialect| self.inner.decode(dialect, event, payload, about, None));
        let event = decoded.inspect_err(|error| taping.undecided(event, error))?;
        let scene = self.inner.scene(&event);
        let caller = Caller::agent(scene.clone());
        let mut outcome = Inner::dispatch(&self.inner, &event, &caller);
        outcome.metrics = self.inner.run.metrics.snapshot();
        self.inner.warn_of_nothing(&mut outcome);
        self.inner.logs.remember(&outcome.logs);
        if let Some(scene) = scene {
            scene.close(&outcome);
            taping.settle(&self.inner.loaded.config, losses, &mut outcome)?;
        }
        Inner::go_on_in_background(&self.inner, &event, &mut outcome);
        let last = event.with_payload(outcome.payload);
        outcome.payload = (last.dialect.view)(&last.name, &last);
        if outcome.raised {
            return Err(DispatchError::Raised(Box::new(outcome)));
        }
        Ok(outcome)
    }

    /// Writes an outcome of this runtime in the form of the dialect its event came in.
    ///
    /// # Errors
    /// Returns that no dialect has such an event, or that several have.
    pub fn native(&self, outcome: &Outcome) -> Result<String, DispatchError> {
        let dialect = self.dialect_of(&outcome.event)?;
        let info = (dialect.find)(&outcome.event).ok_or_else(|| DispatchError::UnknownEvent {
            name: outcome.event.to_string(),
        })?;
        Ok((dialect.native)(info, outcome))
    }

    /// Waits for everything that runs in the background, and returns what came of it
    /// since this was asked last, in the order of its events. Nobody acts on that; a hook
    /// that failed is in the trace.
    pub fn flush(&self) -> Vec<Outcome> {
        self.inner.background.flush()
    }

    /// Finds the dialect that an event of this name comes in: the native one if it has
    /// it, the one that was chosen, or the only one that has hooks here.
    ///
    /// # Errors
    /// Returns that no dialect has such an event, or that several have.
    pub fn dialect_of(&self, event: &str) -> Result<&'static Dialect, DispatchError> {
        let name = || event.to_owned();
        if let Some(chosen) = self.inner.origin.dialect {
            return match (chosen.find)(event) {
                Some(_) => Ok(chosen),
                None => Err(DispatchError::UnknownEvent { name: name() }),
            };
        }
        let known: Vec<&'static Dialect> = dialect::knowing(event).collect();
        let here = |dialect: &&'static Dialect| {
            let mut hooks = self.hooks().iter();
            hooks.any(|hook| *hook.dialect == **dialect)
        };
        let with_hooks: Vec<&'static Dialect> = known.iter().copied().filter(here).collect();
        match (known.as_slice(), with_hooks.as_slice()) {
            ([], _) => Err(DispatchError::UnknownEvent { name: name() }),
            ([first, ..], _) if first.goes_first => Ok(first),
            ([only], _) | (_, [only]) => Ok(only),
            (several, _) => Err(DispatchError::AmbiguousEvent {
                name: name(),
                dialects: several.iter().map(|dialect| dialect.name).collect(),
            }),
        }
    }
}
