//! One namespace of a store, as a hook or a tool of the host sees it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{CacheError, Namespace, Place, Quota, Store};

/// How long the host's own tools wait for a store.
const PATIENCE: Duration = Duration::from_secs(5);

/// A key-value store with a quota.
#[derive(Debug, Clone)]
pub struct Cache {
    store: Arc<dyn Store>,
    namespace: Namespace,
    quota: Quota,
    ttl: Option<Duration>,
}

impl Cache {
    /// Opens a namespace of a store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, namespace: Namespace) -> Self {
        Self {
            store,
            namespace,
            quota: Quota::default(),
            ttl: None,
        }
    }

    /// Says how much it may hold.
    #[must_use]
    pub fn with_quota(mut self, quota: Quota) -> Self {
        self.quota = quota;
        self
    }

    /// Says how long a value stays at most.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Option<Duration>) -> Self {
        self.ttl = ttl;
        self
    }

    /// Returns the same with a moment at which every call has to be over.
    #[must_use]
    pub fn until(&self, until: Instant) -> Timed<'_> {
        Timed { cache: self, until }
    }

    fn patiently(&self) -> Timed<'_> {
        self.until(Instant::now() + PATIENCE)
    }

    /// Returns a value.
    ///
    /// # Errors
    /// Returns that the store is not available.
    pub fn get(&self, key: &str) -> Result<Option<Value>, CacheError> {
        self.patiently().get(key)
    }

    /// Stores a value, for some time if one is given.
    ///
    /// # Errors
    /// Returns which quota is used up, or that the store is not available.
    pub fn set(&self, key: &str, value: &Value, ttl: Option<Duration>) -> Result<(), CacheError> {
        self.patiently().set(key, value, ttl)
    }

    /// Removes a value and says whether there was one.
    ///
    /// # Errors
    /// Returns that the store is not available.
    pub fn delete(&self, key: &str) -> Result<bool, CacheError> {
        self.patiently().delete(key)
    }

    /// Adds to an integer in one step and returns the sum.
    ///
    /// # Errors
    /// Returns that the value is not an integer, which quota is used up, or that
    /// the store is not available.
    pub fn increment(
        &self,
        key: &str,
        delta: i64,
        ttl: Option<Duration>,
    ) -> Result<i64, CacheError> {
        self.patiently().increment(key, delta, ttl)
    }

    /// Stores a value in one step if the stored one is as expected.
    ///
    /// # Errors
    /// Returns which quota is used up, or that the store is not available.
    pub fn compare_and_set(
        &self,
        key: &str,
        expected: Option<&Value>,
        value: &Value,
        ttl: Option<Duration>,
    ) -> Result<bool, CacheError> {
        self.patiently().compare_and_set(key, expected, value, ttl)
    }
}

/// A cache with a moment at which every call has to be over.
#[derive(Debug, Clone, Copy)]
pub struct Timed<'a> {
    cache: &'a Cache,
    until: Instant,
}

impl Timed<'_> {
    /// Returns a value.
    ///
    /// # Errors
    /// Returns that the store is not available.
    pub fn get(&self, key: &str) -> Result<Option<Value>, CacheError> {
        self.cache.store.get(&self.place(), key)
    }

    /// Stores a value, for some time if one is given.
    ///
    /// # Errors
    /// Returns which quota is used up, or that the store is not available.
    pub fn set(&self, key: &str, value: &Value, ttl: Option<Duration>) -> Result<(), CacheError> {
        let ttl = self.shorter(ttl);
        self.cache.store.set(&self.place(), key, value, ttl)
    }

    /// Removes a value and says whether there was one.
    ///
    /// # Errors
    /// Returns that the store is not available.
    pub fn delete(&self, key: &str) -> Result<bool, CacheError> {
        self.cache.store.delete(&self.place(), key)
    }

    /// Adds to an integer in one step and returns the sum.
    ///
    /// # Errors
    /// Returns that the value is not an integer, which quota is used up, or that
    /// the store is not available.
    pub fn increment(
        &self,
        key: &str,
        delta: i64,
        ttl: Option<Duration>,
    ) -> Result<i64, CacheError> {
        let ttl = self.shorter(ttl);
        self.cache.store.increment(&self.place(), key, delta, ttl)
    }

    /// Stores a value in one step if the stored one is as expected.
    ///
    /// # Errors
    /// Returns which quota is used up, or that the store is not available.
    pub fn compare_and_set(
        &self,
        key: &str,
        expected: Option<&Value>,
        value: &Value,
        ttl: Option<Duration>,
    ) -> Result<bool, CacheError> {
        let ttl = self.shorter(ttl);
        let store = &self.cache.store;
        store.compare_and_set(&self.place(), key, expected, value, ttl)
    }

    fn place(&self) -> Place<'_> {
        Place {
            namespace: &self.cache.namespace,
            quota: self.cache.quota,
            until: self.until,
        }
    }

    /// No value stays longer than the grant says.
    fn shorter(&self, ttl: Option<Duration>) -> Option<Duration> {
        match (ttl, self.cache.ttl) {
            (Some(asked), Some(most)) => Some(asked.min(most)),
            (asked, most) => asked.or(most),
        }
    }
}
