//! Answers that may not be known.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Three {
    No,
    Maybe,
    Yes,
}

impl Three {
    pub(super) fn and(self, other: Self) -> Self {
        self.min(other)
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.max(other)
    }

    pub(super) fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }

    /// Returns what holds if it is the one or the other.
    pub(super) fn either(self, other: Self) -> Self {
        if self == other { self } else { Self::Maybe }
    }
}

impl From<bool> for Three {
    fn from(known: bool) -> Self {
        if known { Self::Yes } else { Self::No }
    }
}
