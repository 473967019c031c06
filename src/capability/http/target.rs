//! URLs of requests, parsed and normalised once.

use std::fmt;

use url::Url;

use super::error::HttpError;
use super::host::Host;

const LONGEST: usize = 8 * 1024;

/// The schemes that exist here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// Parses exactly `http` or `https`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            _ => None,
        }
    }

    /// Returns the port that a URL without a port means.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A URL that may be asked for: http or https, with a legal host and no userinfo.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    scheme: Scheme,
    host: Host,
    port: u16,
}

impl Target {
    /// Parses and normalises an absolute URL.
    pub fn parse(text: &str) -> Result<Self, HttpError> {
        check_text(text)?;
        let url = Url::parse(text)
            .map_err(|e| HttpError::InvalidRequest(format!("the url is malformed: {e}")))?;
        Self::from_url(url)
    }

    /// Returns the target that `location` names, seen from this one.
    pub(super) fn join(&self, location: &str) -> Result<Self, HttpError> {
        check_text(location)?;
        let url = self.url.join(location).map_err(|e| {
            HttpError::InvalidRequest(format!("the location of the redirect is malformed: {e}"))
        })?;
        Self::from_url(url)
    }

    fn from_url(mut url: Url) -> Result<Self, HttpError> {
        let scheme = Scheme::parse(url.scheme()).ok_or_else(|| {
            let scheme = url.scheme();
            invalid(&format!(
                "scheme \"{scheme}\" is not permitted (only http/https)"
            ))
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid(
                "the url has a user name or a password before the host; use a header instead",
            ));
        }
        let bad_host = || invalid("the host of the url is not a legal name or address");
        let host = url.host().and_then(|host| Host::normalise(&host));
        let host = host.ok_or_else(bad_host)?;
        let port = url.port().unwrap_or(scheme.default_port());
        if port == 0 {
            return Err(invalid("the port of the url is 0, which does not exist"));
        }
        if let Host::Name(name) = &host {
            url.set_host(Some(name)).map_err(|_| bad_host())?;
        }
        url.set_fragment(None);
        Ok(Self {
            url,
            scheme,
            host,
            port,
        })
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the normalised host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the port, the scheme's default if none is written.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the normalised path without the query.
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// Returns the whole URL, as it is sent.
    pub(crate) fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Returns whether both have the same scheme, host and port.
    pub(super) fn same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port == other.port
    }
}

/// Shows the URL for messages: the query, which may hold secrets, only as `?…`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.url.scheme(), self.host)?;
        if let Some(port) = self.url.port() {
            write!(f, ":{port}")?;
        }
        // Never cut short: half a secret would not be recognised and taken out.
        f.write_str(self.path())?;
        if self.url.query().is_some() {
            f.write_str("?…")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// Refuses what the URL parser would silently drop or turn into something else.
fn check_text(text: &str) -> Result<(), HttpError> {
    if text.len() > LONGEST {
        return Err(invalid(&format!("the url is longer than {LONGEST} bytes")));
    }
    if text.contains('\\') || text.chars().any(char::is_control) {
        return Err(invalid(
            "the url has a control character or a backslash; encode it",
        ));
    }
    Ok(())
}

fn invalid(text: &str) -> HttpError {
    HttpError::InvalidRequest(text.to_owned())
}
