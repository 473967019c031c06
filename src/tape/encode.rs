//! Records to bytes: numbered, chained, long texts stored once. Knows nothing of files.

use std::sync::Arc;

use super::convert::to_line;
use super::record::{Body, Entry, Footer};
use super::seal::Hash;
use super::text::{LONGEST_INLINE, Text, Window};

/// How many texts are remembered by where they are in memory: the payload of an event
/// is the same text in most of its records, and hashing it once is enough.
const REMEMBERED: usize = 8;

/// Where a tape stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// The number of the next record.
    pub(super) next: u64,
    /// The hash of the last one.
    pub(super) head: Hash,
    /// The highest number of a dispatch.
    pub(super) dispatches: u64,
    /// How many sessions there were after the header's.
    pub(super) sessions: u64,
}

impl Position {
    /// The beginning of a tape.
    pub(super) const START: Self = Self {
        next: 0,
        head: Hash::GENESIS,
        dispatches: 0,
        sessions: 0,
    };
}

/// Writes records one after the other.
#[derive(Debug)]
pub(super) struct Encoder {
    position: Position,
    window: Window,
    recent: Vec<(Arc<str>, Hash)>,
}

impl Encoder {
    /// Goes on where a tape stands.
    pub(super) fn at(position: Position) -> Self {
        Self {
            position,
            window: Window::default(),
            recent: Vec::new(),
        }
    }

    /// Returns where the tape stands.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Forgets what was written since, because it never reached the file.
    pub(super) fn back_to(&mut self, position: Position) {
        self.position = position;
        self.window.clear();
    }

    /// Appends a record, after the bodies it needs.
    pub(super) fn push(&mut self, dispatch: Option<u64>, entry: Entry, out: &mut Vec<u8>) {
        match &entry {
            Entry::Dispatch(_) => {
                let number = dispatch.unwrap_or(0);
                self.position.dispatches = self.position.dispatches.max(number);
            }
            Entry::Session(_) => {
                self.position.sessions += 1;
                // Readers forget here too.
                self.window.clear();
            }
            _ => {}
        }
        let mut named = Vec::new();
        let recent = &mut self.recent;
        let mut line = to_line(0, Hash::GENESIS, dispatch, entry, &mut |text| {
            if text.len() <= LONGEST_INLINE {
                return Text::Inline(text);
            }
            let hash = hash_of(&text, recent);
            named.push((hash, text));
            Text::Body(hash)
        });
        // Storing one body can push the other out of the window.
        while let Some((hash, text)) = named.iter().find(|(hash, _)| !self.knows(hash)) {
            self.body(*hash, text, out);
        }
        self.seal(&mut line, out);
    }

    /// Appends the end of the tape.
    pub(super) fn footer(&mut self, out: &mut Vec<u8>) {
        let footer = Entry::Footer(Footer {
            count: self.position.next,
            dispatches: self.position.dispatches,
            head: self.position.head,
            sessions: self.position.sessions,
        });
        self.push(None, footer, out);
    }

    fn knows(&self, hash: &Hash) -> bool {
        self.window.get(hash).is_some()
    }

    fn body(&mut self, hash: Hash, text: &Arc<str>, out: &mut Vec<u8>) {
        let body = Entry::Body(Body {
            hash,
            text: Arc::clone(text),
        });
        let mut line = to_line(0, Hash::GENESIS, None, body, &mut Text::Inline);
        self.seal(&mut line, out);
        self.window.add(hash, Arc::clone(text));
    }

    fn seal(&mut self, line: &mut super::line::Line, out: &mut Vec<u8>) {
        line.n = self.position.next;
        line.prev = Some(self.position.head);
        let start = out.len();
        // A line is made of texts and numbers, and memory takes any amount of them.
        if serde_json::to_writer(&mut *out, line).is_err() {
            out.truncate(start);
            return;
        }
        self.position.head = Hash::of(&out[start..]);
        self.position.next += 1;
        out.push(b'\n');
    }
}

fn hash_of(text: &Arc<str>, recent: &mut Vec<(Arc<str>, Hash)>) -> Hash {
    if let Some((_, hash)) = recent.iter().find(|(known, _)| Arc::ptr_eq(known, text)) {
        return *hash;
    }
    let hash = Hash::of(text.as_bytes());
    if recent.len() == REMEMBERED {
        recent.remove(0);
    }
    recent.push((Arc::clone(text), hash));
    hash
}
