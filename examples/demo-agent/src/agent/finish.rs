//! The end of a pipeline. Nothing can be refused any more; hooks look at what is left.

use serde_json::json;

use super::Agent;
use super::script::Finish;
use super::voice::Moment;

impl Agent<'_> {
    pub(super) fn finish(&mut self, finish: &Finish) {
        let facts = json!({"value": finish.value});
        let mut asked = vec![(Moment::FinishPre, facts.clone())];
        if !finish.unsettled.is_empty() {
            let facts = json!({"unsettled": finish.unsettled});
            asked.push((Moment::Unsettled, facts));
        }
        for (moment, facts) in asked {
            // No hook can say no here, but one can fail.
            if let Some(reason) = self.fire(moment, facts).refused() {
                self.did(format!("the pipeline does not finish: {reason}"));
                return;
            }
        }
        self.did(format!("the pipeline finishes with: {}", finish.value));
        self.fire(Moment::FinishPost, facts);
    }
}
