//! Where a redirect leads, and what is left of the request there.

use super::error::HttpError;
use super::exchange::Answer;
use super::header::HeaderName;
use super::method::Method;
use super::target::{Scheme, Target};

/// The guest's headers that another origin must not get.
const CREDENTIALS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// What the guest asks of one hop, before the grant adds its headers.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) body: Vec<u8>,
}

impl Ask {
    /// Turns this request into the one that the redirect in `answer` asks for.
    pub(super) fn follow(self, answer: &Answer, location: &str) -> Result<Self, HttpError> {
        let from = self.target.to_string();
        let target = self
            .target
            .join(location)
            .map_err(|e| e.map_text(|text| format!("redirect from {from}: {text}")))?;
        if self.target.scheme() == Scheme::Https && target.scheme() == Scheme::Http {
            return Err(HttpError::NotGranted(format!(
                "redirect from {from} to {target} is refused: it leaves https for http"
            )));
        }
        let mut next = Self {
            target: target.clone(),
            ..self.clone()
        };
        if becomes_get(answer.status, &self.method) {
            next.drop_body();
        }
        if !self.target.same_origin(&target) {
            let is_kept = |name: &HeaderName| !CREDENTIALS.contains(&name.as_str());
            next.headers.retain(|(name, _)| is_kept(name));
        }
        Ok(next)
    }

    fn drop_body(&mut self) {
        if self.method.may_have_body() {
            self.method = Method::get();
        }
        self.body.clear();
        self.headers
            .retain(|(name, _)| !name.as_str().starts_with("content-"));
    }
}

/// Returns the location of a redirect, if `answer` is one.
pub(super) fn location(answer: &Answer) -> Option<&str> {
    let is_redirect = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
    let mut found = answer.headers.iter().filter(|(name, _)| name == "location");
    match (is_redirect, found.next(), found.next()) {
        // Two locations are no location: nobody can say which one is meant.
        (true, Some((_, location)), None) => Some(location),
        _ => None,
    }
}

fn becomes_get(status: u16, method: &Method) -> bool {
    match status {
        303 => true,
        301 | 302 => method.as_str() == "POST",
        _ => false,
    }
}
