//! The file of a tape: locked while it is written, gone on with where it ended, and
//! never left with half a record by a disk that is full.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::encode::{Encoder, Position};
use super::error::RecordError;
use super::line::{Kind, Line};
use super::read::{Ending, Reader};
use super::record::{Entry, Lost};
use super::track::Loose;

/// A footer is shorter than this.
const LONGEST_FOOTER: u64 = 4 << 10;

/// A tape that is being written.
#[derive(Debug)]
pub(super) struct TapeFile {
    path: PathBuf,
    file: File,
    /// How far whole records reach.
    length: u64,
    encoder: Encoder,
    lost: Option<Lost>,
    /// Dispatches of which a record was lost: the others are of no use.
    broken: BTreeSet<u64>,
    /// Dispatches that have begun and not ended.
    open: BTreeSet<u64>,
    /// Bytes of a torn record that were dropped.
    recovered: Option<u64>,
    closed: bool,
    buffer: Vec<u8>,
}

impl TapeFile {
    /// Opens a file: a new tape, or one to go on with.
    pub(super) fn open(path: &Path) -> Result<Self, RecordError> {
        let fail = |error: std::io::Error| RecordError::Write {
            path: path.to_owned(),
            why: error.to_string(),
        };
        let refuse = |why: String| RecordError::NotATape {
            path: path.to_owned(),
            why,
        };
        let mut file = create(path).map_err(fail)?;
        if !file.metadata().map_err(fail)?.is_file() {
            return Err(refuse("it is not a regular file".to_owned()));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RecordError::Busy(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        let end = find_end(&mut file).map_err(refuse)?;
        if end.recovered.is_some() || end.footer > 0 {
            file.set_len(end.length).map_err(fail)?;
        }
        file.seek(SeekFrom::Start(end.length)).map_err(fail)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            length: end.length,
            encoder: Encoder::at(end.position),
            lost: cut_off(end.open),
            broken: BTreeSet::new(),
            open: BTreeSet::new(),
            recovered: end.recovered,
            closed: false,
            buffer: Vec::new(),
        })
    }

    /// Returns where the tape stands.
    pub(super) fn position(&self) -> Position {
        self.encoder.position()
    }

