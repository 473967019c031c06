//! Kills what a call has started.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process_group};

use super::marker::Marker;
#[cfg(target_os = "linux")]
use super::trail::Trail;

/// What tells the processes of one call from all others.
pub(super) struct Marks {
    main: Option<Pid>,
    #[cfg(target_os = "linux")]
    trail: Option<Trail>,
}

impl Marks {
    /// Takes the marks of a child that was just started and not yet waited for.
    #[cfg(target_os = "linux")]
    pub(super) fn of(child: &Child, marker: Marker) -> Self {
        let main = number(child);
        let trail = main.and_then(|main| Trail::of(child, main, marker));
        Self { main, trail }
    }

    /// Takes the marks of a child: its process group, for lack of a `/proc`.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(child: &Child, _: Marker) -> Self {
        let main = number(child);
        Self { main }
    }

    /// Kills every process with a mark and returns how many there were. Has to be
    /// called before the child is waited for: until then its number, which is also
    /// its group's, cannot become that of another.
    pub(super) fn kill_bearers(&self) -> usize {
        let found = self.follow();
        let group = self.main.map(|main| kill_process_group(main, Signal::KILL));
        // Where nobody can be counted, there was a group at least.
        found.unwrap_or(usize::from(group == Some(Ok(()))))
    }

    #[cfg(target_os = "linux")]
    fn follow(&self) -> Option<usize> {
        self.trail.as_ref().map(Trail::kill)
    }

    #[cfg(not(target_os = "linux"))]
    fn follow(&self) -> Option<usize> {
        None
    }
}

fn number(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
