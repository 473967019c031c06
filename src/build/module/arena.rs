//! Memory for the adapter that turns WASI preview 1 into the WASI of components.
//!
//! The adapter works in the memory of the module it adapts. It is needed before the
//! module has started, so it cannot ask the module's own allocator; and where a
//! module takes all of the memory for its own, as Go does, letting the memory grow
//! corrupts the module's heap. So such a module keeps a stretch of memory free, marked
//! with [`MARKER`], and gets a function that hands it out.

use wasm_encoder::{BlockType, ConstExpr, Encode, ExportKind, Function, GlobalType};
use wasm_encoder::{InstructionSink, SectionId, ValType};
use wasmparser::{BinaryReader, DataKind, DataSectionReader, ExportSectionReader};
use wasmparser::{ImportSectionReader, Operator, TypeRef};

use super::sections::Sections;

/// What the free stretch of memory begins with. Its version stands for its size.
pub(crate) const MARKER: &[u8; 16] = b"hookbox:arena:v1";

/// How long the free stretch is, marker included: the adapter takes a page for its
/// state and one for its stack, and they have to be aligned.
const ARENA_BYTES: u32 = 192 << 10;

/// The name under which the encoder of components looks for the adapter's allocator.
const EXPORT: &str = "cabi_realloc_adapter";

/// Why the adapter could not be given memory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArenaError {
    /// The bytes are no module.
    #[error("the compiler did not write a WebAssembly module: {0}; build again from scratch")]
    NoModule(#[from] wasmparser::BinaryReaderError),
    /// Nothing is set aside.
    #[error(
        "the module sets no memory aside for the adapter; build it with the SDK that came with this hookbox"
    )]
    NoMarker,
    /// More than one stretch is marked.
    #[error("the module sets memory aside twice; link the hookbox SDK only once")]
    TwoMarkers,
    /// The module has no section of a kind that every compiler writes.
    #[error("the module has no {0} section; build it as a reactor with a memory of its own")]
    NoSection(&'static str),
    /// The module has such a function already.
    #[error("the module exports {EXPORT} already; leave that to hookbox")]
    Taken,
}

/// Adds a function that hands out the memory which a module sets aside.
///
/// # Errors
/// Returns what the module lacks.
pub(crate) fn inject(module: &[u8]) -> Result<Vec<u8>, ArenaError> {
    let mut sections = Sections::read(module)?;
    if exports_allocator(&sections)? {
        return Err(ArenaError::Taken);
    }
    let start = find_marker(&sections)?;
    let imported = Imported::count(&sections)?;

    let mut append = |id, name, item: &[u8]| {
        let place = sections.append(id, item);
        place.ok_or(ArenaError::NoSection(name))
    };
    let signature = append(SectionId::Type, "type", &signature())?;
    let function = append(SectionId::Function, "function", &encoded(&signature))?;
    let global = append(SectionId::Global, "global", &next_free(start))?;
    let export = export(imported.functions.saturating_add(function));
    append(SectionId::Export, "export", &export)?;
    let end = start.saturating_add(ARENA_BYTES);
    let code = hand_out(imported.globals.saturating_add(global), end);
    append(SectionId::Code, "code", &encoded(&code))?;
    Ok(sections.write())
}

fn exports_allocator(sections: &Sections) -> Result<bool, ArenaError> {
    let bytes = sections.get(SectionId::Export).unwrap_or(&[0]);
    for export in ExportSectionReader::new(BinaryReader::new(bytes, 0))? {
        if export?.name == EXPORT {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns where the marker will be in memory.
fn find_marker(sections: &Sections) -> Result<u32, ArenaError> {
    let bytes = sections.get(SectionId::Data).unwrap_or(&[0]);
    let mut found = None;
    for data in DataSectionReader::new(BinaryReader::new(bytes, 0))? {
        let data = data?;
        let DataKind::Active { offset_expr, .. } = data.kind else {
            continue;
        };
        let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else {
            continue;
        };
        for place in marked(data.data) {
            let start = value.cast_unsigned().saturating_add(place);
            if found.replace(start).is_some() {
                return Err(ArenaError::TwoMarkers);
            }
        }
    }
    found.ok_or(ArenaError::NoMarker)
}

fn marked(data: &[u8]) -> impl Iterator<Item = u32> {
    (0_u32..)
        .zip(data.windows(MARKER.len()))
        .filter(|(_, window)| window == MARKER)
        .map(|(place, _)| place)
}

/// How many functions and globals a module imports: they come first in the numbering.
#[derive(Default)]
struct Imported {
    functions: u32,
    globals: u32,
}

impl Imported {
    fn count(sections: &Sections) -> Result<Self, ArenaError> {
        let bytes = sections.get(SectionId::Import).unwrap_or(&[0]);
        let mut count = Self::default();
        for import in ImportSectionReader::new(BinaryReader::new(bytes, 0))?.into_imports() {
            match import?.ty {
                TypeRef::Func(_) | TypeRef::FuncExact(_) => count.functions += 1,
                TypeRef::Global(_) => count.globals += 1,
                _ => {}
            }
        }
        Ok(count)
    }
}

fn encoded(item: &(impl Encode + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::new();
    item.encode(&mut bytes);
    bytes
}

/// The type of the component model's allocators: the old address and size, the
/// alignment, the new size; the address.
fn signature() -> Vec<u8> {
    const FUNCTION: u8 = 0x60;
    let mut bytes = vec![FUNCTION];
    [ValType::I32; 4].encode(&mut bytes);
    [ValType::I32; 1].encode(&mut bytes);
    bytes
}

/// The global that holds the first address which was not handed out.
fn next_free(start: u32) -> Vec<u8> {
    let kind = GlobalType {
        val_type: ValType::I32,
        mutable: true,
        shared: false,
    };
    let mut bytes = encoded(&kind);
    let after_marker = start.saturating_add(MARKER.len() as u32);
    ConstExpr::i32_const(after_marker.cast_signed()).encode(&mut bytes);
    bytes
}

fn export(function: u32) -> Vec<u8> {
    let mut bytes = encoded(EXPORT);
    ExportKind::Func.encode(&mut bytes);
    function.encode(&mut bytes);
    bytes
}

/// The allocator: it goes forward, takes nothing back, and traps at the end.
fn hand_out(next_free: u32, end: u32) -> Function {
    const OLD: u32 = 0;
    const ALIGN: u32 = 2;
    const SIZE: u32 = 3;
    const START: u32 = 4;
    let mut function = Function::new([(1, ValType::I32)]);
    let mut code = function.instructions();
    // The adapter never asks for more of the same, so an old address is a mistake.
    trap_if(code.local_get(OLD));
    // start = (next free + align - 1) & -align
    code.global_get(next_free).local_get(ALIGN).i32_add();
    code.i32_const(1).i32_sub();
    code.i32_const(0).local_get(ALIGN).i32_sub().i32_and();
    code.local_set(START);
    // Not start + size > end: that could wrap around.
    trap_if(
        code.local_get(START)
            .i32_const(end.cast_signed())
            .i32_gt_u(),
    );
    code.i32_const(end.cast_signed()).local_get(START).i32_sub();
    trap_if(code.local_get(SIZE).i32_lt_u());
    code.local_get(START).local_get(SIZE).i32_add();
    code.global_set(next_free).local_get(START).end();
    function
}

fn trap_if(code: &mut InstructionSink<'_>) {
    code.if_(BlockType::Empty).unreachable().end();
}

#[cfg(test)]
#[path = "arena_tests.rs"]
mod tests;
