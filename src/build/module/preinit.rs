//! Runs a module's initialisation when it is built, and keeps the memory as it is
//! then: a fresh instance starts where the initialisation ended.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wasmtime::{Config, Engine, Extern, ExternType, Instance, Linker, Module, OptLevel, Store};
use wasmtime::{StoreLimitsBuilder, Trap, Val};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType, Wizer};

use super::sections::Sections;
use super::system::{self, System};

/// What a reactor of WASI exports for its initialisation.
const INITIALIZE: &str = "_initialize";

/// What a module exports to do once what every call does, so that what is set up at
/// the first use is part of the snapshot.
const WARM_UP: &str = "hookbox_warm_up";

/// What the initialisation may use: it runs code that nobody has reviewed.
const FUEL: u64 = 20_000_000_000;
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
    #[error("the initialisation does not end; look for a loop or a wait in initialisers")]
    Endless,
    /// The initialisation failed.
    #[error("the initialisation failed: {0}")]
    Failed(String),
    /// The module passed the host an address outside of its memory.
    #[error("the initialisation passed an address outside of its memory; this is a bug in its SDK")]
    OutOfBounds,
    /// The module has no memory to snapshot.
    #[error("the module exports no memory; export it under the name `memory`")]
    NoMemory,
}

/// Runs the initialisation of a module and returns one that starts where it ended. A
/// module without any is returned as it is.
///
/// # Errors
/// Returns what kept the initialisation from ending, with what it printed.
pub(crate) fn run(module: &[u8]) -> Result<Prepared, PreinitError> {
    let mut wizer = Wizer::new();
    wizer.init_func(WARM_UP);
    let (context, instrumented) = wizer.instrument(module).map_err(unfit)?;
    let engine = Engine::new(&config()).map_err(unfit)?;
    let compiled = Module::new(&engine, &instrumented).map_err(unfit)?;
    let steps = steps(&compiled);
    if steps.is_empty() {
        return Ok(Prepared {
            module: module.to_vec(),
            printed: String::new(),
        });
    }
    let mut store = store(&engine)?;
    let instance =
        initialise(&mut store, &compiled, &steps).map_err(|error| explain(&error, store.data()))?;
    if !store.data().errors.is_empty() {
        return Err(PreinitError::Complained(text(&store.data().errors)));
    }
    let mut state = State {
        store,
        instance,
        missing: None,
    };
    let module = finish(wizer.snapshot(&context, &mut state)).map_err(unfit)?;
    let module = without_leftovers(&module)?;
    match state.missing {
        Some(name) => Err(PreinitError::Unfit(format!("{name} is gone"))),
        None => Ok(Prepared {
            module,
            printed: text(&state.store.data().output),
        }),
    }
}

/// The same memory on every machine, and short compiling: the code runs once.
fn config() -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::None)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .consume_fuel(true)
        .max_wasm_stack(STACK);
    config
}

fn store(engine: &Engine) -> Result<Store<System>, PreinitError> {
    let limits = StoreLimitsBuilder::new().memory_size(MEMORY).build();
    let mut store = Store::new(engine, System::new(limits));
    store.limiter(|system| &mut system.limits);
    store.set_fuel(FUEL).map_err(unfit)?;
    Ok(store)
}

/// Returns what there is to run, in order.
fn steps(module: &Module) -> Vec<&'static str> {
    let is_step = |name: &&str| match module.get_export(name) {
        Some(ExternType::Func(kind)) => kind.params().len() == 0 && kind.results().len() == 0,
        _ => false,
    };
    [INITIALIZE, WARM_UP].into_iter().filter(is_step).collect()
}

fn initialise(
    store: &mut Store<System>,
    module: &Module,
    steps: &[&str],
) -> wasmtime::Result<Instance> {
    let instance = linker(store.engine(), module)?.instantiate(&mut *store, module)?;
    for step in steps {
        let function = instance.get_typed_func::<(), ()>(&mut *store, step)?;
        function.call(&mut *store, ())?;
    }
    Ok(instance)
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
        let is_system = from == system::MODULE;
        linker.func_new(import.module(), import.name(), kind, {
            move |mut caller, params, results| {
                if !is_system {
                    return Err(PreinitError::NoAnswer(format!("{from}.{name}")).into());
                }
                let answer = system::answer(&mut caller, &name, params)?;
                if let Some(result) = results.first_mut() {
                    *result = Val::I32(answer);
                }
                Ok(())
            }
        })?;
    }
    Ok(linker)
}

/// Drops what is left of the segments that are now part of the snapshot. There are
/// thousands in a module of Go's, and each costs time at every instantiation.
fn without_leftovers(module: &[u8]) -> Result<Vec<u8>, PreinitError> {
    let unfit = |error: wasmparser::BinaryReaderError| PreinitError::Unfit(error.to_string());
    let mut sections = Sections::read(module).map_err(unfit)?;
    sections.drop_empty_data().map_err(unfit)?;
    Ok(sections.write())
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn unfit(error: wasmtime::Error) -> PreinitError {
    PreinitError::Unfit(format!("{error:#}"))
}

/// An instance whose globals and memories are looked at from outside.
struct State {
    store: Store<System>,
    instance: Instance,
    /// A global or memory that was not there. The crate that asks exported all of them
    /// itself, and leaves no room for an error in the answer.
    missing: Option<String>,
}

impl InstanceState for State {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        let global = self.instance.get_global(&mut self.store, name);
        match global.map(|global| global.get(&mut self.store)) {
            Some(Val::I32(bits)) => SnapshotVal::I32(bits),
            Some(Val::I64(bits)) => SnapshotVal::I64(bits),
            Some(Val::F32(bits)) => SnapshotVal::F32(bits),
            Some(Val::F64(bits)) => SnapshotVal::F64(bits),
            Some(Val::V128(bits)) => SnapshotVal::V128(bits.as_u128()),
            _ => {
                self.missing = Some(name.to_owned());
                SnapshotVal::I32(0)
            }
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        match self.instance.get_export(&mut self.store, name) {
            Some(Extern::Memory(memory)) => contents(memory.data(&self.store)),
            _ => self.missing = Some(name.to_owned()),
        }
    }
}

/// Nothing in the work waits for anything, so polling it is enough.
fn finish<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut context) {
            return result;
        }
    }
}
