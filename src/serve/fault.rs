//! Why a request has no answer. Nobody may take any of these for a yes.

use std::time::Duration;

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::json::JsonError;
use crate::runtime::{DispatchError, LoadError};

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(
        "the token is missing or wrong; send `Authorization: Bearer TOKEN` with the token that the server's token file has"
    )]
    Token,
    #[error("{0:?} is not a name of this machine; ask localhost, 127.0.0.1 or [::1]")]
    Host(String),
    #[error("browsers are not answered: the request has an Origin")]
    Origin,
    #[error("there is no {0}; docs/serve.md has the paths")]
    Path(String),
    #[error("{path} takes {takes}")]
    Method { path: String, takes: &'static str },
    #[error("there is no agent {0:?}")]
    Agent(String),
    #[error("the body is larger than {0} bytes")]
    Large(usize),
    #[error("the body did not arrive within {0:?}")]
    Slow(Duration),
    #[error("the body cannot be read: {0}")]
    Body(String),
    #[error("the body is not the JSON hookbox takes: {0}")]
    Json(#[from] JsonError),
    #[error("{0}")]
    Request(String),
    #[error("this is hookbox {own}, and the request is for {asked}; start the server again")]
    Version { own: &'static str, asked: String },
    #[error("the program of this server was replaced, so the server ends; ask again in a moment")]
    Replaced,
    #[error(
        "hooks of this project see environment variables, secrets or programs of whoever asks, so whoever asks has to run them"
    )]
    Environment,
    #[error(
        "this server has another home, or other directories for settings and caches, so whoever asks has to run the hooks"
    )]
    Elsewhere,
    #[error("there are no hooks in {0}")]
    Project(String),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    #[error("no decision within {0:?}")]
    Late(Duration),
    #[error("hookbox broke: {0}; please report this")]
    Broken(String),
}

impl Fault {
    /// Returns the word that programs go by.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Host(_) => "host",
            Self::Origin => "origin",
            Self::Path(_) => "path",
            Self::Method { .. } => "method",
            Self::Agent(_) => "agent",
            Self::Large(_) | Self::Dispatch(DispatchError::PayloadTooLarge { .. }) => "too_large",
            Self::Slow(_) => "slow",
            Self::Body(_) => "body",
            Self::Json(_) => "json",
            Self::Request(_) => "request",
            Self::Version { .. } => "version",
            Self::Replaced => "replaced",
            Self::Environment | Self::Elsewhere => "environment",
            Self::Project(_) => "project",
            Self::Load(_) => "load",
            Self::Dispatch(DispatchError::UnknownEvent { .. }) => "unknown_event",
            Self::Dispatch(DispatchError::AmbiguousEvent { .. }) => "ambiguous_event",
            Self::Dispatch(DispatchError::Raised(_)) => "raised",
            Self::Dispatch(DispatchError::Payload(_)) => "payload",
            Self::Dispatch(DispatchError::NoTape | DispatchError::Tape(_)) => "tape",
            Self::Late(_) => "late",
            Self::Broken(_) => "broken",
        }
    }

    /// Returns the status.
    pub(super) fn status(&self) -> StatusCode {
        match self.kind() {
            "token" => StatusCode::UNAUTHORIZED,
            "host" | "origin" => StatusCode::FORBIDDEN,
            "path" | "agent" | "project" => StatusCode::NOT_FOUND,
            "method" => StatusCode::METHOD_NOT_ALLOWED,
            "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            "slow" => StatusCode::REQUEST_TIMEOUT,
            "body" | "json" | "request" => StatusCode::BAD_REQUEST,
            "version" | "replaced" | "environment" => StatusCode::CONFLICT,
            "unknown_event" | "ambiguous_event" | "payload" => StatusCode::UNPROCESSABLE_ENTITY,
            "load" | "tape" => StatusCode::SERVICE_UNAVAILABLE,
            "late" => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the body.
    pub(super) fn body(&self) -> Value {
        let mut error = json!({"kind": self.kind(), "message": self.to_string()});
        if let Self::Dispatch(DispatchError::Raised(outcome)) = self {
            error["outcome"] = serde_json::to_value(outcome).unwrap_or_default();
        }
        json!({"error": error})
    }
}
