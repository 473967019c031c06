//! The cache in a Redis or Valkey server.
//!
//! A namespace is three keys of the server: a hash of texts, a sorted set of
//! the milliseconds at which some of them expire, and the bytes they have. The
//! server should not evict keys (`maxmemory-policy noeviction`): an evicted
//! set of expiries would make its values stay.

mod link;
mod pool;
mod scripts;
mod tls;

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use self::pool::Pool;
use self::scripts::{Reply, Script};
use super::{CacheError, Place, Store, text, ttl};

/// How often a swap is tried when others write the same value differently.
const TRIES: usize = 8;

/// A store in a Redis or Valkey server.
pub struct Redis {
    pool: Pool,
}

impl Redis {
    /// Returns the store in the server of a URL, without a connection to it.
    ///
    /// # Errors
    /// Returns that the URL cannot be read, or asks for what is not supported.
    pub fn open(url: &str) -> Result<Self, CacheError> {
        let pool = Pool::new(url)?;
        Ok(Self { pool })
    }

    fn run(
        &self,
        place: &Place<'_>,
        script: &Script,
        arguments: &[&[u8]],
    ) -> Result<Reply, CacheError> {
        let call = script.call(place.namespace, arguments);
        self.pool.run(&call, place.until)
    }
}

/// The URL is not shown, as it may have a password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("server", &self.pool.server())
            .finish_non_exhaustive()
    }
}

/// The last arguments of each script that stores: time to live and quota.
struct Terms {
    ttl: String,
    bytes: String,
    keys: String,
}

impl Terms {
    fn new(place: &Place<'_>, ttl: Option<Duration>) -> Self {
        Self {
            ttl: ttl::millis(ttl).map_or_else(String::new, |millis| millis.to_string()),
            bytes: place.quota.bytes.to_string(),
            keys: place.quota.keys.to_string(),
        }
    }

    fn after<'a>(&'a self, arguments: &[&'a [u8]]) -> Vec<&'a [u8]> {
        let terms = [&self.ttl, &self.bytes, &self.keys];
        let terms = terms.into_iter().map(String::as_bytes);
        arguments.iter().copied().chain(terms).collect()
    }
}

/// Returns the error for a reply that says that nothing was done.
fn refusal(place: &Place<'_>, key: &str, reply: &Reply) -> CacheError {
    match reply {
        Reply::Full(limit) => limit.in_namespace(place.namespace, place.quota),
        Reply::NotAnInteger => text::not_an_integer(key),
        Reply::Done(_) | Reply::Other(_) => CacheError::Unavailable(
            "the redis server gave an answer that makes no sense; check that it is redis 7 or valkey"
                .to_owned(),
        ),
    }
}

fn contended() -> CacheError {
    CacheError::Unavailable(format!(
        "others changed the value {TRIES} times while it was compared; try again"
    ))
}

impl Store for Redis {
    fn get(&self, place: &Place<'_>, key: &str) -> Result<Option<Value>, CacheError> {
        match self.run(place, &scripts::GET, &[key.as_bytes()])? {
            Reply::Done(found) => found.map(|text| text::read(key, &text)).transpose(),
            reply => Err(refusal(place, key, &reply)),
        }
    }

    fn set(
        &self,
        place: &Place<'_>,
        key: &str,
        value: &Value,
        ttl: Option<Duration>,
    ) -> Result<(), CacheError> {
        let text = text::write(value)?;
        let terms = Terms::new(place, ttl);
        let arguments = terms.after(&[key.as_bytes(), text.as_bytes()]);
        match self.run(place, &scripts::SET, &arguments)? {
            Reply::Done(_) => Ok(()),
            reply => Err(refusal(place, key, &reply)),
        }
    }

    fn delete(&self, place: &Place<'_>, key: &str) -> Result<bool, CacheError> {
        match self.run(place, &scripts::DELETE, &[key.as_bytes()])? {
            Reply::Done(existed) => Ok(existed.is_some()),
            reply => Err(refusal(place, key, &reply)),
        }
    }

    fn increment(
        &self,
        place: &Place<'_>,
        key: &str,
        delta: i64,
        ttl: Option<Duration>,
    ) -> Result<i64, CacheError> {
        let delta = delta.to_string();
        let terms = Terms::new(place, ttl);
        let arguments = terms.after(&[key.as_bytes(), delta.as_bytes()]);
        let reply = self.run(place, &scripts::INCREMENT, &arguments)?;
        let Reply::Done(Some(sum)) = &reply else {
            return Err(refusal(place, key, &reply));
        };
        let sum = std::str::from_utf8(sum)
            .ok()
            .and_then(|sum| sum.parse().ok());
        sum.ok_or_else(|| refusal(place, key, &reply))
    }

    /// The script compares texts. It first tries the text that this crate
    /// writes, so one round trip is enough unless the same value is stored in
    /// other words.
    fn compare_and_set(
        &self,
        place: &Place<'_>,
        key: &str,
        expected: Option<&Value>,
        value: &Value,
        ttl: Option<Duration>,
    ) -> Result<bool, CacheError> {
        let text = text::write(value)?;
        let terms = Terms::new(place, ttl);
        let mut known = expected.map(|value| value.to_string().into_bytes());
        for _ in 0..TRIES {
            // No JSON text is empty, so nothing can stand for no value.
            let known_text = known.as_deref().unwrap_or_default();
            let arguments = terms.after(&[key.as_bytes(), text.as_bytes(), known_text]);
            match self.run(place, &scripts::SWAP, &arguments)? {
                Reply::Done(_) => return Ok(true),
                Reply::Other(None) => return Ok(false),
                Reply::Other(Some(stored)) => {
                    if expected != Some(&text::read(key, &stored)?) {
                        return Ok(false);
                    }
                    known = Some(stored);
                }
                reply => return Err(refusal(place, key, &reply)),
            }
        }
        Err(contended())
    }
}
