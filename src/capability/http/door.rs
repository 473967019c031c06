//! The only way from a hook to HTTP.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use ureq::Agent;
use ureq::http::{HeaderMap, HeaderValue};

use super::agent;
use super::domains::Domains;
use super::error::HttpError;
use super::exchange::{Answer, Span, exchange, too_large_body};
use super::grant::{Entry, HttpGrant};
use super::header::{HeaderName, is_legal_value};
use super::limits::HttpLimits;
use super::message::{Request, Response};
use super::method::Method;
use super::redact::Redactor;
use super::redirect::{Ask, location};
use super::resolve::{Lookup, Resolve};
use super::secret::{Filled, Secrets, fill};
use super::target::Target;
use super::tls::SharedTls;

/// Checks requests against a grant, sends them, and reads the responses.
pub struct Door {
    grant: HttpGrant,
    domains: Option<Domains>,
    secrets: Secrets,
    limits: HttpLimits,
    /// One client for each entry, in the same order.
    agents: Vec<Agent>,
    /// Who answers instead of the network.
    stand_in: Option<StandIn>,
}

/// Answers checked requests instead of the network. It sees what the hook sent, without
/// the headers and secrets of the grant.
pub type StandIn = Arc<dyn Fn(&Request) -> Result<Response, HttpError> + Send + Sync>;

impl Door {
    /// Builds a door that lets through what `grant` covers and `domains` does not narrow away.
    pub fn new(
        grant: HttpGrant,
        domains: Option<Domains>,
        resolve: Resolve,
        secrets: Secrets,
        limits: HttpLimits,
    ) -> Self {
        let lookup = Lookup::new(resolve);
        let tls = SharedTls::default();
        let build = |entry| agent::build(entry, &lookup, &tls, &limits);
        let agents = grant.entries.iter().map(build).collect();
        Self {
            grant,
            domains,
            secrets,
            limits,
            agents,
            stand_in: None,
        }
    }

    /// Lets somebody else answer what the grant lets through.
    #[must_use]
    pub fn with_stand_in(mut self, stand_in: Option<StandIn>) -> Self {
        self.stand_in = stand_in;
        self
    }

    /// Sends a request and waits for its response, never longer than `until`.
    pub fn send(&self, request: Request, until: Instant) -> Result<Response, HttpError> {
        let start = Instant::now();
        let mut span = Span { start, end: until }.at_most(self.limits.timeout);
        if let Some(timeout) = request.timeout {
            span = span.at_most(timeout);
        }
        let mut redactor = Redactor::default();
        self.check(request)
            .and_then(|ask| self.follow(ask, span, &mut redactor))
            .map_err(|e| e.map_text(|text| redactor.text(text)))
    }

    /// Says whether a request may be sent at all.
    pub(crate) fn allows(&self, request: &Request) -> Result<(), HttpError> {
        self.check(request.clone()).map(|_| ())
    }

    /// Checks the request of the guest, the grant first so that nothing else is told before.
    fn check(&self, request: Request) -> Result<Ask, HttpError> {
        let target = Target::parse(&request.url)?;
        let method =
            Method::parse(&request.method).map_err(|e| HttpError::InvalidRequest(e.to_string()))?;
        self.cover(&method, &target)?;
        if !request.body.is_empty() && !method.may_have_body() {
            let text = format!("a {method} request cannot have a body");
            return Err(HttpError::InvalidRequest(text));
        }
        let most = self.limits.request_bytes;
        if request.body.len() > most {
            let text = format!("the body of the request is larger than {most} bytes");
            return Err(HttpError::TooLarge(text));
        }
        Ok(Ask {
            headers: self.check_headers(request.headers)?,
            method,
            target,
            body: request.body,
        })
    }

    fn check_headers(
        &self,
        headers: Vec<(String, String)>,
    ) -> Result<Vec<(HeaderName, String)>, HttpError> {
        let bytes: usize = headers.iter().map(|(n, v)| n.len() + v.len()).sum();
        if headers.len() > self.limits.headers || bytes > self.limits.header_bytes {
            return Err(HttpError::TooLarge(format!(
                "the request has more than {} headers or {} bytes of them",
                self.limits.headers, self.limits.header_bytes
            )));
        }
        headers.into_iter().map(check_header).collect()
    }

