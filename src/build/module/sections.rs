//! A core module as the list of its sections.

use wasm_encoder::{Encode as _, Module, RawSection, SectionId};
use wasmparser::{BinaryReader, DataKind, DataSectionReader, Parser, Payload};

/// A core module, taken apart.
pub(crate) struct Sections {
    all: Vec<(u8, Vec<u8>)>,
}

impl Sections {
    /// Takes a core module apart.
    ///
    /// # Errors
    /// Returns where the bytes are no core module.
    pub(crate) fn read(module: &[u8]) -> wasmparser::Result<Self> {
        let mut all = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            let payload = payload?;
            // The entries of the code section are part of it, not sections.
            if matches!(payload, Payload::CodeSectionEntry(_)) {
                continue;
            }
            if let Some((id, range)) = payload.as_section() {
                let bytes = module.get(range).unwrap_or_default();
                all.push((id, bytes.to_vec()));
            }
        }
        Ok(Self { all })
    }

    /// Returns what a section holds.
    pub(crate) fn get(&self, id: SectionId) -> Option<&[u8]> {
        let section = self.all.iter().find(|(other, _)| *other == u8::from(id));
        section.map(|(_, bytes)| bytes.as_slice())
    }

    /// Appends an item to a section that is a list and returns its place there; nothing
    /// if there is no such section.
    pub(crate) fn append(&mut self, id: SectionId, item: &[u8]) -> Option<u32> {
        let (_, bytes) = self
            .all
            .iter_mut()
            .find(|(other, _)| *other == u8::from(id))?;
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

    /// Drops data segments that hold nothing and are not laid into memory. Nothing refers
    /// to a segment by its number where the module does not count them.
    ///
    /// # Errors
    /// Returns where the bytes are no data section.
    pub(crate) fn drop_empty_data(&mut self) -> wasmparser::Result<()> {
        if self.get(SectionId::DataCount).is_some() {
            return Ok(());
        }
        let Some((_, bytes)) = self
            .all
            .iter_mut()
            .find(|(id, _)| *id == u8::from(SectionId::Data))
        else {
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

    /// Puts the module together again.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut module = Module::new();
        for (id, data) in &self.all {
            module.section(&RawSection { id: *id, data });
        }
        module.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_put_together_as_it_was() {
        let module = wat::parse_str(
            r#"(module (memory 1) (func (export "f") (result i32) i32.const 1) (data (i32.const 0) "x") (@custom "note" "y"))"#,
        )
        .unwrap();
        assert_eq!(Sections::read(&module).unwrap().write(), module);
    }

    #[test]
    fn an_item_is_appended_to_the_section_that_is_there() {
        let module = wat::parse_str("(module (global i32 (i32.const 1)))").unwrap();
        let mut sections = Sections::read(&module).unwrap();
        let item = [0x7f, 0, 0x41, 2, 0x0b];
        assert_eq!(sections.append(SectionId::Global, &item), Some(1));
        assert_eq!(sections.append(SectionId::Export, &[]), None);
        let wanted =
            wat::parse_str("(module (global i32 (i32.const 1)) (global i32 (i32.const 2)))")
                .unwrap();
        assert_eq!(sections.write(), wanted);
    }
}
