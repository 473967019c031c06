//! Looks at who asks, before anything else is looked at.

use hyper::header::{AUTHORIZATION, HOST, ORIGIN};
use hyper::http::request::Parts;

use super::fault::Fault;
use super::token::Token;
use super::{VERSION, VERSION_HEADER};

/// How a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    /// The Unix socket: only the user can open it.
    Socket,
    /// Loopback: everybody on this machine can, and so can what their browsers show.
    Port,
}

/// The names that loopback has. A page that has its own name lead here still says its own.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

pub(super) fn check(request: &Parts, via: Via, token: &Token) -> Result<(), Fault> {
    if request.headers.contains_key(ORIGIN) {
        return Err(Fault::Origin);
    }
    if via == Via::Port {
        check_host(request)?;
    }
    let mut given = request.headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (given.next(), given.next()) else {
        return Err(Fault::Token);
    };
    let bearer = only
        .as_bytes()
        .split_at_checked(7)
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
    if !bearer.is_some_and(|(_, given)| token.is(given.trim_ascii())) {
        return Err(Fault::Token);
    }
    match request.headers.get(VERSION_HEADER) {
        Some(asked) if asked.as_bytes() != VERSION.as_bytes() => Err(Fault::Version {
            own: VERSION,
            asked: String::from_utf8_lossy(asked.as_bytes()).into_owned(),
        }),
        _ => Ok(()),
    }
}

fn check_host(request: &Parts) -> Result<(), Fault> {
    let headers = request.headers.get_all(HOST).iter();
    let mut said: Vec<String> = headers
        .map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned())
        .collect();
    said.extend(request.uri.authority().map(ToString::to_string));
    let foreign = said.iter().find(|host| !is_own(host));
    match foreign {
        Some(foreign) => Err(Fault::Host(foreign.clone())),
        None if said.is_empty() => Err(Fault::Host(String::new())),
        None => Ok(()),
    }
}

fn is_own(host: &str) -> bool {
    NAMES.iter().any(|name| {
        let rest = host
            .split_at_checked(name.len())
            .filter(|(start, _)| start.eq_ignore_ascii_case(name));
        rest.is_some_and(|(_, rest)| {
            let port = rest.strip_prefix(':');
            rest.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_ok())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn only_names_of_loopback_are_answered() {
        for own in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1:4711",
            "[::1]",
            "[::1]:1",
        ] {
            assert!(is_own(own), "{own}");
        }
        for foreign in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.nip.io",
            "127.0.0.1@example.com",
            "localhost:x",
            "localhost:",
            "[::1",
            "10.0.0.1",
        ] {
            assert!(!is_own(foreign), "{foreign}");
        }
    }
}
