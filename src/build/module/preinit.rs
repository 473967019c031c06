//! Runs a module's initialisation when it is built, and keeps the memory as it is
//! then: a fresh instance starts where the initialisation ended.

use wasm_encoder::SectionId;
use wasmparser::{BinaryReader, BinaryReaderError, ExportSectionReader, ExternalKind};
use wasmtime::{Config, Engine, ExternType, Instance, Linker, Module, OptLevel};
use wasmtime::{RegallocAlgorithm, Store, StoreLimitsBuilder, Trap, Val};
use wasmtime_wizer::Wizer;

use super::sections::Sections;
use super::snapshot::State;
use super::system::{self, System};

/// What a reactor of WASI exports for its initialisation.
const INITIALIZE: &str = "_initialize";

/// What a module exports to do once what every call does, so that what is set up at
/// the first use is part of the snapshot.
const WARM_UP: &str = "hookbox_warm_up";

/// What the initialisation may use: it runs code that nobody has reviewed.
const FUEL: u64 = 5_000_000_000;
const MEMORY: usize = 256 << 20;
const STACK: usize = 1 << 20;

/// A module that needs no initialisation any more.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The module.
    pub module: Vec<u8>,
    /// What its initialisation printed on standard output.
    pub printed: String,
}

/// Why a module could not be initialised.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PreinitError {
    /// The bytes are no module that can be initialised.
    #[error("the module cannot be initialised at build time: {0}")]
    Unfit(String),
    /// The initialisation asked for something that only exists during an event.
    #[error(
        "the initialisation called {0}, which has no answer before there is an event; call it from the handler"
    )]
    NoAnswer(String),
    /// The initialisation gave up.
    #[error("the initialisation exited with code {0}")]
    Exited(i32),
    /// The initialisation complained.
    #[error(
        "the initialisation printed to standard error, which nobody would see later: {0}; print from the handler"
    )]
    Complained(String),
    /// The initialisation does not end.
    #[error("the initialisation does not end; look for a loop in initialisers")]
    Endless,
    /// The initialisation failed.
    #[error("the initialisation failed: {0}")]
    Failed(String),
    /// The module passed the host an address outside of its memory.
    #[error("it passed an address outside of its memory; this is a bug in its SDK")]
    OutOfBounds,
    /// The module has no memory that the host can see.
    #[error("it exports no memory; export it under the name `memory`")]
    NoMemory,
}

/// Runs the initialisation of a module and returns one that starts where it ended. A
/// module without any is returned as it is.
///
/// # Errors
/// Returns what kept the initialisation from ending, with what it printed.
pub(crate) fn run(module: &[u8]) -> Result<Prepared, PreinitError> {
    run_with(module, FUEL)
}

fn run_with(module: &[u8], fuel: u64) -> Result<Prepared, PreinitError> {
    let steps = steps(module).map_err(unreadable)?;
    if steps.is_empty() {
        return Ok(Prepared {
            module: module.to_vec(),
            printed: String::new(),
        });
    }
    let mut wizer = Wizer::new();
    // It calls nothing, but drops the export.
    wizer.init_func(WARM_UP);
    let (context, instrumented) = wizer.instrument(module).map_err(unfit)?;
    let mut state = initialise(&instrumented, &steps, fuel)?;
    let module = state.snapshot(&wizer, &context).map_err(unfit)?;
    Ok(Prepared {
        module: without_leftovers(&module).map_err(unreadable)?,
        printed: text(&state.system().output),
    })
}

/// Returns what there is to run, in order.
fn steps(module: &[u8]) -> Result<Vec<&'static str>, BinaryReaderError> {
    let sections = Sections::read(module)?;
    let bytes = sections.get(SectionId::Export).unwrap_or(&[0]);
    let mut functions = Vec::new();
    for export in ExportSectionReader::new(BinaryReader::new(bytes, 0))? {
        let export = export?;
        if export.kind == ExternalKind::Func {
            functions.push(export.name);
        }
    }
    let steps = [INITIALIZE, WARM_UP].into_iter();
    Ok(steps.filter(|step| functions.contains(step)).collect())
}

