//! A hook that is a component of its own.

use wasmtime::Store;
use wasmtime::component::Component;

use crate::capability::Border;
use crate::chain::Ran;
use crate::decision::{Answer, Decision, Effect, Placement, Propagation, Reminder, RoleHint};
use crate::failure::{Cause, Failure};
use crate::json::Json;
use crate::sandbox::bindings::hook::HookPre;
use crate::sandbox::bindings::types;
use crate::sandbox::compiled::Digest;
use crate::sandbox::component::{Linked, WASI, link_hook};
use crate::sandbox::engine::Engine;
use crate::sandbox::instance::{self, Call};
use crate::sandbox::limits::Limits;

/// A component, compiled and linked.
pub struct ComponentHook {
    ready: HookPre<Call>,
    imports: Vec<String>,
    needs_wasi: bool,
    digest: Digest,
}

impl std::fmt::Debug for ComponentHook {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("ComponentHook")
            .field(&self.digest)
            .finish()
    }
}

impl ComponentHook {
    pub(super) fn new(
        engine: &Engine,
        component: &Component,
        digest: Digest,
    ) -> Result<Self, Failure> {
        let hook = Self::tried(engine, component, digest)?;
        hook.try_out(engine)?;
        Ok(hook)
    }

    /// Links a component of which an instance was made before.
    pub(super) fn tried(
        engine: &Engine,
        component: &Component,
        digest: Digest,
    ) -> Result<Self, Failure> {
        let Linked { ready, imports } = link_hook(engine, component)?;
        Ok(Self {
            ready,
            needs_wasi: imports.iter().any(|import| import.starts_with(WASI)),
            imports,
            digest,
        })
    }

    /// Makes one instance and throws it away: what is wrong with the types of the
    /// exports, or with a start function, shows when the hook loads and not in the
    /// middle of an event.
    fn try_out(&self, engine: &Engine) -> Result<(), Failure> {
        let ran = self.run(engine, Border::closed(), async |store| {
            self.ready.instantiate_async(store).await
        });
        match ran.result {
            Ok(_) => Ok(()),
            Err(failure) if failure.cause == Cause::Trap => Err(Failure {
                cause: Cause::BadComponent,
                message: format!("no instance of it can be made: {}", failure.message),
                ..failure
            }),
            Err(failure) => Err(failure),
        }
    }

    /// Returns the names of the component's imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    fn run<T>(
        &self,
        engine: &Engine,
        border: Border,
        work: impl AsyncFnOnce(&mut Store<Call>) -> wasmtime::Result<T>,
    ) -> Ran<T> {
        if self.needs_wasi {
            instance::run_with_wasi(engine, border, work)
        } else {
            instance::run(engine, border, work)
        }
    }

    /// Returns the digest of the component's bytes.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    pub(super) fn handle(
        &self,
        engine: &Engine,
        event: &types::Event,
        border: Border,
    ) -> Ran<Answer> {
        let limits = *border.limits();
        let ran = self.run(engine, border, async |store| {
            let hook = self.ready.instantiate_async(&mut *store).await?;
            hook.hookbox_hook_handler().call_handle(store, event).await
        });
        // A language that can catch its allocator's failure returns it as an error.
        let cause = if ran.usage.refused_memory {
            Cause::OutOfMemory
        } else {
            Cause::HookError
        };
        ran.and_then(|returned| match returned {
            Ok(answer) => from_wit(answer, &limits),
            Err(failure) => Err(Failure {
                cause,
                message: failure.message,
                stack: failure.stack,
            }),
        })
    }
}

/// Takes an answer over the border: bounded, and its JSON parsed.
pub(super) fn from_wit(answer: types::Answer, limits: &Limits) -> Result<Answer, Failure> {
    let decision = match answer.decision {
        types::Decision::Allow => Decision::Allow,
        types::Decision::Block(reason) => Decision::Block(bounded(reason, limits)?),
        types::Decision::Ask(message) => Decision::Ask(bounded(message, limits)?),
        types::Decision::Modify(payload) => Decision::Modify(
            Json::parse(payload.as_bytes(), limits.decision)
                .map_err(|error| {
                    Failure::new(
                        Cause::BadAnswer,
                        format!("the new payload is not one hookbox takes: {error}"),
                    )
                })?
                .into_value(),
        ),
    };
    let size: usize = answer.effects.iter().map(effect_size).sum();
    if size > limits.decision {
        return Err(too_large(size, limits));
    }
    Ok(Answer {
        effects: answer.effects.into_iter().map(effect_from_wit).collect(),
        ..decision.into()
    })
}

fn bounded(text: String, limits: &Limits) -> Result<String, Failure> {
    if text.len() > limits.decision {
        return Err(too_large(text.len(), limits));
    }
    Ok(text)
}

fn too_large(size: usize, limits: &Limits) -> Failure {
    Failure::new(
        Cause::BadAnswer,
        format!(
            "the answer has {size} bytes and may have {}; say less, or raise `decision` under `limits:`",
            limits.decision
        ),
    )
}

fn effect_size(effect: &types::Effect) -> usize {
    match effect {
        types::Effect::Context(context) => context.text.len(),
        types::Effect::Reminder(reminder) => {
            let tags: usize = reminder.tags.iter().map(String::len).sum();
            reminder.body.len() + tags + reminder.dedupe_key.as_ref().map_or(0, String::len)
        }
    }
}

fn effect_from_wit(effect: types::Effect) -> Effect {
    match effect {
        types::Effect::Context(context) => Effect::Context {
            text: context.text,
            placement: match context.placement {
                types::Placement::SystemReminder => Placement::SystemReminder,
                types::Placement::SystemMessage => Placement::SystemMessage,
                types::Placement::PrependToPrompt => Placement::PrependToPrompt,
                types::Placement::AppendToOutput => Placement::AppendToOutput,
            },
        },
        types::Effect::Reminder(reminder) => Effect::Reminder(Reminder {
            body: reminder.body,
            tags: reminder.tags,
            dedupe_key: reminder.dedupe_key,
            ttl_turns: reminder.ttl_turns,
            preserve_on_compact: reminder.preserve_on_compact,
            propagate: match reminder.propagate {
                types::Propagation::All => Propagation::All,
                types::Propagation::Session => Propagation::Session,
                types::Propagation::None => Propagation::None,
            },
            role_hint: match reminder.role_hint {
                types::RoleHint::System => RoleHint::System,
                types::RoleHint::Developer => RoleHint::Developer,
                types::RoleHint::UserBlock => RoleHint::UserBlock,
                types::RoleHint::EphemeralCache => RoleHint::EphemeralCache,
            },
        }),
    }
}
