//! What a component consists of, as far as its core modules are concerned.

use std::collections::{HashMap, HashSet};

use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentAlias, ExternalKind, Instance, Parser, Payload,
};

use super::{FuseError, unsupported};

/// One definition at the top of the component, in the order of the file.
pub(crate) enum Item<'a> {
    /// A section that has nothing to do with core modules.
    Raw {
        id: u8,
        bytes: &'a [u8],
    },
    Module(&'a [u8]),
    Instance(Instance<'a>),
    Alias(ComponentAlias<'a>),
    Canon(CanonicalFunction),
}

/// Where something in a core index space comes from.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// An export of a core instance.
    Export { instance: u32, name: &'a str },
    /// A function of the component model, made a core function by the item.
    Canon { item: usize },
}

/// The core index spaces that instances exchange.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Func,
    Table,
    Memory,
    Global,
}

impl Kind {
    pub(crate) fn of(kind: ExternalKind) -> Result<Self, FuseError> {
        match kind {
            ExternalKind::Func | ExternalKind::FuncExact => Ok(Self::Func),
            ExternalKind::Table => Ok(Self::Table),
            ExternalKind::Memory => Ok(Self::Memory),
            ExternalKind::Global => Ok(Self::Global),
            ExternalKind::Tag => Err(unsupported("it uses exceptions")),
        }
    }
}

pub(crate) struct Outline<'a> {
    pub items: Vec<Item<'a>>,
    /// The item of each core module.
    pub modules: Vec<usize>,
    /// The item of each core instance.
    pub instances: Vec<usize>,
    pub spaces: HashMap<Kind, Vec<Origin<'a>>>,
    /// The core instances that become one, in the order in which they are made.
    pub fused: Vec<u32>,
    late: Vec<bool>,
    /// What the instances that stay, and the functions of the component, take from the
    /// fused ones.
    wanted: HashSet<(Kind, u32, &'a str)>,
}

impl<'a> Outline<'a> {
    /// Reads a component.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, FuseError> {
        let mut outline = Self {
            items: Vec::new(),
            modules: Vec::new(),
            instances: Vec::new(),
            spaces: HashMap::new(),
            fused: Vec::new(),
            late: Vec::new(),
            wanted: HashSet::new(),
        };
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload?;
            let nests = matches!(
                payload,
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. }
            );
            // The parser goes into what is nested; only the top matters.
            if depth == 0 {
                outline.add(bytes, &payload)?;
            }
            if nests {
                depth += 1;
            } else if matches!(payload, Payload::End(_)) {
                depth = depth.saturating_sub(1);
            }
        }
        outline.late = outline.late_instances();
        outline.fused = (0u32..)
            .zip(&outline.late)
            .filter(|&(index, &late)| {
                let made = outline.instance(index);
                !late && matches!(made, Ok(Instance::Instantiate { .. }))
            })
            .map(|(index, _)| index)
            .collect();
        if outline.fused.len() < 2 {
            return Err(unsupported("there is only one"));
        }
        outline.find_wanted()?;
        Ok(outline)
    }

    fn add(&mut self, bytes: &'a [u8], payload: &Payload<'a>) -> Result<(), FuseError> {
        match payload {
            Payload::ModuleSection {
                unchecked_range, ..
            } => {
                self.modules.push(self.items.len());
                let module = bytes.get(unchecked_range.clone()).ok_or_else(cut)?;
                self.items.push(Item::Module(module));
            }
            Payload::InstanceSection(section) => {
                for instance in section.clone() {
                    self.instances.push(self.items.len());
                    self.items.push(Item::Instance(instance?));
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section.clone() {
                    self.alias(alias?)?;
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for canon in section.clone() {
                    self.canon(canon?);
                }
            }
            // Names for debuggers, and who made it; half a megabyte of them.
            Payload::CustomSection(_) | Payload::Version { .. } | Payload::End(_) => {}
            other => {
                let (id, range) = other
                    .as_section()
                    .ok_or_else(|| unsupported("it has a section nobody knows"))?;
                let bytes = bytes.get(range).ok_or_else(cut)?;
                self.items.push(Item::Raw { id, bytes });
            }
        }
        Ok(())
    }

    fn alias(&mut self, alias: ComponentAlias<'a>) -> Result<(), FuseError> {
        if let ComponentAlias::CoreInstanceExport {
            kind,
            instance_index,
            name,
        } = alias
        {
            self.spaces
                .entry(Kind::of(kind)?)
                .or_default()
                .push(Origin::Export {
                    instance: instance_index,
                    name,
                });
        }
        self.items.push(Item::Alias(alias));
        Ok(())
    }

    fn canon(&mut self, canon: CanonicalFunction) {
        if !matches!(canon, CanonicalFunction::Lift { .. }) {
            let item = self.items.len();
            self.spaces
                .entry(Kind::Func)
                .or_default()
                .push(Origin::Canon { item });
        }
        self.items.push(Item::Canon(canon));
    }

    pub(crate) fn origin(&self, kind: Kind, index: u32) -> Result<Origin<'a>, FuseError> {
        self.spaces
            .get(&kind)
            .and_then(|space| space.get(index as usize))
            .copied()
            .ok_or_else(|| unsupported("an index leads nowhere"))
    }

    pub(crate) fn instance(&self, index: u32) -> Result<&Instance<'a>, FuseError> {
        match self
            .instances
            .get(index as usize)
            .map(|&item| &self.items[item])
        {
            Some(Item::Instance(instance)) => Ok(instance),
            _ => Err(unsupported("an instance is missing")),
        }
    }

    /// Finds the instances that cannot be made before functions have their memory:
    /// those that fill the host's functions in afterwards.
    fn late_instances(&self) -> Vec<bool> {
        let mut late = vec![false; self.instances.len()];
        for index in 0..self.instances.len() {
            late[index] = match &self.items[self.instances[index]] {
                Item::Instance(Instance::Instantiate { args, .. }) => {
                    args.iter().any(|arg| late[arg.index as usize])
                }
                Item::Instance(Instance::FromExports(exports)) => exports.iter().any(|export| {
                    let Ok(kind) = Kind::of(export.kind) else {
                        return true;
                    };
                    match self.origin(kind, export.index) {
                        Ok(Origin::Canon { item }) => self.needs_memory(item),
                        Ok(Origin::Export { instance, .. }) => late[instance as usize],
                        Err(_) => true,
                    }
                }),
                _ => true,
            };
        }
        late
    }

    fn find_wanted(&mut self) -> Result<(), FuseError> {
        let mut wanted = Vec::new();
        for (position, item) in self.items.iter().enumerate() {
            match item {
                Item::Instance(Instance::FromExports(exports)) if self.must_wait(position) => {
                    for export in exports {
                        wanted.push((Kind::of(export.kind)?, export.index));
                    }
                }
                Item::Instance(Instance::Instantiate { args, .. })
                    if self.must_wait(position)
                        && args.iter().any(|arg| self.fused.contains(&arg.index)) =>
                {
                    return Err(unsupported("a whole instance is handed on"));
                }
                Item::Canon(canon) => {
                    let options = match canon {
                        CanonicalFunction::Lift {
                            core_func_index,
                            options,
                            ..
                        } => {
                            wanted.push((Kind::Func, *core_func_index));
                            options
                        }
                        CanonicalFunction::Lower { options, .. } => options,
                        CanonicalFunction::ResourceDrop { .. } => continue,
                        other => {
                            return Err(unsupported(format!("it has the function {other:?}")));
                        }
                    };
                    wanted.extend(options.iter().filter_map(|option| match option {
                        CanonicalOption::Memory(index) => Some((Kind::Memory, *index)),
                        CanonicalOption::Realloc(index) | CanonicalOption::PostReturn(index) => {
                            Some((Kind::Func, *index))
                        }
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        for (kind, index) in wanted {
            if let Origin::Export { instance, name } = self.origin(kind, index)? {
                self.wanted.insert((kind, instance, name));
            }
        }
        Ok(())
    }

    /// Says whether something that stays takes this from a fused instance.
    pub(crate) fn is_wanted(&self, kind: Kind, instance: u32, name: &str) -> bool {
        self.wanted.contains(&(kind, instance, name))
    }

    pub(crate) fn is_late(&self, instance: u32) -> bool {
        self.late.get(instance as usize).copied().unwrap_or(true)
    }

    pub(crate) fn is_fused_module(&self, module: u32) -> bool {
        self.fused.iter().any(|&instance| {
            matches!(
                self.instance(instance),
                Ok(Instance::Instantiate { module_index, .. }) if *module_index == module
            )
        })
    }

    /// Says whether an item can only stand behind the fused instance.
    pub(crate) fn must_wait(&self, position: usize) -> bool {
        match &self.items[position] {
            Item::Alias(ComponentAlias::CoreInstanceExport { .. }) => true,
            Item::Canon(_) => self.needs_memory(position),
            Item::Instance(_) => self
                .instances
                .iter()
                .position(|&item| item == position)
                .is_some_and(|index| self.late[index]),
            _ => false,
        }
    }

    /// Says whether a function takes something from a core instance.
    pub(crate) fn needs_memory(&self, item: usize) -> bool {
        let Item::Canon(canon) = &self.items[item] else {
            return false;
        };
        match canon {
            CanonicalFunction::Lift { .. } => true,
            CanonicalFunction::Lower { options, .. } => options.iter().any(|option| {
                matches!(
                    option,
                    CanonicalOption::Memory(_)
                        | CanonicalOption::Realloc(_)
                        | CanonicalOption::PostReturn(_)
                        | CanonicalOption::Callback(_)
                )
            }),
            _ => false,
        }
    }
}

fn cut() -> FuseError {
    unsupported("it ends in the middle")
}
