//! What can go wrong with a request, in the words the hook and its owner read.

use serde::{Deserialize, Serialize};

/// Says why a request got no response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum HttpError {
    /// The grant, the allowlist or the address check refused it.
    #[error("{0}")]
    NotGranted(String),
    /// The request itself is malformed.
    #[error("{0}")]
    InvalidRequest(String),
    /// The time was over before the response was complete.
    #[error("{0}")]
    Timeout(String),
    /// The request or the response is larger than the limits allow.
    #[error("{0}")]
    TooLarge(String),
    /// The connection, TLS or the server failed.
    #[error("{0}")]
    Failed(String),
}

impl HttpError {
    /// Returns the same error with its text changed by `change`.
    pub(super) fn map_text(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::NotGranted(text) => Self::NotGranted(change(text)),
            Self::InvalidRequest(text) => Self::InvalidRequest(change(text)),
            Self::Timeout(text) => Self::Timeout(change(text)),
            Self::TooLarge(text) => Self::TooLarge(change(text)),
            Self::Failed(text) => Self::Failed(change(text)),
        }
    }
}
