//! Sets a runtime up: what the host lends to its hooks, and how they are loaded.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::background::Joined;
use super::inner::{Inner, Origin};
use super::taping::Taping;
use super::{LoadError, Runtime};
use crate::capability::cache::Store;
use crate::capability::http::{HttpError, Request, Response};
use crate::capability::metrics::Metric;
use crate::capability::services::{Ask, HandOn, Question, Services};
use crate::dialect::kept::Narrow;
use crate::dialect::{self, Dialect, Loaded, Options, harn};
use crate::handler::Workshop;
use crate::sandbox::compiled::{COMPILE_TIME, CodeStore, OnProgress};
use crate::sandbox::engine::{Engine, Lifetime};
use crate::tape::Recorder;

/// Sets a runtime up.
///
/// What is not given is the machine's own, behind the hooks' grants: its clock,
/// environment and names, secrets from `HOOKBOX_SECRET_*`, a cache in memory, no tools.
pub struct RuntimeBuilder {
    project: PathBuf,
    lifetime: Lifetime,
    code_store: Option<CodeStore>,
    /// What makes the hooks ready, if several runtimes share it.
    workshop: Option<Arc<Workshop>>,
    on_progress: OnProgress,
    compile_time: Duration,
    options: Options,
    dialect: Option<&'static Dialect>,
    only: Option<String>,
    services: Services,
    own_store: bool,
    taping: Taping,
    defended: bool,
}

impl RuntimeBuilder {
    pub(super) fn new(project: PathBuf) -> Self {
        Self {
            project,
            lifetime: Lifetime::LongLived,
            code_store: None,
            workshop: None,
            on_progress: Arc::new(|_| {}),
            compile_time: COMPILE_TIME,
            options: Options::default(),
            dialect: None,
            only: None,
            services: Services::default(),
            own_store: false,
            taping: Taping::default(),
            defended: false,
        }
    }

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

    /// Shares the engine, the interpreter and its instances with other runtimes; what is
    /// said of lifetime, compiled code and progress is the workshop's then.
    #[must_use]
    pub(crate) fn workshop(mut self, workshop: &Arc<Workshop>) -> Self {
        self.workshop = Some(Arc::clone(workshop));
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
        self.options.strict = strict;
        self
    }

    /// Lets hooks that are programs of this machine run, outside of the sandbox.
    /// Otherwise it is up to `process` in the project's `hookbox.toml`.
    #[must_use]
    pub fn allow_process(mut self, allow: bool) -> Self {
        self.options.allow_process = allow;
        self
    }

