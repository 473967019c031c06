//! Replays a tape: every record is used once, in order, and what is missing or too much
//! is the error. Nothing runs, nothing goes out, and the hooks need not be there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use super::error::TapeError;
use super::read::{Ending, Reader};
use super::record::{End, Entry, HookReturned, Project, Record, Start, Undecided};
use super::story::Story;
use crate::json::{Json, JsonError};
use crate::outcome::Outcome;

/// How many dispatches can be on their way at once. More than any machine runs, and a
/// bound for what a made-up tape makes a reader hold.
const MOST_OPEN: usize = 10_000;

/// How deep dispatches can be nested: deeper than any runtime lets them, and a bound for
/// those who walk through what a made-up tape tells.
const DEEPEST: u32 = 64;

/// How many records a dispatch with one hook has, or a few more.
const FEW_RECORDS: usize = 6;

/// A dispatch as the tape tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    /// Its number on the tape.
    pub number: u64,
    /// The session it belongs to.
    pub project: Arc<Project>,
    /// Its own records, from `dispatch` to `outcome`.
    pub records: Vec<Record>,
    /// The dispatches its hooks caused, in order.
    pub children: Vec<Dispatch>,
}

/// What a dispatch without records would begin with. There is none.
static NO_START: LazyLock<Start> = LazyLock::new(|| Start {
    event: "".into(),
    dialect: "".into(),
    about: None,
    background: false,
    id: String::new(),
    subject: None,
    depth: 0,
    payload: "".into(),
    parent: None,
    session: 0,
    time: 0,
});

impl Dispatch {
    /// Returns how it began.
    #[must_use]
    pub fn start(&self) -> &Start {
        match self.records.first().map(|record| &record.entry) {
            Some(Entry::Dispatch(start)) => start,
            _ => &NO_START,
        }
    }

    /// Returns how it ended; nothing if the tape stops before.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        match &self.records.last()?.entry {
            Entry::Outcome(end) => Some(end),
            _ => None,
        }
    }

    /// Returns the number of its first record.
    #[must_use]
    pub fn first_record(&self) -> u64 {
        self.records.first().map_or(0, |record| record.number)
    }

    /// Returns all records, also those of the dispatches it caused, in their order.
    #[must_use]
    pub fn all_records(&self) -> Vec<&Record> {
        let mut all: Vec<&Record> = self.records.iter().collect();
        for child in &self.children {
            all.extend(child.all_records());
        }
        all.sort_by_key(|record| record.number);
        all
    }

    /// Returns the outcome as the runtime handed it out, but for the metrics of the run.
    ///
    /// # Errors
    /// Returns that a payload on the tape is no JSON.
    pub fn outcome(&self) -> Result<Outcome, TapeError> {
        let wrong = |why: String| TapeError::Story {
            record: self.first_record(),
            why,
        };
        let end = self
            .end()
            .ok_or_else(|| wrong("the dispatch has no outcome".to_owned()))?;
        let payload = parse(&end.payload)
            .map_err(|error| wrong(format!("its final payload cannot be used: {error}")))?;
        Ok(Outcome {
            event: Arc::clone(&self.start().event),
            id: self.start().id.clone(),
            decision: end.decision,
            reason: end.reason.clone(),
            hook: end.hook.clone(),
            said: end.said.clone(),
            raised: end.raised,
            payload,
            effects: end.effects.clone(),
            metrics: BTreeMap::new(),
            logs: self.logs(),
            warnings: end.warnings.clone(),
            stages: end.stages.clone(),
            trace: end.trace.clone(),
        })
    }

    fn logs(&self) -> Vec<crate::capability::log::LogLine> {
        let used = self
            .records
            .iter()
            .filter_map(|record| match &record.entry {
                Entry::Predicate(one) => Some(&one.used),
                Entry::HookReturned(HookReturned { used, .. }) => Some(used),
                _ => None,
            });
        used.flat_map(|used| used.logs.iter().cloned()).collect()
    }
}

