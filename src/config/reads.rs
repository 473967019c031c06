//! Remembers which files of a project were read, for whoever wants to notice that they
//! changed.

use std::cell::RefCell;
use std::collections::BTreeSet;

/// What somebody looked at, by its path from the directory it was looked at through.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    /// Files that were read, and folders that were listed.
    pub(crate) there: BTreeSet<String>,
    /// Where nothing was. What comes into being there would be read.
    pub(crate) absent: BTreeSet<String>,
}

thread_local! {
    /// What was looked at on this thread, while somebody wants to know.
    static READS: RefCell<Option<Reads>> = const { RefCell::new(None) };
}

/// Does some work, and returns what it looked at.
pub(crate) fn remembering<T>(work: impl FnOnce() -> T) -> (T, Reads) {
    READS.set(Some(Reads::default()));
    let done = work();
    (done, READS.take().unwrap_or_default())
}

/// Remembers a file or a folder, whether or not it can be read.
pub(crate) fn remember(path: &str) {
    with(|reads| &mut reads.there, path);
}

/// Remembers that nothing was there.
pub(crate) fn remember_absent(path: &str) {
    with(|reads| &mut reads.absent, path);
}

fn with(set: impl FnOnce(&mut Reads) -> &mut BTreeSet<String>, path: &str) {
    READS.with_borrow_mut(|reads| {
        if let Some(reads) = reads {
            set(reads).insert(path.to_owned());
        }
    });
}
