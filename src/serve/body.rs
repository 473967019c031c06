//! Reads the body of a request: bounded in size and time.

use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};

use super::fault::Fault;
use crate::agent::MAX_INPUT;

/// How long a body may take. It comes from this machine.
pub(super) const TIME: Duration = Duration::from_secs(10);

pub(super) async fn read(body: Incoming) -> Result<Bytes, Fault> {
    // What is announced to be too large need not arrive.
    if body.size_hint().lower() > MAX_INPUT as u64 {
        return Err(Fault::Large(MAX_INPUT));
    }
    let whole = Limited::new(body, MAX_INPUT).collect();
    match tokio::time::timeout(TIME, whole).await {
        Err(_) => Err(Fault::Slow(TIME)),
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Fault::Large(MAX_INPUT)),
        Ok(Err(error)) => Err(Fault::Body(error.to_string())),
    }
}
