//! What runs when a hook is called, and the workshop that makes it ready.

pub mod command;
pub mod component;
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
use command::CommandHook;
use component::ComponentHook;
use starlark::{Interpreter, Parser, Script};

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
        }
    }

    /// Returns the names of a component's imports; none for what is no component.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        match self {
            Self::Placeholder | Self::Starlark(_) => &[],
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

    /// Returns the Starlark interpreter, compiling it the first time this
    /// machine needs it.
    ///
    /// # Errors
    /// Returns why there is none.
    pub fn interpreter(&self) -> Result<&Interpreter, Failure> {
        self.interpreter
            .get_or_init(|| {
                Interpreter::load(
                    &self.engine,
                    &self.store,
                    &self.on_progress,
                    self.compile_time,
                )
            })
            .as_ref()
            .map_err(Clone::clone)
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
            Predicate::When(condition) => match self.interpreter() {
                Ok(interpreter) => {
                    interpreter.matches(&self.engine, condition, to_wit(hook, event), border())
                }
                Err(failure) => Err(failure).into(),
            },
        }
    }

    /// Calls the handler of a hook.
    pub fn handle(
        &self,
        hook: &Hook,
        event: &Event,
        border: impl FnOnce() -> Border,
    ) -> Ran<Answer> {
        match &hook.handler {
            Handler::Placeholder => Ok(Decision::Allow.into()).into(),
            Handler::Starlark(script) => match self.interpreter() {
                Ok(interpreter) => {
                    interpreter.handle(&self.engine, script, to_wit(hook, event), border())
                }
                Err(failure) => Err(failure).into(),
            },
            Handler::Component(component) => {
                component.handle(&self.engine, &to_wit(hook, event), border())
            }
            Handler::Command(command) => {
                let codec = &hook.dialect.command;
                command.handle(&self.engine, codec, hook, event, border())
            }
        }
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
