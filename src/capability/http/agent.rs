//! One HTTP client for each entry of a grant.
//!
//! The client keeps connections alive and hands one out again only for the
//! same scheme, host and port. Entries do not share a client, because an idle
//! connection was checked against the networks of one entry only.

use std::time::Duration;

use ureq::Agent;
use ureq::config::Config;
use ureq::unversioned::transport::Connector;

use super::grant::Entry;
use super::limits::HttpLimits;
use super::meter::MeterConnector;
use super::resolve::{CheckedResolver, Lookup};
use super::socket::SocketConnector;
use super::tls::{SharedTls, settings};

const IDLE_CONNECTIONS: usize = 4;
const IDLE_AGE: Duration = Duration::from_secs(15);
const USER_AGENT: &str = concat!("hookbox/", env!("CARGO_PKG_VERSION"));

/// Builds the client for one entry.
pub(super) fn build(entry: &Entry, lookup: &Lookup, tls: &SharedTls, limits: &HttpLimits) -> Agent {
    let meter = MeterConnector {
        most: limits.wire_bytes(),
        head: limits.header_bytes,
    };
    let connector = ().chain(SocketConnector).chain(tls.clone()).chain(meter);
    let resolver = CheckedResolver {
        lookup: lookup.clone(),
        reach: entry.reach(),
        rule: entry.rule.to_string(),
    };
    Agent::with_parts(config(limits), connector, resolver)
}

fn config(limits: &HttpLimits) -> Config {
    Agent::config_builder()
        .http_status_as_error(false)
        .https_only(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        // The library reads HTTP_PROXY and its kin unless told otherwise, and a
        // proxy would resolve and connect without any of the checks.
        .proxy(None)
        .tls_config(settings())
        .user_agent(USER_AGENT)
        .allow_non_standard_methods(true)
        // After an interim response the library takes everything in the buffer
        // for the head, so the buffer must not be larger than a head may be.
        .max_response_header_size(limits.header_bytes)
        .input_buffer_size(limits.header_bytes)
        .timeout_global(Some(limits.timeout))
        .max_idle_connections(IDLE_CONNECTIONS)
        .max_idle_connections_per_host(IDLE_CONNECTIONS)
        .max_idle_age(IDLE_AGE)
        .build()
}
