//! What an owner grants under `grant: http:`.

use std::fmt;
use std::time::Duration;

use super::error::HttpError;
use super::header::HeaderName;
use super::method::Method;
use super::network::{Network, Reach};
use super::rule::Rule;
use super::target::Target;
use super::template::Template;

/// The most redirects that an entry may allow.
const MOST_REDIRECTS: u8 = 10;

/// One entry of `grant: http:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The requests that are allowed.
    pub rule: Rule,
    /// The headers that the host adds, with secrets in them.
    pub headers: Vec<(HeaderName, Template)>,
    /// How many redirects are followed; 0 hands a redirect back as it is.
    pub redirects: u8,
    /// The networks beside the public internet that may be reached.
    pub networks: Vec<Network>,
    /// The longest time for a request.
    pub timeout: Option<Duration>,
}

/// Says what is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// It allows too many redirects.
    #[error("`redirects: {0}` is too many; write a number from 0 to {MOST_REDIRECTS}")]
    Redirects(u8),
}

impl Entry {
    /// Returns an entry that allows what `rule` covers and nothing more.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            headers: Vec::new(),
            redirects: 0,
            networks: Vec::new(),
            timeout: None,
        }
    }

    /// Checks what the types of the fields leave open.
    pub fn check(&self) -> Result<(), GrantError> {
        if self.redirects > MOST_REDIRECTS {
            return Err(GrantError::Redirects(self.redirects));
        }
        Ok(())
    }

    /// Returns how many redirects are followed, whatever the field says.
    pub(super) fn redirects(&self) -> u8 {
        self.redirects.min(MOST_REDIRECTS)
    }

    /// Returns the addresses that the entry may connect to.
    pub(super) fn reach(&self) -> Reach {
        let mut networks = self.networks.clone();
        if self.rule.is_localhost() {
            networks.push(Network::Loopback);
        }
        Reach {
            literal: self.rule.literal(),
            networks,
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rule)?;
        for (name, value) in &self.headers {
            write!(f, ", header {name}: {value}")?;
        }
        if self.redirects > 0 {
            write!(f, ", redirects: {}", self.redirects())?;
        }
        if !self.networks.is_empty() {
            let names: Vec<_> = self.networks.iter().map(ToString::to_string).collect();
            write!(f, ", networks: [{}]", names.join(", "))?;
        }
        if let Some(timeout) = self.timeout {
            write!(f, ", timeout: {timeout:?}")?;
        }
        Ok(())
    }
}

/// Everything that a hook may ask for over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpGrant {
    /// The entries; the first that covers a request decides.
    pub entries: Vec<Entry>,
}

impl HttpGrant {
    /// Returns the position of the first entry that covers the request, or why there is none.
    pub(super) fn find(&self, method: &Method, target: &Target) -> Result<usize, HttpError> {
        let mut nearest = None;
        for (position, entry) in self.entries.iter().enumerate() {
            let Some(difference) = entry.rule.difference(method, target) else {
                return Ok(position);
            };
            if nearest.is_none_or(|(best, _)| difference > best) {
                nearest = Some((difference, entry));
            }
        }
        let near = match nearest {
            Some((difference, entry)) => {
                format!("the nearest is \"{}\", and {difference}", entry.rule)
            }
            None => "it grants nothing".to_owned(),
        };
        Err(HttpError::NotGranted(format!(
            "no rule of `grant: http:` covers {method} {target}: {near}"
        )))
    }
}

impl fmt::Display for HttpGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, entry) in self.entries.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{entry}")?;
        }
        Ok(())
    }
}
