//! What becomes of a tape when single writes fail.

use std::sync::Arc;

use super::*;
use crate::decision::Ruling;
use crate::outcome::Stages;
use crate::tape::record::{End, Project, Start};
use crate::tape::replay::{Replay, Replayed};
use crate::tape::track::Loose;

fn sheet(loose: &[Loose]) -> Sheet {
    let mut sheet = Sheet::default();
    for (dispatch, entry) in loose {
        sheet.push(*dispatch, entry);
    }
    sheet
}

fn header() -> Loose {
    (None, Entry::Header(Project::default()))
}

fn session() -> Loose {
    (None, Entry::Session(Project::default()))
}

fn start(dispatch: u64, parent: Option<u64>, session: u64) -> Loose {
    let start = Start {
        event: "custom.x".into(),
        dialect: "harness".into(),
        about: None,
        background: false,
        id: "e".to_owned(),
        subject: None,
        depth: 0,
        payload: "{}".into(),
        parent,
        session,
        time: 1,
    };
    (Some(dispatch), Entry::Dispatch(start))
}

fn end(dispatch: u64) -> Loose {
    let end = End {
        decision: Ruling::Allow,
        reason: None,
        hook: None,
        said: None,
        raised: false,
        payload: "{}".into(),
        effects: Vec::new(),
        warnings: Vec::new(),
        stages: Stages::default(),
        trace: Vec::new(),
        took_us: 0,
    };
    (Some(dispatch), Entry::Outcome(end))
}

struct Tape {
    _folder: tempfile::TempDir,
    path: PathBuf,
    file: TapeFile,
}

impl Tape {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.tape");
        let file = TapeFile::open(&path).unwrap();
        Self {
            _folder: folder,
            path,
            file,
        }
    }

    fn write(&mut self, loose: &[Loose]) {
        self.file.write(sheet(loose)).unwrap();
    }

    /// Does something while nothing can be written.
    fn without_room<T>(&mut self, work: impl FnOnce(&mut TapeFile) -> T) -> T {
        let read_only = File::open(&self.path).unwrap();
        let real = std::mem::replace(&mut self.file.file, read_only);
        let done = work(&mut self.file);
        self.file.file = real;
        done
    }

    fn lose(&mut self, loose: &[Loose]) {
        self.without_room(|file| file.write(sheet(loose)))
            .unwrap_err();
    }

    /// Reads the tape: its dispatches, what it says was lost, and how it ends.
    fn told(&self) -> (Vec<u64>, Vec<Lost>, Option<Ending>) {
        let mut replay = Replay::open(&self.path).unwrap();
        let (mut dispatches, mut gaps) = (Vec::new(), Vec::new());
        while let Some(one) = replay.step().unwrap_or_else(|error| panic!("{error}")) {
            match one {
                Replayed::Dispatch(dispatch) => dispatches.push(dispatch.number),
                Replayed::Lost(lost) => gaps.push(lost),
                Replayed::Undecided(_) => {}
            }
        }
        (dispatches, gaps, replay.reader().ending())
    }
}

fn numbers(gaps: &[Lost]) -> Vec<(u64, Vec<u64>)> {
    let gap = |lost: &Lost| (lost.count, lost.dispatches.clone());
    gaps.iter().map(gap).collect()
}

#[test]
fn a_header_that_could_not_be_written_comes_before_all_that_can() {
    let mut tape = Tape::new();
    tape.lose(&[header(), start(1, None, 0)]);
    tape.write(&[end(1), start(2, None, 0), end(2)]);
    tape.file.close().unwrap();
    let (dispatches, gaps, ending) = tape.told();
    assert_eq!((dispatches, ending), (vec![2], Some(Ending::Closed)));
    assert_eq!(numbers(&gaps), [(1, vec![1])]);
}

#[test]
fn a_session_that_could_not_be_written_comes_before_its_dispatches() {
    let mut tape = Tape::new();
    tape.write(&[header()]);
    tape.lose(&[session()]);
    tape.lose(&[session(), start(1, None, 2), end(1)]);
    tape.write(&[start(2, None, 2), end(2)]);
    tape.file.close().unwrap();
    let (dispatches, gaps, ending) = tape.told();
    assert_eq!((dispatches, ending), (vec![2], Some(Ending::Closed)));
    assert_eq!(numbers(&gaps), [(2, vec![1])]);
}

