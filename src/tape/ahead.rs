//! Reads ahead: other threads take lines apart, which is most of the work, while the
//! reader puts records together in their order.

use std::io::{BufRead, Read as _};
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::line::Line;
use super::pen;
use super::quick::{self, Quick};
use super::read::LONGEST_LINE;
use super::record::Entry;
use super::seal::{Hash, without_text};
use super::words::Words;

/// How much is handed to a thread at once.
const CHUNK: usize = 64 << 10;

/// How many chunks wait for each thread, and how many of its own.
const WAITING: usize = 2;

/// How long a short line is, to guess how many a chunk has.
const SHORT_LINE: usize = 256;

/// Some lines, one behind the other.
struct Chunk {
    bytes: Vec<u8>,
    /// Behind the newline of each.
    ends: Vec<usize>,
}

/// A line, taken apart.
pub(super) struct Taken {
    /// What stands in it, or why that is nothing.
    pub(super) line: Result<Parsed, String>,
    /// Its hash.
    pub(super) hash: Hash,
    /// The hash of the body in it.
    pub(super) body: Option<Hash>,
    /// Whether the body in it is not written as bodies are.
    pub(super) loose: bool,
    /// How long it is, with its end.
    pub(super) bytes: u64,
}

/// What stands in a line.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all lines are the large one, and a box for each costs more than moving it"
)]
pub(super) enum Parsed {
    /// A record.
    Quick(Quick),
    /// All its fields, whose record is still to be made.
    Whole(Box<Line>),
}

impl Parsed {
    /// Returns the text of the body in it.
    fn body(&self) -> Option<&str> {
        match self {
            Self::Quick(quick) => match &quick.record.entry {
                Entry::Body(body) => Some(&body.text),
                _ => None,
            },
            Self::Whole(line) => line.body.and(line.text.as_deref()),
        }
    }

    /// Puts back what was left out of the body in it.
    fn whole(mut self) -> Result<Self, String> {
        if let Self::Whole(line) = &mut self {
            line.put_back()?;
        }
        Ok(self)
    }

    /// Says whether it is a body that its writer would have written in another way, which
    /// no hash tells. What was read quickly can be written in one way only.
    fn is_loose(&self, line: &[u8]) -> bool {
        let (Self::Whole(whole), Some(text)) = (self, self.body()) else {
            return false;
        };
        let mut written = br#","text":"#.to_vec();
        pen::text(text, &mut written);
        written.push(b'}');
        let found = without_text(line).and_then(|before| line.get(before.len()..));
        whole.redacted.is_none() && found != Some(&written)
    }
}

/// Takes a line apart.
pub(super) fn take_apart(line: &[u8], words: &mut Words) -> Taken {
    let parsed = match std::str::from_utf8(line) {
        Ok(text) => parse(text, words),
        Err(error) => Err(format!("byte {} is not UTF-8", error.valid_up_to())),
    };
    let loose = parsed.as_ref().is_ok_and(|parsed| parsed.is_loose(line));
    let parsed = parsed.and_then(Parsed::whole);
    let body = parsed.as_ref().ok().and_then(Parsed::body);
    Taken {
        hash: Hash::of_line(line),
        body: body.map(|text| Hash::of(text.as_bytes())),
        loose,
        line: parsed,
        bytes: line.len() as u64 + 1,
    }
}

fn parse(text: &str, words: &mut Words) -> Result<Parsed, String> {
    if let Some(quick) = quick::read(text, words) {
        return Ok(Parsed::Quick(quick));
    }
    let whole = serde_json::from_str(text);
    whole.map(Parsed::Whole).map_err(|error| plain(&error))
}

/// Where in its line JSON is wrong; which line it is, is said already.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => text,
    }
}

/// Why there is no further line.
pub(super) enum Stop {
    /// Nothing more but so many bytes of an unfinished one.
    End(u64),
    /// A line that is longer than any record.
    TooLong,
    /// Reading failed.
    Failed(std::io::Error),
}

