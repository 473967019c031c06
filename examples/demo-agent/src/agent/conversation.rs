//! What the model sees: the messages, and the reminders that stay for some turns.

use hookbox::decision::{Propagation, Reminder, RoleHint};
use serde_json::{Value, json};

/// In whose voice a message speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    Tool,
    System,
    SystemReminder,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::SystemReminder => "system-reminder",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Conversation {
    messages: Vec<(Role, String)>,
    reminders: Vec<Reminder>,
}

impl Conversation {
    pub(super) fn record(&mut self, role: Role, text: &str) {
        self.messages.push((role, text.to_owned()));
    }

    /// Returns the messages as a provider takes them.
    pub(super) fn messages(&self) -> Vec<Value> {
        let message = |(role, text): &(Role, String)| json!({"role": role.name(), "content": text});
        self.messages.iter().map(message).collect()
    }

    /// Takes a reminder, in the place of an older one with its key, and says so.
    pub(super) fn remind(&mut self, reminder: &Reminder) -> String {
        let same =
            |old: &Reminder| old.dedupe_key.is_some() && old.dedupe_key == reminder.dedupe_key;
        let before = self.reminders.len();
        self.reminders.retain(|old| !same(old));
        let replaces = if self.reminders.len() < before {
            ", in the place of an older one"
        } else {
            ""
        };
        self.reminders.push(reminder.clone());
        let stays = match reminder.ttl_turns {
            Some(1) => "for one turn".to_owned(),
            Some(turns) => format!("for {turns} turns"),
            None => "from now on".to_owned(),
        };
        format!("will remind the model {stays}{replaces}: {}", reminder.body)
    }

    /// Returns the reminders that go with this call of the model, and lets a turn pass for
    /// each of them.
    pub(super) fn reminders_of_this_turn(&mut self) -> Vec<String> {
        let shown = self.reminders.iter().map(text).collect();
        self.reminders
            .retain_mut(|reminder| match &mut reminder.ttl_turns {
                Some(turns) => {
                    *turns -= 1;
                    *turns > 0
                }
                None => true,
            });
        shown
    }

    /// Returns the reminders that a sub-agent gets too.
    pub(super) fn reminders_for_all(&self) -> Vec<String> {
        let all = |reminder: &&Reminder| reminder.propagate == Propagation::All;
        self.reminders.iter().filter(all).map(text).collect()
    }

    /// Puts a summary in the place of all messages. Reminders stay only if they want to.
    pub(super) fn compact(&mut self) -> usize {
        self.reminders
            .retain(|reminder| reminder.preserve_on_compact);
        std::mem::take(&mut self.messages).len()
    }
}

fn text(reminder: &Reminder) -> String {
    let role = match reminder.role_hint {
        RoleHint::System => "system",
        RoleHint::Developer => "developer",
        RoleHint::UserBlock => "user block",
        RoleHint::EphemeralCache => "ephemeral cache",
    };
    format!("[reminder, {role}] {}", reminder.body)
}