/// Parses the JSON of a tape, whose size was bounded when it was recorded.
pub(super) fn parse(text: &str) -> Result<Json, JsonError> {
    Json::parse(text.as_bytes(), usize::MAX)
}

/// What a replay comes across.
#[derive(Debug, Clone, PartialEq)]
pub enum Replayed {
    /// A dispatch came to its end.
    Dispatch(Box<Dispatch>),
    /// An event could not be decided.
    Undecided(Undecided),
    /// Records could not be written when the tape was recorded.
    Lost(super::record::Lost),
}

/// Replays the dispatches of a tape, in the order in which they ended.
#[derive(Debug)]
pub struct Replay<R> {
    reader: Reader<R>,
    open: BTreeMap<u64, Box<Open>>,
    sessions: Vec<Arc<Project>>,
    clock: Clock,
}

/// A dispatch on its way.
#[derive(Debug)]
struct Open {
    dispatch: Dispatch,
    story: Story,
    nesting: u32,
}

/// When the last event came in, to notice a clock that was set back.
#[derive(Debug, Default)]
struct Clock {
    latest: u64,
    set_back: Option<u64>,
}

impl Replay<BufReader<File>> {
    /// Opens a tape.
    ///
    /// # Errors
    /// Returns that it cannot be read, is none, or is of another version.
    pub fn open(path: &Path) -> Result<Self, TapeError> {
        Ok(Self::new(Reader::open_ahead(path)?))
    }
}

impl<R: BufRead> Replay<R> {
    /// Starts to replay what a reader reads.
    pub fn new(reader: Reader<R>) -> Self {
        Self {
            reader,
            open: BTreeMap::new(),
            sessions: Vec::new(),
            clock: Clock::default(),
        }
    }

    /// Returns the reader, which knows how far it got.
    pub fn reader(&self) -> &Reader<R> {
        &self.reader
    }

    /// Returns the first record at which the clock was found set back, if there is one.
    #[must_use]
    pub fn clock_set_back(&self) -> Option<u64> {
        self.clock.set_back
    }

    /// Returns the dispatches that had begun and not ended when the tape stopped.
    #[must_use]
    pub fn unfinished(&self) -> Vec<u64> {
        self.open.keys().copied().collect()
    }

