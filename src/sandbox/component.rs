//! A component hook, checked against the contract when it loads: an import that
//! nobody can grant is an error then, not in the middle of an event.

use wasmparser::{Parser, Payload};
use wasmtime::component::{Component, HasSelf, Linker};

use super::bindings::hook::{Hook as HookWorld, HookPre};
use super::bindings::starlark::{Starlark as StarlarkWorld, StarlarkPre};
use super::engine::Engine;
use super::instance::Call;
use crate::capability::wasi;
use crate::failure::{Cause, Failure};

/// What the imports of the contract start with.
const OWN_IMPORTS: &str = "hookbox:hook/";

/// What the imports of toolchains start with.
pub const WASI: &str = "wasi:";

/// The export a component hook must have.
const HANDLER: &str = "hookbox:hook/handler@0.1.0";

/// How large a component may be: compiling time grows with it.
pub const MAX_COMPONENT_BYTES: u64 = 64 << 20;

/// Refuses bytes that cannot be a component before the compiler sees them.
///
/// # Errors
/// Returns what the bytes are instead.
pub fn check_header(bytes: &[u8]) -> Result<(), Failure> {
    const MAGIC: &[u8] = b"\0asm";
    const COMPONENT: &[u8] = &[0x0d, 0, 1, 0];
    const CORE_MODULE: &[u8] = &[1, 0, 0, 0];
    let bad = |message: &str| Err(Failure::new(Cause::BadComponent, message));
    match (bytes.get(..4), bytes.get(4..8)) {
        (Some(MAGIC), Some(COMPONENT)) => Ok(()),
        (Some(MAGIC), Some(CORE_MODULE)) => bad(
            "this is a core WebAssembly module, not a component; turn it into one with the tools of its language, for example by building for wasm32-wasip2",
        ),
        (Some(MAGIC), Some(_)) => bad("this is WebAssembly of a version hookbox does not know"),
        _ => bad("this is not a WebAssembly component"),
    }
}

/// Reads the names of a component's imports without compiling it, which may take long.
/// Nothing if it cannot be read; the compiler says why.
#[must_use]
pub fn read_imports(bytes: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.ok()? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    names.push(import.ok()?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Some(names)
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
    let imports: Vec<String> = component
        .component_type()
        .imports(engine.wasmtime())
        .map(|(name, _)| name.to_owned())
        .collect();
    check_imports(&imports)?;
    if component.get_export_index(None, HANDLER).is_none() {
        return Err(Failure::new(
            Cause::MissingExport,
            format!(
                "the component does not export {HANDLER}; build it for the world `hook` of hookbox:hook@0.1.0"
            ),
        ));
    }
    let mut linker = Linker::new(engine.wasmtime());
    HookWorld::add_to_linker::<_, HasSelf<_>>(&mut linker, |call| call).map_err(misfit)?;
    if imports.iter().any(|import| import.starts_with(WASI)) {
        wasi::add_to_linker(&mut linker).map_err(misfit)?;
    }
    let ready = linker
        .instantiate_pre(component)
        .and_then(HookPre::new)
        .map_err(misfit)?;
    Ok(Linked { ready, imports })
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
            let known = name.starts_with(OWN_IMPORTS)
                || name.starts_with("wasi:http/outgoing-handler")
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
        format!("the component does not fit the world `hook` of hookbox:hook@0.1.0: {error:#}"),
    )
}
