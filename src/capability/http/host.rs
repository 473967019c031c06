//! Hosts of URLs, and the hosts a rule names.

use std::net::{IpAddr, Ipv4Addr};

use super::address::{Class, class};
use super::rule_error::RuleError;

const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// A normalised host: a lower-case ASCII name without a trailing dot, or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name that has to be resolved.
    Name(String),
    /// An address written as a literal.
    Ip(IpAddr),
}

impl Host {
    /// Normalises the host of a parsed URL; `None` when it is not a legal name.
    pub(super) fn normalise(host: &url::Host<&str>) -> Option<Self> {
        match host {
            url::Host::Ipv4(ip) => Some(Self::Ip(IpAddr::V4(*ip))),
            url::Host::Ipv6(ip) => Some(Self::Ip(IpAddr::V6(*ip))),
            url::Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
                is_legal_name(&name).then_some(Self::Name(name))
            }
        }
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ip(IpAddr::V4(ip)) => write!(f, "{ip}"),
            Self::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
        }
    }
}

fn is_legal_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name.split('.').all(is_legal_label)
}

fn is_legal_label(label: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    !label.is_empty() && label.len() <= LONGEST_LABEL && label.chars().all(legal)
}

/// The hosts that a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostPattern {
    /// Any name, never an address literal.
    AnyName,
    /// Any name below this one, at any depth, but not this one.
    Under(String),
    /// This host only.
    Exactly(Host),
}

impl HostPattern {
    /// Parses `name`, `*.name`, `*` or an address literal.
    pub(super) fn parse(text: &str) -> Result<Self, RuleError> {
        if text == "*" {
            return Ok(Self::AnyName);
        }
        if let Some(parent) = text.strip_prefix("*.") {
            return match parse_exact(parent)? {
                Host::Name(name) => Ok(Self::Under(name)),
                Host::Ip(_) => Err(RuleError::HostStar(text.to_owned())),
            };
        }
        parse_exact(text).map(Self::Exactly)
    }

    /// Returns whether `host` is one of these hosts.
    pub(super) fn covers(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::AnyName, Host::Name(_)) => true,
            (Self::Under(parent), Host::Name(name)) => is_below(name, parent),
            (Self::Exactly(wanted), host) => wanted == host,
            (_, Host::Ip(_)) => false,
        }
    }
}

/// Returns whether `name` is a subdomain of `parent`, at any depth.
pub(super) fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent)
        .and_then(|rest| rest.strip_suffix('.'))
        .is_some_and(|rest| !rest.is_empty())
}

fn parse_exact(text: &str) -> Result<Host, RuleError> {
    let bad = || RuleError::Host(text.to_owned());
    if text.contains('*') {
        return Err(RuleError::HostStar(text.to_owned()));
    }
    // The URL parser would decode `%2e` and drop tabs, which a reviewer does not see.
    if text.contains('%') || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(bad());
    }
    let parsed = url::Host::parse(text).map_err(|_| bad())?;
    let borrowed = match &parsed {
        url::Host::Domain(name) => url::Host::Domain(name.as_str()),
        url::Host::Ipv4(ip) => url::Host::Ipv4(*ip),
        url::Host::Ipv6(ip) => url::Host::Ipv6(*ip),
    };
    let host = Host::normalise(&borrowed).ok_or_else(bad)?;
    check_literal(text, &host)?;
    Ok(host)
}

fn check_literal(text: &str, host: &Host) -> Result<(), RuleError> {
    let Host::Ip(ip) = host else { return Ok(()) };
    if ip.is_ipv4() && text.parse::<Ipv4Addr>().is_err() {
        return Err(RuleError::OddAddress(text.to_owned(), *ip));
    }
    match class(*ip) {
        Class::Multicast | Class::Unspecified | Class::Broadcast => {
            Err(RuleError::NeverGranted(*ip))
        }
        _ => Ok(()),
    }
}