    /// Sends the request and follows its redirects, each hop checked like the first.
    fn follow(
        &self,
        mut ask: Ask,
        span: Span,
        redactor: &mut Redactor,
    ) -> Result<Response, HttpError> {
        let mut followed = 0;
        let mut from: Option<Target> = None;
        loop {
            let (entry, answer) = self
                .hop(&ask, span, redactor)
                .map_err(|e| after_redirect(e, from.as_ref()))?;
            let most = entry.redirects();
            let Some(location) = location(&answer).filter(|_| most > 0) else {
                return self.finish(ask, answer, redactor);
            };
            if followed >= most {
                return Err(HttpError::NotGranted(format!(
                    "{} redirects once more, but the grant \"{}\" allows only {most} redirects",
                    ask.target, entry.rule
                )));
            }
            followed += 1;
            from = Some(ask.target.clone());
            ask = ask.follow(&answer, location)?;
        }
    }

    fn hop(
        &self,
        ask: &Ask,
        span: Span,
        redactor: &mut Redactor,
    ) -> Result<(&Entry, Answer), HttpError> {
        let (entry, agent) = self.cover(&ask.method, &ask.target)?;
        if let Some(stand_in) = &self.stand_in {
            return Ok((entry, self.stand_in_for(stand_in, ask)?));
        }
        let (headers, filled) = self.headers(entry, ask)?;
        redactor.add(filled);
        let span = entry.timeout.map_or(span, |timeout| span.at_most(timeout));
        let answer = exchange(agent, ask, headers, &self.limits, span)?;
        Ok((entry, answer))
    }

    /// Asks the stand-in. Its answer has the limits of any other.
    fn stand_in_for(&self, stand_in: &StandIn, ask: &Ask) -> Result<Answer, HttpError> {
        let header = |(name, value): &(HeaderName, String)| (name.to_string(), value.clone());
        let response = stand_in(&Request {
            method: ask.method.to_string(),
            url: ask.target.as_str().to_owned(),
            headers: ask.headers.iter().map(header).collect(),
            body: ask.body.clone(),
            timeout: None,
        })?;
        Ok(Answer {
            status: response.status,
            headers: response.headers,
            body: response.body,
        })
    }

    /// Returns the entry that covers the request, and its client.
    fn cover(&self, method: &Method, target: &Target) -> Result<(&Entry, &Agent), HttpError> {
        if let Some(domains) = &self.domains {
            domains.check(target)?;
        }
        let position = self.grant.find(method, target)?;
        let entry = self.grant.entries.get(position);
        entry
            .zip(self.agents.get(position))
            .ok_or_else(|| HttpError::Failed("the grant has lost an entry".to_owned()))
    }

    /// Puts the headers of the guest and those of the entry together; the entry wins.
    fn headers(&self, entry: &Entry, ask: &Ask) -> Result<(HeaderMap, Vec<Filled>), HttpError> {
        let mut map = HeaderMap::new();
        let mut filled = Vec::new();
        for (name, value) in &ask.headers {
            map.append(name.to_http(), header_value(name, value)?);
        }
        for (name, template) in &entry.headers {
            let value = fill(name, template, &self.secrets, &mut filled)?;
            map.insert(name.to_http(), value);
        }
        Ok((map, filled))
    }

    /// Takes the secrets out of the last answer.
    fn finish(&self, ask: Ask, answer: Answer, redactor: &Redactor) -> Result<Response, HttpError> {
        let clean = |(name, value)| (redactor.text(name), redactor.text(value));
        let body = redactor.bytes(answer.body);
        if body.len() > self.limits.response_bytes {
            return Err(too_large_body(&ask, &self.limits));
        }
        Ok(Response {
            status: answer.status,
            headers: answer.headers.into_iter().map(clean).collect(),
            body,
            url: redactor.text(ask.target.as_str().to_owned()),
        })
    }
}

/// Says that it was a redirect that led to the error.
fn after_redirect(error: HttpError, from: Option<&Target>) -> HttpError {
    match from {
        Some(from) => error.map_text(|text| format!("redirect from {from}: {text}")),
        None => error,
    }
}

fn check_header((name, value): (String, String)) -> Result<(HeaderName, String), HttpError> {
    let name = HeaderName::parse(&name).map_err(|e| HttpError::InvalidRequest(e.to_string()))?;
    if !is_legal_value(&value) {
        return Err(HttpError::InvalidRequest(format!(
            "the value of the header `{name}` is too long or has characters other than visible ascii"
        )));
    }
    Ok((name, value))
}

fn header_value(name: &HeaderName, value: &str) -> Result<HeaderValue, HttpError> {
    HeaderValue::from_str(value).map_err(|_| {
        HttpError::InvalidRequest(format!("the value of the header `{name}` is not legal"))
    })
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door")
            .field("grant", &self.grant)
            .field("domains", &self.domains)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