    /// Returns the next dispatch that nothing else caused, with all it caused.
    ///
    /// # Errors
    /// Returns the first record that is missing, too much or not as it was written.
    pub fn next_dispatch(&mut self) -> Result<Option<Dispatch>, TapeError> {
        loop {
            match self.step()? {
                Some(Replayed::Dispatch(dispatch)) => return Ok(Some(*dispatch)),
                Some(Replayed::Undecided(_) | Replayed::Lost(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// Returns the next thing that happened.
    ///
    /// # Errors
    /// Returns the first record that is missing, too much or not as it was written.
    pub fn step(&mut self) -> Result<Option<Replayed>, TapeError> {
        while let Some(record) = self.reader.next_record()? {
            if let Some(replayed) = self.take(record)? {
                return Ok(Some(replayed));
            }
        }
        self.check_end()?;
        Ok(None)
    }

    fn take(&mut self, record: Record) -> Result<Option<Replayed>, TapeError> {
        let Some(number) = record.dispatch else {
            return Ok(match record.entry {
                Entry::Header(project) | Entry::Session(project) => {
                    self.begin_session(project);
                    None
                }
                Entry::Undecided(one) => {
                    self.clock.note(one.time, record.number);
                    Some(Replayed::Undecided(one))
                }
                Entry::Lost(lost) => {
                    for number in &lost.dispatches {
                        self.open.remove(number);
                    }
                    Some(Replayed::Lost(lost))
                }
                _ => None,
            });
        };
        if let Entry::Dispatch(start) = &record.entry {
            let (parent, session, time) = (start.parent, start.session, start.time);
            let story = Story::begin(start, record.redacted.is_some());
            self.clock.note(time, record.number);
            self.begin(number, (parent, session), story, record)?;
            return Ok(None);
        }
        let ends = matches!(record.entry, Entry::Outcome(_));
        let Some(open) = self.open.get_mut(&number) else {
            return Err(out_of_place(&record, number));
        };
        open.story.tell(&record)?;
        open.dispatch.records.push(record);
        if !ends {
            return Ok(None);
        }
        Ok(self.finish(number))
    }

    /// Every run of the command line is a session, mostly of the same hooks: those are
    /// kept once.
    fn begin_session(&mut self, project: Project) {
        let last = self.sessions.last();
        let same = last.filter(|last| {
            let earlier = Project {
                time: last.time,
                recovered_bytes: last.recovered_bytes,
                ..project.clone()
            };
            ***last == earlier
        });
        let project = same.cloned().unwrap_or_else(|| Arc::new(project));
        self.sessions.push(project);
    }

    fn begin(
        &mut self,
        number: u64,
        (parent, session): (Option<u64>, u64),
        story: Story,
        record: Record,
    ) -> Result<(), TapeError> {
        let wrong = |why: String| TapeError::Story {
            record: record.number,
            why,
        };
        if self.open.contains_key(&number) {
            return Err(wrong(format!("dispatch {number} has begun already")));
        }
        if self.open.len() >= MOST_OPEN {
            return Err(wrong(format!(
                "more than {MOST_OPEN} dispatches are on their way at once"
            )));
        }
        let mut nesting = 0;
        if let Some(parent) = parent {
            let cause = self.open.get(&parent).filter(|open| open.story.can_cause());
            let Some(cause) = cause else {
                return Err(wrong(format!(
                    "no hook of dispatch {parent} runs that could have caused it"
                )));
            };
            nesting = cause.nesting + 1;
            if nesting > DEEPEST {
                return Err(wrong(format!(
                    "dispatches are nested more than {DEEPEST} deep"
                )));
            }
        }
        let session = usize::try_from(session).unwrap_or(usize::MAX);
        let project = self.sessions.get(session).cloned().unwrap_or_default();
        let mut records = Vec::with_capacity(FEW_RECORDS);
        records.push(record);
        let dispatch = Dispatch {
            number,
            project,
            records,
            children: Vec::new(),
        };
        let open = Open {
            dispatch,
            story,
            nesting,
        };
        self.open.insert(number, Box::new(open));
        Ok(())
    }

    /// Hands a dispatch over, to the one that caused it if there is one.
    fn finish(&mut self, number: u64) -> Option<Replayed> {
        let Open { dispatch, .. } = *self.open.remove(&number)?;
        match dispatch.start().parent {
            Some(parent) => {
                // One whose cause was lost is lost with it.
                if let Some(parent) = self.open.get_mut(&parent) {
                    parent.dispatch.children.push(dispatch);
                }
                None
            }
            None => Some(Replayed::Dispatch(Box::new(dispatch))),
        }
    }

    fn check_end(&self) -> Result<(), TapeError> {
        if self.reader.ending() != Some(Ending::Closed) {
            return Ok(());
        }
        match self.open.values().next() {
            None => Ok(()),
            Some(open) => Err(TapeError::Story {
                record: open.dispatch.first_record(),
                why: "the dispatch that begins here never ends".to_owned(),
            }),
        }
    }
}

fn out_of_place(record: &Record, number: u64) -> TapeError {
    TapeError::Story {
        record: record.number,
        why: format!(
            "a {} of dispatch {number}, which has not begun or is over",
            record.entry.kind()
        ),
    }
}

impl Clock {
    fn note(&mut self, time: u64, record: u64) {
        if time < self.latest && self.set_back.is_none() {
            self.set_back = Some(record);
        }
        self.latest = self.latest.max(time);
    }
}
