//! Remembers which files of a project were read, for whoever wants to notice that they
//! changed.

use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    /// What was read on this thread, while somebody wants to know.
    static READ: RefCell<Option<BTreeSet<String>>> = const { RefCell::new(None) };
}

/// Does some work, and returns the paths of the files it read, from the directory that
/// they were read through.
pub(crate) fn remembering<T>(work: impl FnOnce() -> T) -> (T, BTreeSet<String>) {
    READ.set(Some(BTreeSet::new()));
    let done = work();
    (done, READ.take().unwrap_or_default())
}

/// Remembers a file, whether or not it can be read.
pub(super) fn remember(path: &str) {
    READ.with_borrow_mut(|read| {
        if let Some(read) = read {
            read.insert(path.to_owned());
        }
    });
}
