//! How a hook can fail to decide. Every way has a name of its own, because what
//! to change is different for each.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The way a call ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The fuel was used up. Deterministic.
    OutOfFuel,
    /// The guest asked for more memory than it may have. Deterministic.
    OutOfMemory,
    /// A table, or the number of instances, tables or memories, went over its limit.
    OutOfTables,
    /// The wall clock ran out. Not deterministic: the tape says so.
    Deadline,
    /// The call stack overflowed.
    Stack,
    /// The guest trapped for another reason: a panic, an unreachable, a bad pointer.
    Trap,
    /// The guest called the host too often.
    HostCalls,
    /// The sandbox has no room for another call. Not deterministic.
    Busy,
    /// The answer is not one: not JSON, too large, nested too deep.
    BadAnswer,
    /// The component or script lacks the function hookbox calls.
    MissingExport,
    /// The component imports something nobody granted.
    ImportNotGranted,
    /// The component is not one, or does not fit the world.
    BadComponent,
    /// The program outside of the sandbox did not start.
    CannotStart,
    /// The script raised an error, or the component returned one.
    HookError,
    /// A replayed hook asked for something the tape has no answer to.
    NewRequest,
}

impl Cause {
    /// Returns the name a person reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfFuel => "out of fuel",
            Self::OutOfMemory => "out of memory",
            Self::OutOfTables => "out of tables",
            Self::Deadline => "deadline",
            Self::Stack => "stack overflow",
            Self::Trap => "trap",
            Self::HostCalls => "too many host calls",
            Self::Busy => "busy",
            Self::BadAnswer => "bad answer",
            Self::MissingExport => "missing export",
            Self::ImportNotGranted => "import not granted",
            Self::BadComponent => "bad component",
            Self::CannotStart => "cannot start",
            Self::HookError => "hook error",
            Self::NewRequest => "new request",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A call that ended without an answer: how, and what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The way it ended.
    pub cause: Cause,
    /// What happened, and what to change.
    pub message: String,
    /// The guest's own call stack, if it has one.
    pub stack: Option<String>,
}

impl Failure {
    /// Makes a failure without a stack.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
            stack: None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.cause, self.message)
    }
}

impl std::error::Error for Failure {}
