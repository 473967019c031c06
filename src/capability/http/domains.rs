//! The allowlist of AI Harness, `network.allowed_domains`, which can only narrow a grant.

use std::fmt;

use super::error::HttpError;
use super::host::{Host, is_below};
use super::target::Target;

/// The domains that may be reached; an empty list denies everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domains {
    entries: Vec<String>,
}

impl Domains {
    /// Takes the list as it is written: trimmed, lower-cased, blank entries dropped.
    pub fn new<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Self {
        let entries = entries
            .into_iter()
            .map(|entry| normalise(entry.as_ref()))
            .filter(|entry| !entry.is_empty())
            .collect();
        Self { entries }
    }

    /// Checks that the host of `target` is in the list.
    pub fn check(&self, target: &Target) -> Result<(), HttpError> {
        if self.entries.iter().any(|entry| entry == "*") {
            return Ok(());
        }
        match target.host() {
            Host::Ip(ip) => Err(HttpError::NotGranted(format!(
                "network sandbox: IP literal \"{ip}\" is not in the allowlist"
            ))),
            Host::Name(name) if self.entries.iter().any(|entry| covers(entry, name)) => Ok(()),
            Host::Name(name) => Err(HttpError::NotGranted(format!(
                "network sandbox: host \"{name}\" is not in the allowlist (url={target})"
            ))),
        }
    }
}

fn normalise(entry: &str) -> String {
    let entry = entry.trim().to_lowercase();
    let entry = entry.strip_suffix('.').unwrap_or(&entry);
    let (star, name) = match entry.strip_prefix("*.") {
        Some(name) => ("*.", name),
        None => ("", entry),
    };
    // Names are compared in the form that is looked up, so an IDN has to get there too.
    let ascii = url::Host::parse(name).ok().and_then(|host| match host {
        url::Host::Domain(name) => Some(name),
        _ => None,
    });
    format!("{star}{}", ascii.as_deref().unwrap_or(name))
}

fn covers(entry: &str, name: &str) -> bool {
    match entry.strip_prefix("*.") {
        Some(parent) => is_below(name, parent),
        None => entry == name || is_below(name, entry),
    }
}

impl fmt::Display for Domains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.entries.join(", "))
    }
}
