//! The texts of a tape: short ones stand in their record, long ones are stored once
//! and named by their hash.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::seal::Hash;

/// A text longer than this is stored as a body of its own.
pub(super) const LONGEST_INLINE: usize = 512;

/// How many bytes of bodies stay known; older ones are written again. Writer and reader
/// forget at the same place, so both stay small however long the tape gets.
const WINDOW_BYTES: usize = 8 << 20;

/// How many bodies stay known.
const WINDOW_BODIES: usize = 4_096;

/// How many bodies one record names at most.
const MOST_IN_A_RECORD: usize = 2;

/// A text as it stands in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Text {
    /// The text itself.
    Inline(Arc<str>),
    /// The hash of a body that was stored before.
    Body(Hash),
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Inline(text) => serializer.serialize_str(text),
            Self::Body(hash) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("body", hash)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Text;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text or the hash of a body")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text::Inline(text.into()))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
                let Some(key) = map.next_key::<String>()? else {
                    return Err(de::Error::missing_field("body"));
                };
                if key != "body" {
                    return Err(de::Error::unknown_field(&key, &["body"]));
                }
                let hash = map.next_value()?;
                match map.next_key::<String>()? {
                    None => Ok(Text::Body(hash)),
                    Some(key) => Err(de::Error::unknown_field(&key, &["body"])),
                }
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// Says whether two texts are equal. Most of those that are compared are the same one.
pub(super) fn same(one: &Arc<str>, other: &Arc<str>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

/// The bodies that are known at a place on the tape, each with what is kept of it: a
/// reader needs the text, a writer only has to know that it was written.
#[derive(Debug)]
pub(super) struct Window<T> {
    bodies: HashMap<Hash, (usize, T)>,
    order: VecDeque<Hash>,
    bytes: usize,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Self {
            bodies: HashMap::new(),
            order: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<T> Window<T> {
    /// Returns what is kept of a body that is still known.
    pub(super) fn get(&self, hash: &Hash) -> Option<&T> {
        self.bodies.get(hash).map(|(_, kept)| kept)
    }

    /// Takes a body of so many bytes in, and forgets the oldest ones where there is no
    /// room.
    pub(super) fn add(&mut self, hash: Hash, length: usize, kept: T) {
        self.bytes += length;
        if let Some((earlier, _)) = self.bodies.insert(hash, (length, kept)) {
            // A writer that could not write forgets more than its readers do, and counts on
            // what it writes again.
            self.bytes -= earlier;
            self.order.retain(|known| *known != hash);
        }
        self.order.push_back(hash);
        // The newest stay however large they are: the next record is about them.
        while (self.bytes > WINDOW_BYTES || self.order.len() > WINDOW_BODIES)
            && self.order.len() > MOST_IN_A_RECORD
            && let Some(oldest) = self.order.pop_front()
        {
            let body = self.bodies.remove(&oldest);
            self.bytes -= body.map_or(0, |(length, _)| length);
        }
    }

    /// Forgets everything: a new session starts.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_forgets_the_oldest_bodies_but_never_the_newest() {
        let mut window = Window::default();
        for index in 0..=WINDOW_BODIES {
            let text = index.to_string();
            window.add(Hash::of(text.as_bytes()), text.len(), ());
        }
        assert!(window.get(&Hash::of(b"0")).is_none());
        assert!(window.get(&Hash::of(b"1")).is_some());
        let large = "x".repeat(WINDOW_BYTES + 1);
        window.add(Hash::of(large.as_bytes()), large.len(), ());
        assert!(window.get(&Hash::of(large.as_bytes())).is_some());
        assert_eq!(window.order.len(), MOST_IN_A_RECORD);
        for text in ["y", "z"] {
            window.add(Hash::of(text.as_bytes()), text.len(), ());
        }
        assert!(window.get(&Hash::of(large.as_bytes())).is_none());
        assert_eq!((window.bytes, window.bodies.len()), (2, 2));
    }

    #[test]
    fn a_body_that_comes_again_is_the_newest_and_is_counted_as_it_is_now() {
        let mut window = Window::default();
        let hash = Hash::of(b"redacted");
        for length in [0, 13, 5] {
            window.add(hash, length, ());
            assert_eq!((window.bytes, window.order.len()), (length, 1));
        }
        let large = [1, 2].map(|byte| Hash::of(&[byte]));
        window.add(large[0], WINDOW_BYTES - 5, ());
        window.add(hash, 5, ());
        window.add(large[1], WINDOW_BYTES - 5, ());
        assert!(window.get(&large[0]).is_none());
        assert!(
            window.get(&hash).is_some(),
            "it came after the first large one"
        );
    }
}
