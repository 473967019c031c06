//! The `http` import of the contract.

use std::time::Duration;

use super::{HttpError, Request, Response};
use crate::sandbox::bindings::http as wit;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn send(
        &mut self,
        request: wit::Request,
    ) -> wasmtime::Result<Result<wit::Response, wit::Error>> {
        let border = self.enter()?;
        border.requests += 1;
        let shown = format!(
            "{} {}",
            request.method,
            request.url.split('?').next().unwrap_or_default()
        );
        let limit = border.limits().http_requests;
        let sent = if border.requests > limit {
            Err(too_many(limit))
        } else {
            let until = border.reply_by();
            border
                .pass
                .doors
                .send(from_wit(request), until, &border.pass.reel)
        };
        if let Err(error) = &sent {
            border.refusals.http(&shown, error);
        }
        Ok(sent.map(to_wit).map_err(Into::into))
    }
}

/// Says that a call has sent all the requests it may.
pub(crate) fn too_many(limit: u32) -> HttpError {
    HttpError::NotGranted(format!(
        "a call may send {limit} requests; raise `http_requests` under `limits:` if it has to send more"
    ))
}

fn from_wit(request: wit::Request) -> Request {
    Request {
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: request.body.unwrap_or_default(),
        timeout: request
            .timeout_ms
            .map(|milliseconds| Duration::from_millis(milliseconds.into())),
    }
}

fn to_wit(response: Response) -> wit::Response {
    wit::Response {
        status: response.status,
        headers: response.headers,
        body: response.body,
        url: response.url,
    }
}

impl From<HttpError> for wit::Error {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::NotGranted(what) => Self::NotGranted(what),
            HttpError::InvalidRequest(what) => Self::InvalidRequest(what),
            HttpError::Timeout(what) => Self::Timeout(what),
            HttpError::TooLarge(what) => Self::TooLarge(what),
            HttpError::Failed(what) => Self::Failed(what),
        }
    }
}
