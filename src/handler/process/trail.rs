//! Finds the processes of one call, wherever they have gone.
//!
//! A process belongs to a call if a process of the call started it, or if it is in
//! a group or session one of them made, has the call's marker in its environment,
//! or holds the far end of one of the call's pipes. All but the first also find
//! what has cut itself off from its parent.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::process::Child;

use rustix::process::{Pid, getpid, getppid};

use super::hunt::{self, Known};
use super::marker::Marker;
use super::table::{self, End, Seen};

/// The marks of one call that `/proc` shows.
pub(super) struct Trail {
    main: i32,
    /// When the first process was started. All others are younger, which spares a
    /// closer look at most processes of the machine, and protects them.
    start: u64,
    marker: Marker,
    /// The ends of pipes that were given to the child.
    ends: Vec<End>,
    /// Who is never killed, whatever marks it bears.
    spared: Vec<i32>,
}

impl Trail {
    /// Takes the marks of a child that was not waited for yet.
    pub(super) fn of(child: &Child, main: Pid, marker: Marker) -> Option<Self> {
        if !table::is_readable() {
            return None;
        }
        let main = main.as_raw_pid();
        let ends = [
            end(child.stdin.as_ref(), false),
            end(child.stdout.as_ref(), true),
            end(child.stderr.as_ref(), true),
        ];
        let parent = getppid().map(Pid::as_raw_pid);
        Some(Self {
            main,
            start: Seen::look(main)?.start,
            marker,
            ends: ends.into_iter().flatten().collect(),
            spared: [Some(1), Some(getpid().as_raw_pid()), parent]
                .into_iter()
                .flatten()
                .collect(),
        })
    }

    /// Kills every process of the call, reaps those that have become children of
    /// this process, and returns how many were killed.
    pub(super) fn kill(&self) -> usize {
        let killed = hunt::hunt(|known| self.bearers(table::processes(), known));
        for (id, _) in &killed {
            // The child itself is waited for by who started it.
            if *id != self.main {
                hunt::reap(*id);
            }
        }
        killed.len()
    }

    /// Returns the processes that live and bear a mark.
    fn bearers(&self, mut table: Vec<Seen>, known: &Known) -> Vec<Seen> {
        table.retain(|seen| seen.start >= self.start && !self.spared.contains(&seen.id));
        let mut marked: HashSet<i32> = table
            .iter()
            .filter(|seen| seen.id == self.main || known.contains(&seen.key()))
            .map(|seen| seen.id)
            .collect();
        Self::spread(&table, known, &mut marked);
        for seen in &table {
            if seen.alive && !marked.contains(&seen.id) && self.is_on(seen.id) {
                marked.insert(seen.id);
            }
        }
        Self::spread(&table, known, &mut marked);
        table.retain(|seen| seen.alive && marked.contains(&seen.id));
        table
    }

    /// Marks what belongs to marked ones, until there is nothing more to mark.
    fn spread(table: &[Seen], known: &Known, marked: &mut HashSet<i32>) {
        // A group and a session keep the number of who made them after its death.
        let dead: HashSet<i32> = known.iter().map(|(id, _)| *id).collect();
        loop {
            let before = marked.len();
            for seen in table {
                let made = [seen.group, seen.session];
                if marked.contains(&seen.parent)
                    || made
                        .iter()
                        .any(|id| marked.contains(id) || dead.contains(id))
                {
                    marked.insert(seen.id);
                }
            }
            if marked.len() == before {
                return;
            }
        }
    }

    /// Returns whether the process itself bears a mark.
    fn is_on(&self, id: i32) -> bool {
        self.marker.is_in(&table::environment(id)) || self.holds_an_end(id)
    }

    /// Returns whether a process holds an end that was given to the child. Who
    /// also has the other end is a copy of this process that another thread has
    /// made a moment ago, to start a program of its own.
    fn holds_an_end(&self, id: i32) -> bool {
        let held = table::pipe_ends(id);
        self.ends.iter().any(|end| {
            let other = End {
                writes: !end.writes,
                ..*end
            };
            held.contains(end) && !held.contains(&other)
        })
    }
}

/// Returns the far end of a pipe that this process has the near end of.
fn end(near: Option<impl AsFd>, writes: bool) -> Option<End> {
    let status = rustix::fs::fstat(near?).ok()?;
    Some(End {
        pipe: status.st_ino,
        writes,
    })
}
