//! HTTP requests to granted places: `grant: { http: ["GET https://api.example.com/*"] }`.
//!
//! ```no_run
//! use hookbox_guest::{Error, Value, http};
//!
//! fn verdict(host: &str) -> Result<bool, Error> {
//!     let answer: Value = http::get(format!("https://policy.example/hosts/{host}"))
//!         .header("accept", "application/json")
//!         .send()?
//!         .json()?;
//!     Ok(answer["allowed"] == true)
//! }
//! ```

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::hookbox::hook::http as wit;
use crate::error::{HostError, Kind};
use crate::host;

/// Begins a GET request.
pub fn get(url: impl Into<String>) -> Request {
    Request::new("GET", url)
}

/// Begins a POST request.
pub fn post(url: impl Into<String>) -> Request {
    Request::new("POST", url)
}

/// A request, until it is sent.
#[derive(Debug, Clone)]
#[must_use = "a request does nothing until `send` is called"]
pub struct Request {
    request: wit::Request,
    unwritable: Option<String>,
}

impl Request {
    /// Begins a request.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            request: wit::Request {
                method: method.into(),
                url: url.into(),
                headers: Vec::new(),
                body: None,
                timeout_ms: None,
            },
            unwritable: None,
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.request.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.request.body = Some(body.into());
        self
    }

    /// Sets the body to JSON, and says so in a header.
    pub fn json(mut self, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(body) => self.body(body).header("content-type", "application/json"),
            Err(error) => {
                self.unwritable = Some(error.to_string());
                self
            }
        }
    }

    /// Gives up after some time; the host has a limit of its own.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.request.timeout_ms = Some(u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
        self
    }

    /// Sends the request and waits for the answer. An answer with a status of 400 or
    /// above is an answer, not an error.
    ///
    /// # Errors
    /// Returns `not-granted` if no grant covers the request, and how it failed otherwise.
    pub fn send(self) -> Result<Response, HostError> {
        if let Some(error) = self.unwritable {
            return Err(HostError::new(
                Kind::InvalidRequest,
                format!("the body cannot be written as JSON: {error}"),
            ));
        }
        let response = host::http::send(&self.request)?;
        Ok(Response {
            status: response.status,
            headers: response.headers,
            body: response.body,
            url: response.url,
        })
    }
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// The status, for example 200.
    pub status: u16,
    /// The headers, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// The body, unpacked.
    pub body: Vec<u8>,
    /// Where the answer came from, after redirects.
    pub url: String,
}

impl Response {
    /// Says whether the status is one of success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the first header of this name, in whatever case it is written.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(header, _)| header.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Returns the body as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    /// Returns where the body is not JSON, or does not fit.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_request_carries_what_it_was_given() {
        let request = post("https://a.example/")
            .header("x-a", "1")
            .json(&json!({"a": 1}))
            .timeout(Duration::from_secs(2))
            .request;
        assert_eq!(request.method, "POST");
        assert_eq!(request.url, "https://a.example/");
        assert_eq!(request.body.as_deref(), Some(&b"{\"a\":1}"[..]));
        assert_eq!(request.timeout_ms, Some(2000));
        let headers = [("x-a", "1"), ("content-type", "application/json")];
        assert!(
            request
                .headers
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .eq(headers)
        );
    }

    #[test]
    fn a_body_that_is_not_json_is_not_sent() {
        let error = post("https://a.example/")
            .json(&BTreeMap::from([([1], 1)]))
            .send();
        assert_eq!(error.unwrap_err().kind(), Kind::InvalidRequest);
    }

    #[test]
    fn a_response_is_read_as_text_and_json() {
        let response = Response {
            status: 204,
            headers: vec![("X-Answer".into(), "yes".into())],
            body: b"{\"a\":18446744073709551616}".to_vec(),
            url: String::new(),
        };
        assert!(response.is_success());
        assert_eq!(response.header("x-answer"), Some("yes"));
        assert_eq!(response.header("x-other"), None);
        assert_eq!(response.text(), "{\"a\":18446744073709551616}");
        assert_eq!(
            response.json::<Value>().unwrap().to_string(),
            response.text()
        );
        assert!(response.json::<Vec<u8>>().is_err());
    }
}
