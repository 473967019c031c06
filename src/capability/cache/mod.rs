//! The cache that hooks reach through the host, and where it keeps its values.

mod disk;
mod import;
mod memory;
mod namespace;
mod quota;
mod redis;
mod text;
mod ttl;
mod view;

#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use disk::Disk;
pub use memory::Memory;
pub use namespace::{Namespace, NamespaceError};
pub use quota::Quota;
pub use redis::Redis;
pub use view::{Cache, Timed};

/// A call to the cache did nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum CacheError {
    /// There is no room.
    #[error("{0}")]
    Quota(String),
    /// The stored value cannot be counted up.
    #[error(
        "the value under {0:?} is not an integer that can be counted up; delete it, or use another key"
    )]
    NotAnInteger(String),
    /// The place where the values are kept cannot be reached, or not in time.
    #[error("the cache is not available: {0}")]
    Unavailable(String),
}

/// The namespace, its quota, and when the call has to be over.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The namespace that the key is in.
    pub namespace: &'a Namespace,
    /// What the namespace may hold.
    pub quota: Quota,
    /// When the call has to be over.
    pub until: Instant,
}

/// Where values are kept.
pub trait Store: Send + Sync + Debug {
    /// Returns a value.
    ///
    /// # Errors
    /// Returns that the store is not available.
    fn get(&self, place: &Place<'_>, key: &str) -> Result<Option<Value>, CacheError>;

    /// Stores a value, for some time if one is given.
    ///
    /// # Errors
    /// Returns which quota is used up, or that the store is not available.
    fn set(
        &self,
        place: &Place<'_>,
        key: &str,
        value: &Value,
        ttl: Option<Duration>,
    ) -> Result<(), CacheError>;

    /// Removes a value and says whether there was one.
    ///
    /// # Errors
    /// Returns that the store is not available.
    fn delete(&self, place: &Place<'_>, key: &str) -> Result<bool, CacheError>;

    /// Adds to an integer in one step and returns the sum; a new one starts
    /// at 0 and gets the time to live, an old one keeps its own.
    ///
    /// # Errors
    /// Returns that the value is not an integer or that the sum is too large,
    /// which quota is used up, or that the store is not available.
    fn increment(
        &self,
        place: &Place<'_>,
        key: &str,
        delta: i64,
        ttl: Option<Duration>,
    ) -> Result<i64, CacheError>;

    /// Stores a value in one step if the stored one is as expected, and says
    /// whether it was.
    ///
    /// # Errors
    /// Returns which quota is used up, or that the store is not available.
    fn compare_and_set(
        &self,
        place: &Place<'_>,
        key: &str,
        expected: Option<&Value>,
        value: &Value,
        ttl: Option<Duration>,
    ) -> Result<bool, CacheError>;
}
