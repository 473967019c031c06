//! Hooks that a host registers itself, on the three surfaces.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::events::{self, EventError, Info, Percentage, Surface};
use super::pattern::{Pattern, PatternError, PersonaPattern, ToolGlob};
use super::predicate::{By, Narrowed};
use super::snip::snip;
use crate::handler::native::{Closure, NativeHook};

/// Why a hook cannot be registered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HarnError {
    /// There is no such event on this surface.
    #[error("{call}: {error}")]
    Event {
        /// What was called.
        call: &'static str,
        /// What is wrong.
        error: EventError,
    },
    /// The pattern is none.
    #[error("{call}: {error}")]
    Pattern {
        /// What was called.
        call: &'static str,
        /// What is wrong.
        error: PatternError,
    },
    /// The hook does nothing.
    #[error("register_tool_hook: {pattern:?} has neither deny, max_output, pre nor post")]
    Nothing {
        /// The pattern of the hook.
        pattern: String,
    },
}

/// What runs.
#[derive(Clone)]
pub enum Handler {
    /// A closure of the host.
    Closure(Closure),
    /// A function of a module of the project, as `module::function`: a component or
    /// Starlark, in the sandbox.
    Named(String),
}

impl fmt::Debug for Handler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closure(_) => formatter.write_str("Closure"),
            Self::Named(name) => formatter.debug_tuple("Named").field(name).finish(),
        }
    }
}

impl Handler {
    /// Takes a function of a module, as `policy::reject_secrets`.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self::Named(name.into())
    }

    /// Takes a closure that can fail; that it does is an error of the whole event.
    #[must_use]
    pub fn fallible(
        closure: impl Fn(&Value) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        Self::Closure(Arc::new(closure))
    }
}

impl<F: Fn(&Value) -> Value + Send + Sync + 'static> From<F> for Handler {
    fn from(closure: F) -> Self {
        Self::fallible(move |payload| Ok(closure(payload)))
    }
}

/// A hook around tool calls.
#[derive(Debug, Clone, Default)]
pub struct ToolHook {
    /// A glob on the tool's name.
    pub pattern: String,
    /// Refuses every call, for this reason.
    pub deny: Option<String>,
    /// Cuts results that are longer, in characters.
    pub max_output: Option<usize>,
    /// Runs before the tool.
    pub pre: Option<Handler>,
    /// Runs after it.
    pub post: Option<Handler>,
}

impl ToolHook {
    /// Begins a hook for the tools that match a glob.
    #[must_use]
    pub fn matching(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            ..Self::default()
        }
    }

    /// Refuses every call.
    #[must_use]
    pub fn deny(mut self, reason: impl Into<String>) -> Self {
        self.deny = Some(reason.into());
        self
    }

    /// Cuts results that are longer, in characters.
    #[must_use]
    pub fn max_output(mut self, characters: usize) -> Self {
        self.max_output = Some(characters);
        self
    }

    /// Runs something before the tool.
    #[must_use]
    pub fn pre(mut self, handler: impl Into<Handler>) -> Self {
        self.pre = Some(handler.into());
        self
    }

    /// Runs something after the tool.
    #[must_use]
    pub fn post(mut self, handler: impl Into<Handler>) -> Self {
        self.post = Some(handler.into());
        self
    }
}

/// Hooks of a host, in the order in which they were registered. They run before those of
/// the project's manifest.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    pub(super) registered: Vec<Registered>,
}

/// A hook as it was registered.
#[derive(Debug, Clone)]
pub(super) struct Registered {
    pub(super) name: String,
    pub(super) info: &'static Info,
    pub(super) narrowed: Arc<Narrowed>,
    pub(super) runs: Runs,
}

/// What a registered hook runs.
#[derive(Debug, Clone)]
pub(super) enum Runs {
    Native(NativeHook),
    Named(String),
}

impl From<Handler> for Runs {
    fn from(handler: Handler) -> Self {
        match handler {
            Handler::Closure(call) => Self::Native(NativeHook {
                kind: "native",
                call,
                capability: None,
            }),
            Handler::Named(name) => Self::Named(name),
        }
    }
}

