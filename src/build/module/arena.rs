//! Memory for the adapter that turns WASI preview 1 into components' WASI.
//!
//! The adapter works in the memory of the module it adapts. It is needed before the
//! module has started, so it cannot ask the module's own allocator; and where the
//! module takes all of the memory for its own, as Go does, letting the memory grow
//! corrupts the module's heap. So such a module keeps a stretch of memory free, marked
//! with [`MARKER`], and gets a function that hands it out.

use wasm_encoder::{BlockType, ConstExpr, Encode, ExportKind, Function, InstructionSink, ValType};
use wasm_encoder::{GlobalType, SectionId};
use wasmparser::{
    BinaryReader, DataKind, DataSectionReader, ImportSectionReader, Operator, TypeRef,
};

use super::sections::Sections;

/// What the free stretch of memory begins with. Its version stands for its size.
pub(crate) const MARKER: &[u8; 16] = b"hookbox:arena:v1";

/// How long the free stretch is, marker included.
const ARENA_BYTES: u32 = 192 << 10;

/// The name under which the encoder of components looks for the adapter's allocator.
const EXPORT: &str = "cabi_realloc_adapter";

/// Why the adapter could not be given memory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArenaError {
    /// The bytes are no core module.
    #[error(
        "the compiler wrote something that is no WebAssembly module: {0}; build again from scratch"
    )]
    NoModule(#[from] wasmparser::BinaryReaderError),
    /// Nothing is set aside.
    #[error(
        "the module sets no memory aside for the adapter; build it with the SDK that came with this hookbox"
    )]
    NoMarker,
    /// More than one stretch is marked.
    #[error("the module sets memory aside twice; link the hookbox SDK only once")]
    TwoMarkers,
    /// The module has no section of this kind, which every compiler writes.
    #[error("the module has no {0} section; build it as a reactor, with a memory of its own")]
    NoSection(&'static str),
    /// The module has such a function already.
    #[error("the module exports {EXPORT} already; leave that to hookbox")]
    Taken,
}

/// Adds a function that hands out the memory which the module sets aside.
///
/// # Errors
/// Returns what the module lacks.
pub(crate) fn inject(module: &[u8]) -> Result<Vec<u8>, ArenaError> {
    let mut sections = Sections::read(module)?;
    if exports_allocator(&sections)? {
        return Err(ArenaError::Taken);
    }
    let start = find_marker(&sections)?;
    let (functions, globals) = count_imports(&sections)?;

    let mut append = |id, name, item: &[u8]| {
        let place = sections.append(id, item);
        place.ok_or(ArenaError::NoSection(name))
    };
    let signature = append(SectionId::Type, "type", &signature())?;
    let place = append(SectionId::Function, "function", &encoded(&signature))?;
    let global = globals + append(SectionId::Global, "global", &next_free(start))?;
    append(
        SectionId::Export,
        "export",
        &export(functions.saturating_add(place)),
    )?;
    let end = start.saturating_add(ARENA_BYTES);
    append(SectionId::Code, "code", &encoded(&hand_out(global, end)))?;
    Ok(sections.write())
}

fn exports_allocator(sections: &Sections) -> Result<bool, ArenaError> {
    let bytes = sections
        .get(SectionId::Export)
        .ok_or(ArenaError::NoSection("export"))?;
    for export in wasmparser::ExportSectionReader::new(BinaryReader::new(bytes, 0))? {
        if export?.name == EXPORT {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns where the marker will be in memory.
fn find_marker(sections: &Sections) -> Result<u32, ArenaError> {
    let bytes = sections
        .get(SectionId::Data)
        .ok_or(ArenaError::NoSection("data"))?;
    let mut found = None;
    for data in DataSectionReader::new(BinaryReader::new(bytes, 0))? {
        let data = data?;
        let DataKind::Active { offset_expr, .. } = data.kind else {
            continue;
        };
        let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else {
            continue;
        };
        for (place, _) in matches(data.data) {
            let start = value
                .cast_unsigned()
                .saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
            if found.replace(start).is_some() {
                return Err(ArenaError::TwoMarkers);
            }
        }
    }
    found.ok_or(ArenaError::NoMarker)
}

fn matches(data: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    data.windows(MARKER.len())
        .enumerate()
        .filter(|(_, window)| window == MARKER)
}

/// Returns how many functions and globals the module imports: they come first in
/// the numbering.
fn count_imports(sections: &Sections) -> Result<(u32, u32), ArenaError> {
    let (mut functions, mut globals) = (0, 0);
    let Some(bytes) = sections.get(SectionId::Import) else {
        return Ok((0, 0));
    };
    for import in ImportSectionReader::new(BinaryReader::new(bytes, 0))?.into_imports() {
        match import?.ty {
            TypeRef::Func(_) | TypeRef::FuncExact(_) => functions += 1,
            TypeRef::Global(_) => globals += 1,
            _ => {}
        }
    }
    Ok((functions, globals))
}

fn encoded(item: &(impl Encode + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::new();
    item.encode(&mut bytes);
    bytes
}

/// The type of the component model's allocators: the old address and size, the
/// alignment, the new size; the address.
fn signature() -> Vec<u8> {
    let mut bytes = vec![0x60];
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

/// The allocator: it goes forward, gives nothing back, and traps at the end.
fn hand_out(next_free: u32, end: u32) -> Function {
    const OLD: u32 = 0;
    const ALIGN: u32 = 2;
    const SIZE: u32 = 3;
    const START: u32 = 4;
    let mut function = Function::new([(1, ValType::I32)]);
    let mut code = function.instructions();
    // The adapter never lets its memory grow, so an old address is a mistake.
    trap_if(code.local_get(OLD));
    // start = (next free + align - 1) & -align
    code.global_get(next_free).local_get(ALIGN).i32_add();
    code.i32_const(1).i32_sub();
    code.i32_const(0).local_get(ALIGN).i32_sub().i32_and();
    code.local_tee(START).local_get(SIZE).i32_add();
    code.global_set(next_free);
    trap_if(
        code.global_get(next_free)
            .i32_const(end.cast_signed())
            .i32_gt_u(),
    );
    // Sizes near 4 GiB wrap around.
    trap_if(code.global_get(next_free).local_get(START).i32_lt_u());
    code.local_get(START).end();
    function
}

fn trap_if(code: &mut InstructionSink<'_>) {
    code.if_(BlockType::Empty).unreachable().end();
}
