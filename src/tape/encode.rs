//! Records to bytes: numbered, chained, long texts stored once. Knows nothing of files.

use super::pen;
use super::record::{Entry, Footer};
use super::seal::Hash;
use super::sheet::{Hole, Item, Mark, Sheet};
use super::text::{LONGEST_INLINE, Window};
use super::twin::{self, Twin};

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
    window: Window<()>,
    /// For records that come alone.
    single: Sheet,
}

/// A text, as it stands in its records.
enum Text<'s> {
    /// A short one, escaped, in its quotes.
    Inline(Vec<u8>),
    /// A long one.
    Body(Long<'s>),
}

/// A text that stands once, for all records that name it.
struct Long<'s> {
    text: &'s str,
    name: Hash,
    /// What can be left out of it, and what stands before that.
    shorter: Option<(Twin, &'s str)>,
}

/// A record of a sheet, and what its holes are filled with.
struct Open<'s> {
    sheet: &'s Sheet,
    item: &'s Item,
    begin: usize,
    holes: &'s [(usize, Hole)],
    texts: &'s [Text<'s>],
}

impl Encoder {
    /// Goes on where a tape stands.
    pub(super) fn at(position: Position) -> Self {
        Self {
            position,
            window: Window::default(),
            single: Sheet::default(),
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
    pub(super) fn push(&mut self, dispatch: Option<u64>, entry: &Entry, out: &mut Vec<u8>) {
        let mut single = std::mem::take(&mut self.single);
        single.push(dispatch, entry);
        self.add(&single, |_| true, out);
        single.clear();
        self.single = single;
    }

    /// Appends the records of a sheet that are wanted.
    pub(super) fn add(
        &mut self,
        sheet: &Sheet,
        mut wanted: impl FnMut(&Item) -> bool,
        out: &mut Vec<u8>,
    ) {
        // Once for all records that have it.
        let texts: Vec<Text<'_>> = sheet.texts().map(Text::of).collect();
        let (mut begin, mut holes) = (0, 0);
        for item in &sheet.items {
            let open = Open {
                sheet,
                item,
                begin,
                holes: &sheet.holes[holes..item.holes],
                texts: &texts,
            };
            (begin, holes) = (item.bytes, item.holes);
            if wanted(item) {
                self.note(item);
                self.bodies(&open, out);
                self.seal(out, |encoder, out| encoder.fill(&open, out));
            }
        }
    }

    /// Appends the end of the tape.
    pub(super) fn footer(&mut self, out: &mut Vec<u8>) {
        let footer = Entry::Footer(Footer {
            count: self.position.next,
            dispatches: self.position.dispatches,
            head: self.position.head,
            sessions: self.position.sessions,
        });
        self.push(None, &footer, out);
    }

    fn note(&mut self, item: &Item) {
        match &item.mark {
            Mark::Begin { .. } => {
                let number = item.dispatch.unwrap_or(0);
                self.position.dispatches = self.position.dispatches.max(number);
            }
            Mark::Session(entry) if matches!(**entry, Entry::Session(_)) => {
                self.position.sessions += 1;
                // Readers forget here too.
                self.window.clear();
            }
            _ => {}
        }
    }

    /// Appends the bodies that a record names and a reader does not know.
    fn bodies(&mut self, open: &Open<'_>, out: &mut Vec<u8>) {
        // Storing one body can push the other out of the window.
        while let Some(long) = open.named().find(|long| !self.knows(&long.name)) {
            self.seal(out, |encoder, out| encoder.body(long, out));
            self.window.add(long.name, long.text.len(), ());
        }
    }

    fn knows(&self, hash: &Hash) -> bool {
        self.window.get(hash).is_some()
    }

    fn body(&self, long: &Long<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"body":"#);
        pen::hash(&long.name, out);
        out.extend_from_slice(br#","kind":"body","#);
        if let Some((twin, _)) = long.shorter {
            out.extend_from_slice(br#""left_out":""#);
            out.extend_from_slice(twin.name().as_bytes());
            out.extend_from_slice(br#"","#);
        }
        out.extend_from_slice(br#""n":"#);
        pen::number(self.position.next, out);
        out.extend_from_slice(br#","prev":"#);
        pen::hash(&self.position.head, out);
        out.extend_from_slice(br#","text":"#);
        match long.shorter {
            None => pen::text(long.text, out),
            Some((_, before)) => {
                pen::text(before, out);
                // The bracket that the twin was before.
                out.pop();
                out.extend_from_slice(b"}\"");
            }
        }
        out.push(b'}');
    }

    /// Copies a record, and fills its holes.
    fn fill(&self, open: &Open<'_>, out: &mut Vec<u8>) {
        let mut begin = open.begin;
        for (place, hole) in open.holes {
            out.extend_from_slice(&open.sheet.bytes[begin..*place]);
            begin = *place;
            match hole {
                Hole::Number => pen::number(self.position.next, out),
                Hole::Prev => out.extend_from_slice(&self.position.head.digits()),
                Hole::Text(index) => open.texts[*index].write(out),
            }
        }
        out.extend_from_slice(&open.sheet.bytes[begin..open.item.bytes]);
    }

    /// Appends a line, and ties the next one to it.
    fn seal(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&Self, &mut Vec<u8>)) {
        let begin = out.len();
        write(self, out);
        self.position.head = Hash::of_line(&out[begin..]);
        self.position.next += 1;
        out.push(b'\n');
    }
}

impl<'s> Text<'s> {
    fn of(text: &'s str) -> Self {
        if text.len() > LONGEST_INLINE {
            let shorter = twin::leave_out(text);
            return Self::Body(Long {
                text,
                name: twin::name(text, shorter),
                shorter,
            });
        }
        let mut written = Vec::with_capacity(text.len() + text.len() / 4 + 2);
        pen::text(text, &mut written);
        Self::Inline(written)
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Inline(written) => out.extend_from_slice(written),
            Self::Body(long) => {
                out.extend_from_slice(br#"{"body":"#);
                pen::hash(&long.name, out);
                out.push(b'}');
            }
        }
    }
}

impl<'s> Open<'s> {
    /// Returns the bodies that the record names.
    fn named(&self) -> impl Iterator<Item = &'s Long<'s>> {
        let texts = self.texts;
        self.holes.iter().filter_map(move |(_, hole)| match hole {
            Hole::Text(index) => match &texts[*index] {
                Text::Body(long) => Some(long),
                Text::Inline(_) => None,
            },
            Hole::Number | Hole::Prev => None,
        })
    }
}
