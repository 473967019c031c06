//! What a hook was refused. The guest gets it as a value it can handle; the trace
//! of the event says it as well, because a hook may keep it to itself.

use std::sync::{Arc, Mutex, PoisonError};

use super::http::HttpError;

/// How many refusals one call leaves in the trace.
const MAX_REFUSALS: usize = 20;

/// The refusals of one call, which may come from other threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Refusals {
    /// Remembers a refusal, as long as a person would still read it.
    pub(crate) fn push(&self, line: String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < MAX_REFUSALS {
            lines.push(line);
        }
    }

    /// Remembers a request that was not let out or whose answer was not let in.
    pub(crate) fn http(&self, request: &str, error: &HttpError) {
        let (HttpError::NotGranted(why)
        | HttpError::InvalidRequest(why)
        | HttpError::Timeout(why)
        | HttpError::TooLarge(why)
        | HttpError::Failed(why)) = error;
        // Most reasons say themselves what they are about.
        self.push(if why.contains(request) {
            format!("http: {why}")
        } else {
            format!("http: {request}: {why}")
        });
    }

    /// Hands over the lines.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
