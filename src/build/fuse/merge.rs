//! Makes one core module of several.

use std::collections::HashMap;

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{
    CodeSection, DataCountSection, ElementSection, Elements, ExportKind, ExportSection,
    FunctionSection, GlobalSection, ImportSection, MemorySection, Module, TableSection,
    TypeSection,
};
use wasmparser::{Element, ElementItems, ElementKind, FuncType, GlobalType, Instance, TypeRef};

use super::constant::Constant;
use super::image::Image;
use super::outline::{Item, Kind, Origin, Outline};
use super::part::Part;
use super::{FuseError, unsupported};

const KINDS: [Kind; 4] = [Kind::Func, Kind::Table, Kind::Memory, Kind::Global];

/// The one module.
pub(crate) struct Merged {
    pub bytes: Vec<u8>,
    /// The core functions it imports, by their index in the component.
    pub imports: Vec<u32>,
    exports: HashMap<(u32, String), (Kind, u32)>,
}

impl Merged {
    /// Returns under what name an export of one of the fused instances is exported now.
    pub(crate) fn export_name(kind: Kind, index: u32) -> String {
        let letter = match kind {
            Kind::Func => 'f',
            Kind::Table => 't',
            Kind::Memory => 'm',
            Kind::Global => 'g',
        };
        format!("{letter}{index}")
    }

    pub(crate) fn find(&self, instance: u32, name: &str) -> Option<(Kind, u32)> {
        self.exports.get(&(instance, name.to_owned())).copied()
    }
}

/// Something an instance imports or exports.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Found {
    /// A core function of the component's own.
    Outside(u32),
    /// Defined by a part.
    Own { part: usize, index: usize },
}

struct Merger<'o, 'a> {
    outline: &'o Outline<'a>,
    parts: Vec<Part<'a>>,
    /// The part of each fused instance.
    part_of: HashMap<u32, usize>,
    types: Vec<FuncType>,
    type_index: HashMap<FuncType, u32>,
    outside: Vec<(u32, u32)>,
    outside_index: HashMap<u32, u32>,
    names: Vec<Names>,
    constants: HashMap<u32, Constant>,
}

/// What the indices of one part are in the whole.
#[derive(Default, Clone)]
struct Names {
    types: Vec<u32>,
    spaces: HashMap<Kind, Vec<u32>>,
    elements: u32,
    data: u32,
}

impl Names {
    fn get(&self, kind: Kind, index: u32) -> Result<u32, Error> {
        self.spaces
            .get(&kind)
            .and_then(|space| space.get(index as usize))
            .copied()
            .ok_or(Error::InvalidCodeSectionSize)
    }
}

impl Reencode for Names {
    type Error = std::convert::Infallible;

    fn type_index(&mut self, ty: u32) -> Result<u32, Error> {
        let index = self.types.get(ty as usize);
        index.copied().ok_or(Error::InvalidCodeSectionSize)
    }
    fn function_index(&mut self, index: u32) -> Result<u32, Error> {
        self.get(Kind::Func, index)
    }
    fn table_index(&mut self, index: u32) -> Result<u32, Error> {
        self.get(Kind::Table, index)
    }
    fn memory_index(&mut self, index: u32) -> Result<u32, Error> {
        self.get(Kind::Memory, index)
    }
    fn global_index(&mut self, index: u32) -> Result<u32, Error> {
        self.get(Kind::Global, index)
    }
    fn element_index(&mut self, index: u32) -> Result<u32, Error> {
        Ok(self.elements + index)
    }
    fn data_index(&mut self, index: u32) -> Result<u32, Error> {
        Ok(self.data + index)
    }
}

