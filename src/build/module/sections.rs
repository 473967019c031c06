//! A module or a component as the list of its sections.

use wasm_encoder::{Encode, SectionId};
use wasmparser::{BinaryReader, DataKind, DataSectionReader};

/// How long the part before the first section is: a magic number and a version.
const PREAMBLE: usize = 8;

/// A module or a component, taken apart. Both are a list of sections, each with a kind
/// and a length.
pub(crate) struct Sections {
    preamble: Vec<u8>,
    all: Vec<(u8, Vec<u8>)>,
}

impl Sections {
    /// Takes a module or a component apart.
    ///
    /// # Errors
    /// Returns where the bytes are no list of sections.
    pub(crate) fn read(bytes: &[u8]) -> wasmparser::Result<Self> {
        let mut reader = BinaryReader::new(bytes, 0);
        let preamble = reader.read_bytes(PREAMBLE)?.to_vec();
        let mut all = Vec::new();
        while !reader.eof() {
            let kind = reader.read_u8()?;
            let length = reader.read_var_u32()?;
            all.push((kind, reader.read_bytes(length as usize)?.to_vec()));
        }
        Ok(Self { preamble, all })
    }

    /// Returns what a section of a module holds.
    pub(crate) fn get(&self, id: SectionId) -> Option<&[u8]> {
        let section = self.all.iter().find(|(kind, _)| *kind == u8::from(id));
        section.map(|(_, bytes)| bytes.as_slice())
    }

    fn get_mut(&mut self, id: SectionId) -> Option<&mut Vec<u8>> {
        let section = self.all.iter_mut().find(|(kind, _)| *kind == u8::from(id));
        section.map(|(_, bytes)| bytes)
    }

    /// Puts another section in the place of one that is there.
    pub(crate) fn replace(&mut self, id: SectionId, section: &impl Encode) {
        let mut whole = Vec::new();
        section.encode(&mut whole);
        // It writes its length before what it holds.
        let mut reader = BinaryReader::new(&whole, 0);
        if let (Some(bytes), Ok(_)) = (self.get_mut(id), reader.read_var_u32()) {
            *bytes = whole.split_off(reader.original_position());
        }
    }

    /// Appends an item to a section that is a list and returns its place there; nothing
    /// if there is no such section.
    pub(crate) fn append(&mut self, id: SectionId, item: &[u8]) -> Option<u32> {
        let bytes = self.get_mut(id)?;
        let mut reader = BinaryReader::new(bytes, 0);
        let count = reader.read_var_u32().ok()?;
        let items = reader.read_bytes(reader.bytes_remaining()).ok()?;
        let mut longer = Vec::with_capacity(bytes.len() + item.len() + 1);
        count.checked_add(1)?.encode(&mut longer);
        longer.extend_from_slice(items);
        longer.extend_from_slice(item);
        *bytes = longer;
        Some(count)
    }

    /// Drops data segments that hold nothing and are not laid into memory. Where a module
    /// does not count its segments, nothing in it refers to one by its number.
    ///
    /// # Errors
    /// Returns where the bytes are no data section.
    pub(crate) fn drop_empty_data(&mut self) -> wasmparser::Result<()> {
        if self.get(SectionId::DataCount).is_some() {
            return Ok(());
        }
        let Some(bytes) = self.get_mut(SectionId::Data) else {
            return Ok(());
        };
        let (mut count, mut items) = (0_u32, Vec::with_capacity(bytes.len()));
        for segment in DataSectionReader::new(BinaryReader::new(bytes, 0))? {
            let segment = segment?;
            if !matches!(segment.kind, DataKind::Passive) || !segment.data.is_empty() {
                count = count.saturating_add(1);
                items.extend_from_slice(bytes.get(segment.range).unwrap_or_default());
            }
        }
        let mut fewer = Vec::with_capacity(items.len() + 5);
        count.encode(&mut fewer);
        fewer.append(&mut items);
        *bytes = fewer;
        Ok(())
    }

    /// Puts the module or component together again.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = self.preamble.clone();
        for (kind, data) in &self.all {
            bytes.push(*kind);
            data.as_slice().encode(&mut bytes);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_apart_is_put_together_as_it_was() {
        for text in [
            r#"(module (memory 1) (func (export "f")) (data (i32.const 0) "x") (@custom "note" "y"))"#,
            r#"(component (core module (func (export "f"))) (@custom "note" "y"))"#,
        ] {
            let bytes = wat::parse_str(text).unwrap();
            let sections = Sections::read(&bytes).unwrap();
            assert_eq!(sections.write(), bytes);
        }
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        let bytes = wat::parse_str("(module (memory 1))").unwrap();
        assert!(Sections::read(&bytes[..bytes.len() - 1]).is_err());
        assert!(Sections::read(b"\0asm").is_err());
    }

    #[test]
    fn an_item_is_appended_to_the_section_that_is_there() {
        let module = wat::parse_str("(module (global i32 (i32.const 1)))").unwrap();
        let mut sections = Sections::read(&module).unwrap();
        let item = [0x7f, 0, 0x41, 2, 0x0b];
        assert_eq!(sections.append(SectionId::Global, &item), Some(1));
        assert_eq!(sections.append(SectionId::Export, &[]), None);
        let two = "(module (global i32 (i32.const 1)) (global i32 (i32.const 2)))";
        assert_eq!(sections.write(), wat::parse_str(two).unwrap());
    }

    #[test]
    fn empty_segments_go_unless_something_may_refer_to_them() {
        let module = |code: &str| {
            let text = format!(r#"(module (memory 1) {code} (data "") (data (i32.const 0) "x"))"#);
            wat::parse_str(text).unwrap()
        };
        let dropped = |module: &[u8]| {
            let mut sections = Sections::read(module).unwrap();
            sections.drop_empty_data().unwrap();
            sections.write()
        };
        let without = r#"(module (memory 1) (data (i32.const 0) "x"))"#;
        assert_eq!(dropped(&module("")), wat::parse_str(without).unwrap());
        let counted = module("(func data.drop 0)");
        assert_eq!(dropped(&counted), counted);
    }
}