    /// Says where the hooks lie that hold in every project.
    #[must_use]
    pub fn config_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.options.config_dir = Some(directory.into());
        self
    }

    /// Says which dialect the names and payloads of events are in. Without, that follows
    /// from the name, as long as only one dialect with hooks here has it.
    #[must_use]
    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Registers the host's own hooks of the Harn dialect.
    #[must_use]
    pub fn harn(mut self, hooks: harn::Hooks) -> Self {
        self.options.harn = hooks;
        self
    }

    /// Says who answers the questions of hooks: a yes lets the chain go on, a no ends it.
    /// Without, the outcome is the question, and whoever fired the event asks.
    #[must_use]
    pub fn ask(mut self, ask: impl Fn(&Question) -> bool + Send + Sync + 'static) -> Self {
        self.services.ask = Ask::Person(Arc::new(ask));
        self
    }

    /// Says that nobody can answer the questions of hooks, so that the answer is no.
    #[must_use]
    pub fn ask_nobody(mut self) -> Self {
        self.services.ask = Ask::Nobody;
        self
    }

    /// Hands the questions of hooks on to the agent that fired the event, and goes on:
    /// its person answers before anything happens.
    #[must_use]
    pub(crate) fn ask_agent(mut self, hand_on: HandOn) -> Self {
        self.services.ask = Ask::Agent(hand_on);
        self
    }

    /// Adds the hook that keeps an agent from changing what guards it, unless the project
    /// does without.
    #[must_use]
    pub fn self_defence(mut self, defended: bool) -> Self {
        self.defended = defended;
        self
    }

    /// Keeps only the hooks of one file, relative to the project: to look at them alone,
    /// never to guard anything.
    #[must_use]
    pub fn only(mut self, file: impl Into<String>) -> Self {
        self.only = Some(file.into());
        self
    }

    /// Says where granted cache namespaces are kept, whatever the project says.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.services.store = store;
        self.own_store = true;
        self
    }

    /// Lends a tool to the hooks that are granted it.
    #[must_use]
    pub fn tool(
        mut self,
        name: impl Into<String>,
        tool: impl Fn(Value) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        self.services.tools.insert(name.into(), Arc::new(tool));
        self
    }

    /// Says where the secrets in grants come from.
    #[must_use]
    pub fn secrets(
        mut self,
        secrets: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.services.secrets = Arc::new(secrets);
        self
    }

    /// Says how names become addresses. The addresses are checked all the same.
    #[must_use]
    pub fn resolver(
        mut self,
        resolve: impl Fn(&str) -> std::io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Self {
        self.services.resolve = Arc::new(resolve);
        self
    }

    /// Answers the requests that hooks are granted, instead of the network. Grants are
    /// checked all the same; secrets are not looked up.
    #[must_use]
    pub fn http(
        mut self,
        answer: impl Fn(&Request) -> Result<Response, HttpError> + Send + Sync + 'static,
    ) -> Self {
        self.services.http = Some(Arc::new(answer));
        self
    }

    /// Records every dispatch. Whether one that cannot be recorded is decided all the
    /// same is up to the recorder and to the project's own `tape:`.
    #[must_use]
    pub fn tape(mut self, recorder: &Recorder) -> Self {
        self.taping.recorder = Some(recorder.clone());
        self
    }

    /// Does without the tape that the project requires: to test hooks, never to guard
    /// anything.
    #[must_use]
    pub fn without_tape(mut self) -> Self {
        self.taping.waived = true;
        self
    }

    /// Takes everything away that the host lends: only a tape answers.
    pub(crate) fn cut_off(mut self) -> Self {
        self.services = Services {
            secrets: Arc::new(|_| None),
            resolve: Arc::new(|_| Err(std::io::ErrorKind::NetworkUnreachable.into())),
            http: Some(Arc::new(|_| {
                Err(HttpError::Failed("a replay sends nothing".to_owned()))
            })),
            clock: Arc::new(|| SystemTime::UNIX_EPOCH),
            environment: Arc::new(|_| None),
            ..Services::default()
        };
        self.own_store = true;
        // Nothing of the kind is started in a replay.
        self.options.allow_process = true;
        self.taping = Taping {
            recorder: None,
            waived: true,
        };
        self
    }

    /// Says what time it is, for hooks that are granted the clock.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.services.clock = Arc::new(now);
        self
    }

    /// Says what the environment is, for hooks that are granted a part of it.
    #[must_use]
    pub fn environment(
        mut self,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.services.environment = Arc::new(environment);
        self
    }

    /// Hears of every change of a metric.
    #[must_use]
    pub fn metrics_sink(mut self, sink: impl Fn(&str, Metric) + Send + Sync + 'static) -> Self {
        self.services.metrics = Some(Arc::new(sink));
        self
    }

    /// Loads everything and says all that is wrong or odd, without a runtime.
    ///
    /// # Errors
    /// Returns why nothing could be looked at.
    pub fn inspect(self) -> Result<Loaded, LoadError> {
        let workshop = self.open_workshop()?;
        Ok(dialect::load(&self.project, &workshop, &self.options))
    }

    /// Loads the project.
    ///
    /// # Errors
    /// Returns every problem that keeps it from loading whole.
    pub fn load(self) -> Result<Runtime, LoadError> {
        self.load_with(|origin, workshop| dialect::load(&origin.project, workshop, &origin.options))
    }

    fn load_with(
        self,
        load: impl FnOnce(&Origin, &Workshop) -> Loaded,
    ) -> Result<Runtime, LoadError> {
        let workshop = self.open_workshop()?;
        let origin = Origin {
            project: self.project,
            options: self.options,
            dialect: self.dialect,
            only: self.only,
            services: self.services,
            own_store: self.own_store,
            taping: self.taping,
            defended: self.defended,
        };
        let loaded = whole(load(&origin, &workshop), &origin)?;
        let inner = Inner::new(workshop, loaded, origin)?;
        Ok(Runtime {
            _joined: Arc::new(Joined(Arc::clone(&inner.background))),
            inner: Arc::new(inner),
        })
    }

    /// Loads the hooks that one event can concern, from what was kept of the project if that
    /// is still what it was. For a process that answers this event and no other.
    ///
    /// # Errors
    /// Returns every problem that keeps the project from loading whole.
    pub(crate) fn load_for(self, narrow: &Narrow<'_>) -> Result<Runtime, LoadError> {
        self.load_with(|origin, workshop| {
            dialect::load_kept(&origin.project, workshop, &origin.options, narrow)
        })
    }

    fn open_workshop(&self) -> Result<Arc<Workshop>, LoadError> {
        if let Some(shared) = &self.workshop {
            return Ok(Arc::clone(shared));
        }
        let store = match &self.code_store {
            Some(store) => store.clone(),
            None => CodeStore::open_default()?,
        };
        let engine = Engine::new(self.lifetime)?;
        let workshop = Workshop::new(engine, store, Arc::clone(&self.on_progress))
            .with_compile_time(self.compile_time);
        Ok(Arc::new(workshop))
    }
}

pub(super) fn load_whole(origin: &Origin, workshop: &Workshop) -> Result<Loaded, LoadError> {
    let loaded = dialect::load(&origin.project, workshop, &origin.options);
    whole(loaded, origin)
}

/// Refuses a project that did not load whole.
fn whole(mut loaded: Loaded, origin: &Origin) -> Result<Loaded, LoadError> {
    if loaded.problems.iter().any(|problem| problem.is_error()) {
        return Err(LoadError::Project(loaded.problems));
    }
    if let Some(file) = &origin.only {
        loaded.hooks.retain(|hook| *hook.origin.file == **file);
    }
    if origin.defended && !loaded.config.defenceless {
        let last = loaded.hooks.iter().map(|hook| hook.position).max();
        let mut hook = crate::defence::hook(&origin.project, loaded.config.limits);
        hook.position = last.map_or(0, |last| last + 1);
        loaded.hooks.push(std::sync::Arc::new(hook));
    }
    Ok(loaded)
}