pub(crate) fn merge(outline: &Outline<'_>) -> Result<Merged, FuseError> {
    let mut merger = Merger {
        outline,
        parts: Vec::new(),
        part_of: HashMap::new(),
        types: Vec::new(),
        type_index: HashMap::new(),
        outside: Vec::new(),
        outside_index: HashMap::new(),
        names: Vec::new(),
        constants: HashMap::new(),
    };
    for &instance in &outline.fused {
        let Instance::Instantiate { module_index, .. } = outline.instance(instance)? else {
            return Err(unsupported("an instance has no module"));
        };
        let Item::Module(bytes) = outline.items[outline.modules[*module_index as usize]] else {
            return Err(unsupported("a module is missing"));
        };
        merger.part_of.insert(instance, merger.parts.len());
        merger.parts.push(Part::read(bytes)?);
    }
    merger.number()?;
    merger.write()
}

impl Merger<'_, '_> {
    /// Finds what an instance calls `name`.
    fn find(&self, instance: u32, name: &str) -> Result<(Kind, Found), FuseError> {
        if let Some(&part) = self.part_of.get(&instance) {
            let &(kind, index) = self.parts[part]
                .exports
                .get(name)
                .ok_or_else(|| unsupported(format!("nothing exports {name:?}")))?;
            return Ok((kind, self.find_in(part, kind, index)?));
        }
        match self.outline.instance(instance)? {
            Instance::FromExports(exports) => {
                let export = exports
                    .iter()
                    .find(|export| export.name == name)
                    .ok_or_else(|| unsupported(format!("nothing exports {name:?}")))?;
                let kind = Kind::of(export.kind)?;
                match self.outline.origin(kind, export.index)? {
                    Origin::Export { instance, name } => self.find(instance, name),
                    Origin::Canon { .. } => Ok((kind, Found::Outside(export.index))),
                }
            }
            Instance::Instantiate { .. } => Err(unsupported("instances depend on later ones")),
        }
    }

    /// Finds what a part calls by an index of its own.
    fn find_in(&self, part: usize, kind: Kind, index: u32) -> Result<Found, FuseError> {
        let mut imports = self.parts[part].imports_of(kind);
        let index = index as usize;
        match imports.nth(index) {
            Some((module, name, _)) => self.find_import(part, module, name),
            None => Ok(Found::Own {
                part,
                index: index - self.parts[part].imports_of(kind).count(),
            }),
        }
    }

    fn find_import(&self, part: usize, module: &str, name: &str) -> Result<Found, FuseError> {
        let Instance::Instantiate { args, .. } = self.outline.instance(self.outline.fused[part])?
        else {
            return Err(unsupported("an instance has no module"));
        };
        let arg = args
            .iter()
            .find(|arg| arg.name == module)
            .ok_or_else(|| unsupported(format!("nothing is called {module:?}")))?;
        Ok(self.find(arg.index, name)?.1)
    }

    /// Gives everything its index in the whole.
    fn number(&mut self) -> Result<(), FuseError> {
        let found = (0..self.parts.len())
            .map(|part| self.find_all(part))
            .collect::<Result<Vec<_>, _>>()?;
        for kind in KINDS {
            self.number_kind(kind, &found);
        }
        let (mut elements, mut data) = (0, 0);
        for (part, names) in self.parts.iter().zip(&mut self.names) {
            (names.elements, names.data) = (elements, data);
            elements += part.elements.len() as u32;
            data += part.data.len() as u32;
        }
        Ok(())
    }

    /// Finds what each index of a part stands for.
    fn find_all(&mut self, part: usize) -> Result<HashMap<Kind, Vec<Found>>, FuseError> {
        let types = self.parts[part].types.clone();
        let types = types.into_iter().map(|ty| self.add_type(ty)).collect();
        self.names.push(Names {
            types,
            ..Names::default()
        });
        let mut spaces = HashMap::new();
        for kind in KINDS {
            let mut space = Vec::new();
            let imports: Vec<_> = self.parts[part].imports_of(kind).collect();
            for (module, name, ty) in imports {
                let item = self.find_import(part, module, name)?;
                if let Found::Outside(index) = item {
                    self.add_outside(part, index, ty)?;
                }
                space.push(item);
            }
            let own = self.parts[part].own(kind);
            space.extend((0..own).map(|index| Found::Own { part, index }));
            spaces.insert(kind, space);
        }
        Ok(spaces)
    }

