//! Attacks on the door, and the rules it keeps.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod address;
mod child;
mod domains;
mod echo;
mod hostile;
mod networks;
mod parts;
mod props;
mod redirects;
mod requests;
mod reuse;
mod rules;
mod server;
mod spellings;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Door, Entry, HttpGrant, HttpLimits, Network, Request, Resolve, Response, Rule};
use super::{HttpError, Secrets};

/// An entry for `rule` and nothing else.
fn entry(rule: &str) -> Entry {
    Entry::new(Rule::parse(rule).unwrap())
}

/// An entry that may also reach the servers of these tests.
fn local(rule: &str) -> Entry {
    let networks = vec![Network::Loopback];
    Entry {
        networks,
        ..entry(rule)
    }
}

/// An entry that follows redirects to the servers of these tests.
fn following(rule: &str, redirects: u8) -> Entry {
    Entry {
        redirects,
        ..local(rule)
    }
}

fn grant(entries: Vec<Entry>) -> HttpGrant {
    HttpGrant { entries }
}

/// A resolver that knows exactly these names.
fn names(known: &[(&str, &[&str])]) -> Resolve {
    let parse = |ips: &[&str]| ips.iter().map(|ip| ip.parse().unwrap()).collect();
    let known: HashMap<String, Vec<IpAddr>> = known
        .iter()
        .map(|(name, ips)| ((*name).to_owned(), parse(ips)))
        .collect();
    Arc::new(move |name| {
        known
            .get(name)
            .cloned()
            .ok_or_else(|| std::io::Error::other("no such name"))
    })
}

/// A resolver by which every name is this machine.
fn everything_here() -> Resolve {
    Arc::new(|_| Ok(vec![IpAddr::from([127, 0, 0, 1])]))
}

fn no_secrets() -> Secrets {
    Arc::new(|_| None)
}

fn door(entries: Vec<Entry>, resolve: Resolve) -> Door {
    let limits = HttpLimits::default();
    Door::new(grant(entries), None, resolve, no_secrets(), limits)
}

/// A door with limits that a test can exceed quickly.
fn small_door(entries: Vec<Entry>) -> Door {
    let limits = HttpLimits {
        response_bytes: 256 * 1024,
        header_bytes: 8 * 1024,
        headers: 20,
        ..HttpLimits::default()
    };
    Door::new(
        grant(entries),
        None,
        everything_here(),
        no_secrets(),
        limits,
    )
}

fn get(url: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
        timeout: None,
    }
}

fn post(url: &str, body: &str) -> Request {
    Request {
        method: "POST".to_owned(),
        body: body.as_bytes().to_vec(),
        ..get(url)
    }
}

/// A request that gives up soon.
fn impatient(url: &str) -> Request {
    Request {
        timeout: Some(Duration::from_millis(300)),
        ..get(url)
    }
}

fn send(door: &Door, request: Request) -> Result<Response, HttpError> {
    door.send(request, Instant::now() + Duration::from_secs(60))
}

fn body(response: &Response) -> &str {
    std::str::from_utf8(&response.body).unwrap()
}

fn not_granted(result: Result<Response, HttpError>) -> String {
    match result {
        Err(HttpError::NotGranted(text)) => text,
        other => panic!("expected NotGranted, got {other:?}"),
    }
}

fn invalid(result: Result<Response, HttpError>) -> String {
    match result {
        Err(HttpError::InvalidRequest(text)) => text,
        other => panic!("expected InvalidRequest, got {other:?}"),
    }
}

fn timeout(result: Result<Response, HttpError>) -> String {
    match result {
        Err(HttpError::Timeout(text)) => text,
        other => panic!("expected Timeout, got {other:?}"),
    }
}

fn too_large(result: Result<Response, HttpError>) -> String {
    match result {
        Err(HttpError::TooLarge(text)) => text,
        other => panic!("expected TooLarge, got {other:?}"),
    }
}

fn failed(result: Result<Response, HttpError>) -> String {
    match result {
        Err(HttpError::Failed(text)) => text,
        other => panic!("expected Failed, got {other:?}"),
    }
}