#[test]
fn what_a_lost_dispatch_causes_is_lost_with_it() {
    let mut tape = Tape::new();
    tape.write(&[header(), start(1, None, 0)]);
    tape.lose(&[start(2, Some(1), 0)]);
    tape.lose(&[start(3, None, 0)]);
    tape.write(&[end(2), start(4, Some(3), 0), start(5, Some(4), 0), end(5)]);
    tape.write(&[end(4), end(3), end(1), start(6, None, 0), end(6)]);
    tape.file.close().unwrap();
    let (dispatches, gaps, ending) = tape.told();
    assert_eq!((dispatches, ending), (vec![1, 6], Some(Ending::Closed)));
    assert_eq!(numbers(&gaps), [(2, vec![2, 3])]);
    assert!(tape.file.broken.is_empty(), "{:?}", tape.file.broken);
}

#[test]
fn a_dispatch_that_is_lost_in_two_gaps_is_named_once() {
    let mut tape = Tape::new();
    tape.write(&[header(), start(1, None, 0)]);
    tape.lose(&[start(2, Some(1), 0), start(3, Some(2), 0)]);
    tape.lose(&[end(3), end(2), end(1)]);
    tape.write(&[start(4, None, 0), end(4)]);
    tape.file.close().unwrap();
    let (dispatches, gaps, _) = tape.told();
    assert_eq!(dispatches, [4]);
    assert_eq!(numbers(&gaps), [(5, vec![2, 3, 1])]);
}

#[test]
fn a_tape_is_not_closed_over_a_gap_that_it_does_not_tell() {
    let mut tape = Tape::new();
    tape.write(&[header(), start(1, None, 0)]);
    tape.lose(&[end(1)]);
    tape.file.close().unwrap();
    let (dispatches, gaps, ending) = tape.told();
    assert_eq!((dispatches, ending), (vec![], Some(Ending::Closed)));
    assert_eq!(numbers(&gaps), [(1, vec![1])]);
}

#[test]
fn a_tape_that_cannot_be_closed_stays_open() {
    let mut tape = Tape::new();
    tape.write(&[header(), start(1, None, 0), end(1)]);
    tape.without_room(TapeFile::close).unwrap_err();
    let (dispatches, _, ending) = tape.told();
    assert_eq!((dispatches, ending), (vec![1], Some(Ending::Open)));
}

#[test]
fn dispatches_that_have_not_ended_when_the_tape_is_closed_are_named() {
    let mut tape = Tape::new();
    tape.write(&[header(), start(1, None, 0), start(2, None, 0), end(2)]);
    tape.file.close().unwrap();
    let (dispatches, gaps, ending) = tape.told();
    assert_eq!((dispatches, ending), (vec![2], Some(Ending::Closed)));
    assert_eq!(gaps[0].error, "the tape was closed before they ended");
    assert_eq!(numbers(&gaps), [(0, vec![1])]);
}

#[test]
fn long_texts_of_a_gap_are_written_again() {
    let long: Arc<str> = "x".repeat(2_000).into();
    let with = |mut loose: Vec<Loose>| {
        for (_, entry) in &mut loose {
            match entry {
                Entry::Dispatch(start) => start.payload = Arc::clone(&long),
                Entry::Outcome(end) => end.payload = Arc::clone(&long),
                _ => {}
            }
        }
        loose
    };
    let mut tape = Tape::new();
    tape.write(&[header()]);
    tape.lose(&with(vec![start(1, None, 0), end(1)]));
    tape.write(&with(vec![start(2, None, 0), end(2)]));
    tape.file.close().unwrap();
    let (dispatches, _, ending) = tape.told();
    assert_eq!((dispatches, ending), (vec![2], Some(Ending::Closed)));
}

/// The write after a gap can succeed, since the record that tells of it is short.
#[test]
fn a_gap_is_told_to_whoever_was_there_even_if_the_next_write_succeeds() {
    let mut tape = Tape::new();
    tape.write(&[header()]);
    assert!(tape.file.trouble(0).is_none());
    tape.lose(&[start(1, None, 0), end(1)]);
    tape.write(&[]);
    assert_eq!(tape.file.losses(), 1);
    assert!(tape.file.trouble(1).is_some(), "nobody has heard of it");
    assert!(tape.file.trouble(1).is_none(), "it was before");
    assert!(tape.file.trouble(0).is_some(), "it was meanwhile");
    assert!(tape.file.untold().is_none());
}
