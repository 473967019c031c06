//! Reads a tape from its beginning, one record at a time, and checks every one.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::Format;
use super::ahead::{Ahead, Parsed, Stop, Taken, take_apart};
use super::convert::from_line;
use super::encode::Position;
use super::error::TapeError;
use super::line::{Kind, Line};
use super::quick::Quick;
use super::record::{Body, Entry, Project, Record, Redacted};
use super::seal::Hash;
use super::text::{Text, Window};
use super::words::Words;
use crate::canonical;

/// How long a line may be: the largest payload there can be, every character escaped.
pub const LONGEST_LINE: u64 = 320 << 20;

/// How many times as long a redacted text can be as the one it stands for.
const MOST_GROWTH: usize = 64;

/// Reads larger than this save nothing.
const BUFFER: usize = 256 << 10;

/// How a tape ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With its footer: everything is there.
    Closed,
    /// Without one: it is still written, or whoever wrote it was stopped.
    Open,
    /// In the middle of a record.
    Torn {
        /// How many bytes of that record there are.
        bytes: u64,
    },
}

/// Reads the records of a tape in order.
#[derive(Debug)]
pub struct Reader<R> {
    input: Input<R>,
    line: Vec<u8>,
    words: Words,
    position: Position,
    window: Window<Arc<str>>,
    header: Arc<Project>,
    /// The header, as long as nobody has asked for it.
    first: Option<Record>,
    footer: bool,
    redacted: u64,
    redacted_lines: blake3::Hasher,
    sealed: bool,
    strict: bool,
    ending: Option<Ending>,
    bytes: u64,
}

/// Where lines come from.
#[derive(Debug)]
enum Input<R> {
    /// From here, one after the other.
    Here(R),
    /// From threads that read ahead.
    Ahead(Ahead),
    /// From nowhere: it is on its way to those threads.
    Gone,
}

/// Smaller tapes are read before threads could be made.
const WORTH_THREADS: u64 = 4 << 20;

/// The part of a header that is the same in every version.
#[derive(Deserialize)]
struct Peek {
    kind: String,
    format: Option<String>,
    project: Option<PeekProject>,
}

#[derive(Deserialize)]
struct PeekProject {
    hookbox: Option<String>,
}

impl Reader<BufReader<File>> {
    /// Opens a tape.
    ///
    /// # Errors
    /// Returns that it cannot be read, is none, or is of another version.
    pub fn open(path: &Path) -> Result<Self, TapeError> {
        let fail = |error| TapeError::File {
            path: path.to_owned(),
            error,
        };
        let file = open_file(path).map_err(fail)?;
        // A pipe would never end, and has no way back.
        if !file.metadata().map_err(fail)?.is_file() {
            return Err(TapeError::NotATape(format!(
                "{} is not a regular file",
                path.display()
            )));
        }
        Self::new(BufReader::with_capacity(BUFFER, file))
    }

    /// Opens a tape whose lines are taken apart by other threads, if it is a long one.
    pub(super) fn open_ahead(path: &Path) -> Result<Self, TapeError> {
        let mut reader = Self::open(path)?;
        let long = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > WORTH_THREADS);
        reader.input = match std::mem::replace(&mut reader.input, Input::Gone) {
            Input::Here(input) if long => match Ahead::start(input) {
                Ok(ahead) => Input::Ahead(ahead),
                Err(input) => Input::Here(input),
            },
            input => input,
        };
        Ok(reader)
    }
}

