//! Runs today's hooks in the world of a tape, and says what is different.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::compare::{Difference, Verdict, first_difference, verdict};
use super::error::TapeError;
use super::record::{End, Entry, HookPrint, Project};
use super::replay::{Dispatch, Replay, Replayed};
use super::track::Loose;
use crate::outcome::Outcome;
use crate::runtime::{LoadError, Runtime, RuntimeBuilder};

/// A project's hooks, cut off from the world.
#[derive(Debug, Clone)]
pub struct Checker {
    runtime: Runtime,
}

/// What today's hooks do with a recorded event.
#[derive(Debug, Clone)]
pub struct Checked {
    /// What comes out.
    pub outcome: Outcome,
    /// What that means, beside what came out before.
    pub verdict: Verdict,
    /// The first record that is not as recorded.
    pub difference: Option<Difference>,
    /// What they ask for that the tape has no answer to.
    pub new_requests: Vec<String>,
    /// The fuel of the whole chain, as recorded and today.
    pub fuel: (u64, u64),
}

impl Checker {
    /// Loads the hooks of a project. Nothing the builder was lent is used: no clock, no
    /// environment, no network, no tools, no cache.
    ///
    /// # Errors
    /// Returns why the project does not load.
    pub fn load(builder: RuntimeBuilder) -> Result<Self, LoadError> {
        Ok(Self {
            runtime: builder.cut_off().load()?,
        })
    }

    /// Returns the runtime that is cut off.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns what is different about the hooks themselves, for people: not every
    /// difference changes a decision.
    #[must_use]
    pub fn changes(&self, recorded: &Project) -> Vec<String> {
        let today = self.runtime.prints();
        let mut changes = Vec::new();
        for hook in &recorded.hooks {
            match today.iter().find(|one| same_hook(one, hook)) {
                None => changes.push(format!("hook {:?} ({}) is gone", hook.name, hook.file)),
                Some(one) => changes.extend(change(hook, one)),
            }
        }
        for hook in &today {
            if !recorded.hooks.iter().any(|one| same_hook(one, hook)) {
                changes.push(format!("hook {:?} ({}) is new", hook.name, hook.file));
            }
        }
        changes
    }

    /// Sends a recorded event through today's chain.
    ///
    /// # Errors
    /// Returns that the tape does not have what it takes.
    pub fn check(&self, dispatch: &Dispatch) -> Result<Checked, TapeError> {
        let before = dispatch.end().ok_or_else(|| TapeError::Story {
            record: dispatch.first_record(),
            why: "the dispatch has no outcome".to_owned(),
        })?;
        let (outcome, rerun) = self.runtime.rerun(dispatch)?;
        let after = last_outcome(&rerun);
        let verdict = after.map_or(Verdict::Kept, |after| verdict(before, after, &rerun));
        Ok(Checked {
            verdict,
            difference: first_difference(&dispatch.all_records(), &rerun),
            new_requests: new_requests(&rerun),
            fuel: (fuel(&before.trace), fuel(&outcome.trace)),
            outcome,
        })
    }

    /// Sends all dispatches of a tape through today's chain, on all cores, and hands the
    /// results over in the order of the tape.
    ///
    /// # Errors
    /// Returns the first record that cannot be used.
    pub fn check_all<R: BufRead>(
        &self,
        replay: &mut Replay<R>,
        mut each: impl FnMut(Seen),
    ) -> Result<(), TapeError> {
        let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let (jobs, waiting) = sync_channel::<(u64, Dispatch)>(workers * 4);
        let (done, finished) =
            sync_channel::<(u64, Dispatch, Result<Checked, TapeError>)>(workers * 4);
        let waiting = Mutex::new(waiting);
        thread::scope(|scope| {
            for _ in 0..workers {
                let (done, waiting) = (done.clone(), &waiting);
                scope.spawn(move || self.work(waiting, &done));
            }
            drop(done);
            feed(replay, jobs, finished, &mut each)
        })
    }

    fn work(
        &self,
        waiting: &Mutex<Receiver<(u64, Dispatch)>>,
        done: &SyncSender<(u64, Dispatch, Result<Checked, TapeError>)>,
    ) {
        loop {
            let next = waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv();
            let Ok((index, dispatch)) = next else { return };
            let checked = self.check(&dispatch);
            if done.send((index, dispatch, checked)).is_err() {
                return;
            }
        }
    }
}

