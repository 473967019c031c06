//! The connections to a server.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ::redis::{ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};

use super::super::CacheError;
use super::link::{Failure, Link};
use super::scripts::{Call, Reply};
use super::tls::Tls;

/// How many connections are kept.
const KEPT: usize = 16;

/// How many lookups of the server's address may hang at a time.
const LOOKUPS: usize = 16;

/// The connections to a server that nobody uses right now.
pub(super) struct Pool {
    host: String,
    port: u16,
    settings: RedisConnectionInfo,
    secure: bool,
    tls: OnceLock<Result<Tls, String>>,
    idle: Mutex<Vec<Link>>,
    lookups: Arc<AtomicUsize>,
}

impl Pool {
    /// Reads a URL. It is not part of an error, as it may have a password.
    pub(super) fn new(url: &str) -> Result<Self, CacheError> {
        let (url, secure) = without_tls(url);
        let info = url
            .as_str()
            .into_connection_info()
            .map_err(|_| unreadable())?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(unsupported("a connection that is not over TCP"));
        };
        Ok(Self {
            host: host.clone(),
            port: *port,
            settings: info.redis_settings().clone(),
            secure,
            tls: OnceLock::new(),
            idle: Mutex::default(),
            lookups: Arc::default(),
        })
    }

    /// Starts a TLS session, if the URL asks for one.
    fn session(&self) -> Result<Option<Box<rustls::ClientConnection>>, Failure> {
        if !self.secure {
            return Ok(None);
        }
        let tls = self.tls.get_or_init(|| Tls::new(&self.host));
        let session = tls.as_ref().map_err(Clone::clone).and_then(Tls::session);
        session
            .map(Some)
            .map_err(|why| Failure::Lost(format!("TLS cannot be spoken with it ({why})")))
    }

    /// Returns the host and the port of the server.
    pub(super) fn server(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Runs a script on a connection of its own.
    pub(super) fn run(&self, call: &Call<'_>, until: Instant) -> Result<Reply, CacheError> {
        let run = || {
            let mut link = match self.take() {
                Some(link) => link,
                None => self.connect(until)?,
            };
            let reply = link.run(call, until)?;
            self.keep(link);
            Ok(reply)
        };
        run().map_err(|failure| self.unavailable(&failure))
    }

    /// Returns a connection that the server has not closed since its last use.
    fn take(&self) -> Option<Link> {
        loop {
            let link = self.idle().pop()?;
            if link.is_quiet() {
                return Some(link);
            }
        }
    }

    fn keep(&self, link: Link) {
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(link);
        }
    }

    /// A connection is put there or taken away whole, so a panic elsewhere
    /// cannot leave half of one.
    fn idle(&self) -> MutexGuard<'_, Vec<Link>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self, until: Instant) -> Result<Link, Failure> {
        let addresses = self.addresses(until)?;
        let mut failure = Failure::Lost("its name has no address".to_owned());
        for (index, address) in addresses.iter().enumerate() {
            // Each address gets its share of the time, so that one that does
            // not answer leaves some for the next.
            let others = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
            let share = left(until) / others;
            if share.is_zero() {
                break;
            }
            match TcpStream::connect_timeout(address, share) {
                Ok(stream) => return Link::new(stream, self.session()?, &self.settings, until),
                Err(error) => failure = Failure::Lost(format!("it cannot be reached ({error})")),
            }
        }
        Err(failure)
    }

    /// Looks up the addresses on a thread of its own, as the system's lookup
    /// cannot be told when to stop.
    fn addresses(&self, until: Instant) -> Result<Vec<SocketAddr>, Failure> {
        if let Ok(address) = self.host.parse::<IpAddr>() {
            return Ok(vec![(address, self.port).into()]);
        }
        let slow = || Failure::Lost("the lookup of its name takes too long".to_owned());
        if self.lookups.fetch_add(1, Ordering::Relaxed) >= LOOKUPS {
            self.lookups.fetch_sub(1, Ordering::Relaxed);
            return Err(slow());
        }
        let (send, receive) = mpsc::sync_channel(1);
        let (host, port, lookups) = (self.host.clone(), self.port, Arc::clone(&self.lookups));
        let lookup = move || {
            let found = (host.as_str(), port)
                .to_socket_addrs()
                .map(Iterator::collect);
            lookups.fetch_sub(1, Ordering::Relaxed);
            // Whoever asked may have given up.
            let _ = send.send(found);
        };
        if let Err(error) = thread::Builder::new().spawn(lookup) {
            self.lookups.fetch_sub(1, Ordering::Relaxed);
            return Err(unknown(&error));
        }
        let found = receive.recv_timeout(left(until)).map_err(|_| slow())?;
        found.map_err(|error| unknown(&error))
    }

    fn unavailable(&self, failure: &Failure) -> CacheError {
        let server = self.server();
        CacheError::Unavailable(match failure {
            Failure::Lost(why) => {
                format!("the redis server {server} is lost: {why}; check that it runs")
            }
            Failure::Server(why) => {
                format!("the redis server {server} failed: {why}; check its settings")
            }
            Failure::Login => format!(
                "the redis server {server} refused the login; check the user name and the password in the url"
            ),
        })
    }
}

/// Tells a URL that asks for TLS, which is spoken here and not in the library that
/// reads the URL.
fn without_tls(url: &str) -> (String, bool) {
    for (secure, plain) in [("rediss://", "redis://"), ("valkeys://", "valkey://")] {
        if let Some(rest) = url.strip_prefix(secure) {
            return (format!("{plain}{rest}"), true);
        }
    }
    (url.to_owned(), false)
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

fn unknown(error: &io::Error) -> Failure {
    Failure::Lost(format!("its name cannot be looked up ({error})"))
}

fn unreadable() -> CacheError {
    CacheError::Unavailable(
        "the redis url cannot be read; write it as `redis://user:password@host:port/database`"
            .to_owned(),
    )
}

fn unsupported(what: &str) -> CacheError {
    CacheError::Unavailable(format!(
        "the redis url asks for {what}, which is not supported; write it as `redis://user:password@host:port/database`"
    ))
}
