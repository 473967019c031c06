//! What runs when a hook is called, and the workshop that makes it ready.

mod camera;
pub mod command;
pub mod component;
mod images;
mod loaded;
pub mod native;
#[cfg(test)]
mod probe;
#[cfg(unix)]
pub mod process;
#[cfg(not(unix))]
#[path = "process_elsewhere.rs"]
pub mod process;
mod spares;
pub mod starlark;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::capability::Border;
use crate::chain::Ran;
use crate::decision::{Answer, Decision};
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::hook::{Hook, Predicate};
use crate::sandbox::bindings::types;
use crate::sandbox::compiled::{COMPILE_TIME, CodeStore, Digest, OnProgress};
use crate::sandbox::component::{Form, Outline, form};
use crate::sandbox::engine::Engine;
use crate::sandbox::lift;
use command::{CommandHook, Finished};
use component::ComponentHook;
use native::NativeHook;
use process::ProcessHook;
pub use starlark::Script;
use starlark::{Function, Interpreter, Parser};

/// What runs.
#[derive(Debug, Clone)]
pub enum Handler {
    /// Nothing: a placeholder that lets every event pass.
    Placeholder,
    /// A Starlark script.
    Starlark(Arc<Script>),
    /// A component of the world `hook`.
    Component(Arc<ComponentHook>),
    /// A program: a component of the world `wasi:cli/command`.
    Command(Arc<CommandHook>),
    /// A function of a Starlark module.
    Function(Arc<Function>),
    /// A program or script of the machine, outside of the sandbox.
    Process(Arc<ProcessHook>),
    /// A closure of the host, or a rule it stands for.
    Native(Arc<NativeHook>),
}

impl Handler {
    /// Returns the word for the kind of handler.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Placeholder => "none",
            Self::Starlark(_) => "starlark",
            Self::Component(_) => "component",
            Self::Command(_) => "command",
            Self::Function(_) => "starlark",
            Self::Process(_) => "process",
            Self::Native(native) => native.kind,
        }
    }

    /// Returns the digest of what runs, where it is not in the hook's own file.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        match self {
            Self::Component(component) => Some(component.digest().to_string()),
            Self::Command(command) => Some(command.digest().to_string()),
            Self::Function(function) => Some(function.digest().to_string()),
            Self::Process(process) => Some(process.digest().to_string()),
            Self::Placeholder | Self::Starlark(_) | Self::Native(_) => None,
        }
    }

    /// Says whether it runs in the sandbox, or needs none.
    #[must_use]
    pub fn is_sandboxed(&self) -> bool {
        !matches!(self, Self::Process(_) | Self::Native(_))
    }

    /// Returns the names of a component's imports; none for what is no component.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        match self {
            Self::Placeholder
            | Self::Starlark(_)
            | Self::Function(_)
            | Self::Process(_)
            | Self::Native(_) => &[],
            Self::Component(component) => component.imports(),
            Self::Command(command) => command.imports(),
        }
    }
}

/// Makes handlers ready and runs them.
pub struct Workshop {
    engine: Engine,
    store: CodeStore,
    on_progress: OnProgress,
    compile_time: Duration,
    spares: usize,
    share_images: bool,
    interpreter: OnceLock<Result<Interpreter, Failure>>,
}

impl std::fmt::Debug for Workshop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Workshop")
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

impl Workshop {
    /// Opens a workshop.
    #[must_use]
    pub fn new(engine: Engine, store: CodeStore, on_progress: OnProgress) -> Self {
        Self {
            engine,
            store,
            on_progress,
            compile_time: COMPILE_TIME,
            spares: 0,
            share_images: false,
            interpreter: OnceLock::new(),
        }
    }

    /// Returns what tells one engine from another: its name and the hash of its exact
    /// version and configuration.
    #[must_use]
    pub fn engine_name(&self) -> String {
        format!("wasmtime 48, {}", self.engine.fingerprint())
    }

    /// Sets how long compiling one component may take.
    #[must_use]
    pub fn with_compile_time(mut self, compile_time: Duration) -> Self {
        self.compile_time = compile_time;
        self
    }

    /// Keeps so many instances of the interpreter ready before they are needed, on a
    /// thread of its own: for processes that wait most of the time.
    #[must_use]
    pub fn with_spares(mut self, spares: usize) -> Self {
        self.spares = spares;
        self
    }

    /// Writes down what loading a script leaves behind, for processes that come after this
    /// one: for those that answer one event.
    #[must_use]
    pub fn with_shared_images(mut self) -> Self {
        self.share_images = true;
        self
    }