    /// Numbers one index space: the imports first, then part after part.
    fn number_kind(&mut self, kind: Kind, found: &[HashMap<Kind, Vec<Found>>]) {
        let mut next = match kind {
            Kind::Func => self.outside.len(),
            _ => 0,
        };
        let mut first = Vec::new();
        for part in &self.parts {
            first.push(next);
            next += part.own(kind);
        }
        for (names, spaces) in self.names.iter_mut().zip(found) {
            let numbers = spaces[&kind].iter().map(|item| match *item {
                Found::Outside(index) => self.outside_index[&index],
                Found::Own { part, index } => (first[part] + index) as u32,
            });
            names.spaces.insert(kind, numbers.collect());
        }
    }

    fn add_type(&mut self, ty: FuncType) -> u32 {
        let types = &mut self.types;
        *self.type_index.entry(ty).or_insert_with_key(|ty| {
            types.push(ty.clone());
            (types.len() - 1) as u32
        })
    }

    fn add_outside(&mut self, part: usize, index: u32, ty: TypeRef) -> Result<(), FuseError> {
        let TypeRef::Func(ty) = ty else {
            return Err(unsupported("something else than a function is imported"));
        };
        let ty = self.names[part].types[ty as usize];
        let outside = &mut self.outside;
        self.outside_index.entry(index).or_insert_with(|| {
            outside.push((index, ty));
            (outside.len() - 1) as u32
        });
        Ok(())
    }

    fn write(&mut self) -> Result<Merged, FuseError> {
        let mut module = Module::new();
        module.section(&self.write_types()?);
        let mut imports = ImportSection::new();
        for &(index, ty) in &self.outside {
            let name = Merged::export_name(Kind::Func, index);
            imports.import("", &name, wasm_encoder::EntityType::Function(ty));
        }
        module.section(&imports);
        let mut functions = FunctionSection::new();
        let mut tables = TableSection::new();
        let mut memories = MemorySection::new();
        for (part, names) in self.parts.iter().zip(&mut self.names) {
            for &ty in &part.funcs {
                functions.function(names.types[ty as usize]);
            }
            for table in &part.tables {
                tables.table(names.table_type(table.ty)?);
            }
            for &memory in &part.memories {
                memories.memory(names.memory_type(memory)?);
            }
        }
        module
            .section(&functions)
            .section(&tables)
            .section(&memories);
        module.section(&self.write_globals()?);
        let (section, exports) = self.write_exports()?;
        module.section(&section);
        module.section(&self.write_elements()?);
        let passive = self
            .parts
            .iter()
            .flat_map(|part| &part.data)
            .any(|data| matches!(data.kind, wasmparser::DataKind::Passive));
        if passive {
            return Err(unsupported(
                "it has data that is not in place from the start",
            ));
        }
        let mut code = CodeSection::new();
        for (part, names) in self.parts.iter().zip(&mut self.names) {
            if let Some(bodies) = &part.code {
                names.parse_code_section(&mut code, bodies.clone())?;
            }
        }
        let data = self.image()?.write();
        module.section(&DataCountSection { count: data.len() });
        module.section(&code).section(&data);
        Ok(Merged {
            bytes: module.finish(),
            imports: self.outside.iter().map(|&(index, _)| index).collect(),
            exports,
        })
    }

    fn write_types(&mut self) -> Result<TypeSection, FuseError> {
        let mut section = TypeSection::new();
        for ty in &self.types {
            section
                .ty()
                .func_type(&Names::default().func_type(ty.clone())?);
        }
        Ok(section)
    }

    fn write_globals(&mut self) -> Result<GlobalSection, FuseError> {
        let mut section = GlobalSection::new();
        for part in 0..self.parts.len() {
            for index in 0..self.parts[part].globals.len() {
                let global = self.parts[part].globals[index].clone();
                let value = self.constant(part, &global.init_expr)?;
                if !global.ty.mutable {
                    self.constants.insert(section.len(), value);
                }
                section.global(global_type(global.ty)?, &value.write());
            }
        }
        Ok(section)
    }

