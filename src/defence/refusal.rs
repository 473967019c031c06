//! Why a call must not run.

use std::fmt;

use super::scene::Hit;

/// What a call would have changed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The protected path, as it was protected.
    pub path: String,
    /// What would have changed it.
    pub how: String,
}

/// What a part of a call comes to, unless it is refused.
pub(super) type Judged<T> = Result<T, Refusal>;

impl Refusal {
    pub(super) fn new(hit: Hit, how: impl Into<String>) -> Self {
        Self {
            path: hit.path,
            how: how.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, how } = self;
        write!(
            f,
            "{path} could be changed by {how}, and an agent may not change what watches it: \
             ask a person to do it, and then to run `hookbox trust`"
        )
    }
}

impl std::error::Error for Refusal {}

/// Refuses what would take too long to look at.
pub(super) fn too_much(what: &str) -> Refusal {
    Refusal {
        path: "a protected path".to_owned(),
        how: format!("`{}`, which is too much to look at", brief(what)),
    }
}

/// Refuses what is nested deeper than anybody writes.
pub(super) fn too_nested(what: &str) -> Refusal {
    Refusal {
        path: "a protected path".to_owned(),
        how: format!("`{}`, which is too nested to look at", brief(what)),
    }
}

/// Returns the beginning of a text, on one line, for people.
pub(super) fn brief(text: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let mut out: String = text.chars().take(60).map(shown).collect();
    if text.chars().nth(60).is_some() {
        out.push('…');
    }
    out
}
