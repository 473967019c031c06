//! The tables of a store on disk, within one transaction.

use std::time::Instant;

use redb::{ReadTransaction, ReadableTable, Table, TableDefinition, WriteTransaction};

use super::super::quota::Usage;
use super::super::{CacheError, Place, Quota, text, ttl};

/// Namespace and key to when the value expires and its JSON text.
const VALUES: TableDefinition<(&str, &str), (u64, &str)> = TableDefinition::new("values");

/// When a value expires, its namespace and its key.
const EXPIRING: TableDefinition<(u64, &str, &str), ()> = TableDefinition::new("expiring");

/// Namespace to its bytes and keys.
const USAGE: TableDefinition<&str, (u64, u64)> = TableDefinition::new("usage");

/// The row of the usage of all namespaces together. No namespace has this name.
const WHOLE: &str = "";

/// When values expire that do not.
const NEVER: u64 = u64::MAX;

/// How many expired values a write removes on its way.
const PURGED_BY_THE_WAY: usize = 16;

/// How many expired values are removed at a time when there is no room.
const PURGED_FOR_ROOM: usize = 256;

/// Why a transaction did not do what it was for.
#[derive(Debug)]
pub(super) enum Fault {
    /// It was refused, and the tables are whole.
    Cache(CacheError),
    /// The file failed, and the tables may have half of a change.
    File(Box<redb::Error>),
    /// The file makes so little sense that the database gave up.
    Damaged,
}

impl Fault {
    /// Says whether a process was killed while it had the file open.
    pub(super) fn is_unclean(&self) -> bool {
        matches!(self, Self::File(error) if matches!(**error, redb::Error::RepairAborted))
    }
}

impl From<CacheError> for Fault {
    fn from(error: CacheError) -> Self {
        Self::Cache(error)
    }
}

macro_rules! faults {
    ($($error:ty),*) => {$(
        impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::File(Box::new(error.into()))
            }
        }
    )*};
}

faults!(
    std::io::Error,
    redb::CommitError,
    redb::DatabaseError,
    redb::StorageError,
    redb::TableError,
    redb::TransactionError
);

/// A value that is there.
pub(super) struct Row {
    pub(super) text: String,
    pub(super) expires: u64,
}

/// The tables, open for a change.
pub(super) struct Tables<'t> {
    values: Table<'t, (&'static str, &'static str), (u64, &'static str)>,
    expiring: Table<'t, (u64, &'static str, &'static str), ()>,
    usage: Table<'t, &'static str, (u64, u64)>,
    bound: Quota,
    now: u64,
    changed: bool,
}

/// Returns a text without a change to the tables.
pub(super) fn look(
    transaction: &ReadTransaction,
    place: &Place<'_>,
    key: &str,
) -> Result<Option<String>, Fault> {
    let values = transaction.open_table(VALUES)?;
    let row = row(&values, place.namespace.as_str(), key)?;
    let now = ttl::now();
    Ok(row.filter(|row| row.expires > now).map(|row| row.text))
}

fn row(
    values: &impl ReadableTable<(&'static str, &'static str), (u64, &'static str)>,
    namespace: &str,
    key: &str,
) -> Result<Option<Row>, Fault> {
    let found = values.get((namespace, key))?;
    Ok(found.map(|guard| {
        let (expires, text) = guard.value();
        Row {
            text: text.to_owned(),
            expires,
        }
    }))
}

impl<'t> Tables<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction, bound: Quota) -> Result<Self, Fault> {
        Ok(Self {
            values: transaction.open_table(VALUES)?,
            expiring: transaction.open_table(EXPIRING)?,
            usage: transaction.open_table(USAGE)?,
            bound,
            now: ttl::now(),
            changed: false,
        })
    }

    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    /// Returns when a time to live ends.
    pub(super) fn end(&self, millis: Option<u64>) -> u64 {
        millis.map_or(NEVER, |millis| self.now.saturating_add(millis))
    }

    /// Returns a value, and removes it if it has expired.
    pub(super) fn live(&mut self, place: &Place<'_>, key: &str) -> Result<Option<Row>, Fault> {
        let namespace = place.namespace.as_str();
        match row(&self.values, namespace, key)? {
            Some(row) if row.expires <= self.now => {
                self.remove(namespace, key)?;
                Ok(None)
            }
            row => Ok(row),
        }
    }

    pub(super) fn put(
        &mut self,
        place: &Place<'_>,
        key: &str,
        text: &str,
        expires: u64,
    ) -> Result<(), Fault> {
        self.purge(PURGED_BY_THE_WAY)?;
        let old = self.live(place, key)?.map(|row| text::size(key, &row.text));
        let new = text::size(key, text);
        while let Err(refusal) = self.admit(place, old, new)? {
            // What was removed stays removed, so the next call goes on here.
            if Instant::now() >= place.until || self.purge(PURGED_FOR_ROOM)? == 0 {
                return Err(refusal.into());
            }
        }
        let namespace = place.namespace.as_str();
        self.remove(namespace, key)?;
        self.insert(namespace, key, text, expires)
    }

    fn admit(
        &self,
        place: &Place<'_>,
        old: Option<u64>,
        new: u64,
    ) -> Result<Result<(), CacheError>, Fault> {
        let usage = self.used(place.namespace.as_str())?;
        if let Some(limit) = usage.refuses(usage.replace(old, new), place.quota) {
            return Ok(Err(limit.in_namespace(place.namespace, place.quota)));
        }
        let whole = self.used(WHOLE)?;
        Ok(match whole.refuses(whole.replace(old, new), self.bound) {
            Some(limit) => Err(limit.in_store(self.bound)),
            None => Ok(()),
        })
    }

    fn insert(
        &mut self,
        namespace: &str,
        key: &str,
        text: &str,
        expires: u64,
    ) -> Result<(), Fault> {
        self.changed = true;
        self.values.insert((namespace, key), (expires, text))?;
        if expires != NEVER {
            self.expiring.insert((expires, namespace, key), ())?;
        }
        let size = text::size(key, text);
        self.account(namespace, |usage| usage.replace(None, size))
    }

    /// Removes a value if there is one.
    pub(super) fn remove(&mut self, namespace: &str, key: &str) -> Result<(), Fault> {
        let Some(removed) = self.values.remove((namespace, key))? else {
            return Ok(());
        };
        let (expires, text) = removed.value();
        let size = text::size(key, text);
        drop(removed);
        self.changed = true;
        self.expiring.remove((expires, namespace, key))?;
        self.account(namespace, |usage| usage.without(size))
    }

    /// Removes some expired values and returns how many.
    fn purge(&mut self, most: usize) -> Result<usize, Fault> {
        let mut due = Vec::new();
        let after = (self.now.saturating_add(1), "", "");
        for found in self.expiring.range(..after)?.take(most) {
            let found = found?.0;
            let (_, namespace, key) = found.value();
            due.push((namespace.to_owned(), key.to_owned()));
        }
        for (namespace, key) in &due {
            self.remove(namespace, key)?;
        }
        Ok(due.len())
    }

    fn used(&self, namespace: &str) -> Result<Usage, Fault> {
        let (bytes, keys) = self.usage.get(namespace)?.map_or((0, 0), |row| row.value());
        Ok(Usage { bytes, keys })
    }

    fn account(&mut self, namespace: &str, change: impl Fn(Usage) -> Usage) -> Result<(), Fault> {
        for row in [namespace, WHOLE] {
            let usage = change(self.used(row)?);
            if usage.keys == 0 {
                self.usage.remove(row)?;
            } else {
                self.usage.insert(row, (usage.bytes, usage.keys))?;
            }
        }
        Ok(())
    }
}
