//! `context` and `reminder`: what a hook wants beside its decision.

use std::cell::RefCell;

use starlark::environment::GlobalsBuilder;
use starlark::values::list::UnpackList;
use starlark::values::none::{NoneOr, NoneType};

use crate::bindings::hookbox::hook::types::{
    Context, Effect, Placement, Propagation, Reminder, RoleHint,
};
use crate::phase::require_handling;
use crate::problem::raise;

thread_local! {
    static WANTED: RefCell<Vec<Effect>> = const { RefCell::new(Vec::new()) };
}

/// Takes what was asked for since the last time.
pub fn take() -> Vec<Effect> {
    WANTED.take()
}

const PLACEMENTS: [(&str, Placement); 4] = [
    ("system-reminder", Placement::SystemReminder),
    ("system-message", Placement::SystemMessage),
    ("prepend-to-prompt", Placement::PrependToPrompt),
    ("append-to-output", Placement::AppendToOutput),
];

const PROPAGATIONS: [(&str, Propagation); 3] = [
    ("all", Propagation::All),
    ("session", Propagation::Session),
    ("none", Propagation::None),
];

const ROLE_HINTS: [(&str, RoleHint); 4] = [
    ("system", RoleHint::System),
    ("developer", RoleHint::Developer),
    ("user-block", RoleHint::UserBlock),
    ("ephemeral-cache", RoleHint::EphemeralCache),
];

/// Finds a word of the contract. Both ways to write it are taken.
fn word<T: Copy>(known: &[(&str, T)], given: &str, what: &str) -> starlark::Result<T> {
    let spelled = given.replace('_', "-");
    let found = known.iter().find(|(name, _)| *name == spelled);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        raise(format!(
            "{what} is {given:?} and must be one of {}",
            names.join(", ")
        ))
    })
}

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Gives the model a text.
    fn context(
        text: &str,
        #[starlark(default = "system-reminder")] placement: &str,
    ) -> starlark::Result<NoneType> {
        require_handling("context")?;
        let effect = Effect::Context(Context {
            text: text.to_owned(),
            placement: word(&PLACEMENTS, placement, "context: placement")?,
        });
        WANTED.with_borrow_mut(|wanted| wanted.push(effect));
        Ok(NoneType)
    }

    /// Gives the model a text that stays for some turns.
    fn reminder(
        body: &str,
        #[starlark(require = named, default = UnpackList::default())] tags: UnpackList<String>,
        #[starlark(require = named, default = NoneOr::None)] dedupe_key: NoneOr<&str>,
        #[starlark(require = named, default = NoneOr::None)] ttl_turns: NoneOr<i32>,
        #[starlark(require = named, default = false)] preserve_on_compact: bool,
        #[starlark(require = named, default = "session")] propagate: &str,
        #[starlark(require = named, default = "system")] role_hint: &str,
    ) -> starlark::Result<NoneType> {
        require_handling("reminder")?;
        let ttl_turns = match ttl_turns.into_option().map(u32::try_from) {
            None => None,
            Some(Ok(turns)) => Some(turns),
            Some(Err(_)) => {
                let what = "reminder: ttl_turns must not be negative";
                return Err(raise(what.to_owned()));
            }
        };
        let effect = Effect::Reminder(Reminder {
            body: body.to_owned(),
            tags: tags.items,
            dedupe_key: dedupe_key.into_option().map(str::to_owned),
            ttl_turns,
            preserve_on_compact,
            propagate: word(&PROPAGATIONS, propagate, "reminder: propagate")?,
            role_hint: word(&ROLE_HINTS, role_hint, "reminder: role_hint")?,
        });
        WANTED.with_borrow_mut(|wanted| wanted.push(effect));
        Ok(NoneType)
    }
}

/// Adds `context` and `reminder`.
pub fn register(builder: &mut GlobalsBuilder) {
    functions(builder);
}
