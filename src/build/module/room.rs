//! Room for a module's heap: letting a memory grow, and making it small again behind the
//! call, takes the host longer than most hooks take. What is never written to takes nothing.

use wasm_encoder::{MemorySection, MemoryType, SectionId};
use wasmparser::{BinaryReader, MemorySectionReader};

use super::sections::Sections;

/// How many pages a memory gets: enough to work through a payload of some tens of kilobytes.
const ROOM: u64 = 8;

/// Gives the memory of a module more pages to begin with, if it may have them. The SDKs'
/// allocators ask how much memory there is before they ask for more.
///
/// # Errors
/// Returns where the bytes are no module.
pub(crate) fn add(module: &[u8]) -> wasmparser::Result<Vec<u8>> {
    let mut sections = Sections::read(module)?;
    let Some(bytes) = sections.get(SectionId::Memory) else {
        return Ok(module.to_vec());
    };
    let mut memories = MemorySection::new();
    for memory in MemorySectionReader::new(BinaryReader::new(bytes, 0))? {
        let memory = memory?;
        // Where pages have another size, there can be more of them than of the usual ones.
        let most = memory.maximum.unwrap_or(1 << 16).max(memory.initial);
        memories.memory(MemoryType {
            minimum: memory.initial.saturating_add(ROOM).min(most),
            maximum: memory.maximum,
            memory64: memory.memory64,
            shared: memory.shared,
            page_size_log2: memory.page_size_log2,
        });
    }
    sections.replace(SectionId::Memory, &memories);
    Ok(sections.write())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(memory: &str) -> String {
        let module = format!("(module {memory})");
        let module = add(&wat::parse_str(module).unwrap()).unwrap();
        wasmprinter::print_bytes(module).unwrap()
    }

    #[test]
    fn a_memory_begins_with_more_pages_than_it_asks_for() {
        assert!(added("(memory 3)").contains("(memory (;0;) 11)"));
        assert!(added("(memory 3 100)").contains("(memory (;0;) 11 100)"));
    }

    #[test]
    fn no_memory_gets_more_than_it_may_have() {
        assert!(added("(memory 3 5)").contains("(memory (;0;) 5 5)"));
        assert!(added("(memory 65530)").contains("(memory (;0;) 65536)"));
        assert!(added("(memory i64 70000)").contains("(memory (;0;) i64 70000)"));
        assert!(!added("(func)").contains("memory"));
    }
}
