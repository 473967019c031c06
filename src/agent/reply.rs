//! What a finished hook process leaves behind: the only thing an agent ever sees.

use serde_json::Value;

use crate::json::to_text;

/// The exit code that every agent takes for a block.
const BLOCKED: i32 = 2;

/// What goes back to the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reply {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code.
    pub code: i32,
}

impl Reply {
    /// Says nothing, which lets the agent go on as it would have.
    #[must_use]
    pub fn silence() -> Self {
        Self::default()
    }

    /// Answers with one JSON object.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        Self {
            stdout: to_text(value),
            ..Self::default()
        }
    }

    /// Answers with plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            stdout: text.into(),
            ..Self::default()
        }
    }

    /// Refuses by exit code. Some agents take a refusal without words for a broken
    /// hook and go on, so there are always some.
    #[must_use]
    pub fn refusal(reason: &str) -> Self {
        let reason = if reason.trim().is_empty() {
            "refused by hookbox"
        } else {
            reason
        };
        Self {
            stdout: String::new(),
            stderr: reason.to_owned(),
            code: BLOCKED,
        }
    }

    /// Also says something to whoever reads the agent's log.
    #[must_use]
    pub fn noting(mut self, notes: &[String]) -> Self {
        for note in notes {
            if !self.stderr.is_empty() {
                self.stderr.push('\n');
            }
            self.stderr += note;
        }
        self
    }
}
