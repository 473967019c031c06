//! Makes components of core modules: most toolchains for WASI still build those.

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME as ADAPTER, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER,
};
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{ImportSection, Module};
use wasmparser::{ImportSectionReader, Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::failure::{Cause, Failure};

/// The export a program starts with.
const START: &str = "_start";

/// What a program ends with, in the first preview.
const PROC_EXIT: (&str, &str) = ("wasi_snapshot_preview1", "proc_exit");

/// What it ends with instead. The adapter would only tell success from failure, and
/// what a hook decides is in the code.
pub const EXIT: &str = "hookbox:command/exit@1.0.0";

/// The function of that interface.
pub const EXIT_WITH_CODE: &str = "with-code";

/// The world that has it.
const WORLD: &str = "package hookbox:command@1.0.0;
    interface exit { with-code: func(code: u8); }
    world program { import exit; }";

/// Makes a component of a program for WASI's first preview. It loses nothing: the
/// adapter translates calls, and the exit code goes around it.
///
/// # Errors
/// Returns why the module is no such program.
pub fn command(module: &[u8]) -> Result<Vec<u8>, Failure> {
    if !exports_start(module) {
        return Err(bad(
            "this is a core WebAssembly module that exports no `_start`: neither a component nor a program; make it one with `hookbox build`, or with the tools of its language, for example by building for wasm32-wasip2".to_owned(),
        ));
    }
    if is_by_go(module) {
        return Err(bad(
            "this is a program compiled by Go, which takes all of its memory for its own and leaves the adapter none; make it a hook with the SDK, as `hookbox new NAME --lang go` shows".to_owned(),
        ));
    }
    encode(module).map_err(|error| {
        bad(format!(
            "this core WebAssembly module cannot be made a program for WASI: {error:#}"
        ))
    })
}

type Encoded = Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>;

fn encode(module: &[u8]) -> Encoded {
    let mut renamed = Module::new();
    ExitRenamed.parse_core_module(&mut renamed, Parser::new(0), module)?;
    let mut module = renamed.finish();
    let mut resolve = Resolve::default();
    let package = resolve.push_str("command.wit", WORLD)?;
    let world = resolve.select_world(&[package], Some("program"))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    let component = ComponentEncoder::default()
        .module(&module)?
        .adapter(ADAPTER, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER)?
        .validate(true)
        .encode()?;
    Ok(component)
}

/// Gives one import another name. The types are the same: a number, and no way back.
struct ExitRenamed;

impl Reencode for ExitRenamed {
    type Error = std::convert::Infallible;

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<(), reencode::Error<Self::Error>> {
        for import in section.into_imports() {
            let import = import?;
            let entity = self.entity_type(import.ty)?;
            if (import.module, import.name) == PROC_EXIT {
                imports.import(EXIT, EXIT_WITH_CODE, entity);
            } else {
                imports.import(import.module, import.name, entity);
            }
        }
        Ok(())
    }
}

fn bad(message: String) -> Failure {
    Failure::new(Cause::BadComponent, message)
}

/// Go's heap grows over what the adapter was given, and the program traps.
fn is_by_go(module: &[u8]) -> bool {
    Parser::new(0)
        .parse_all(module)
        .map_while(Result::ok)
        .any(|payload| match payload {
            Payload::CustomSection(section) => section.name() == "go:buildid",
            _ => false,
        })
}

fn exports_start(module: &[u8]) -> bool {
    Parser::new(0)
        .parse_all(module)
        .map_while(Result::ok)
        .any(|payload| match payload {
            Payload::ExportSection(exports) => exports
                .into_iter()
                .map_while(Result::ok)
                .any(|export| export.name == START),
            _ => false,
        })
}
