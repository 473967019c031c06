//! The file of a tape: locked while it is written, gone on with where it ended, and
//! never left with half a record by a disk that is full.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::encode::{Encoder, Position};
use super::error::RecordError;
use super::line::{Kind, Line};
use super::read::{Ending, Reader};
use super::record::{Entry, Lost};
use super::sheet::{Item, Mark, Sheet};

/// A footer is shorter than this.
const LONGEST_FOOTER: u64 = 4 << 10;

/// A tape that is being written.
#[derive(Debug)]
pub(super) struct TapeFile {
    path: PathBuf,
    file: File,
    /// How far whole records reach.
    length: u64,
    /// Whether nothing was there before.
    is_new: bool,
    encoder: Encoder,
    /// A header or sessions that could not be written: what comes after them is of no
    /// use without them.
    begins: Vec<Entry>,
    lost: Option<Lost>,
    /// Dispatches of which a record was lost: the others are of no use.
    broken: BTreeSet<u64>,
    /// Dispatches that have begun and not ended.
    open: BTreeSet<u64>,
    /// Bytes of a torn record that were dropped.
    recovered: Option<u64>,
    /// Why the last records were not written.
    trouble: Option<RecordError>,
    losses: Losses,
    closed: bool,
    buffer: Vec<u8>,
    /// A sheet that was written, with room for the next records.
    empty: Sheet,
}

