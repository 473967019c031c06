//! How a hook and what it asks of the host can fail.

use std::error::Error as StdError;
use std::fmt;

use crate::bindings::hookbox::hook::{cache, environment, events, files, hooks, http, tools};

/// An error of any kind: `?` turns every other error into it.
///
/// Leaving the hook, it becomes a hook error with the causes below it.
pub struct Error(Box<dyn StdError + Send + Sync>);

impl Error {
    /// Makes an error from a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into().into())
    }
}

// Possible only because `Error` itself is no `std::error::Error`.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl AsRef<dyn StdError + 'static> for Error {
    fn as_ref(&self) -> &(dyn StdError + 'static) {
        &*self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Why the host did not do what a hook asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostError {
    kind: Kind,
    message: String,
}

impl HostError {
    /// Makes an error, as a test needs one.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns which error of the contract it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns what happened.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl StdError for HostError {}

/// Writes an enum whose cases have the names of the contract.
macro_rules! kinds {
    ($($(#[$doc:meta])* $case:ident = $name:literal,)*) => {
        /// Which error of the contract an error is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[$doc])* $case,)*
        }

        impl Kind {
            /// Returns the name the contract gives it, for example `not-granted`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$case => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// The hook has no grant for this.
    NotGranted = "not-granted",
    /// The value or the store would become too large.
    Quota = "quota",
    /// The stored value is not what the operation needs.
    WrongType = "wrong-type",
    /// The store does not answer.
    Unavailable = "unavailable",
    /// The URL, a header or the method is malformed.
    InvalidRequest = "invalid-request",
    /// The answer took too long.
    Timeout = "timeout",
    /// What came back is larger than allowed.
    TooLarge = "too-large",
    /// It was tried and went wrong.
    Failed = "failed",
    /// A hook blocked it; the message is its reason.
    Blocked = "blocked",
    /// The event was not dispatched.
    Refused = "refused",
    /// There is no tool of this name.
    UnknownTool = "unknown-tool",
    /// There is no such file.
    NotFound = "not-found",
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Gives the errors of one interface their kinds.
macro_rules! of_the_contract {
    ($($interface:ident: $($case:ident)*;)*) => {
        $(impl From<$interface::Error> for HostError {
            fn from(error: $interface::Error) -> Self {
                match error {
                    $($interface::Error::$case(message) => Self::new(Kind::$case, message),)*
                }
            }
        })*
    };
}

of_the_contract! {
    cache: NotGranted Quota WrongType Unavailable;
    http: NotGranted InvalidRequest Timeout TooLarge Failed;
    events: Blocked Refused;
    tools: NotGranted Blocked UnknownTool Failed;
    environment: NotGranted;
    files: NotGranted NotFound TooLarge Failed;
    hooks: NotGranted;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_contract_keep_kind_and_message() {
        let cases: [(HostError, &str); 5] = [
            (cache::Error::Quota("m".into()).into(), "quota"),
            (
                http::Error::InvalidRequest("m".into()).into(),
                "invalid-request",
            ),
            (tools::Error::UnknownTool("m".into()).into(), "unknown-tool"),
            (files::Error::NotFound("m".into()).into(), "not-found"),
            (
                environment::Error::NotGranted("m".into()).into(),
                "not-granted",
            ),
        ];
        for (error, kind) in cases {
            assert_eq!(error.kind().name(), kind);
            assert_eq!(error.kind().to_string(), kind);
            assert_eq!(error.to_string(), "m");
        }
    }

    #[test]
    fn every_error_becomes_an_error() {
        fn parse(text: &str) -> Result<u8, Error> {
            Ok(text.parse::<u8>()?)
        }
        assert_eq!(parse("7").unwrap(), 7);
        assert_eq!(
            parse("x").unwrap_err().to_string(),
            "invalid digit found in string"
        );
        assert_eq!(Error::new("own words").to_string(), "own words");
    }
}