#[cfg(unix)]
fn open_file(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Opening a pipe would otherwise wait until somebody writes to it.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open_file(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

impl<R: BufRead> Reader<R> {
    /// Starts to read a tape.
    ///
    /// # Errors
    /// Returns that it is none, or of another version.
    pub fn new(input: R) -> Result<Self, TapeError> {
        let mut reader = Self {
            input: Input::Here(input),
            line: Vec::new(),
            words: Words::default(),
            position: Position::START,
            window: Window::default(),
            header: Arc::default(),
            first: None,
            footer: false,
            redacted: 0,
            redacted_lines: blake3::Hasher::new(),
            sealed: false,
            strict: false,
            ending: None,
            bytes: 0,
        };
        if !reader.read_line()? {
            return Err(match reader.ending {
                Some(Ending::Torn { .. }) => {
                    TapeError::NotATape("it ends in the middle of its first line".to_owned())
                }
                _ => TapeError::Empty,
            });
        }
        check_version(&reader.line)?;
        let taken = take_apart(&reader.line, &mut reader.words);
        let record = reader.accept(taken)?;
        let Entry::Header(project) = &record.entry else {
            return Err(TapeError::NotATape(
                "its first record is no header".to_owned(),
            ));
        };
        reader.header = Arc::new(project.clone());
        reader.first = Some(record);
        Ok(reader)
    }

    /// Also refuses lines that are not written in the canonical way.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Returns what the tape says about its first session.
    #[must_use]
    pub fn header(&self) -> &Arc<Project> {
        &self.header
    }

    /// Returns the next record; nothing at the end of what can be read.
    ///
    /// # Errors
    /// Returns the first record that is not as it was written.
    pub fn next_record(&mut self) -> Result<Option<Record>, TapeError> {
        if let Some(first) = self.first.take() {
            // It was read before anybody could ask for more.
            self.check_canonical(first.number)?;
            return Ok(Some(first));
        }
        if self.ending.is_none()
            && let Some(taken) = self.next_line()?
        {
            return self.accept(taken).map(Some);
        }
        self.check_seal()?;
        Ok(None)
    }

    /// Returns the next line, wherever it comes from; nothing at the end.
    fn next_line(&mut self) -> Result<Option<Taken>, TapeError> {
        let Input::Ahead(ahead) = &mut self.input else {
            let there = self.read_line()?;
            return Ok(there.then(|| take_apart(&self.line, &mut self.words)));
        };
        let record = self.position.next;
        match ahead.next() {
            Ok(taken) => {
                self.bytes += taken.bytes;
                Ok(Some(taken))
            }
            Err(Stop::End(bytes)) => {
                self.end(bytes);
                Ok(None)
            }
            Err(Stop::TooLong) => Err(too_long(record)),
            Err(Stop::Failed(error)) => Err(TapeError::Read { record, error }),
        }
    }

    /// Returns how the tape ends, once everything was read.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Returns how many whole records were read.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.position.next
    }

    /// Returns how many of them were redacted.
    #[must_use]
    pub fn redacted(&self) -> u64 {
        self.redacted
    }

    /// Returns how many bytes were read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the hash of the last record.
    #[must_use]
    pub fn head(&self) -> Hash {
        self.position.head
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Returns the last line as it stands on the tape.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Reads one whole line; nothing at the end.
    fn read_line(&mut self) -> Result<bool, TapeError> {
        self.line.clear();
        let record = self.position.next;
        let Input::Here(input) = &mut self.input else {
            return Ok(false);
        };
        let read = input
            .take(LONGEST_LINE + 1)
            .read_until(b'\n', &mut self.line)
            .map_err(|error| TapeError::Read { record, error })?;
        if read as u64 > LONGEST_LINE {
            return Err(too_long(record));
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            self.bytes += read as u64;
            return Ok(true);
        }
        self.end(read as u64);
        Ok(false)
    }

    /// Notes how the tape ends: with so many bytes of an unfinished record.
    fn end(&mut self, bytes: u64) {
        self.ending = Some(match bytes {
            0 if self.footer => Ending::Closed,
            0 => Ending::Open,
            bytes => Ending::Torn { bytes },
        });
    }

    /// Makes a record of a line, if it follows from what was read before.
    fn accept(&mut self, taken: Taken) -> Result<Record, TapeError> {
        let number = self.position.next;
        let damaged = |why: String| TapeError::Damaged {
            record: number,
            why,
        };
        let parsed = taken.line.map_err(damaged)?;
        let (n, prev, kind) = match &parsed {
            Parsed::Quick(quick) => (quick.record.number, Some(quick.prev), quick.kind),
            Parsed::Whole(line) => (line.n, line.prev, line.kind),
        };
        if n != number {
            return Err(TapeError::Order {
                record: number,
                found: n,
            });
        }
        if prev != Some(self.position.head) {
            return Err(TapeError::Chain { record: number });
        }
        self.check_canonical(number)?;
        self.check_place(kind, number)?;
        let (hash, window) = (self.hash(&parsed, taken.hash), &self.window);
        let record = match parsed {
            Parsed::Quick(quick) => complete(quick, window),
            Parsed::Whole(mut line) => from_line(&mut line, &mut |text| load(window, text)),
        };
        let record = record.map_err(damaged)?;
        if taken.loose {
            return Err(not_canonical(number));
        }
        self.take_in(&record, taken.body)?;
        self.position.next += 1;
        self.position.head = hash;
        Ok(record)
    }

    /// Refuses a line that its writer would have written in another way.
    fn check_canonical(&self, record: u64) -> Result<(), TapeError> {
        if !self.strict {
            return Ok(());
        }
        let line = serde_json::from_slice::<Line>(&self.line);
        let value = line.and_then(|line| serde_json::to_value(&line));
        if value.is_ok_and(|value| canonical::text(&value).as_bytes() == self.line) {
            return Ok(());
        }
        Err(not_canonical(record))
    }

    /// A redacted record stands for the one it was.
    fn hash(&mut self, parsed: &Parsed, hash: Hash) -> Hash {
        let redacted = match parsed {
            Parsed::Quick(_) => None,
            Parsed::Whole(line) => line.redacted.as_ref(),
        };
        let Some(redacted) = redacted else {
            return hash;
        };
        self.redacted += 1;
        self.redacted_lines.update(&hash.digits());
        redacted.was
    }

    /// A header stands at the beginning, a footer at the end, and behind that nothing
    /// but the seal of a redaction.
    fn check_place(&self, kind: Kind, number: u64) -> Result<(), TapeError> {
        let why = match kind {
            Kind::Header if number > 0 => "a second header",
            Kind::Redaction if !self.footer || self.sealed => "a seal that has no tape before it",
            Kind::Redaction => return Ok(()),
            _ if self.footer => "it stands behind the footer",
            _ => return Ok(()),
        };
        Err(TapeError::Story {
            record: number,
            why: why.to_owned(),
        })
    }

    fn take_in(&mut self, record: &Record, body: Option<Hash>) -> Result<(), TapeError> {
        let number = record.number;
        let wrong = |why: &str| TapeError::Damaged {
            record: number,
            why: why.to_owned(),
        };
        let redacted = record.redacted.as_ref();
        let is_body = matches!(record.entry, Entry::Body(_));
        if !is_body && redacted.is_some_and(|redacted| redacted.bytes.is_some()) {
            return Err(wrong("it says how long its text was, and has none"));
        }
        match &record.entry {
            Entry::Body(Body { hash, text }) => {
                if record.redacted.is_none() && body != Some(*hash) {
                    return Err(wrong("the body is not the one its hash names"));
                }
                let length = redacted.map_or(Some(text.len()), |one| former_length(one, text));
                let why = "how long its text was before it was redacted does not stand there";
                let length = length.ok_or_else(|| wrong(why))?;
                self.window.add(*hash, length, Arc::clone(text));
            }
            Entry::Session(_) => {
                self.position.sessions += 1;
                self.window.clear();
            }
            Entry::Dispatch(start) => {
                if start.session > self.position.sessions {
                    return Err(wrong("it belongs to a session that has not begun"));
                }
                let number = record.dispatch.unwrap_or(0);
                self.position.dispatches = self.position.dispatches.max(number);
            }
            Entry::Footer(footer) => {
                let position = self.position;
                if footer.count != position.next
                    || footer.head != position.head
                    || footer.dispatches != position.dispatches
                    || footer.sessions != position.sessions
                {
                    return Err(wrong("the footer does not fit the tape before it"));
                }
                self.footer = true;
            }
            Entry::Redaction(seal) => {
                let lines = Hash::from_bytes(self.redacted_lines.finalize().into());
                if seal.count != self.redacted || seal.lines != lines {
                    return Err(wrong(
                        "the seal does not fit: a redacted record was changed afterwards",
                    ));
                }
                self.sealed = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// Redacted records are only as good as their seal.
    fn check_seal(&self) -> Result<(), TapeError> {
        if self.redacted > 0 && !self.sealed && self.ending == Some(Ending::Closed) {
            return Err(TapeError::Story {
                record: self.position.next,
                why: "records are marked as redacted, and no seal vouches for them".to_owned(),
            });
        }
        Ok(())
    }
}

/// Returns how long a text was before it was redacted. The window counts that, so it can
/// hold more: as much as redaction can add, and not what somebody made up.
fn former_length(redacted: &Redacted, text: &str) -> Option<usize> {
    let former = usize::try_from(redacted.bytes?).ok()?;
    (text.len() / MOST_GROWTH <= former).then_some(former)
}

fn not_canonical(record: u64) -> TapeError {
    TapeError::Damaged {
        record,
        why: "it is not written in the canonical way".to_owned(),
    }
}

fn too_long(record: u64) -> TapeError {
    TapeError::TooLong {
        record,
        limit: LONGEST_LINE,
    }
}

fn check_version(line: &[u8]) -> Result<(), TapeError> {
    let no_tape = || TapeError::NotATape("its first line is no header".to_owned());
    let peek: Peek = serde_json::from_slice(line).map_err(|_| no_tape())?;
    let (true, Some(format)) = (peek.kind == "header", peek.format) else {
        return Err(no_tape());
    };
    let writer = peek.project.and_then(|project| project.hookbox);
    let writer = writer.unwrap_or_else(|| "of its own version".to_owned());
    let known = Format::parse(&format)
        .ok_or_else(|| TapeError::NotATape(format!("{format:?} is no version of a format")))?;
    let current = Format::CURRENT;
    if known.major < current.major {
        return Err(TapeError::Older {
            found: format,
            writer,
        });
    }
    if known.major > current.major || known.minor > current.minor {
        return Err(TapeError::Newer {
            found: format,
            writer,
        });
    }
    Ok(())
}

/// Puts the bodies of a record at their places.
fn complete(mut quick: Quick, window: &Window<Arc<str>>) -> Result<Record, String> {
    for (slot, hash) in quick.bodies.into_iter().flatten() {
        quick.put(slot, load(window, Text::Body(hash))?);
    }
    Ok(quick.record)
}

fn load(window: &Window<Arc<str>>, text: Text) -> Result<Arc<str>, String> {
    match text {
        Text::Inline(text) => Ok(text),
        Text::Body(hash) => window
            .get(&hash)
            .cloned()
            .ok_or_else(|| format!("the body {} is not on the tape before it", hash.short())),
    }
}
