//! Shortens the conversation, if the hooks let it.

use serde_json::json;

use super::conversation::Role;
use super::script::Compact;
use super::voice::Moment;
use super::{Agent, messages};

impl Agent<'_> {
    pub(super) fn compact(&mut self, compact: &Compact) {
        let facts = json!({"trigger": compact.trigger});
        let mut before = self.fire_around(Moment::CompactPre, facts.clone());
        match (before.refused(), before.verb()) {
            (Some(_), Some("suppress")) => {
                self.did("skips this compaction");
                return;
            }
            (Some(reason), _) => {
                self.did(format!("does not compact this time: {reason}"));
                return;
            }
            (None, _) => {}
        }
        let gone = self.conversation.compact();
        self.did(format!("puts a summary in the place of {}", messages(gone)));
        let mut after = self.fire_around(Moment::CompactPost, facts);
        let summary = before.around(compact.summary.clone());
        let summary = after.around(summary);
        self.tell(Role::System, &summary);
    }
}
