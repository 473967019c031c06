//! The cache in a file that several processes share.
//!
//! No process keeps the file open: each call takes a lock, opens the file,
//! makes one transaction, and closes it again.

mod files;
mod tables;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use redb::{Builder, ReadableDatabase};
use serde_json::Value;

use self::files::{Files, Lock};
use self::tables::{Fault, Tables};
use super::{CacheError, Place, Quota, Store, text, ttl};

/// What all namespaces of a file together may hold.
const BOUND: Quota = Quota {
    bytes: 1 << 30,
    keys: 1_000_000,
};

/// How much memory a call may use for pages of the file.
const PAGES_IN_MEMORY: usize = 8 << 20;

/// A store in a file.
#[derive(Debug)]
pub struct Disk {
    files: Files,
    bound: Quota,
}

impl Disk {
    /// Returns the store in a file, which is made when it is first written to.
    ///
    /// # Errors
    /// Returns that the directory or the lock file beside it cannot be made.
    pub fn open(path: &Path) -> Result<Self, CacheError> {
        Self::with_bound(path, BOUND)
    }

    pub(super) fn with_bound(path: &Path, bound: Quota) -> Result<Self, CacheError> {
        let files = Files::new(path)?;
        Ok(Self { files, bound })
    }

    /// Reads without a write to the file, unless it has to be repaired first.
    fn read(&self, place: &Place<'_>, key: &str) -> Result<Option<String>, CacheError> {
        let lock = self.files.lock(Lock::Shared, place.until)?;
        if !self.files.exist() {
            return Ok(None);
        }
        let looked = contained(|| {
            let database = builder().open_read_only(self.files.database())?;
            tables::look(&database.begin_read()?, place, key)
        });
        drop(lock);
        match looked {
            Err(fault) if fault.is_unclean() => self.write(place, |tables| {
                Ok(tables.live(place, key)?.map(|row| row.text))
            }),
            looked => looked.map_err(|fault| self.files.fault(fault)),
        }
    }

    fn write<T>(
        &self,
        place: &Place<'_>,
        change: impl FnOnce(&mut Tables<'_>) -> Result<T, Fault>,
    ) -> Result<T, CacheError> {
        let _lock = self.files.lock(Lock::Exclusive, place.until)?;
        contained(|| self.transact(change)).map_err(|fault| self.files.fault(fault))
    }

    fn transact<T>(
        &self,
        change: impl FnOnce(&mut Tables<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if !self.files.exist() {
            self.files.create(|file| {
                let transaction = builder().create_file(file)?.begin_write()?;
                drop(Tables::open(&transaction, self.bound)?);
                Ok(transaction.commit()?)
            })?;
        }
        let database = builder().open(self.files.database())?;
        let mut transaction = database.begin_write()?;
        // A process may be killed at any moment, and the next one has no time
        // to check a large file. This also commits in two phases, so that
        // values chosen to collide in checksums cannot pass for a commit.
        transaction.set_quick_repair(true);
        let mut tables = Tables::open(&transaction, self.bound)?;
        let result = change(&mut tables);
        let changed = tables.changed();
        drop(tables);
        // A refusal may have removed expired values, and is kept; what a fault
        // left half done is not.
        if changed && !matches!(result, Err(Fault::File(_) | Fault::Damaged)) {
            transaction.commit()?;
        } else {
            transaction.abort()?;
        }
        result
    }
}

/// Runs what uses the database, which panics on some damaged files. What it
/// had in hand is dropped then, so nobody sees a thing half done.
fn contained<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Fault::Damaged))
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(PAGES_IN_MEMORY);
    builder
}

impl Store for Disk {
    fn get(&self, place: &Place<'_>, key: &str) -> Result<Option<Value>, CacheError> {
        let found = self.read(place, key)?;
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
        self.write(place, |tables| {
            let expires = tables.end(ttl::millis(ttl));
            tables.put(place, key, &text, expires)
        })
    }

    fn delete(&self, place: &Place<'_>, key: &str) -> Result<bool, CacheError> {
        if self.read(place, key)?.is_none() {
            return Ok(false);
        }
        self.write(place, |tables| {
            let existed = tables.live(place, key)?.is_some();
            tables.remove(place.namespace.as_str(), key)?;
            Ok(existed)
        })
    }

    fn increment(
        &self,
        place: &Place<'_>,
        key: &str,
        delta: i64,
        ttl: Option<Duration>,
    ) -> Result<i64, CacheError> {
        self.write(place, |tables| {
            let old = tables.live(place, key)?;
            let sum = text::add(key, old.as_ref().map(|row| row.text.as_str()), delta)?;
            let expires = match old {
                Some(row) => row.expires,
                None => tables.end(ttl::millis(ttl)),
            };
            tables.put(place, key, &sum.to_string(), expires)?;
            Ok(sum)
        })
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
        self.write(place, |tables| {
            let old = tables.live(place, key)?;
            if !text::is(key, old.as_ref().map(|row| row.text.as_str()), expected)? {
                return Ok(false);
            }
            let expires = tables.end(ttl::millis(ttl));
            tables.put(place, key, &text, expires)?;
            Ok(true)
        })
    }
}
