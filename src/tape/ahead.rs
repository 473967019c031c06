//! Reads ahead: other threads take lines apart, which is most of the work, while the
//! reader puts records together in their order.

use std::io::Read;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use memchr::{memchr, memchr_iter, memrchr};

use super::line::Line;
use super::pen;
use super::quick::{self, Quick};
use super::read::LONGEST_LINE;
use super::seal::{Hash, without_text};
use super::words::Words;

/// About how much is handed to a thread at once.
const CHUNK: usize = 256 << 10;

/// Room that one huge line took is not kept for others.
const MOST_ROOM: usize = 4 * CHUNK;

/// How many chunks wait for each thread, and how many of its own.
const WAITING: usize = 2;

/// A line, taken apart.
pub(super) struct Taken {
    /// What stands in it, or why that is nothing.
    pub(super) line: Result<Parsed, String>,
    /// Its hash.
    pub(super) hash: Hash,
    /// The hash that has to name the body in it.
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
    /// Puts back what was left out of the body in it, and returns the hash that has to
    /// name that.
    fn named(self) -> Result<(Self, Option<Hash>), String> {
        match self {
            Self::Quick(quick) => {
                let name = quick.name;
                Ok((Self::Quick(quick), name))
            }
            Self::Whole(mut line) => {
                let name = line.put_back()?;
                Ok((Self::Whole(line), name))
            }
        }
    }

    /// Says whether it is a body that its writer would have written in another way, which
    /// no hash tells. What was read quickly can be written in one way only.
    fn is_loose(&self, line: &[u8]) -> bool {
        let Self::Whole(whole) = self else {
            return false;
        };
        let Some(text) = whole.body.and(whole.text.as_deref()) else {
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
pub(super) fn take_apart(written: &[u8], words: &mut Words) -> Taken {
    let parsed = match std::str::from_utf8(written) {
        Ok(text) => parse(text, words),
        Err(error) => Err(format!("byte {} is not UTF-8", error.valid_up_to())),
    };
    let loose = parsed.as_ref().is_ok_and(|parsed| parsed.is_loose(written));
    let (line, body) = match parsed.and_then(Parsed::named) {
        Ok((parsed, body)) => (Ok(parsed), body),
        Err(why) => (Err(why), None),
    };
    Taken {
        hash: Hash::of_line(written),
        body,
        loose,
        line,
        bytes: written.len() as u64 + 1,
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
    /// How the reading ended, once it has, and how many chunks that were.
    end: Receiver<(Stop, usize)>,
    over: bool,
}

impl std::fmt::Debug for Ahead {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Ahead(…)")
    }
}

impl Ahead {
    /// Starts to read ahead; hands the input back where there are no threads for it.
    pub(super) fn start<R: Read + Send + 'static>(input: R) -> Result<Self, R> {
        let count = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        if count < 2 {
            return Err(input);
        }
        let (mut chunks, mut results) = (Vec::new(), Vec::new());
        let (used, spare) = channel();
        for _ in 0..count {
            let (chunk, waiting) = sync_channel(WAITING);
            let (done, result) = sync_channel(WAITING);
            let used = used.clone();
            if spawn(move || work(&waiting, &done, &used)).is_err() {
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
                let _ = ended.send(split(input, &chunks, &spare));
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
                over: false,
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
                return Err(self.stop());
            };
            self.current = chunk.into_iter();
            self.next += 1;
        }
    }

    /// Returns why there are no more chunks. Whoever splits says so once, and has stopped.
    fn stop(&mut self) -> Stop {
        if std::mem::replace(&mut self.over, true) {
            return Stop::End(0);
        }
        match self.end.recv() {
            Ok((stop, chunks)) if chunks == self.next => stop,
            // What nobody has read is not the end of a tape.
            _ => Stop::Failed(std::io::Error::other("a thread that reads it has stopped")),
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let builder = thread::Builder::new().name("hookbox-ahead".to_owned());
    builder.spawn(work).map(|_| ())
}

/// Takes chunks apart until there are no more, or nobody wants them.
fn work(waiting: &Receiver<Vec<u8>>, done: &SyncSender<Vec<Taken>>, used: &Sender<Vec<u8>>) {
    let mut words = Words::default();
    let mut count = 0;
    for chunk in waiting {
        // About as many as last time.
        let mut taken = Vec::with_capacity(count);
        let mut begin = 0;
        for end in memchr_iter(b'\n', &chunk) {
            taken.push(take_apart(&chunk[begin..end], &mut words));
            begin = end + 1;
        }
        count = taken.len();
        if chunk.capacity() <= MOST_ROOM {
            // Nobody may need it any more.
            let _ = used.send(chunk);
        }
        if done.send(taken).is_err() {
            return;
        }
    }
}

/// Cuts the input into chunks of whole lines, and says how it ends and how many those are.
fn split(
    mut input: impl Read,
    chunks: &[SyncSender<Vec<u8>>],
    spare: &Receiver<Vec<u8>>,
) -> (Stop, usize) {
    let (mut begun, mut count) = (Vec::new(), 0);
    for chunk in chunks.iter().cycle() {
        let mut bytes = spare.try_recv().unwrap_or_default();
        bytes.clear();
        bytes.append(&mut begun);
        let stop = fill(&mut input, &mut bytes, &mut begun);
        if !bytes.is_empty() {
            count += 1;
            if chunk.send(bytes).is_err() {
                break;
            }
        }
        if let Some(stop) = stop {
            return (stop, count);
        }
    }
    // Nobody wants any more, or a thread has stopped: its chunk is never read.
    (Stop::End(0), count)
}

/// Adds whole lines to the beginning of one, and leaves the beginning of the next one.
/// Returns what comes behind them if that is no line.
fn fill(input: &mut impl Read, bytes: &mut Vec<u8>, begun: &mut Vec<u8>) -> Option<Stop> {
    loop {
        let old = bytes.len();
        let read = input.take(CHUNK as u64).read_to_end(bytes);
        let new = &bytes[old..];
        let whole = memrchr(b'\n', new).map_or(0, |last| old + last + 1);
        let first = memchr(b'\n', new).map_or(bytes.len(), |first| old + first + 1);
        if first as u64 > LONGEST_LINE {
            bytes.clear();
            return Some(Stop::TooLong);
        }
        let stop = match read {
            Ok(0) => Some(Stop::End(bytes.len() as u64)),
            Ok(_) => None,
            Err(error) => Some(Stop::Failed(error)),
        };
        if whole > 0 || stop.is_some() {
            begun.extend_from_slice(&bytes[whole..]);
            bytes.truncate(whole);
            return stop;
        }
    }
}