/// Writes that failed. The next one may succeed, and a gap stays a gap.
#[derive(Debug, Default)]
struct Losses {
    count: u64,
    last: Option<RecordError>,
    /// What nobody has heard of yet.
    untold: Option<RecordError>,
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
        let is_new = !path.exists();
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
            is_new,
            encoder: Encoder::at(end.position),
            begins: Vec::new(),
            lost: cut_off(end.open),
            broken: BTreeSet::new(),
            open: BTreeSet::new(),
            recovered: end.recovered,
            trouble: None,
            losses: Losses::default(),
            closed: false,
            buffer: Vec::new(),
            empty: Sheet::default(),
        })
    }

    /// Returns where the tape stands.
    pub(super) fn position(&self) -> Position {
        self.encoder.position()
    }

    /// Returns how many bytes of an unfinished record were dropped, to whoever asks first.
    pub(super) fn recovered(&mut self) -> Option<u64> {
        self.recovered.take()
    }

    /// Hands over the sheet that was written last, empty.
    pub(super) fn empty_sheet(&mut self) -> Sheet {
        std::mem::take(&mut self.empty)
    }

    /// Returns how often records were lost.
    pub(super) fn losses(&self) -> u64 {
        self.losses.count
    }

    /// Returns why records were lost of which nobody has heard yet.
    pub(super) fn untold(&mut self) -> Option<RecordError> {
        self.losses.untold.take()
    }

    /// Returns why records were not written, now or since there were that many losses, or
    /// why the next ones will not be.
    pub(super) fn trouble(&mut self, since: u64) -> Option<RecordError> {
        let untold = self.untold();
        let earlier = self
            .losses
            .last
            .as_ref()
            .filter(|_| self.losses.count > since);
        let known = self.trouble.as_ref().or(earlier).cloned().or(untold);
        known.or_else(|| self.closed.then(|| self.over()))
    }

    /// Says whether there is anything that dispatches have to hear of.
    pub(super) fn is_eventful(&self) -> bool {
        self.closed || self.trouble.is_some() || self.losses.untold.is_some()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Writes records: all of them, or none.
    pub(super) fn write(&mut self, mut sheet: Sheet) -> Result<(), RecordError> {
        let written = self.write_all(&mut sheet);
        self.trouble = written.as_ref().err().cloned();
        sheet.clear();
        self.empty = sheet;
        written
    }

    fn write_all(&mut self, sheet: &mut Sheet) -> Result<(), RecordError> {
        if sheet.items.is_empty() && self.lost.is_none() && self.begins.is_empty() {
            return self.still_there();
        }
        let before = self.encoder.position();
        self.buffer.clear();
        self.push_waiting();
        let broken = &mut self.broken;
        let whole = |item: &Item| {
            break_with_parent(broken, item);
            !item.dispatch.is_some_and(|one| broken.contains(&one))
        };
        self.encoder.add(sheet, whole, &mut self.buffer);
        match self.append() {
            Ok(()) => {
                self.begins.clear();
                self.lost = None;
                for item in &sheet.items {
                    follow(&mut self.open, item.dispatch, &item.mark);
                    if let (Mark::End, Some(dispatch)) = (&item.mark, item.dispatch) {
                        self.broken.remove(&dispatch);
                    }
                }
                Ok(())
            }
            Err(error) => {
                self.encoder.back_to(before);
                self.lose(sheet.items.drain(..), &error);
                Err(error)
            }
        }
    }

    /// Puts what could not be written before in front, with the gap that it left.
    fn push_waiting(&mut self) {
        for entry in &self.begins {
            self.encoder.push(None, entry, &mut self.buffer);
        }
        if let Some(lost) = self.lost.clone() {
            let entry = Entry::Lost(lost);
            self.encoder.push(None, &entry, &mut self.buffer);
        }
    }

    /// Closes the tape, for others to go on with.
    pub(super) fn close(&mut self) -> Result<(), RecordError> {
        let closed = self.write_footer();
        self.closed = true;
        if self.length == 0 && self.is_new {
            // Nobody recorded anything, and an empty file is no tape.
            let _ = std::fs::remove_file(&self.path);
        }
        // The file stays open as long as anybody holds the recorder. A lock that cannot
        // be given back goes with it.
        let _ = self.file.unlock();
        closed
    }

    /// A footer vouches for everything, so one without the gaps before it is not written.
    fn write_footer(&mut self) -> Result<(), RecordError> {
        if self.length == 0 && self.begins.is_empty() {
            return Ok(());
        }
        let before = self.encoder.position();
        self.buffer.clear();
        self.push_waiting();
        if !self.open.is_empty() {
            let entry = Entry::Lost(Lost {
                count: 0,
                dispatches: self.open.iter().copied().collect(),
                error: "the tape was closed before they ended".to_owned(),
            });
            self.encoder.push(None, &entry, &mut self.buffer);
        }
        self.encoder.footer(&mut self.buffer);
        self.append().inspect_err(|_| self.encoder.back_to(before))
    }

    fn append(&mut self) -> Result<(), RecordError> {
        if self.closed {
            return Err(self.over());
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

    fn over(&self) -> RecordError {
        RecordError::Write {
            path: self.path.clone(),
            why: "the tape was closed".to_owned(),
        }
    }

    fn failed(&self, error: &std::io::Error) -> RecordError {
        RecordError::Write {
            path: self.path.clone(),
            why: error.to_string(),
        }
    }

    fn lose(&mut self, items: impl Iterator<Item = Item>, error: &RecordError) {
        self.losses.count += 1;
        self.losses.last = Some(error.clone());
        self.losses.untold = Some(error.clone());
        for Item { dispatch, mark, .. } in items {
            if let Mark::Session(entry) = mark {
                self.begins.push(*entry);
                continue;
            }
            let lost = self.lost.get_or_insert_with(|| Lost {
                count: 0,
                dispatches: Vec::new(),
                error: String::new(),
            });
            lost.count += 1;
            lost.error = error.to_string();
            let Some(dispatch) = dispatch else { continue };
            if self.broken.insert(dispatch) {
                lost.dispatches.push(dispatch);
            }
            self.open.remove(&dispatch);
            if matches!(mark, Mark::End) {
                self.broken.remove(&dispatch);
            }
        }
    }
}

/// What a lost dispatch causes is lost with it.
fn break_with_parent(broken: &mut BTreeSet<u64>, item: &Item) {
    if let (
        Some(dispatch),
        Mark::Begin {
            parent: Some(parent),
        },
    ) = (item.dispatch, &item.mark)
        && broken.contains(parent)
    {
        broken.insert(dispatch);
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
    // Whatever stands at its end, it has to begin as a tape of this version.
    from_start(file)?;
    if let Some(end) = read_footer(file, length).map_err(|error| error.to_string())? {
        return Ok(end);
    }
    read_whole(file)
}

fn from_start(file: &mut File) -> Result<Reader<BufReader<&mut File>>, String> {
    file.seek(SeekFrom::Start(0))
        .map_err(|error| error.to_string())?;
    Reader::new(BufReader::new(file)).map_err(damaged)
}

fn damaged(error: super::TapeError) -> String {
    format!("{error}; record to another file")
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

/// Reads a tape that was not closed, up to its last whole record but for a footer.
fn read_whole(file: &mut File) -> Result<FoundEnd, String> {
    let mut reader = from_start(file)?;
    let (mut length, mut position) = (reader.bytes(), reader.position());
    let mut sealed = false;
    let mut open = BTreeSet::new();
    while let Some(record) = reader.next_record().map_err(damaged)? {
        follow(&mut open, record.dispatch, &Mark::of(&record.entry));
        match record.entry {
            Entry::Footer(_) => {}
            Entry::Redaction(_) => sealed = true,
            _ => (length, position) = (reader.bytes(), reader.position()),
        }
    }
    if sealed || reader.redacted() > 0 {
        return Err("it was redacted; record to another file".to_owned());
    }
    Ok(FoundEnd {
        length,
        position,
        footer: reader.bytes() - length,
        recovered: match reader.ending() {
            Some(Ending::Torn { bytes }) => Some(bytes),
            _ => None,
        },
        open,
    })
}

/// Keeps in mind which dispatches are on their way.
fn follow(open: &mut BTreeSet<u64>, dispatch: Option<u64>, mark: &Mark) {
    match (mark, dispatch) {
        (Mark::Begin { .. }, Some(dispatch)) => {
            open.insert(dispatch);
        }
        (Mark::End, Some(dispatch)) => {
            open.remove(&dispatch);
        }
        (Mark::Lost(lost), _) => {
            for dispatch in lost {
                open.remove(dispatch);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
