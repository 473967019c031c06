//! What can be wrong with a rule, and what to write instead.

use std::net::IpAddr;

use super::method::MethodError;

const SHAPE: &str = "write it like `GET https://api.example.com/v1/*`";

/// Says what is wrong with a rule of `grant: http:`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It is not methods, one space and a URL.
    #[error("the rule {0:?} is not methods, one space and a URL; {SHAPE}")]
    Shape(String),
    /// One of the methods cannot be used.
    #[error("the rule names a wrong method: {0}; join several with `|`, or write `*` for any")]
    Method(#[from] MethodError),
    /// The scheme is neither `http` nor `https`.
    #[error("the scheme {0:?} is neither `http` nor `https`; {SHAPE}")]
    Scheme(String),
    /// The URL carries a user name or a password.
    #[error("the rule has a user name before the host; drop everything up to the `@`")]
    Userinfo,
    /// The host is not a legal name or address.
    #[error("{0:?} is not a host; write a name, `*.name`, `*`, `127.0.0.1` or `[::1]`")]
    Host(String),
    /// A star stands where it cannot.
    #[error("the `*` in the host {0:?} is at a wrong place; only `*` and `*.name` are possible")]
    HostStar(String),
    /// An address is spelled in an unusual way.
    #[error("{0:?} is an unusual spelling of an address; write `{1}`")]
    OddAddress(String, IpAddr),
    /// An address that nobody can grant.
    #[error("{0} is a multicast, broadcast or unspecified address, which can never be granted")]
    NeverGranted(IpAddr),
    /// The port is not a number from 1 to 65535.
    #[error("the port {0:?} is not a number from 1 to 65535; write one, or `*` for any port")]
    Port(String),
    /// There is no path.
    #[error("the rule {0:?} has no path; end it with `/*` to allow every path")]
    NoPath(String),
    /// The path is not written the way it is compared.
    #[error(
        "the path {0:?} has white space, a backslash, a dot segment or an encoded slash; \
         write it as the server sees it, with `*` for any run of characters"
    )]
    Path(String),
    /// The rule has a query or a fragment.
    #[error("the rule has a query or a fragment in {0:?}; drop it, every query is allowed")]
    Query(String),
}