    fn constant(
        &self,
        part: usize,
        expression: &wasmparser::ConstExpr<'_>,
    ) -> Result<Constant, FuseError> {
        let names = &self.names[part];
        Constant::of(
            expression,
            |index| {
                let index = names.get(Kind::Global, index).ok()?;
                self.constants.get(&index).copied()
            },
            |index| names.get(Kind::Func, index).unwrap_or(u32::MAX),
        )
    }

    #[allow(clippy::type_complexity)]
    fn write_exports(
        &self,
    ) -> Result<(ExportSection, HashMap<(u32, String), (Kind, u32)>), FuseError> {
        let mut section = ExportSection::new();
        let mut exports = HashMap::new();
        let mut written = std::collections::HashSet::new();
        for item in &self.outline.items {
            let Item::Alias(wasmparser::ComponentAlias::CoreInstanceExport {
                instance_index,
                name,
                ..
            }) = *item
            else {
                continue;
            };
            let Some(&part) = self.part_of.get(&instance_index) else {
                continue;
            };
            let Some(&(kind, index)) = self.parts[part].exports.get(name) else {
                continue;
            };
            let index = self.names[part].get(kind, index)?;
            exports.insert((instance_index, name.to_owned()), (kind, index));
            if self.outline.is_wanted(kind, instance_index, name) && written.insert((kind, index)) {
                let sort = match kind {
                    Kind::Func => ExportKind::Func,
                    Kind::Table => ExportKind::Table,
                    Kind::Memory => ExportKind::Memory,
                    Kind::Global => ExportKind::Global,
                };
                section.export(&Merged::export_name(kind, index), sort, index);
            }
        }
        Ok((section, exports))
    }

    fn write_elements(&mut self) -> Result<ElementSection, FuseError> {
        let mut section = ElementSection::new();
        for part in 0..self.parts.len() {
            for element in self.parts[part].elements.clone() {
                self.write_element(part, element, &mut section)?;
            }
        }
        Ok(section)
    }

    fn write_element(
        &mut self,
        part: usize,
        element: Element<'_>,
        section: &mut ElementSection,
    ) -> Result<(), FuseError> {
        let ElementItems::Functions(functions) = element.items else {
            return Err(unsupported("a table holds something else than functions"));
        };
        let functions = functions
            .into_iter()
            .map(|function| Ok(self.names[part].get(Kind::Func, function?)?))
            .collect::<Result<Vec<u32>, FuseError>>()?;
        let functions = Elements::Functions(functions.into());
        match element.kind {
            ElementKind::Active {
                table_index,
                offset_expr,
            } => {
                let table = self.names[part].get(Kind::Table, table_index.unwrap_or(0))?;
                let offset = self.constant(part, &offset_expr)?.write();
                section.active((table != 0).then_some(table), &offset, functions);
            }
            ElementKind::Passive => {
                section.passive(functions);
            }
            ElementKind::Declared => {
                section.declared(functions);
            }
        }
        Ok(())
    }

    fn image(&self) -> Result<Image, FuseError> {
        let mut image = Image::default();
        for (number, part) in self.parts.iter().enumerate() {
            for data in &part.data {
                if let wasmparser::DataKind::Active {
                    memory_index,
                    offset_expr,
                } = &data.kind
                {
                    let memory = self.names[number].get(Kind::Memory, *memory_index)?;
                    let Constant::I32(offset) = self.constant(number, offset_expr)? else {
                        return Err(unsupported("data is not placed by a number"));
                    };
                    if memory != 0 {
                        return Err(unsupported("it has several memories"));
                    }
                    image.put(offset as u32 as usize, data.data);
                }
            }
        }
        image.make_immortal();
        Ok(image)
    }
}

fn global_type(ty: GlobalType) -> Result<wasm_encoder::GlobalType, FuseError> {
    Ok(Names::default().global_type(ty)?)
}
