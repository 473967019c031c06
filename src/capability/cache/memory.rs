//! The cache in memory: as old as its run, shared with the host's own tools.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How much a run may store, keys and values together.
const MAX_BYTES: usize = 16 << 20;

/// How many values a run may store.
const MAX_KEYS: usize = 10_000;

/// A key-value store in memory.
#[derive(Debug, Default)]
pub struct Cache {
    entries: Mutex<Entries>,
}

/// A value was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// There is no room.
    #[error("the cache is full: {0}")]
    Quota(String),
    /// The stored value cannot be counted up.
    #[error("the value under {0:?} is not an integer that can be counted up")]
    NotAnInteger(String),
}

#[derive(Debug, Default)]
struct Entries {
    map: HashMap<String, Stored>,
    bytes: usize,
}

#[derive(Debug)]
struct Stored {
    value: Value,
    bytes: usize,
    expires: Option<Instant>,
}

impl Cache {
    /// Returns a value.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        self.lock().live(key).cloned()
    }

    /// Stores a value, for some time if one is given.
    ///
    /// # Errors
    /// Returns which quota is used up.
    pub fn set(&self, key: &str, value: Value, ttl: Option<Duration>) -> Result<(), CacheError> {
        self.lock().put(key, value, ttl)
    }

    /// Removes a value and says whether there was one.
    pub fn delete(&self, key: &str) -> bool {
        let mut entries = self.lock();
        let existed = entries.live(key).is_some();
        entries.remove(key);
        existed
    }

    /// Adds to an integer in one step and returns the sum.
    ///
    /// # Errors
    /// Returns that the value is not an integer, or which quota is used up.
    pub fn increment(&self, key: &str, delta: i64) -> Result<i64, CacheError> {
        let mut entries = self.lock();
        let old = match entries.live(key) {
            None => Some(0),
            Some(value) => value.as_i64(),
        };
        let sum = old
            .and_then(|old| old.checked_add(delta))
            .ok_or_else(|| CacheError::NotAnInteger(key.to_owned()))?;
        let ttl = entries.time_left(key);
        entries.put(key, sum.into(), ttl)?;
        Ok(sum)
    }

    /// Stores a value in one step if the stored one is as expected.
    ///
    /// # Errors
    /// Returns which quota is used up.
    pub fn compare_and_set(
        &self,
        key: &str,
        expected: Option<&Value>,
        value: Value,
    ) -> Result<bool, CacheError> {
        let mut entries = self.lock();
        if entries.live(key) != expected {
            return Ok(false);
        }
        entries.put(key, value, None)?;
        Ok(true)
    }

    /// Every change is made whole before the lock is given back, so a panic
    /// elsewhere cannot leave half of one.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn live(&mut self, key: &str) -> Option<&Value> {
        let expired = self
            .map
            .get(key)
            .is_some_and(|stored| stored.expires.is_some_and(|at| at <= Instant::now()));
        if expired {
            self.remove(key);
        }
        self.map.get(key).map(|stored| &stored.value)
    }

    fn time_left(&self, key: &str) -> Option<Duration> {
        let expires = self.map.get(key)?.expires?;
        Some(expires.saturating_duration_since(Instant::now()))
    }

    fn put(&mut self, key: &str, value: Value, ttl: Option<Duration>) -> Result<(), CacheError> {
        let bytes = key.len() + value.to_string().len();
        let before = self.map.get(key).map_or(0, |stored| stored.bytes);
        let total = self.bytes - before + bytes;
        if total > MAX_BYTES {
            return Err(CacheError::Quota(format!(
                "a run may store {MAX_BYTES} bytes"
            )));
        }
        if before == 0 && self.map.len() >= MAX_KEYS {
            return Err(CacheError::Quota(format!(
                "a run may store {MAX_KEYS} values"
            )));
        }
        self.bytes = total;
        let expires = ttl.and_then(|ttl| Instant::now().checked_add(ttl));
        self.map.insert(
            key.to_owned(),
            Stored {
                value,
                bytes,
                expires,
            },
        );
        Ok(())
    }

    fn remove(&mut self, key: &str) {
        if let Some(stored) = self.map.remove(key) {
            self.bytes -= stored.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_set_is_there_until_it_is_deleted() {
        let cache = Cache::default();
        assert_eq!(cache.get("a"), None);
        cache.set("a", json!({"n": [1, "é"]}), None).unwrap();
        assert_eq!(cache.get("a"), Some(json!({"n": [1, "é"]})));
        assert!(cache.delete("a"));
        assert!(!cache.delete("a"));
    }

    #[test]
    fn what_has_expired_is_gone() {
        let cache = Cache::default();
        cache.set("a", json!(1), Some(Duration::ZERO)).unwrap();
        assert_eq!(cache.get("a"), None);
        cache
            .set("b", json!(1), Some(Duration::from_secs(3600)))
            .unwrap();
        assert_eq!(cache.increment("b", 1), Ok(2));
        assert!(cache.lock().time_left("b").is_some());
    }

    #[test]
    fn counting_and_swapping_are_one_step() {
        let cache = Cache::default();
        assert_eq!(cache.increment("n", 2), Ok(2));
        cache.set("s", json!("text"), None).unwrap();
        assert!(cache.increment("s", 1).is_err());
        assert_eq!(
            cache.compare_and_set("n", Some(&json!(2)), json!(9)),
            Ok(true)
        );
        assert_eq!(
            cache.compare_and_set("n", Some(&json!(2)), json!(7)),
            Ok(false)
        );
        assert_eq!(cache.compare_and_set("new", None, json!(1)), Ok(true));
        assert_eq!(cache.get("n"), Some(json!(9)));
    }

    #[test]
    fn the_quota_counts_what_is_there_now() {
        let cache = Cache::default();
        let big = Value::from("x".repeat(MAX_BYTES / 2));
        for _ in 0..3 {
            cache.set("a", big.clone(), None).unwrap();
        }
        assert!(matches!(
            cache.set("b", big.clone(), None),
            Err(CacheError::Quota(_))
        ));
        cache.delete("a");
        cache.set("b", big, None).unwrap();
    }
}