/// The lines of a tape, taken apart by other threads.
pub(super) struct Ahead {
    /// Who takes apart what: chunks go round.
    results: Vec<Receiver<Vec<Taken>>>,
    next: usize,
    current: std::vec::IntoIter<Taken>,
    /// How the reading ended, once it has.
    end: Receiver<Stop>,
}

impl std::fmt::Debug for Ahead {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Ahead(…)")
    }
}

impl Ahead {
    /// Starts to read ahead; hands the input back where there are no threads for it.
    pub(super) fn start<R: BufRead + Send + 'static>(input: R) -> Result<Self, R> {
        let count = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        if count < 2 {
            return Err(input);
        }
        let (mut chunks, mut results) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (chunk, waiting) = sync_channel::<Chunk>(WAITING);
            let (done, result) = sync_channel(WAITING);
            if spawn(move || work(&waiting, &done)).is_err() {
                return Err(input);
            }
            chunks.push(chunk);
            results.push(result);
        }
        let (ended, end) = sync_channel(1);
        // The input comes back through here if the thread cannot be made.
        let (give, take) = sync_channel::<R>(1);
        let split = move || {
            if let Ok(input) = take.recv() {
                // Nobody may be there to hear of it.
                let _ = ended.send(split(input, &chunks));
            }
        };
        if spawn(split).is_err() {
            return Err(input);
        }
        match give.send(input) {
            Ok(()) => Ok(Self {
                results,
                next: 0,
                current: Vec::new().into_iter(),
                end,
            }),
            Err(back) => Err(back.0),
        }
    }

    /// Returns the next line.
    pub(super) fn next(&mut self) -> Result<Taken, Stop> {
        loop {
            if let Some(taken) = self.current.next() {
                return Ok(taken);
            }
            let turn = self.next % self.results.len();
            let Ok(chunk) = self.results[turn].recv() else {
                // Whoever splits says how it ended, once, and has stopped.
                return Err(self.end.recv().unwrap_or(Stop::End(0)));
            };
            self.current = chunk.into_iter();
            self.next += 1;
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let builder = thread::Builder::new().name("hookbox-ahead".to_owned());
    builder.spawn(work).map(|_| ())
}

/// Takes chunks apart until there are no more, or nobody wants them.
fn work(waiting: &Receiver<Chunk>, done: &SyncSender<Vec<Taken>>) {
    let mut words = Words::default();
    for chunk in waiting {
        let mut taken = Vec::with_capacity(chunk.ends.len());
        let mut begin = 0;
        for end in chunk.ends {
            taken.push(take_apart(&chunk.bytes[begin..end - 1], &mut words));
            begin = end;
        }
        if done.send(taken).is_err() {
            return;
        }
    }
}

/// Cuts the input into chunks of whole lines, and says how it ends.
fn split(mut input: impl BufRead, chunks: &[SyncSender<Chunk>]) -> Stop {
    let mut turn = 0;
    loop {
        let mut chunk = Chunk {
            bytes: Vec::with_capacity(CHUNK + CHUNK / 4),
            ends: Vec::with_capacity(CHUNK / SHORT_LINE),
        };
        let end = fill(&mut input, &mut chunk);
        if !chunk.ends.is_empty() {
            if chunks[turn % chunks.len()].send(chunk).is_err() {
                return Stop::End(0);
            }
            turn += 1;
        }
        if let Some(end) = end {
            return end;
        }
    }
}

/// Fills a chunk with whole lines; returns what comes after them if that is no line.
fn fill(input: &mut impl BufRead, chunk: &mut Chunk) -> Option<Stop> {
    let bytes = &mut chunk.bytes;
    while bytes.len() < CHUNK {
        let begun = bytes.len();
        let read = input.take(LONGEST_LINE + 1).read_until(b'\n', bytes);
        let read = match read {
            Ok(read) => read as u64,
            Err(error) => {
                bytes.truncate(begun);
                return Some(Stop::Failed(error));
            }
        };
        if bytes.len() > begun && bytes.last() == Some(&b'\n') {
            chunk.ends.push(bytes.len());
            continue;
        }
        bytes.truncate(begun);
        return Some(if read > LONGEST_LINE {
            Stop::TooLong
        } else {
            Stop::End(read)
        });
    }
    None
}
