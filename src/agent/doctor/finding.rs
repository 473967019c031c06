//! What a check found, and how bad that is.

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Good,
    /// Works, and not as it could.
    Warning,
    /// Keeps hooks from running: a gate is open.
    Bad,
}

impl Level {
    /// Returns the word that programs read.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warning => "warning",
            Self::Bad => "bad",
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// The check, as programs call it.
    pub check: &'static str,
    /// What is so.
    pub says: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl Finding {
    pub(in crate::agent) fn good(check: &'static str, says: impl Into<String>) -> Self {
        Self {
            level: Level::Good,
            check,
            says: says.into(),
            advice: None,
        }
    }

    pub(in crate::agent) fn warning(check: &'static str, says: impl Into<String>) -> Self {
        Self {
            level: Level::Warning,
            ..Self::good(check, says)
        }
    }

    pub(in crate::agent) fn bad(check: &'static str, says: impl Into<String>) -> Self {
        Self {
            level: Level::Bad,
            ..Self::good(check, says)
        }
    }

    pub(in crate::agent) fn so(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}