    /// Returns the Starlark interpreter, compiling it the first time this
    /// machine needs it.
    ///
    /// # Errors
    /// Returns why there is none.
    pub fn interpreter(&self) -> Result<&Interpreter, Failure> {
        self.interpreter
            .get_or_init(|| {
                let interpreter = Interpreter::load(
                    &self.engine,
                    &self.store,
                    &self.on_progress,
                    self.compile_time,
                )?;
                let interpreter = match self.share_images {
                    false => interpreter,
                    true => interpreter.with_shared_images(),
                };
                Ok(match self.spares {
                    0 => interpreter,
                    spares => interpreter.with_spares(&self.engine, spares),
                })
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Makes the interpreter ready before it is needed, unless it would have to be compiled.
    pub(crate) fn get_ready(&self) {
        if Interpreter::is_compiled(&self.engine, &self.store) {
            // Whoever needs it hears why there is none.
            let _ = self.interpreter();
        }
    }

    /// Makes a component ready: checked, compiled and linked. A program for WASI's
    /// first preview is made a component first.
    ///
    /// # Errors
    /// Returns why it cannot be a hook.
    pub fn component(&self, name: &str, bytes: Vec<u8>) -> Result<Handler, Failure> {
        let digest = Digest::of(&bytes);
        let bytes = match form(&bytes)? {
            Form::Component => bytes,
            Form::Module => lift::command(&bytes)?,
        };
        let outline = Outline::read(&bytes).unwrap_or_default();
        outline.check()?;
        let component = self
            .store
            .load(
                &self.engine,
                &Digest::of(&bytes),
                name,
                move || bytes,
                &self.on_progress,
                self.compile_time,
            )
            .map_err(|error| Failure::new(Cause::BadComponent, error.to_string()))?;
        if outline.is_command() {
            let command = CommandHook::new(&self.engine, &component, digest)?;
            return Ok(Handler::Command(Arc::new(command)));
        }
        let hook = ComponentHook::new(&self.engine, &component, digest)?;
        Ok(Handler::Component(Arc::new(hook)))
    }

    /// Makes a component ready that was checked before, by the digest of its bytes. They are
    /// read only if the store lost the compiled code.
    pub(crate) fn kept_component(
        &self,
        name: &str,
        digest: &Digest,
        command: bool,
        bytes: impl FnOnce() -> Vec<u8>,
    ) -> Result<Handler, Failure> {
        let component = self
            .store
            .load(
                &self.engine,
                digest,
                name,
                bytes,
                &self.on_progress,
                self.compile_time,
            )
            .map_err(|error| Failure::new(Cause::BadComponent, error.to_string()))?;
        Ok(if command {
            let command = CommandHook::new(&self.engine, &component, digest.clone())?;
            Handler::Command(Arc::new(command))
        } else {
            let hook = ComponentHook::tried(&self.engine, &component, digest.clone())?;
            Handler::Component(Arc::new(hook))
        })
    }

    /// Returns the store of compiled code.
    pub(crate) fn store(&self) -> &CodeStore {
        &self.store
    }

    /// Returns what looks at source without running it.
    ///
    /// # Errors
    /// Returns why there is no interpreter.
    pub fn parser(&self) -> Result<Parser<'_>, Failure> {
        Ok(Parser::new(self.interpreter()?, &self.engine))
    }

    /// Evaluates the predicate of a hook.
    pub fn matches(
        &self,
        hook: &Hook,
        event: &Event,
        border: impl FnOnce() -> Border,
    ) -> Ran<bool> {
        match &hook.predicate {
            Predicate::Always => Ok(true).into(),
            Predicate::Rule(rule) => Ok(rule.matches(event)).into(),
            Predicate::When(condition) => match self.interpreter() {
                Ok(interpreter) => {
                    let seen = to_wit(hook, &event.seen_by(hook));
                    interpreter.matches(&self.engine, condition, seen, border())
                }
                Err(failure) => Err(failure).into(),
            },
        }
    }

    /// Calls the handler of a hook, which sees the event as its dialect tells it.
    pub fn handle(
        &self,
        hook: &Hook,
        event: &Event,
        border: impl FnOnce() -> Border,
    ) -> Ran<Answer> {
        let seen = || event.seen_by(hook);
        match &hook.handler {
            Handler::Placeholder => Ok(Decision::Allow.into()).into(),
            Handler::Starlark(script) => match self.interpreter() {
                Ok(interpreter) => {
                    interpreter.handle(&self.engine, script, to_wit(hook, &seen()), border())
                }
                Err(failure) => Err(failure).into(),
            },
            Handler::Function(function) => match self.interpreter() {
                Ok(interpreter) => interpreter
                    .handle(
                        &self.engine,
                        &function.script,
                        to_wit(hook, &seen()),
                        border(),
                    )
                    .and_then(|answer| function.answer(hook, event, answer)),
                Err(failure) => Err(failure).into(),
            },
            Handler::Component(component) => {
                component.handle(&self.engine, &to_wit(hook, &seen()), border())
            }
            Handler::Command(command) => {
                command.handle(&self.engine, &Occasion::new(hook, event), border())
            }
            Handler::Process(process) => process.handle(&Occasion::new(hook, event), border()),
            Handler::Native(native) => native.handle(&Occasion::new(hook, event), border),
        }
    }
}

/// One call of a hook: who is called, and for which event.
pub(crate) struct Occasion<'a> {
    pub(crate) hook: &'a Hook,
    /// The event in the native form of its point.
    pub(crate) event: &'a Event,
    /// The event as the hook sees it.
    pub(crate) seen: Event,
}

impl<'a> Occasion<'a> {
    fn new(hook: &'a Hook, event: &'a Event) -> Self {
        Self {
            hook,
            event,
            seen: event.seen_by(hook),
        }
    }

    /// Returns what a program reads.
    fn stdin(&self) -> String {
        (self.hook.dialect.command.stdin)(self.hook, &self.seen)
    }

    /// Returns the variables its dialect defines for a program.
    fn environment(&self) -> Vec<(&'static str, String)> {
        (self.hook.dialect.command.environment)(self.hook, &self.seen)
    }

    /// Reads what a program answered.
    fn answer(&self, finished: &Finished) -> Result<Answer, Failure> {
        (self.hook.dialect.command.answer)(self.hook, self.event, finished)
    }
}

/// The event as the contract spells it.
fn to_wit(hook: &Hook, event: &Event) -> types::Event {
    types::Event {
        name: event.name.to_string(),
        payload: event.payload.text().to_owned(),
        id: event.id.clone(),
        subject: event.subject.clone(),
        hook: hook.name.to_string(),
        depth: event.depth,
    }
}
