//! Names of headers, and the headers that nobody may set.

use std::fmt;

use ureq::http;

/// The longest value of one header.
pub(super) const LONGEST_VALUE: usize = 8 * 1024;
const LONGEST_NAME: usize = 128;

/// The headers that frame a message or steer a connection; only the host sets them.
const FRAMING: [&str; 10] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "keep-alive",
    "expect",
    "http2-settings",
];

/// The name of a header that may be set: a lower-case token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderName(http::HeaderName);

/// Says why a header may not be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderNameError {
    /// It is not a token.
    #[error("{0:?} is not the name of a header; write a word such as `accept`")]
    Malformed(String),
    /// It is one that only the host sets.
    #[error("the header `{0}` cannot be set: it frames the message or steers the connection")]
    Forbidden(String),
}

impl HeaderName {
    /// Parses a name, in any case.
    pub fn parse(text: &str) -> Result<Self, HeaderNameError> {
        let malformed = || HeaderNameError::Malformed(text.chars().take(LONGEST_NAME).collect());
        if text.len() > LONGEST_NAME {
            return Err(malformed());
        }
        let name = http::HeaderName::from_bytes(text.as_bytes()).map_err(|_| malformed())?;
        if FRAMING.contains(&name.as_str()) || name.as_str().starts_with("proxy-") {
            return Err(HeaderNameError::Forbidden(name.as_str().to_owned()));
        }
        Ok(Self(name))
    }

    /// Returns the name in lower case.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the name for the HTTP library.
    pub(super) fn to_http(&self) -> http::HeaderName {
        self.0.clone()
    }
}

impl fmt::Display for HeaderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns whether `text` may stand in a header: visible ASCII, spaces and tabs inside.
pub(super) fn is_legal_value(text: &str) -> bool {
    text.len() <= LONGEST_VALUE
        && text
            .bytes()
            .all(|b| b == b'\t' || (0x20..0x7f).contains(&b))
}