/// Runs the steps in a fresh instance.
fn initialise(module: &[u8], steps: &[&str], fuel: u64) -> Result<State, PreinitError> {
    let engine = Engine::new(&config()).map_err(unfit)?;
    let module = Module::new(&engine, module).map_err(unfit)?;
    let linker = linker(&engine, &module).map_err(unfit)?;
    let limits = StoreLimitsBuilder::new().memory_size(MEMORY).build();
    let mut store = Store::new(&engine, System::new(limits));
    store.limiter(|system| &mut system.limits);
    store.set_fuel(fuel).map_err(unfit)?;
    let instance = run_steps(&linker, &mut store, &module, steps)
        .map_err(|error| explain(&error, store.data()))?;
    match text(&store.data().errors) {
        printed if !printed.is_empty() => Err(PreinitError::Complained(printed)),
        _ => Ok(State::new(store, instance)),
    }
}

/// The same memory on every machine, and short compiling: the code runs once.
fn config() -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::None)
        .cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .consume_fuel(true)
        .max_wasm_stack(STACK);
    config
}

/// Answers what the system answers, and refuses everything else by its name when it
/// is called: most modules import more than their initialisation needs.
fn linker(engine: &Engine, module: &Module) -> wasmtime::Result<Linker<System>> {
    let mut linker = Linker::new(engine);
    // Go imports some functions twice.
    linker.allow_shadowing(true);
    for import in module.imports() {
        let ExternType::Func(kind) = import.ty() else {
            continue;
        };
        let (from, name) = (import.module().to_owned(), import.name().to_owned());
        linker.func_new(
            import.module(),
            import.name(),
            kind,
            move |mut caller, params, results| {
                if from != system::MODULE {
                    return Err(PreinitError::NoAnswer(format!("{from}.{name}")).into());
                }
                let answer = system::answer(&mut caller, &name, params)?;
                if let Some(result) = results.first_mut() {
                    *result = Val::I32(answer);
                }
                Ok(())
            },
        )?;
    }
    Ok(linker)
}

fn run_steps(
    linker: &Linker<System>,
    store: &mut Store<System>,
    module: &Module,
    steps: &[&str],
) -> wasmtime::Result<Instance> {
    let instance = linker.instantiate(&mut *store, module)?;
    for step in steps {
        let function = instance.get_typed_func::<(), ()>(&mut *store, step)?;
        function.call(&mut *store, ())?;
    }
    Ok(instance)
}

/// Says why an initialisation failed, with what the module printed about it.
fn explain(error: &wasmtime::Error, system: &System) -> PreinitError {
    let known = error.downcast_ref::<PreinitError>();
    if let Some(PreinitError::NoAnswer(name)) = known {
        return PreinitError::NoAnswer(name.clone());
    }
    let reason = match (known, error.downcast_ref::<Trap>()) {
        (_, Some(Trap::OutOfFuel)) => return PreinitError::Endless,
        (Some(known), _) => known.to_string(),
        (None, Some(trap)) => trap.to_string(),
        (None, None) => format!("{error:#}"),
    };
    match text(&system.errors) {
        printed if printed.is_empty() => PreinitError::Failed(reason),
        printed => PreinitError::Failed(format!("{reason}; it printed: {printed}")),
    }
}

/// Drops what is left of the segments that are now part of the snapshot. There are
/// thousands in a module of Go's, and each costs time at every instantiation.
fn without_leftovers(module: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut sections = Sections::read(module)?;
    sections.drop_empty_data()?;
    Ok(sections.write())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn unfit(error: wasmtime::Error) -> PreinitError {
    PreinitError::Unfit(format!("{error:#}"))
}

fn unreadable(error: BinaryReaderError) -> PreinitError {
    PreinitError::Unfit(error.to_string())
}

#[cfg(test)]
#[path = "preinit_tests.rs"]
mod tests;
