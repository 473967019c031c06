//! Sends one checked request and reads its response within the limits.

use std::io::Read;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Request, Response, StatusCode, Uri};
use ureq::{Agent, AsSendBody, Body, Error};

use super::error::HttpError;
use super::limits::HttpLimits;
use super::redirect::Ask;

const CHUNK: usize = 16 * 1024;

/// The raw response of one hop, secrets still in it.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// The time a request has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: Instant,
    pub(super) end: Instant,
}

impl Span {
    /// Returns the span that ends `timeout` after its start at the latest.
    pub(super) fn at_most(self, timeout: Duration) -> Self {
        let end = self.start.checked_add(timeout).unwrap_or(self.end);
        Self {
            start: self.start,
            end: end.min(self.end),
        }
    }

    fn left(self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }
}

/// Sends `ask` with the complete `headers` and reads the answer.
pub(super) fn exchange(
    agent: &Agent,
    ask: &Ask,
    headers: HeaderMap,
    limits: &HttpLimits,
    span: Span,
) -> Result<Answer, HttpError> {
    let explain = |error| explain(error, ask, limits, span);
    let has_body = !ask.body.is_empty() || ask.method.announces_body();
    let response = if has_body {
        run(agent, ask, headers, ask.body.as_slice(), span)
    } else {
        run(agent, ask, headers, (), span)
    };
    let (parts, body) = response.map_err(explain)?.into_parts();
    if parts.status.as_u16() < 200 {
        let text = format!("{} answered with an interim status only", ask.target);
        return Err(HttpError::Failed(text));
    }
    Ok(Answer {
        status: parts.status.as_u16(),
        headers: read_headers(&parts.headers, ask, limits)?,
        body: read_body(body, parts.status, ask, limits, span)?,
    })
}

fn run<B: AsSendBody>(
    agent: &Agent,
    ask: &Ask,
    headers: HeaderMap,
    body: B,
    span: Span,
) -> Result<Response<Body>, Error> {
    let left = span.left();
    if left.is_zero() {
        return Err(Error::Timeout(ureq::Timeout::Global));
    }
    let mut request = Request::new(body);
    *request.method_mut() = ask.method.to_http();
    *request.uri_mut() = same_uri(ask)?;
    *request.headers_mut() = headers;
    let request = agent
        .configure_request(request)
        .timeout_global(Some(left))
        .build();
    agent.run(request)
}

/// Parses the URL once more for the HTTP library and makes sure that it reads
/// the same host and port in it as the rules did.
fn same_uri(ask: &Ask) -> Result<Uri, Error> {
    let bad = || Error::BadUri("it has characters that http does not allow".to_owned());
    let uri: Uri = ask.target.as_str().parse().map_err(|_| bad())?;
    let port = uri.port_u16().unwrap_or(ask.target.scheme().default_port());
    let is_same = uri.host() == Some(ask.target.host().to_string().as_str())
        && port == ask.target.port()
        && !uri.authority().is_some_and(|a| a.as_str().contains('@'));
    is_same.then_some(uri).ok_or_else(bad)
}

fn read_headers(
    headers: &HeaderMap,
    ask: &Ask,
    limits: &HttpLimits,
) -> Result<Vec<(String, String)>, HttpError> {
    if headers.len() > limits.headers {
        return Err(too_many_headers(ask, limits));
    }
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    Ok(headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
        .collect())
}

fn read_body(
    body: Body,
    status: StatusCode,
    ask: &Ask,
    limits: &HttpLimits,
    span: Span,
) -> Result<Vec<u8>, HttpError> {
    // Such a response may still announce gzip, and nothing is no gzip.
    if ask.method.as_str() == "HEAD" || matches!(status.as_u16(), 204 | 304) {
        return Ok(Vec::new());
    }
    let mut reader = body.into_reader();
    let mut bytes = Vec::new();
    let mut chunk = [0; CHUNK];
    loop {
        let read = reader
            .read(&mut chunk)
            .map_err(|e| explain(Error::from(e), ask, limits, span))?;
        if read == 0 {
            return Ok(bytes);
        }
        if bytes.len() + read > limits.response_bytes {
            return Err(too_large_body(ask, limits));
        }
        if span.left().is_zero() {
            return Err(explain(
                Error::Timeout(ureq::Timeout::Global),
                ask,
                limits,
                span,
            ));
        }
        bytes.extend_from_slice(&chunk[..read]);
    }
}

/// Says that a body, before or after the secrets were taken out, is too large.
pub(super) fn too_large_body(ask: &Ask, limits: &HttpLimits) -> HttpError {
    let most = limits.response_bytes;
    HttpError::TooLarge(format!(
        "the body of {} {} is larger than {most} bytes",
        ask.method, ask.target
    ))
}

fn too_many_headers(ask: &Ask, limits: &HttpLimits) -> HttpError {
    HttpError::TooLarge(format!(
        "{} answered with more than {} headers or {} bytes of them",
        ask.target, limits.headers, limits.header_bytes
    ))
}

fn explain(error: Error, ask: &Ask, limits: &HttpLimits, span: Span) -> HttpError {
    let (method, target) = (&ask.method, &ask.target);
    match error {
        Error::Other(inner) => match inner.downcast::<HttpError>() {
            Ok(ours) => *ours,
            Err(other) => HttpError::Failed(format!("{method} {target} failed: {other}")),
        },
        Error::Timeout(_) => {
            let allowed = span.end.saturating_duration_since(span.start);
            HttpError::Timeout(format!("{method} {target} took longer than {allowed:.1?}"))
        }
        Error::LargeResponseHeader(..) => too_many_headers(ask, limits),
        Error::Protocol(e) if e.to_string().contains("too many headers") => {
            too_many_headers(ask, limits)
        }
        Error::BadUri(why) => HttpError::InvalidRequest(format!("the url {target}: {why}")),
        other => HttpError::Failed(format!("{method} {target} failed: {other}")),
    }
}
