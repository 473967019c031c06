//! Whether somebody has reviewed what decides, and whether it is still that.

use std::path::Path;

use super::Finding;
use crate::agent::trust::{self, Record};

/// Checks a project against what was reviewed of it.
#[must_use]
pub fn review(folder: &Path) -> Finding {
    let known = match Record::find(folder) {
        Ok(known) => known,
        Err(error) => return Finding::bad("review", error.to_string()).so("hookbox trust"),
    };
    if known.is_none() {
        let says = "nobody has reviewed these hooks, so a change goes unnoticed";
        return Finding::warning("review", says).so("hookbox trust");
    }
    match trust::compare(folder) {
        Ok(None) => Finding::good("review", "everything is as it was reviewed"),
        Ok(Some(finding)) if finding.strict => {
            let says = format!("all that is guarded is refused: {}", finding.sentence());
            Finding::warning("review", says).so("hookbox trust")
        }
        Ok(Some(finding)) => Finding::warning("review", finding.sentence()).so("hookbox trust"),
        Err(error) => Finding::bad("review", error.to_string()).so("hookbox trust"),
    }
}
