//! Writes the component with the one module in place of the many.

use std::collections::HashMap;

use wasm_encoder::reencode::{Error, Reencode, ReencodeComponent};
use wasm_encoder::{
    Alias, CanonicalFunctionSection, Component, ComponentAliasSection, ExportKind, InstanceSection,
    ModuleArg, RawSection,
};
use wasmparser::{CanonicalFunction, ComponentAlias, Instance};

use super::merge::Merged;
use super::outline::{Item, Kind, Outline};
use super::{FuseError, unsupported};

pub(crate) fn emit(outline: &Outline<'_>, merged: &Merged) -> Result<Vec<u8>, FuseError> {
    let mut writer = Writer {
        outline,
        merged,
        component: Component::new(),
        next: HashMap::new(),
        new: HashMap::new(),
        modules: 0,
        new_modules: HashMap::new(),
        instances: 0,
        new_instances: HashMap::new(),
        fused: 0,
        seen: HashMap::new(),
        seen_modules: 0,
        seen_instances: 0,
    };
    let last = *outline
        .fused
        .last()
        .ok_or_else(|| unsupported("there is nothing to fuse"))?;
    let last = outline.instances[last as usize];
    let mut waiting = Vec::new();
    for (position, item) in outline.items.iter().enumerate() {
        let old = writer.count(item)?;
        if position < last && outline.must_wait(position) {
            waiting.push((item, old));
            continue;
        }
        writer.item(item, old)?;
        if position == last {
            writer.merged()?;
            for (item, old) in waiting.drain(..) {
                writer.item(item, old)?;
            }
        }
    }
    Ok(writer.component.finish())
}

struct Writer<'o, 'a> {
    outline: &'o Outline<'a>,
    merged: &'o Merged,
    component: Component,
    next: HashMap<Kind, u32>,
    new: HashMap<(Kind, u32), u32>,
    modules: u32,
    new_modules: HashMap<u32, u32>,
    instances: u32,
    new_instances: HashMap<u32, u32>,
    /// The index of the one instance.
    fused: u32,
    seen: HashMap<Kind, u32>,
    seen_modules: u32,
    seen_instances: u32,
}

impl<'a> Writer<'_, 'a> {
    /// Returns the index an item had.
    fn count(&mut self, item: &Item<'_>) -> Result<u32, FuseError> {
        let counter = match item {
            Item::Module(_) => &mut self.seen_modules,
            Item::Instance(_) => &mut self.seen_instances,
            Item::Alias(ComponentAlias::CoreInstanceExport { kind, .. }) => {
                self.seen.entry(Kind::of(*kind)?).or_default()
            }
            Item::Canon(canon) if !matches!(canon, CanonicalFunction::Lift { .. }) => {
                self.seen.entry(Kind::Func).or_default()
            }
            _ => return Ok(0),
        };
        *counter += 1;
        Ok(*counter - 1)
    }

    fn define(&mut self, kind: Kind, old: u32) {
        let next = self.next.entry(kind).or_default();
        self.new.insert((kind, old), *next);
        *next += 1;
    }

    fn item(&mut self, item: &Item<'a>, old: u32) -> Result<(), FuseError> {
        match item {
            Item::Raw { id, bytes } => {
                self.component.section(&RawSection {
                    id: *id,
                    data: bytes,
                });
            }
            Item::Module(bytes) => {
                if !self.outline.is_fused_module(old) {
                    self.component.section(&RawSection {
                        id: wasm_encoder::ComponentSectionId::CoreModule as u8,
                        data: bytes,
                    });
                    self.new_modules.insert(old, self.modules);
                    self.modules += 1;
                }
            }
            Item::Instance(instance) => self.instance(instance, old)?,
            Item::Alias(alias) => self.alias(alias.clone(), old)?,
            Item::Canon(canon) => {
                let mut section = CanonicalFunctionSection::new();
                self.parse_component_canonical(&mut section, canon.clone())?;
                self.component.section(&section);
                if !matches!(canon, CanonicalFunction::Lift { .. }) {
                    self.define(Kind::Func, old);
                }
            }
        }
        Ok(())
    }

    fn instance(&mut self, instance: &Instance<'a>, old: u32) -> Result<(), FuseError> {
        if self.outline.fused.contains(&old) || !self.outline.is_late(old) {
            return Ok(());
        }
        let mut section = InstanceSection::new();
        self.parse_instance(&mut section, instance.clone())?;
        self.component.section(&section);
        self.new_instances.insert(old, self.instances);
        self.instances += 1;
        Ok(())
    }

    fn alias(&mut self, alias: ComponentAlias<'a>, old: u32) -> Result<(), FuseError> {
        let mut section = ComponentAliasSection::new();
        if let ComponentAlias::CoreInstanceExport {
            kind,
            instance_index,
            name,
        } = alias
        {
            let kind = Kind::of(kind)?;
            if !self.outline.is_wanted(kind, instance_index, name) {
                return Ok(());
            }
            let Some((kind, index)) = self.merged.find(instance_index, name) else {
                return Err(unsupported("an instance that stays exports something"));
            };
            section.alias(Alias::CoreInstanceExport {
                instance: self.fused,
                kind: match kind {
                    Kind::Func => ExportKind::Func,
                    Kind::Table => ExportKind::Table,
                    Kind::Memory => ExportKind::Memory,
                    Kind::Global => ExportKind::Global,
                },
                name: &Merged::export_name(kind, index),
            });
            self.component.section(&section);
            self.define(kind, old);
        } else {
            section.alias(self.component_alias(alias)?);
            self.component.section(&section);
        }
        Ok(())
    }

    /// Writes the one module and its one instance.
    fn merged(&mut self) -> Result<(), FuseError> {
        let mut items = Vec::new();
        for &old in &self.merged.imports {
            let new = self.function_index(old)?;
            items.push((Merged::export_name(Kind::Func, old), ExportKind::Func, new));
        }
        let mut section = InstanceSection::new();
        section.export_items(items.iter().map(|(name, kind, new)| (&**name, *kind, *new)));
        self.component.section(&RawSection {
            id: wasm_encoder::ComponentSectionId::CoreModule as u8,
            data: &self.merged.bytes,
        });
        section.instantiate(self.modules, [("", ModuleArg::Instance(self.instances))]);
        self.component.section(&section);
        self.modules += 1;
        self.fused = self.instances + 1;
        self.instances += 2;
        Ok(())
    }

    fn get(&self, kind: Kind, old: u32) -> Result<u32, Error> {
        let new = self.new.get(&(kind, old));
        new.copied().ok_or(Error::InvalidCodeSectionSize)
    }
}

impl Reencode for Writer<'_, '_> {
    type Error = std::convert::Infallible;

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
}

impl ReencodeComponent for Writer<'_, '_> {
    fn module_index(&mut self, index: u32) -> u32 {
        self.new_modules.get(&index).copied().unwrap_or(u32::MAX)
    }
    fn instance_index(&mut self, index: u32) -> u32 {
        self.new_instances.get(&index).copied().unwrap_or(u32::MAX)
    }
}