/// What is seen of a tape while it is checked.
#[derive(Debug)]
pub enum Seen {
    /// A dispatch, and what today's hooks do.
    Checked(Box<Dispatch>, Box<Checked>),
    /// Something else that happened.
    Other(Replayed),
}

/// Reads the tape while others work, and puts their results in order.
fn feed<R: BufRead>(
    replay: &mut Replay<R>,
    jobs: SyncSender<(u64, Dispatch)>,
    // Dropped on the way out, so that nobody waits to hand something over.
    finished: Receiver<(u64, Dispatch, Result<Checked, TapeError>)>,
    each: &mut impl FnMut(Seen),
) -> Result<(), TapeError> {
    let mut order = Order::default();
    let mut next = 0;
    let read = loop {
        let dispatch = match replay.step() {
            Ok(Some(Replayed::Dispatch(dispatch))) => dispatch,
            Ok(Some(other)) => {
                each(Seen::Other(other));
                continue;
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let mut job = Some((next, *dispatch));
        next += 1;
        while let Some(waiting) = job.take() {
            // Both ends are bounded, so neither must wait for the other.
            job = jobs.try_send(waiting).err().map(|error| match error {
                std::sync::mpsc::TrySendError::Full(job)
                | std::sync::mpsc::TrySendError::Disconnected(job) => job,
            });
            while let Ok(result) = finished.try_recv() {
                order.take(result, each)?;
            }
            if job.is_some() {
                match finished.recv() {
                    Ok(result) => order.take(result, each)?,
                    Err(_) => break,
                }
            }
        }
    };
    drop(jobs);
    while let Ok(result) = finished.recv() {
        order.take(result, each)?;
    }
    read
}

/// Results that came too early.
#[derive(Default)]
struct Order {
    next: u64,
    early: BTreeMap<u64, (Dispatch, Checked)>,
}

impl Order {
    fn take(
        &mut self,
        (index, dispatch, checked): (u64, Dispatch, Result<Checked, TapeError>),
        each: &mut impl FnMut(Seen),
    ) -> Result<(), TapeError> {
        self.early.insert(index, (dispatch, checked?));
        while let Some((dispatch, checked)) = self.early.remove(&self.next) {
            self.next += 1;
            each(Seen::Checked(Box::new(dispatch), Box::new(checked)));
        }
        Ok(())
    }
}

fn same_hook(one: &HookPrint, other: &HookPrint) -> bool {
    one.name == other.name && one.file == other.file
}

fn change(before: &HookPrint, after: &HookPrint) -> Option<String> {
    let (name, file) = (&before.name, &before.file);
    if before.component != after.component {
        let short = |digest: &Option<String>| {
            digest.as_ref().map_or("none".to_owned(), |digest| {
                digest.chars().take(12).collect()
            })
        };
        return Some(format!(
            "the component of hook {name:?} is not the recorded one: {} was recorded, today it is {}",
            short(&before.component),
            short(&after.component)
        ));
    }
    (before != after).then(|| format!("hook {name:?} ({file}) was changed"))
}

fn last_outcome(rerun: &[Loose]) -> Option<&End> {
    match rerun.last() {
        Some((_, Entry::Outcome(end))) => Some(end),
        _ => None,
    }
}

fn new_requests(rerun: &[Loose]) -> Vec<String> {
    let failures = rerun.iter().filter_map(|(_, entry)| match entry {
        Entry::Predicate(one) => one.failure.as_ref(),
        Entry::HookReturned(one) => one.failure.as_ref(),
        _ => None,
    });
    failures
        .filter(|failure| failure.cause == crate::failure::Cause::NewRequest)
        .map(|failure| {
            let text = failure.message.as_str();
            text.strip_suffix(super::reel::NO_ANSWER)
                .unwrap_or(text)
                .to_owned()
        })
        .collect()
}

fn fuel(trace: &[crate::outcome::TraceRow]) -> u64 {
    let rows = trace.iter();
    rows.map(|row| row.fuel.unwrap_or(0) + row.when_fuel.unwrap_or(0))
        .sum()
}
