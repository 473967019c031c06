//! What goes out beside the decision: texts for the model.

use std::cell::RefCell;

use crate::bindings::hookbox::hook::types;
pub use crate::bindings::hookbox::hook::types::{Placement, Propagation, RoleHint};

thread_local! {
    /// A fresh instance for each call, so what is queued belongs to this call.
    static QUEUE: RefCell<Vec<types::Effect>> = const { RefCell::new(Vec::new()) };
}

/// Gives the model a text, as a system reminder unless it is placed elsewhere.
///
/// ```
/// use hookbox_guest::{Placement, context};
///
/// context("Tests live in tests/.");
/// context("The build is red.").placement(Placement::AppendToOutput);
/// ```
pub fn context(text: impl Into<String>) -> Context {
    Context(push(types::Effect::Context(types::Context {
        text: text.into(),
        placement: Placement::SystemReminder,
    })))
}

/// Gives the model a text that stays for some turns.
///
/// ```
/// use hookbox_guest::reminder;
///
/// reminder("Run the tests before you say you are done.");
/// reminder("The deployment is frozen.").dedupe_key("freeze").ttl_turns(5);
/// ```
pub fn reminder(body: impl Into<String>) -> Reminder {
    Reminder(push(types::Effect::Reminder(types::Reminder {
        body: body.into(),
        tags: Vec::new(),
        dedupe_key: None,
        ttl_turns: None,
        preserve_on_compact: false,
        propagate: Propagation::Session,
        role_hint: RoleHint::System,
    })))
}

/// A text that was queued by [`context`].
#[derive(Debug)]
pub struct Context(usize);

impl Context {
    /// Says where the text is put; a system reminder otherwise.
    pub fn placement(self, placement: Placement) -> Self {
        edit(self.0, |effect| {
            if let types::Effect::Context(context) = effect {
                context.placement = placement;
            }
        });
        self
    }
}

/// A reminder that was queued by [`reminder`].
#[derive(Debug)]
pub struct Reminder(usize);

impl Reminder {
    /// Adds a tag.
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.edit(|reminder| reminder.tags.push(tag.into()))
    }

    /// Adds tags.
    pub fn tags<T: Into<String>>(self, tags: impl IntoIterator<Item = T>) -> Self {
        self.edit(|reminder| reminder.tags.extend(tags.into_iter().map(Into::into)))
    }

    /// Takes the place of an older reminder with the same key.
    pub fn dedupe_key(self, key: impl Into<String>) -> Self {
        self.edit(|reminder| reminder.dedupe_key = Some(key.into()))
    }

    /// Says for how many turns it stays; until the end otherwise.
    pub fn ttl_turns(self, turns: u32) -> Self {
        self.edit(|reminder| reminder.ttl_turns = Some(turns))
    }

    /// Says whether it survives when the history is compacted; it does not otherwise.
    pub fn preserve_on_compact(self, preserve: bool) -> Self {
        self.edit(|reminder| reminder.preserve_on_compact = preserve)
    }

    /// Says how far it travels; within the session otherwise.
    pub fn propagate(self, propagation: Propagation) -> Self {
        self.edit(|reminder| reminder.propagate = propagation)
    }

    /// Says in whose voice it is spoken; the system's otherwise.
    pub fn role_hint(self, role: RoleHint) -> Self {
        self.edit(|reminder| reminder.role_hint = role)
    }

    fn edit(self, change: impl FnOnce(&mut types::Reminder)) -> Self {
        edit(self.0, |effect| {
            if let types::Effect::Reminder(reminder) = effect {
                change(reminder);
            }
        });
        self
    }
}

fn push(effect: types::Effect) -> usize {
    QUEUE.with_borrow_mut(|queue| {
        queue.push(effect);
        queue.len() - 1
    })
}

fn edit(index: usize, change: impl FnOnce(&mut types::Effect)) {
    QUEUE.with_borrow_mut(|queue| queue.get_mut(index).map(change));
}

/// Returns what was queued, in order, and forgets it.
pub(crate) fn take() -> Vec<types::Effect> {
    QUEUE.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_reminder_has_the_defaults_of_the_contract() {
        reminder("body");
        let [types::Effect::Reminder(reminder)] = &take()[..] else {
            panic!("not one reminder");
        };
        assert_eq!(reminder.body, "body");
        assert!(reminder.tags.is_empty());
        assert_eq!(reminder.dedupe_key, None);
        assert_eq!(reminder.ttl_turns, None);
        assert!(!reminder.preserve_on_compact);
        assert_eq!(reminder.propagate, Propagation::Session);
        assert_eq!(reminder.role_hint, RoleHint::System);
    }

    #[test]
    fn a_reminder_takes_all_options() {
        reminder("body")
            .tag("a")
            .tags(["b", "c"])
            .dedupe_key("key")
            .ttl_turns(3)
            .preserve_on_compact(true)
            .propagate(Propagation::All)
            .role_hint(RoleHint::UserBlock);
        let [types::Effect::Reminder(reminder)] = &take()[..] else {
            panic!("not one reminder");
        };
        assert_eq!(reminder.tags, ["a", "b", "c"]);
        assert_eq!(reminder.dedupe_key.as_deref(), Some("key"));
        assert_eq!(reminder.ttl_turns, Some(3));
        assert!(reminder.preserve_on_compact);
        assert_eq!(reminder.propagate, Propagation::All);
        assert_eq!(reminder.role_hint, RoleHint::UserBlock);
    }

    #[test]
    fn effects_keep_their_order_and_go_out_once() {
        let first = context("first");
        reminder("second");
        first.placement(Placement::AppendToOutput);
        let [
            types::Effect::Context(first),
            types::Effect::Reminder(second),
        ] = &take()[..]
        else {
            panic!("not a context and a reminder");
        };
        assert_eq!(first.text, "first");
        assert_eq!(first.placement, Placement::AppendToOutput);
        assert_eq!(second.body, "second");
        assert!(take().is_empty());
    }
}
