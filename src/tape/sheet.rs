//! Records on their way to the tape, written but for their numbers, the hashes before
//! them, and their payloads, requests and answers.
//!
//! Whoever has something recorded writes it here and keeps nothing: memory that one
//! thread takes and another gives back costs an event more than the writing does. Only long
//! texts are held as they are, and given back by whoever writes here next.

use std::ops::Range;
use std::sync::Arc;

use super::record::Entry;
use super::text::LONGEST_INLINE;

/// How much memory stays for the next records. One huge payload need not stay for ever.
const MOST_ROOM: usize = 16 << 20;

/// What is left open in a record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hole {
    /// Its number.
    Number,
    /// The hash of the record before it.
    Prev,
    /// A text that stands beside the records, by its index.
    Text(usize),
}

/// What has to be known of a record besides its bytes.
#[derive(Debug)]
pub(super) enum Mark {
    /// A header or session, which is needed again if the write fails.
    Session(Box<Entry>),
    /// A dispatch begins, perhaps because of another one.
    Begin {
        /// That one.
        parent: Option<u64>,
    },
    /// Something else.
    Middle,
    /// A dispatch ends.
    End,
    /// These dispatches are lost.
    Lost(Vec<u64>),
}

/// A record without its holes.
#[derive(Debug)]
pub(super) struct Item {
    /// The dispatch it belongs to.
    pub(super) dispatch: Option<u64>,
    /// What it is.
    pub(super) mark: Mark,
    /// Where its bytes end; they begin where those before it end.
    pub(super) bytes: usize,
    /// Where its holes end, likewise.
    pub(super) holes: usize,
}

/// Records in their order.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) items: Vec<Item>,
    pub(super) bytes: Vec<u8>,
    /// What is left open, by the place in the bytes.
    pub(super) holes: Vec<(usize, Hole)>,
    /// The texts, by their index.
    texts: Vec<Text>,
    /// Short texts, one behind the other, as they are.
    short: String,
    /// How many bytes the long ones have.
    held: usize,
    /// Long texts of records that are written.
    over: Vec<Arc<str>>,
    /// The one that came last: the payload of an event is the same in most of its
    /// records. It is held, so that no other one can be at its place in memory.
    last: Option<Arc<str>>,
}

/// A text that records have.
#[derive(Debug)]
enum Text {
    /// A short one, by its place among them.
    Short(Range<usize>),
    /// A long one.
    Long(Arc<str>),
}

impl Sheet {
    /// Takes everything out, and keeps the room unless that is a lot.
    pub(super) fn clear(&mut self) {
        if self.bytes.capacity() + self.short.capacity() + self.held > MOST_ROOM {
            *self = Self::default();
            return;
        }
        self.items.clear();
        self.bytes.clear();
        self.holes.clear();
        self.short.clear();
        self.held = 0;
        // Where no event has begun since, nobody has given these back.
        self.over.clear();
        let long = self.texts.drain(..).filter_map(|text| match text {
            Text::Long(text) => Some(text),
            Text::Short(_) => None,
        });
        self.over.extend(long);
        self.over.extend(self.last.take());
    }

    /// Gives back what some long texts took, about as many as an event has. All at once are
    /// so much memory that the system gets it, and has to clear it for the next event.
    pub(super) fn give_back(&mut self) {
        let some = 4 + self.over.len() / 64;
        self.over.truncate(self.over.len().saturating_sub(some));
    }

    /// Returns how much memory the records take.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.short.len() + self.held
    }

    /// Returns all texts, by their index.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| match text {
            Text::Short(place) => &self.short[place.clone()],
            Text::Long(text) => text,
        })
    }

    /// Leaves something open.
    pub(super) fn hole(&mut self, hole: Hole) {
        self.holes.push((self.bytes.len(), hole));
    }

    /// Leaves a text open.
    pub(super) fn text(&mut self, text: &Arc<str>) {
        let known = self.last.as_ref();
        if !known.is_some_and(|last| Arc::ptr_eq(last, text)) {
            let kept = if text.len() > LONGEST_INLINE {
                self.held += text.len();
                Text::Long(Arc::clone(text))
            } else {
                let begin = self.short.len();
                self.short.push_str(text);
                Text::Short(begin..self.short.len())
            };
            self.texts.push(kept);
            self.last = Some(Arc::clone(text));
        }
        self.hole(Hole::Text(self.texts.len() - 1));
    }

    /// Ends a record.
    pub(super) fn end(&mut self, dispatch: Option<u64>, mark: Mark) {
        self.items.push(Item {
            dispatch,
            mark,
            bytes: self.bytes.len(),
            holes: self.holes.len(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_texts_come_back_in_their_order_and_long_ones_are_given_back() {
        let mut sheet = Sheet::default();
        for _ in 0..3 {
            let long: Arc<str> = "l".repeat(LONGEST_INLINE + 1).into();
            let short: Arc<str> = "s".repeat(LONGEST_INLINE).into();
            for text in [&short, &long, &long, &short, &"".into()] {
                sheet.text(text);
            }
            // The same one again is not kept twice.
            let texts: Vec<&str> = sheet.texts().collect();
            assert_eq!(texts, [&*short, &*long, &*short, ""]);
            assert_eq!(sheet.size(), 3 * LONGEST_INLINE + 1);
            sheet.clear();
            assert_eq!((sheet.size(), sheet.texts().count()), (0, 0));
            assert_eq!(Arc::strong_count(&long), 2, "kept for whoever writes next");
            sheet.give_back();
            assert_eq!(Arc::strong_count(&long), 1);
        }
    }

    #[test]
    fn what_nobody_gives_back_does_not_pile_up() {
        let mut sheet = Sheet::default();
        let long: Arc<str> = "l".repeat(LONGEST_INLINE + 1).into();
        let other: Arc<str> = "o".repeat(LONGEST_INLINE + 1).into();
        for _ in 0..100 {
            sheet.text(&long);
            sheet.text(&other);
            sheet.clear();
        }
        assert!(Arc::strong_count(&long) <= 3);
        let huge: Arc<str> = "h".repeat(MOST_ROOM + 1).into();
        sheet.text(&huge);
        sheet.clear();
        assert_eq!(Arc::strong_count(&huge), 1, "nor does a huge one stay");
    }
}