    /// Returns how many bytes of an unfinished record were dropped.
    pub(super) fn recovered(&self) -> Option<u64> {
        self.recovered
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Writes records: all of them, or none.
    pub(super) fn write(&mut self, loose: Vec<Loose>) -> Result<(), RecordError> {
        if loose.is_empty() && self.lost.is_none() {
            return self.still_there();
        }
        let before = self.encoder.position();
        self.buffer.clear();
        if let Some(lost) = self.lost.clone() {
            self.encoder.push(None, Entry::Lost(lost), &mut self.buffer);
        }
        let mut marks = Vec::with_capacity(loose.len());
        for (dispatch, entry) in loose {
            marks.push((dispatch, Mark::of(&entry)));
            if !dispatch.is_some_and(|dispatch| self.broken.contains(&dispatch)) {
                self.encoder.push(dispatch, entry, &mut self.buffer);
            }
        }
        match self.append() {
            Ok(()) => {
                self.lost = None;
                for (dispatch, mark) in marks.into_iter().filter_map(with_dispatch) {
                    follow(&mut self.open, dispatch, mark);
                    if mark == Mark::End {
                        self.broken.remove(&dispatch);
                    }
                }
                Ok(())
            }
            Err(error) => {
                self.encoder.back_to(before);
                self.lose(&marks, &error);
                Err(error)
            }
        }
    }

    /// Closes the tape.
    pub(super) fn close(&mut self) -> Result<(), RecordError> {
        if self.length == 0 {
            return Ok(());
        }
        let before = self.encoder.position();
        self.buffer.clear();
        if !self.open.is_empty() {
            let entry = Entry::Lost(Lost {
                count: 0,
                dispatches: self.open.iter().copied().collect(),
                error: "the tape was closed before they ended".to_owned(),
            });
            self.encoder.push(None, entry, &mut self.buffer);
        }
        self.encoder.footer(&mut self.buffer);
        let closed = self.append();
        self.closed = true;
        closed.inspect_err(|_| self.encoder.back_to(before))
    }

    fn append(&mut self) -> Result<(), RecordError> {
        if self.closed {
            return Err(RecordError::Write {
                path: self.path.clone(),
                why: "the tape was closed".to_owned(),
            });
        }
        self.still_there()?;
        if let Err(error) = self.file.write_all(&self.buffer) {
            // Half a record must not stay; if it does, readers stop before it.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            return Err(self.failed(&error));
        }
        self.length += self.buffer.len() as u64;
        Ok(())
    }

    /// A file that was deleted takes everything, and keeps nothing.
    #[cfg(unix)]
    fn still_there(&self) -> Result<(), RecordError> {
        use std::os::unix::fs::MetadataExt as _;
        match self.file.metadata() {
            Ok(metadata) if metadata.nlink() == 0 => Err(RecordError::Write {
                path: self.path.clone(),
                why: "it was deleted while it was recorded to".to_owned(),
            }),
            Ok(_) => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    #[cfg(not(unix))]
    fn still_there(&self) -> Result<(), RecordError> {
        Ok(())
    }

    fn failed(&self, error: &std::io::Error) -> RecordError {
        RecordError::Write {
            path: self.path.clone(),
            why: error.to_string(),
        }
    }

    fn lose(&mut self, marks: &[(Option<u64>, Mark)], error: &RecordError) {
        let lost = self.lost.get_or_insert_with(|| Lost {
            count: 0,
            dispatches: Vec::new(),
            error: String::new(),
        });
        lost.count += marks.len() as u64;
        lost.error = error.to_string();
        for (dispatch, mark) in marks.iter().copied().filter_map(with_dispatch) {
            if lost.dispatches.last() != Some(&dispatch) && !lost.dispatches.contains(&dispatch) {
                lost.dispatches.push(dispatch);
            }
            self.open.remove(&dispatch);
            if mark == Mark::End {
                self.broken.remove(&dispatch);
            } else {
                self.broken.insert(dispatch);
            }
        }
    }
}

/// What a record means for its dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Begin,
    Middle,
    End,
}

impl Mark {
    fn of(entry: &Entry) -> Self {
        match entry {
            Entry::Dispatch(_) => Self::Begin,
            Entry::Outcome(_) => Self::End,
            _ => Self::Middle,
        }
    }
}

fn with_dispatch((dispatch, mark): (Option<u64>, Mark)) -> Option<(u64, Mark)> {
    Some((dispatch?, mark))
}

/// Keeps in mind which dispatches are on their way.
fn follow(open: &mut BTreeSet<u64>, dispatch: u64, mark: Mark) {
    match mark {
        Mark::Begin => {
            open.insert(dispatch);
        }
        Mark::End => {
            open.remove(&dispatch);
        }
        Mark::Middle => {}
    }
}

/// What payloads say is nobody else's business.
#[cfg(unix)]
fn create(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.mode(0o600).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

/// Where a file is gone on with.
struct FoundEnd {
    length: u64,
    position: Position,
    /// How long the footer is that has to go.
    footer: u64,
    recovered: Option<u64>,
    /// Dispatches that never ended.
    open: BTreeSet<u64>,
}

/// Dispatches that were on their way when a recording was cut off will not end.
fn cut_off(open: BTreeSet<u64>) -> Option<Lost> {
    (!open.is_empty()).then(|| Lost {
        count: 0,
        dispatches: open.into_iter().collect(),
        error: "the recording was cut off before they ended".to_owned(),
    })
}

fn find_end(file: &mut File) -> Result<FoundEnd, String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    if length == 0 {
        return Ok(FoundEnd {
            length,
            position: Position::START,
            footer: 0,
            recovered: None,
            open: BTreeSet::new(),
        });
    }
    if let Some(end) = read_footer(file, length).map_err(|error| error.to_string())? {
        return Ok(end);
    }
    read_whole(file)
}

/// Reads only the end of the file: a tape that was closed says there where it stands.
fn read_footer(file: &mut File, length: u64) -> std::io::Result<Option<FoundEnd>> {
    let start = length.saturating_sub(LONGEST_FOOTER);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(LONGEST_FOOTER).read_to_end(&mut tail)?;
    let Some(body) = tail.strip_suffix(b"\n") else {
        return Ok(None);
    };
    let begin = body.iter().rposition(|&byte| byte == b'\n');
    let last = &body[begin.map_or(0, |begin| begin + 1)..];
    let Ok(line) = serde_json::from_slice::<Line>(last) else {
        return Ok(None);
    };
    let (Kind::Footer, Some(head), Some(dispatches), Some(sessions)) =
        (line.kind, line.head, line.dispatches, line.sessions)
    else {
        return Ok(None);
    };
    let footer = last.len() as u64 + 1;
    let fits = line.prev == Some(head) && line.count == Some(line.n);
    Ok(fits.then(|| FoundEnd {
        length: length - footer,
        position: Position {
            next: line.n,
            head,
            dispatches,
            sessions,
        },
        footer,
        recovered: None,
        open: BTreeSet::new(),
    }))
}

/// Reads a tape that was not closed, up to its last whole record.
fn read_whole(file: &mut File) -> Result<FoundEnd, String> {
    file.seek(SeekFrom::Start(0))
        .map_err(|error| error.to_string())?;
    let damaged = |error: super::TapeError| format!("{error}; record to another file");
    let mut reader = Reader::new(std::io::BufReader::new(file)).map_err(damaged)?;
    let mut open = BTreeSet::new();
    while let Some(record) = reader.next_record().map_err(damaged)? {
        if let Entry::Lost(lost) = &record.entry {
            open.retain(|dispatch| !lost.dispatches.contains(dispatch));
        }
        if let Some((dispatch, mark)) = with_dispatch((record.dispatch, Mark::of(&record.entry))) {
            follow(&mut open, dispatch, mark);
        }
    }
    if reader.redacted() > 0 {
        return Err("it was redacted; record to another file".to_owned());
    }
    Ok(FoundEnd {
        length: reader.bytes(),
        position: reader.position(),
        footer: 0,
        recovered: match reader.ending() {
            Some(Ending::Torn { bytes }) => Some(bytes),
            _ => None,
        },
        open,
    })
}
