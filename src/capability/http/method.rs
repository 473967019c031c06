//! Request methods that a rule can grant.

use std::fmt;

use ureq::http;

const LONGEST: usize = 32;

/// A request method: an upper-case token, never one that opens a tunnel or echoes headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method(http::Method);

/// Says why a text is not a method that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// It is not an upper-case token.
    #[error("{0:?} is not a method; write an upper-case word such as GET")]
    Malformed(String),
    /// It is a method that is never allowed.
    #[error("the method {0} can never be granted: it opens a tunnel or echoes secrets")]
    Forbidden(String),
}

impl Method {
    /// Parses an upper-case method such as `GET`.
    pub fn parse(text: &str) -> Result<Self, MethodError> {
        let malformed = || MethodError::Malformed(text.chars().take(LONGEST).collect());
        if text.len() > LONGEST || !is_upper_token(text) {
            return Err(malformed());
        }
        if matches!(text, "CONNECT" | "TRACE" | "TRACK") {
            return Err(MethodError::Forbidden(text.to_owned()));
        }
        http::Method::from_bytes(text.as_bytes())
            .map(Self)
            .map_err(|_| malformed())
    }

    /// Returns the method as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns `GET`.
    pub(super) fn get() -> Self {
        Self(http::Method::GET)
    }

    /// Returns the method for the HTTP library.
    pub(super) fn to_http(&self) -> http::Method {
        self.0.clone()
    }

    /// Returns whether a request of this method may carry a body.
    pub(super) fn may_have_body(&self) -> bool {
        !matches!(self.as_str(), "GET" | "HEAD")
    }

    /// Returns whether a server expects a length even for an empty body.
    pub(super) fn announces_body(&self) -> bool {
        matches!(self.as_str(), "POST" | "PUT" | "PATCH")
    }
}

fn is_upper_token(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
