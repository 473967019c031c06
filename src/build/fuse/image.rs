//! What the memory holds from the start.

use wasm_encoder::{ConstExpr, DataSection};

/// Shorter rows of zeros are written out; a segment of its own costs as much.
const GAP: usize = 32;

/// What the Python SDK puts in front of the addresses of objects that live for ever.
const MARK: &[u8] = b"hookbox immortals:";

/// What CPython 3.14 counts as immortal where pointers have 32 bits.
const IMMORTAL: u32 = 5 << 28;

/// No object is referred to more often; the address of a free block's successor,
/// which would be in the same place, is larger.
const MOST_REFERENCES: u32 = 1 << 18;

#[derive(Default)]
pub(crate) struct Image {
    bytes: Vec<u8>,
}

impl Image {
    pub(crate) fn put(&mut self, at: usize, data: &[u8]) {
        let end = at + data.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(data);
    }

    /// Stops the counting of references to the objects the snapshot holds.
    ///
    /// Looking at an object changes its count, and with it a page of memory, which the
    /// host has to copy for every call.
    pub(crate) fn make_immortal(&mut self) {
        let Some((start, count)) = self.find_immortals() else {
            return;
        };
        let mut at = start + MARK.len();
        for _ in 0..count {
            at += 4;
            let Some(address) = self.word(at) else { return };
            let address = address as usize;
            if let Some(1..MOST_REFERENCES) = self.word(address) {
                self.bytes[address..address + 4].copy_from_slice(&IMMORTAL.to_le_bytes());
            }
        }
        self.bytes[start..at + 4 + MARK.len()].fill(0);
    }

    /// Finds the list: between two marks, since parts of it that Python needed to make
    /// it may still lie around.
    fn find_immortals(&self) -> Option<(usize, usize)> {
        let mut from = 0;
        while let Some(next) = find(&self.bytes[from..], MARK) {
            let start = from + next;
            let body = start + MARK.len();
            let count = self.word(body)? as usize;
            let end = count.checked_mul(4)?.checked_add(body + 4)?;
            if self.bytes.get(end..end + MARK.len()) == Some(MARK) {
                return Some((start, count));
            }
            from = body;
        }
        None
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    pub(crate) fn write(&self) -> DataSection {
        let mut section = DataSection::new();
        let mut rest = 0;
        while let Some(from) = self.bytes[rest..].iter().position(|&byte| byte != 0) {
            let from = rest + from;
            let mut to = from;
            while let Some(next) = self.bytes[to..]
                .iter()
                .take(GAP)
                .position(|&byte| byte != 0)
            {
                to += next + 1;
            }
            let at = ConstExpr::i32_const(from as u32 as i32);
            section.active(0, &at, self.bytes[from..to].iter().copied());
            rest = to;
        }
        section
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image_with(list: &[u32], objects: &[(usize, u32)]) -> Image {
        let mut image = Image::default();
        let mut bytes = MARK.to_vec();
        bytes.extend((list.len() as u32).to_le_bytes());
        bytes.extend(list.iter().flat_map(|address| address.to_le_bytes()));
        bytes.extend(MARK);
        image.put(4096, &bytes);
        for &(at, count) in objects {
            image.put(at, &count.to_le_bytes());
        }
        image
    }

    #[test]
    fn listed_objects_become_immortal_and_the_list_goes_away() {
        let mut image = image_with(&[16, 32], &[(16, 1), (32, 7), (48, 7)]);
        image.make_immortal();
        assert_eq!(image.word(16), Some(IMMORTAL));
        assert_eq!(image.word(32), Some(IMMORTAL));
        assert_eq!(image.word(48), Some(7));
        assert!(find(&image.bytes, MARK).is_none());
    }

    #[test]
    fn what_is_no_count_stays() {
        let pointer = MOST_REFERENCES;
        let mut image = image_with(&[16, 32, u32::MAX], &[(16, 0), (32, pointer)]);
        image.make_immortal();
        assert_eq!((image.word(16), image.word(32)), (Some(0), Some(pointer)));
    }

    #[test]
    fn a_mark_without_a_list_changes_nothing() {
        let mut image = Image::default();
        image.put(0, MARK);
        image.put(100, &[1, 0, 0, 0]);
        let before = image.bytes.clone();
        image.make_immortal();
        assert_eq!(image.bytes, before);
    }

    #[test]
    fn rows_of_zeros_are_left_out() {
        let mut image = Image::default();
        image.put(0, &[0, 1, 0, 2]);
        image.put(1000, &[3]);
        assert_eq!(image.write().len(), 2);
        assert_eq!(Image::default().write().len(), 0);
    }
}
