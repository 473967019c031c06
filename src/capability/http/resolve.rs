//! Looks a name up once, within a deadline, and refuses addresses out of reach.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::error::HttpError;
use super::network::{Reach, refusal};

/// Looks up the addresses of a name.
pub type Resolve = Arc<dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync>;

/// The system's resolver cannot be stopped, so lookups that hang are counted.
const MOST_LOOKUPS: usize = 32;
/// The size of the list that the HTTP library takes.
const MOST_ADDRESSES: usize = 16;

/// Returns the resolver of the system.
pub fn system_resolver() -> Resolve {
    Arc::new(|name| {
        let found = (name, 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    })
}

/// Looks names up on threads of their own, a bounded number at a time.
#[derive(Clone)]
pub(super) struct Lookup {
    resolve: Resolve,
    running: Arc<AtomicUsize>,
}

impl Lookup {
    /// Wraps a resolver.
    pub(super) fn new(resolve: Resolve) -> Self {
        let running = Arc::default();
        Self { resolve, running }
    }

    fn addresses(&self, name: &str, within: Duration) -> Result<Vec<IpAddr>, HttpError> {
        let failed = |why: String| HttpError::Failed(format!("{name} cannot be resolved: {why}"));
        let slot = Slot::take(&self.running)
            .ok_or_else(|| failed("too many lookups hang; try again later".to_owned()))?;
        let (sender, receiver) = mpsc::sync_channel(1);
        let (resolve, owned) = (Arc::clone(&self.resolve), name.to_owned());
        thread::Builder::new()
            .name("hookbox-resolve".to_owned())
            .spawn(move || {
                let answer = resolve(&owned);
                drop(slot);
                // The receiver is gone if the deadline has passed; nobody needs the answer then.
                let _ = sender.send(answer);
            })
            .map_err(|e| failed(e.to_string()))?;
        match receiver.recv_timeout(within) {
            Ok(answer) => answer.map_err(|e| failed(e.to_string())),
            Err(mpsc::RecvTimeoutError::Timeout) => Err(HttpError::Timeout(format!(
                "{name} was not resolved within {within:.1?}"
            ))),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                Err(failed("the resolver stopped without an answer".to_owned()))
            }
        }
    }
}

/// One of the lookups that may run at a time; gives its place back when dropped.
struct Slot(Arc<AtomicUsize>);

impl Slot {
    fn take(running: &Arc<AtomicUsize>) -> Option<Self> {
        let next = |count| (count < MOST_LOOKUPS).then_some(count + 1);
        running
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
            .ok()?;
        Some(Self(Arc::clone(running)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Resolves for one entry of a grant and lets only allowed addresses through.
///
/// The HTTP library asks it once per request and connects to nothing but its
/// answer, so there is no second lookup that could answer differently.
pub(super) struct CheckedResolver {
    pub(super) lookup: Lookup,
    pub(super) reach: Reach,
    pub(super) rule: String,
}

impl CheckedResolver {
    fn checked(&self, host: &str, within: Duration) -> Result<Vec<IpAddr>, HttpError> {
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        let found = match literal.parse::<IpAddr>() {
            Ok(ip) => vec![ip],
            Err(_) => self.lookup.addresses(host, within)?,
        };
        if let Some(ip) = found.iter().find(|ip| !self.reach.allows(**ip)) {
            return Err(HttpError::NotGranted(refusal(host, *ip, &self.rule)));
        }
        if found.is_empty() {
            return Err(HttpError::Failed(format!("{host} has no address")));
        }
        Ok(found)
    }
}

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().ok_or(Error::HostNotFound)?;
        let port = match (uri.port_u16(), uri.scheme_str()) {
            (Some(port), _) => port,
            (None, Some("https")) => 443,
            (None, _) => 80,
        };
        let found = self
            .checked(host, *timeout.after)
            .map_err(|e| Error::Other(Box::new(e)))?;
        let mut addresses = self.empty();
        for ip in found.into_iter().take(MOST_ADDRESSES) {
            addresses.push(SocketAddr::new(ip, port));
        }
        Ok(addresses)
    }
}

impl fmt::Debug for CheckedResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedResolver")
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}
