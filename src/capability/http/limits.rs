//! How much one request may cost.

use std::time::Duration;

/// Bounds the size and the time of a request and its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// The largest request body, in bytes.
    pub request_bytes: usize,
    /// The largest response body, in bytes, before and after decompression.
    pub response_bytes: usize,
    /// The largest sum of header names and values, in bytes, in each direction.
    pub header_bytes: usize,
    /// The greatest number of headers in each direction.
    pub headers: usize,
    /// The greatest number of requests in one call of a hook; the caller counts them.
    pub requests: u32,
    /// The longest time for one request with all its redirects.
    pub timeout: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            request_bytes: 1024 * 1024,
            response_bytes: 4 * 1024 * 1024,
            header_bytes: 32 * 1024,
            headers: 100,
            requests: 50,
            timeout: Duration::from_secs(30),
        }
    }
}

impl HttpLimits {
    /// Returns how many bytes may come over the wire for one response.
    ///
    /// The body limit alone does not stop a server that sends only interim
    /// responses, chunk framing or empty gzip members, so the raw bytes are
    /// bounded too, with room for honest framing.
    pub(super) fn wire_bytes(&self) -> usize {
        let body = self.response_bytes.saturating_mul(2);
        let head = self.header_bytes.saturating_mul(4);
        body.saturating_add(head).saturating_add(64 * 1024)
    }
}
