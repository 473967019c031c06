//! The rules an owner writes: `GET https://api.example.com/v1/*`.

use std::fmt;
use std::net::IpAddr;

use super::host::{Host, HostPattern};
use super::method::Method;
use super::path::{PathPattern, is_ambiguous};
use super::rule_error::RuleError;
use super::target::{Scheme, Target};

/// One rule: which methods on which URLs are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    source: String,
    methods: Methods,
    scheme: Scheme,
    host: HostPattern,
    port: PortPattern,
    path: PathPattern,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Methods {
    Any,
    Only(Vec<Method>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PortPattern {
    Any,
    Only(u16),
}

/// The first thing in which a request differs from a rule.
///
/// The order is the order of nearness: a later difference is a nearer rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The host is another one.
    Host,
    /// The scheme is the other one.
    Scheme,
    /// The port is another one.
    Port,
    /// The path is not covered.
    Path,
    /// The path is spelled in a way that servers disagree about.
    PathSpelling,
    /// The method is not listed.
    Method,
}

impl Rule {
    /// Parses a rule.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let shape = || RuleError::Shape(text.to_owned());
        let (methods, url) = text.split_once(' ').ok_or_else(shape)?;
        if methods.is_empty() || url.is_empty() || url.starts_with(' ') {
            return Err(shape());
        }
        let methods = Methods::parse(methods)?;
        let (scheme, rest) = url.split_once("://").ok_or_else(shape)?;
        let scheme = Scheme::parse(scheme).ok_or_else(|| RuleError::Scheme(scheme.to_owned()))?;
        let (authority, path) = split_path(text, rest)?;
        let (host, port) = split_port(authority)?;
        Ok(Self {
            source: text.to_owned(),
            methods,
            scheme,
            host: HostPattern::parse(host)?,
            port: PortPattern::parse(port, scheme)?,
            path: PathPattern::parse(path)?,
        })
    }

    /// Returns whether the rule allows `method` on `target`.
    pub fn covers(&self, method: &Method, target: &Target) -> bool {
        self.difference(method, target).is_none()
    }

    /// Returns in what a request differs from the rule, or `None` if it is covered.
    pub fn difference(&self, method: &Method, target: &Target) -> Option<Difference> {
        if !self.host.covers(target.host()) {
            return Some(Difference::Host);
        }
        if self.scheme != target.scheme() {
            return Some(Difference::Scheme);
        }
        if !self.port.covers(target.port()) {
            return Some(Difference::Port);
        }
        if !self.path.covers(target.path()) {
            return Some(Difference::Path);
        }
        if !self.path.is_every() && is_ambiguous(target.path()) {
            return Some(Difference::PathSpelling);
        }
        (!self.methods.covers(method)).then_some(Difference::Method)
    }

    /// Returns the address that the rule names as a literal.
    pub(super) fn literal(&self) -> Option<IpAddr> {
        match self.host {
            HostPattern::Exactly(Host::Ip(ip)) => Some(ip),
            _ => None,
        }
    }

    /// Returns whether the rule writes out `localhost`.
    pub(super) fn is_localhost(&self) -> bool {
        matches!(&self.host, HostPattern::Exactly(Host::Name(name)) if name == "localhost")
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "the host differs",
            Self::Scheme => "the scheme differs",
            Self::Port => "the port differs",
            Self::Path => "the path differs",
            Self::PathSpelling => {
                "the path hides a slash, a backslash, a NUL or a dot segment, \
                 about which servers disagree"
            }
            Self::Method => "the method differs",
        })
    }
}

impl Methods {
    fn parse(text: &str) -> Result<Self, RuleError> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let methods: Result<Vec<_>, _> = text.split('|').map(Method::parse).collect();
        Ok(Self::Only(methods?))
    }

    fn covers(&self, method: &Method) -> bool {
        match self {
            Self::Any => true,
            Self::Only(methods) => methods.contains(method),
        }
    }
}

impl PortPattern {
    fn parse(text: Option<&str>, scheme: Scheme) -> Result<Self, RuleError> {
        let Some(text) = text else {
            return Ok(Self::Only(scheme.default_port()));
        };
        if text == "*" {
            return Ok(Self::Any);
        }
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        match text.parse::<u16>() {
            Ok(port) if digits && port > 0 => Ok(Self::Only(port)),
            _ => Err(RuleError::Port(text.to_owned())),
        }
    }

    fn covers(self, port: u16) -> bool {
        match self {
            Self::Any => true,
            Self::Only(wanted) => wanted == port,
        }
    }
}

fn split_path<'a>(rule: &str, rest: &'a str) -> Result<(&'a str, &'a str), RuleError> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err(RuleError::Userinfo);
    }
    match path.chars().next() {
        Some('/') => Ok((authority, path)),
        Some(_) => Err(RuleError::Query(path.to_owned())),
        None => Err(RuleError::NoPath(rule.to_owned())),
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), RuleError> {
    let bad = || RuleError::Host(authority.to_owned());
    if authority.starts_with('[') {
        let end = authority.find(']').ok_or_else(bad)?;
        let (host, rest) = authority.split_at(end + 1);
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(bad()),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((authority, None)),
    }
}
