//! Kills processes that may be starting others meanwhile.

use std::collections::HashSet;
use std::thread;
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, waitpid,
};

use super::table::Seen;
use super::{GRACE, LOOK};

/// Processes that were found, by number and start.
pub(super) type Known = HashSet<(i32, u64)>;

/// Kills all that `find` returns, until it returns none, and says who that was.
///
/// First everybody is stopped, and looked again, until nobody new appears: who is
/// stopped starts nothing, and keeps its children's trace for as long as it lives.
pub(super) fn hunt(find: impl Fn(&Known) -> Vec<Seen>) -> Known {
    let until = Instant::now() + GRACE;
    let mut known = Known::new();
    loop {
        let found = find(&known);
        if found.is_empty() {
            return known;
        }
        let late = Instant::now() >= until;
        let mut grown = false;
        for seen in &found {
            if known.insert(seen.key()) {
                grown = true;
                send(seen, Signal::STOP);
            }
        }
        if late || !grown {
            for seen in &found {
                send(seen, Signal::KILL);
            }
            thread::sleep(LOOK);
        }
        if late {
            return known;
        }
    }
}

/// Waits for a process that has ended, if it is a child of this one.
pub(super) fn reap(id: i32) {
    if let Some(pid) = Pid::from_raw(id) {
        // Another's child is another's to wait for, and the call says so.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// Sends a signal to this very process, not to another that got its number.
fn send(seen: &Seen, signal: Signal) {
    let Some(pid) = Pid::from_raw(seen.id) else {
        return;
    };
    // Opened before the look: what was looked at is then what the signal reaches.
    let opened = pidfd_open(pid, PidfdFlags::empty());
    if !seen.is_still_there() {
        return;
    }
    // A process that has ended meanwhile is as good as killed.
    let _ = match opened {
        Ok(process) => pidfd_send_signal(process, signal),
        Err(Errno::SRCH) => Ok(()),
        Err(_) => kill_process(pid, signal),
    };
}
