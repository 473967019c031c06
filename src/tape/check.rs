//! Runs today's hooks in the world of a tape, and says what is different.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::compare::{Difference, Verdict, first_difference, verdict};
use super::error::TapeError;
use super::record::{End, Entry, HookPrint, Project};
use super::replay::{Dispatch, Replay, Replayed};
use super::track::Loose;
use crate::defence;
use crate::outcome::Outcome;
use crate::runtime::{LoadError, Runtime, RuntimeBuilder};

/// A project's hooks, cut off from the world.
#[derive(Debug, Clone)]
pub struct Checker {
    runtime: Runtime,
    /// The same with hookbox's own hook, for events that an agent fired.
    defended: Runtime,
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
        let runtime = builder.cut_off().load()?;
        Ok(Self {
            defended: runtime.defended()?,
            runtime,
        })
    }

    /// Returns the hooks that an event met, by whether hookbox's own was among them.
    fn like<'h>(&self, mut recorded: impl Iterator<Item = &'h str>) -> &Runtime {
        if recorded.any(|hook| hook == defence::NAME) {
            &self.defended
        } else {
            &self.runtime
        }
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
        let names = recorded.hooks.iter().map(|hook| &*hook.name);
        let today = self.like(names).prints();
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
        let met = before.trace.iter().map(|row| &*row.hook);
        let (outcome, rerun) = self.like(met).rerun(dispatch)?;
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
    pub fn check_all<R: BufRead + Send>(
        &self,
        replay: &mut Replay<R>,
        mut each: impl FnMut(Seen),
    ) -> Result<(), TapeError> {
        let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let (jobs, waiting) = sync_channel(workers * 4);
        let (done, finished) = sync_channel(workers * 4);
        let waiting = Arc::new(Mutex::new(waiting));
        thread::scope(|scope| {
            for _ in 0..workers {
                let (done, waiting) = (done.clone(), Arc::clone(&waiting));
                scope.spawn(move || self.work(&waiting, &done));
            }
            // Only workers hold these ends now: when they stop, so does the reader, and
            // when all is done, so does the loop below.
            drop((done, waiting));
            let reader = scope.spawn(move || read_jobs(replay, &jobs));
            let seen = in_order(finished, &mut each);
            let read = reader.join().unwrap_or(Ok(()));
            seen.and(read)
        })
    }

    fn work(
        &self,
        waiting: &Mutex<Receiver<(u64, Vec<Job>)>>,
        done: &SyncSender<(u64, Vec<Done>)>,
    ) {
        loop {
            let next = waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv();
            let Ok((index, jobs)) = next else { return };
            let results = jobs.into_iter().map(|job| self.one(job)).collect();
            if done.send((index, results)).is_err() {
                return;
            }
        }
    }

    fn one(&self, job: Job) -> Done {
        match job {
            Replayed::Dispatch(dispatch) => {
                let checked = self.check(&dispatch)?;
                Ok(Seen::Checked(dispatch, Box::new(checked)))
            }
            other => Ok(Seen::Other(other)),
        }
    }
}

/// What is left to do, and what came of it.
type Job = Replayed;
type Done = Result<Seen, TapeError>;

/// How many jobs, or bytes of a tape, go to a worker at once: handing one over takes as
/// long as running a small hook. The first ones are few, so that no core waits for a short
/// tape.
const FIRST_BATCH: usize = 8;
const BATCH: usize = 128;
const BATCH_BYTES: u64 = 1 << 20;

/// Reads the tape while others work.
fn read_jobs<R: BufRead>(
    replay: &mut Replay<R>,
    jobs: &SyncSender<(u64, Vec<Job>)>,
) -> Result<(), TapeError> {
    let (mut index, mut size) = (0, FIRST_BATCH);
    loop {
        let mut batch = Vec::with_capacity(size);
        let read = fill(replay, &mut batch);
        size = BATCH.min(size + 1);
        if batch.is_empty() || jobs.send((index, batch)).is_err() {
            return read;
        }
        read?;
        index += 1;
    }
}

/// Fills a batch as far as it has room.
fn fill<R: BufRead>(replay: &mut Replay<R>, batch: &mut Vec<Job>) -> Result<(), TapeError> {
    let begun = replay.reader().bytes();
    while batch.len() < batch.capacity() && replay.reader().bytes() - begun < BATCH_BYTES {
        match replay.step()? {
            Some(job) => batch.push(job),
            None => break,
        }
    }
    Ok(())
}

/// Hands results over in the order of the tape. Those that came too early wait; there
/// are no more of them than jobs under way. Dropping the channel stops everybody else.
fn in_order(
    finished: Receiver<(u64, Vec<Done>)>,
    each: &mut impl FnMut(Seen),
) -> Result<(), TapeError> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (index, results) in finished {
        early.insert(index, results);
        while let Some(results) = early.remove(&next) {
            next += 1;
            for result in results {
                each(result?);
            }
        }
    }
    Ok(())
}

/// What is seen of a tape while it is checked.
#[derive(Debug)]
pub enum Seen {
    /// A dispatch, and what today's hooks do.
    Checked(Box<Dispatch>, Box<Checked>),
    /// Something else that happened.
    Other(Replayed),
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