impl Hooks {
    /// Says whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.registered.is_empty()
    }

    /// Makes a list without hooks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a hook around tool calls.
    ///
    /// # Errors
    /// Returns that the pattern is no glob, or that the hook does nothing.
    pub fn register_tool_hook(&mut self, hook: ToolHook) -> Result<&mut Self, HarnError> {
        const CALL: &str = "register_tool_hook";
        let pattern = hook.pattern;
        let glob =
            ToolGlob::parse(&pattern).map_err(|error| HarnError::Pattern { call: CALL, error })?;
        let mut parts: Vec<(&str, Runs)> = Vec::new();
        if let Some(reason) = hook.deny {
            parts.push(("PreToolUse", rule(move |_| json!({"deny": reason}))));
        }
        parts.extend(hook.pre.map(|handler| ("PreToolUse", handler.into())));
        parts.extend(hook.post.map(|handler| ("PostToolUse", handler.into())));
        // After its own closure, which may make the result longer.
        if let Some(cap) = hook.max_output {
            parts.push(("PostToolUse", rule(move |payload| shortened(payload, cap))));
        }
        if parts.is_empty() {
            return Err(HarnError::Nothing { pattern });
        }
        for (event, runs) in parts {
            let info = event_on(CALL, Surface::Tool, event)?.0;
            let when = if event == "PreToolUse" { "pre" } else { "post" };
            self.add(
                format!("tool_hook::{pattern}::{when}"),
                info,
                By::Tool(glob.clone()),
                runs,
            );
        }
        Ok(self)
    }

    /// Registers a hook on an event of the personas that match a glob.
    ///
    /// # Errors
    /// Returns that there is no such event, or that the pattern is no glob.
    pub fn register_persona_hook(
        &mut self,
        persona: &str,
        event: &str,
        handler: impl Into<Handler>,
    ) -> Result<&mut Self, HarnError> {
        const CALL: &str = "register_persona_hook";
        let (info, by) = on_persona(CALL, persona, None, event)?;
        self.add(
            format!("persona_hook::{persona}::{event}"),
            info,
            by,
            handler.into().into(),
        );
        Ok(self)
    }

    /// Registers a hook on an event of one step of the personas that match a glob.
    ///
    /// # Errors
    /// Returns that there is no such event, or that the pattern is no glob.
    pub fn register_step_hook(
        &mut self,
        persona: &str,
        step: &str,
        event: &str,
        handler: impl Into<Handler>,
    ) -> Result<&mut Self, HarnError> {
        const CALL: &str = "register_step_hook";
        let (info, by) = on_persona(CALL, persona, Some(step), event)?;
        self.add(
            format!("step_hook::{persona}.{step}::{event}"),
            info,
            by,
            handler.into().into(),
        );
        Ok(self)
    }

    /// Registers a hook on an event of the session.
    ///
    /// # Errors
    /// Returns that there is no such event.
    pub fn register_session_hook(
        &mut self,
        event: &str,
        handler: impl Into<Handler>,
    ) -> Result<&mut Self, HarnError> {
        self.register_session_hook_where(event, "*", handler)
    }

    /// Registers a hook on those events of the session that match a pattern.
    ///
    /// # Errors
    /// Returns that there is no such event, or that the pattern is none.
    pub fn register_session_hook_where(
        &mut self,
        event: &str,
        pattern: &str,
        handler: impl Into<Handler>,
    ) -> Result<&mut Self, HarnError> {
        const CALL: &str = "register_session_hook";
        let (info, _) = event_on(CALL, Surface::Session, event)?;
        let by =
            pattern_of(pattern, None).map_err(|error| HarnError::Pattern { call: CALL, error })?;
        self.add(
            format!("session_hook::{}", info.name),
            info,
            by,
            handler.into().into(),
        );
        Ok(self)
    }

    fn add(&mut self, name: String, info: &'static Info, by: By, runs: Runs) {
        self.registered.push(Registered {
            name,
            info,
            narrowed: Arc::new(Narrowed {
                event: info.name,
                by,
            }),
            runs,
        });
    }
}

/// A rule that needs no code of anybody's.
fn rule(call: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Runs {
    Runs::Native(NativeHook {
        kind: "declarative",
        call: Arc::new(move |payload| Ok(call(payload))),
        capability: None,
    })
}

fn shortened(payload: &Value, cap: usize) -> Value {
    let text = payload.pointer("/result/text").and_then(Value::as_str);
    match text.and_then(|text| snip(text, cap)) {
        Some(short) => json!({"result": short}),
        None => Value::Null,
    }
}

fn event_on(
    call: &'static str,
    surface: Surface,
    event: &str,
) -> Result<(&'static Info, Option<Percentage>), HarnError> {
    events::parse_on(surface, event).map_err(|error| HarnError::Event { call, error })
}

fn on_persona(
    call: &'static str,
    persona: &str,
    step: Option<&str>,
    event: &str,
) -> Result<(&'static Info, By), HarnError> {
    let (info, least) = event_on(call, Surface::Persona, event)?;
    let pattern = PersonaPattern::parse(persona, step, least)
        .map_err(|error| HarnError::Pattern { call, error })?;
    Ok((info, By::Persona(pattern)))
}

/// Reads the pattern of a manifest entry or a session hook, with the budget its event
/// has to reach.
pub(super) fn pattern_of(text: &str, least: Option<Percentage>) -> Result<By, PatternError> {
    let budget = PersonaPattern::parse("*", None, least)?;
    Ok(By::Pattern(Pattern::parse(text)?, budget))
}
