//! One core module, taken apart.

use std::collections::HashMap;

use wasmparser::{
    CodeSectionReader, CompositeInnerType, Data, Element, FuncType, Global, MemoryType, Parser,
    Payload, Table, TypeRef,
};

use super::outline::Kind;
use super::{FuseError, unsupported};

#[derive(Default)]
pub(crate) struct Part<'a> {
    pub types: Vec<FuncType>,
    pub imports: Vec<(&'a str, &'a str, TypeRef)>,
    /// The type of each function it defines.
    pub funcs: Vec<u32>,
    pub tables: Vec<Table<'a>>,
    pub memories: Vec<MemoryType>,
    pub globals: Vec<Global<'a>>,
    pub exports: HashMap<&'a str, (Kind, u32)>,
    pub elements: Vec<Element<'a>>,
    pub code: Option<CodeSectionReader<'a>>,
    pub data: Vec<Data<'a>>,
}

impl<'a> Part<'a> {
    /// Reads a core module.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, FuseError> {
        let mut part = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        part.add_types(group?)?;
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        part.imports.push((import.module, import.name, import.ty));
                    }
                }
                Payload::FunctionSection(section) => {
                    part.funcs = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::TableSection(section) => {
                    part.tables = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::MemorySection(section) => {
                    part.memories = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::GlobalSection(section) => {
                    part.globals = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        let kind = Kind::of(export.kind)?;
                        part.exports.insert(export.name, (kind, export.index));
                    }
                }
                Payload::ElementSection(section) => {
                    part.elements = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::DataSection(section) => {
                    part.data = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::CodeSectionStart { range, .. } => {
                    let reader = wasmparser::BinaryReader::new(&bytes[range.clone()], range.start);
                    part.code = Some(CodeSectionReader::new(reader)?);
                }
                // Once there is one module, all would have to start at the same time.
                Payload::StartSection { .. } => {
                    return Err(unsupported("a module has a start function"));
                }
                Payload::TagSection(_) => return Err(unsupported("it uses exceptions")),
                _ => {}
            }
        }
        Ok(part)
    }

    fn add_types(&mut self, group: wasmparser::RecGroup) -> Result<(), FuseError> {
        for ty in group.into_types() {
            match ty.composite_type.inner {
                CompositeInnerType::Func(ty) => self.types.push(ty),
                _ => return Err(unsupported("it uses garbage collection")),
            }
        }
        Ok(())
    }

    /// Returns the imports of one kind.
    pub(crate) fn imports_of(
        &self,
        kind: Kind,
    ) -> impl Iterator<Item = (&'a str, &'a str, TypeRef)> {
        self.imports
            .iter()
            .copied()
            .filter(move |(_, _, ty)| match ty {
                TypeRef::Func(_) | TypeRef::FuncExact(_) => kind == Kind::Func,
                TypeRef::Table(_) => kind == Kind::Table,
                TypeRef::Memory(_) => kind == Kind::Memory,
                TypeRef::Global(_) => kind == Kind::Global,
                TypeRef::Tag(_) => false,
            })
    }

    /// Returns how much of one kind it defines itself.
    pub(crate) fn own(&self, kind: Kind) -> usize {
        match kind {
            Kind::Func => self.funcs.len(),
            Kind::Table => self.tables.len(),
            Kind::Memory => self.memories.len(),
            Kind::Global => self.globals.len(),
        }
    }
}
