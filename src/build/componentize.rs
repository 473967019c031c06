//! Makes a component of a core module, and the finishing touches of every component.

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME as ADAPTER, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wasm_metadata::AddMetadata;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::BuildError;
use super::module::room;
use super::rewrite;
use super::world::CONTRACT;
use crate::config::Language;

/// Whether a core module uses WASI's first preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wasi {
    /// It uses none.
    None,
    /// It does, and brings the memory for the adapter.
    Preview1,
}

/// Makes a component of a core module. What it does not import is not in it.
pub(crate) fn componentize(
    module: Vec<u8>,
    wasi: Wasi,
    language: Language,
) -> Result<Vec<u8>, BuildError> {
    encode(module, wasi).map_err(|error| BuildError::Componentize {
        language,
        error: format!("{error:#}"),
    })
}

type Encoded = Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>;

fn encode(mut module: Vec<u8>, wasi: Wasi) -> Encoded {
    if wasi == Wasi::None {
        module = room::add(&module)?;
    }
    let mut resolve = Resolve::default();
    let package = resolve.push_str("hook.wit", CONTRACT)?;
    let world = resolve.select_world(&[package], Some("hook"))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    let mut encoder = ComponentEncoder::default().validate(true).module(&module)?;
    if wasi == Wasi::Preview1 {
        encoder = encoder
            .adapter(ADAPTER, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)?
            .realloc_via_memory_grow(false);
    }
    Ok(encoder.encode()?)
}

/// Puts the language into a component, and leaves out what a runtime does not need.
pub(crate) fn finish(
    component: Vec<u8>,
    language: Language,
    release: bool,
) -> Result<Vec<u8>, BuildError> {
    let failed = |error: String| BuildError::Componentize { language, error };
    let component = rewrite::component(&component, release).map_err(failed)?;
    let mut metadata = AddMetadata::default();
    metadata.language = vec![(spelled(language).to_owned(), String::new())];
    metadata.processed_by = vec![("hookbox".to_owned(), env!("CARGO_PKG_VERSION").to_owned())];
    metadata
        .to_wasm(&component)
        .map_err(|error| failed(format!("{error:#}")))
}

/// Returns a language's name as its users write it.
fn spelled(language: Language) -> &'static str {
    match language {
        Language::Rust => "Rust",
        Language::JavaScript => "JavaScript",
        Language::TypeScript => "TypeScript",
        Language::Python => "Python",
        Language::Go => "Go",
        Language::C => "C",
        Language::Zig => "Zig",
        Language::Starlark => "Starlark",
    }
}
