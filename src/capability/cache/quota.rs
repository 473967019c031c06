//! How much may be stored, and how much is.

use super::{CacheError, Namespace};

/// What a namespace may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// How many bytes its keys and the JSON text of its values may have.
    pub bytes: u64,
    /// How many keys it may have.
    pub keys: u64,
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            bytes: 1 << 20,
            keys: 10_000,
        }
    }
}

/// What is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) bytes: u64,
    pub(super) keys: u64,
}

/// What there is too little room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Bytes,
    Keys,
}

impl Usage {
    /// Returns the usage after an entry took the place of an old one, if any.
    pub(super) fn replace(self, old: Option<u64>, new: u64) -> Self {
        let rest = old.map_or(self, |old| self.without(old));
        Self {
            bytes: rest.bytes.saturating_add(new),
            keys: rest.keys.saturating_add(1),
        }
    }

    /// Returns the usage after an entry was removed.
    pub(super) fn without(self, old: u64) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(old),
            keys: self.keys.saturating_sub(1),
        }
    }

    /// Returns which limit a change to `after` breaks. A change that needs no
    /// more room than before is never refused, even when a quota was lowered.
    pub(super) fn refuses(self, after: Self, quota: Quota) -> Option<Limit> {
        if after.bytes > quota.bytes && after.bytes > self.bytes {
            Some(Limit::Bytes)
        } else if after.keys > quota.keys && after.keys > self.keys {
            Some(Limit::Keys)
        } else {
            None
        }
    }
}

impl Limit {
    fn of(self, quota: Quota) -> String {
        match self {
            Self::Bytes => format!("{} bytes", quota.bytes),
            Self::Keys => format!("{} keys", quota.keys),
        }
    }

    /// Returns the error for a namespace without room.
    pub(super) fn in_namespace(self, namespace: &Namespace, quota: Quota) -> CacheError {
        CacheError::Quota(format!(
            "the cache namespace {:?} is full: it may hold {}; delete something, or raise `max` under `grant: cache:`",
            namespace.as_str(),
            self.of(quota),
        ))
    }

    /// Returns the error for a store without room.
    pub(super) fn in_store(self, bound: Quota) -> CacheError {
        CacheError::Quota(format!(
            "the cache is full: all its namespaces together may hold {}; delete something, or store values for a shorter time",
            self.of(bound),
        ))
    }
}
