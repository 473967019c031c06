//! A component hook, checked against the contract when it loads: an import that
//! nobody can grant is an error then, not in the middle of an event.

use wasmparser::{Parser, Payload};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime_wasi::p2::bindings::CommandPre;

use super::bindings::hook::{Hook as HookWorld, HookPre};
use super::bindings::starlark::{Starlark as StarlarkWorld, StarlarkPre};
use super::contract::{self, HANDLER, OWN, SPOKEN};
use super::engine::Engine;
use super::instance::Call;
use super::lift;
use crate::capability::wasi;
use crate::failure::{Cause, Failure};

/// What the imports of toolchains start with.
pub const WASI: &str = "wasi:";

/// What the export of a program starts with.
const RUN: &str = "wasi:cli/run@";

/// How large a component may be: compiling time grows with it.
pub const MAX_COMPONENT_BYTES: u64 = 64 << 20;

/// What a file is, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A component.
    Component,
    /// A core module.
    Module,
}

/// Refuses bytes that cannot be WebAssembly before the compiler sees them.
///
/// # Errors
/// Returns what the bytes are instead.
pub fn form(bytes: &[u8]) -> Result<Form, Failure> {
    const MAGIC: &[u8] = b"\0asm";
    const COMPONENT: &[u8] = &[0x0d, 0, 1, 0];
    const CORE_MODULE: &[u8] = &[1, 0, 0, 0];
    let bad = |message: &str| Err(Failure::new(Cause::BadComponent, message));
    match (bytes.get(..4), bytes.get(4..8)) {
        (Some(MAGIC), Some(COMPONENT)) => Ok(Form::Component),
        (Some(MAGIC), Some(CORE_MODULE)) => Ok(Form::Module),
        (Some(MAGIC), Some(_)) => bad("this is WebAssembly of a version hookbox does not know"),
        _ => bad("this is not a WebAssembly component"),
    }
}

/// What a component asks for and offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// The names of its imports.
    pub imports: Vec<String>,
    /// The names of its exports.
    pub exports: Vec<String>,
}

impl Outline {
    /// Reads the names without compiling anything, which may take long. Nothing if
    /// they cannot be read; the compiler says why.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut outline = Self::default();
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.ok()? {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        outline.imports.push(import.ok()?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        outline.exports.push(export.ok()?.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Some(outline)
    }

    fn of(engine: &Engine, component: &Component) -> Self {
        let ty = component.component_type();
        Self {
            imports: ty
                .imports(engine.wasmtime())
                .map(|(name, _)| name.to_owned())
                .collect(),
            exports: ty
                .exports(engine.wasmtime())
                .map(|(name, _)| name.to_owned())
                .collect(),
        }
    }

    /// Returns the names of the contract, imported or exported.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().chain(&self.exports).map(String::as_str)
    }

    /// Says whether this is a program that is run, not a hook that is called.
    #[must_use]
    pub fn is_command(&self) -> bool {
        let exports = |start: &str| self.exports.iter().any(|name| name.starts_with(start));
        exports(RUN) && !exports("hookbox:hook/handler@")
    }

    /// Refuses what was built for another contract, and imports that nobody can grant.
    ///
    /// # Errors
    /// Returns what to do about it.
    pub fn check(&self) -> Result<(), Failure> {
        contract::check(self.names())?;
        check_imports(&self.imports)
    }
}

/// A component, linked against the world `hook`.
pub struct Linked {
    /// What makes instances.
    pub ready: HookPre<Call>,
    /// The names of its imports.
    pub imports: Vec<String>,
}

/// Links a component against the world `hook`.
///
/// # Errors
/// Returns the import nobody can grant, the missing export, or what does not fit.
pub fn link_hook(engine: &Engine, component: &Component) -> Result<Linked, Failure> {
    let outline = Outline::of(engine, component);
    outline.check()?;
    if component.get_export_index(None, HANDLER).is_none() {
        return Err(Failure::new(
            Cause::MissingExport,
            format!(
                "the component exports neither {HANDLER} nor wasi:cli/run; build it for the world `hook` of hookbox:hook@{SPOKEN}.0"
            ),
        ));
    }
    let ready = linker(engine, &outline)?
        .instantiate_pre(component)
        .and_then(HookPre::new)
        .map_err(misfit)?;
    Ok(Linked {
        ready,
        imports: outline.imports,
    })
}

/// A program, linked.
pub struct LinkedCommand {
    /// What makes instances.
    pub ready: CommandPre<Call>,
    /// The names of its imports.
    pub imports: Vec<String>,
}

/// Links a program. It has the imports of the contract too, if it wants them.
///
/// # Errors
/// Returns the import nobody can grant, or what does not fit.
pub fn link_command(engine: &Engine, component: &Component) -> Result<LinkedCommand, Failure> {
    let outline = Outline::of(engine, component);
    outline.check()?;
    let mut linker = linker(engine, &outline)?;
    wasi::add_exit_to_linker(&mut linker).map_err(misfit)?;
    let ready = linker
        .instantiate_pre(component)
        .and_then(CommandPre::new)
        .map_err(misfit)?;
    Ok(LinkedCommand {
        ready,
        imports: outline.imports,
    })
}

fn linker(engine: &Engine, outline: &Outline) -> Result<Linker<Call>, Failure> {
    let mut linker = Linker::new(engine.wasmtime());
    HookWorld::add_to_linker::<_, HasSelf<_>>(&mut linker, |call| call).map_err(misfit)?;
    if outline.imports.iter().any(|name| name.starts_with(WASI)) {
        wasi::add_to_linker(&mut linker).map_err(misfit)?;
    }
    Ok(linker)
}

/// Links the Starlark interpreter.
///
/// # Errors
/// Returns what does not fit, which would be a mistake of this crate's own build.
pub fn link_starlark(engine: &Engine, component: &Component) -> Result<StarlarkPre<Call>, Failure> {
    let mut linker = Linker::new(engine.wasmtime());
    StarlarkWorld::add_to_linker::<_, HasSelf<_>>(&mut linker, |call| call).map_err(misfit)?;
    linker
        .instantiate_pre(component)
        .and_then(StarlarkPre::new)
        .map_err(misfit)
}

/// Refuses imports that nobody can grant.
///
/// # Errors
/// Returns their names.
pub fn check_imports(imports: &[String]) -> Result<(), Failure> {
    let foreign: Vec<&str> = imports
        .iter()
        .map(String::as_str)
        .filter(|name| {
            let known = name.starts_with(OWN)
                || name.starts_with("wasi:http/outgoing-handler")
                || *name == lift::EXIT
                || wasi::is_virtual(name);
            !known
        })
        .collect();
    if foreign.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        Cause::ImportNotGranted,
        format!(
            "the component imports {}, which no hook can be granted; build it without",
            foreign.join(", ")
        ),
    ))
}

fn misfit(error: wasmtime::Error) -> Failure {
    Failure::new(
        Cause::BadComponent,
        format!(
            "the component does not fit the world `hook` of hookbox:hook@{SPOKEN}.0: {error:#}"
        ),
    )
}
