//! Processes that have cut every tie to the call that started them.

use std::io;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many calls are under way.
static UNDER_WAY: Mutex<usize> = Mutex::new(0);

#[cfg(target_os = "linux")]
static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Makes this process the parent of all orphans among its descendants. Whenever a
/// call ends and no other is under way, every child of this process is killed.
///
/// A daemon can leave its group and session, clear its environment and close its
/// files; then nothing else finds it. Only for a program that owns its process:
/// from here on it must not start children by other means than [`Process::run`],
/// for they would be killed too.
///
/// [`Process::run`]: super::Process::run
///
/// # Errors
///
/// When the system cannot do this; only Linux can.
#[cfg(target_os = "linux")]
pub fn adopt_orphans() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    ADOPTING.store(true, Ordering::Release);
    Ok(())
}

/// Would make this process the parent of all orphans among its descendants.
///
/// # Errors
///
/// Always: only Linux can do this.
#[cfg(not(target_os = "linux"))]
pub fn adopt_orphans() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "only Linux hands orphans to another process than the first",
    ))
}

/// A call that is under way, from before its process starts until after it was
/// waited for.
pub(super) struct Turn(());

impl Turn {
    pub(super) fn begin() -> Self {
        *under_way() += 1;
        Self(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Held to the end: no call begins while everybody's children are killed.
        let mut count = under_way();
        *count = count.saturating_sub(1);
        if *count == 0 {
            kill_orphans();
        }
    }
}

fn under_way() -> MutexGuard<'static, usize> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(target_os = "linux")]
fn kill_orphans() {
    use super::{hunt, table};
    if !ADOPTING.load(Ordering::Acquire) {
        return;
    }
    let own = rustix::process::getpid().as_raw_pid();
    // The children of those who are killed come to this process in turn.
    hunt::hunt(|_| {
        let mut children = table::processes();
        children.retain(|seen| seen.parent == own && seen.alive);
        children
    });
    for seen in table::processes() {
        if seen.parent == own {
            hunt::reap(seen.id);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_orphans() {}
