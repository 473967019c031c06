//! The cache in memory: as old as its run.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::quota::Usage;
use super::{CacheError, Namespace, Place, Quota, Store, text};

/// What all namespaces together may hold: many hooks, each with a quota, must
/// not use up the host's memory.
const BOUND: Quota = Quota {
    bytes: 64 << 20,
    keys: 100_000,
};

/// How many expired values a write removes on its way.
const PURGED_BY_THE_WAY: usize = 16;

/// How many expired values are removed at a time when there is no room.
const PURGED_FOR_ROOM: usize = 1024;

/// A store in memory.
#[derive(Default)]
pub struct Memory {
    // One lock is enough: what is done under it takes less than a microsecond,
    // as texts are written and read outside of it.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    spaces: HashMap<Namespace, Space>,
    expiring: BTreeSet<(Instant, Namespace, Arc<str>)>,
    usage: Usage,
}

#[derive(Default)]
struct Space {
    entries: HashMap<Arc<str>, Entry>,
    usage: Usage,
}

struct Entry {
    text: Arc<str>,
    expires: Option<Instant>,
}

impl Store for Memory {
    fn get(&self, place: &Place<'_>, key: &str) -> Result<Option<Value>, CacheError> {
        let found = self.lock().live(place.namespace, key, Instant::now());
        found
            .map(|text| text::read(key, text.as_bytes()))
            .transpose()
    }

    fn set(
        &self,
        place: &Place<'_>,
        key: &str,
        value: &Value,
        ttl: Option<Duration>,
    ) -> Result<(), CacheError> {
        let text = text::write(value)?;
        let now = Instant::now();
        self.lock().put(place, key, &text, end(now, ttl), now)
    }

    fn delete(&self, place: &Place<'_>, key: &str) -> Result<bool, CacheError> {
        let mut state = self.lock();
        let existed = state.live(place.namespace, key, Instant::now()).is_some();
        state.remove(place.namespace, key);
        Ok(existed)
    }

    fn increment(
        &self,
        place: &Place<'_>,
        key: &str,
        delta: i64,
        ttl: Option<Duration>,
    ) -> Result<i64, CacheError> {
        let now = Instant::now();
        let mut state = self.lock();
        let old = state.live(place.namespace, key, now);
        let sum = text::add(key, old.as_deref(), delta)?;
        let expires = match old {
            Some(_) => state.expiry(place.namespace, key),
            None => end(now, ttl),
        };
        state.put(place, key, &sum.to_string(), expires, now)?;
        Ok(sum)
    }

    fn compare_and_set(
        &self,
        place: &Place<'_>,
        key: &str,
        expected: Option<&Value>,
        value: &Value,
        ttl: Option<Duration>,
    ) -> Result<bool, CacheError> {
        let text = text::write(value)?;
        loop {
            let old = self.lock().live(place.namespace, key, Instant::now());
            if !text::is(key, old.as_deref(), expected)? {
                return Ok(false);
            }
            // The values were compared without the lock, so the text may be
            // another one by now. Then somebody else got on, and this tries again.
            let now = Instant::now();
            let mut state = self.lock();
            if state.live(place.namespace, key, now) == old {
                state.put(place, key, &text, end(now, ttl), now)?;
                return Ok(true);
            }
        }
    }
}

impl Memory {
    /// Every change is made whole before the lock is given back, so a panic
    /// elsewhere cannot leave half of one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values are not shown, as they may be secrets.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("usage", &self.lock().usage)
            .finish_non_exhaustive()
    }
}

/// Returns when a time to live ends, if it does before the clock does.
fn end(now: Instant, ttl: Option<Duration>) -> Option<Instant> {
    ttl.and_then(|ttl| now.checked_add(ttl))
}

impl State {
    fn live(&mut self, namespace: &Namespace, key: &str, now: Instant) -> Option<Arc<str>> {
        let entry = self.spaces.get(namespace)?.entries.get(key)?;
        if entry.expires.is_some_and(|at| at <= now) {
            self.remove(namespace, key);
            return None;
        }
        Some(Arc::clone(&entry.text))
    }

    fn expiry(&self, namespace: &Namespace, key: &str) -> Option<Instant> {
        self.spaces.get(namespace)?.entries.get(key)?.expires
    }

    fn put(
        &mut self,
        place: &Place<'_>,
        key: &str,
        text: &str,
        expires: Option<Instant>,
        now: Instant,
    ) -> Result<(), CacheError> {
        self.purge(now, PURGED_BY_THE_WAY);
        self.live(place.namespace, key, now);
        while let Err(error) = self.admit(place, key, text) {
            if self.purge(now, PURGED_FOR_ROOM) == 0 {
                return Err(error);
            }
        }
        self.remove(place.namespace, key);
        self.insert(place.namespace, key, text, expires);
        Ok(())
    }

    fn admit(&self, place: &Place<'_>, key: &str, text: &str) -> Result<(), CacheError> {
        let space = self.spaces.get(place.namespace);
        let usage = space.map_or_else(Usage::default, |space| space.usage);
        let old = space
            .and_then(|space| space.entries.get(key))
            .map(|entry| text::size(key, &entry.text));
        let new = text::size(key, text);
        if let Some(limit) = usage.refuses(usage.replace(old, new), place.quota) {
            return Err(limit.in_namespace(place.namespace, place.quota));
        }
        match self.usage.refuses(self.usage.replace(old, new), BOUND) {
            Some(limit) => Err(limit.in_store(BOUND)),
            None => Ok(()),
        }
    }

    fn insert(&mut self, namespace: &Namespace, key: &str, text: &str, expires: Option<Instant>) {
        let size = text::size(key, text);
        let key: Arc<str> = key.into();
        let text = text.into();
        if let Some(at) = expires {
            self.expiring
                .insert((at, namespace.clone(), Arc::clone(&key)));
        }
        self.usage = self.usage.replace(None, size);
        let space = self.spaces.entry(namespace.clone()).or_default();
        space.usage = space.usage.replace(None, size);
        space.entries.insert(key, Entry { text, expires });
    }

    fn remove(&mut self, namespace: &Namespace, key: &str) {
        let Some(space) = self.spaces.get_mut(namespace) else {
            return;
        };
        let Some((key, entry)) = space.entries.remove_entry(key) else {
            return;
        };
        let size = text::size(&key, &entry.text);
        self.usage = self.usage.without(size);
        space.usage = space.usage.without(size);
        if space.entries.is_empty() {
            self.spaces.remove(namespace);
        }
        if let Some(at) = entry.expires {
            self.expiring.remove(&(at, namespace.clone(), key));
        }
    }

    /// Removes some expired values and returns how many.
    fn purge(&mut self, now: Instant, most: usize) -> usize {
        for done in 0..most {
            let Some((_, namespace, key)) =
                self.expiring.first().filter(|due| due.0 <= now).cloned()
            else {
                return done;
            };
            self.remove(&namespace, &key);
        }
        most
    }
}
