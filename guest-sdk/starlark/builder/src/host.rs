//! A host for trying the component out.

use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result, Store,
    StoreLimits, StoreLimitsBuilder,
};

mod bindings {
    wasmtime::component::bindgen!({
        path: ["../../../wit", "../wit"],
        world: "hookbox:starlark/starlark",
    });
}

use bindings::hookbox::hook as imports;
pub use bindings::hookbox::hook::types::Event;
use bindings::hookbox::starlark::images;
pub use bindings::{Starlark, StarlarkPre};

/// What one call may use.
pub const FUEL: u64 = 200_000_000;

/// How much of its memory a guest may show.
const SHOWN: usize = 64 << 20;

/// Ties the component to this host.
pub fn link(component: &Component) -> Result<StarlarkPre<Host>> {
    let mut linker = Linker::<Host>::new(component.engine());
    Starlark::add_to_linker::<_, HasSelf<_>>(&mut linker, |host| host)?;
    StarlarkPre::new(linker.instantiate_pre(component)?)
}

/// Makes the store for one call.
pub fn store(engine: &Engine) -> Result<Store<Host>> {
    let limits = StoreLimitsBuilder::new().memory_size(64 << 20).build();
    let mut store = Store::new(
        engine,
        Host {
            counters: Vec::new(),
            shown: Vec::new(),
            limits,
        },
    );
    store.limiter(|host| &mut host.limits);
    store.set_fuel(FUEL)?;
    store.set_hostcall_fuel(SHOWN);
    Ok(store)
}

/// Configures an engine as a busy host would.
pub fn config() -> Config {
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(8)
        .total_core_instances(32)
        .total_memories(8)
        .total_tables(32)
        .table_elements(20_000)
        .max_memory_size(64 << 20)
        .linear_memory_keep_resident(8 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .concurrency_support(false)
        .cranelift_nan_canonicalization(true)
        .memory_init_cow(true)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// A host that counts and otherwise says no.
pub struct Host {
    pub counters: Vec<(String, i64)>,
    /// What was shown of the memory.
    pub shown: Vec<(u32, Vec<u8>)>,
    limits: StoreLimits,
}

impl imports::types::Host for Host {}

impl images::Host for Host {
    fn part(&mut self, at: u32, bytes: Vec<u8>) {
        self.shown.push((at, bytes));
    }
}

impl imports::log::Host for Host {
    fn write(&mut self, level: imports::log::Level, message: String) {
        if level == imports::log::Level::Error {
            println!("log: {message}");
        }
    }
}

impl imports::metrics::Host for Host {
    fn incr(&mut self, name: String, delta: i64) -> imports::metrics::Number {
        self.counters.push((name, delta));
        imports::metrics::Number::Integer(delta)
    }

    fn set(&mut self, _: String, _: imports::metrics::Number) {}

    fn get(&mut self, _: String) -> Option<imports::metrics::Number> {
        None
    }

    fn snapshot(&mut self) -> Vec<(String, imports::metrics::Number)> {
        Vec::new()
    }
}

impl imports::cache::Host for Host {
    fn get(&mut self, _: String) -> Result<Option<String>, imports::cache::Error> {
        Ok(None)
    }

    fn set(&mut self, _: String, _: String, _: Option<u64>) -> Result<(), imports::cache::Error> {
        Ok(())
    }

    fn has(&mut self, _: String) -> Result<bool, imports::cache::Error> {
        Ok(false)
    }

    fn delete(&mut self, _: String) -> Result<bool, imports::cache::Error> {
        Ok(false)
    }

    fn increment(
        &mut self,
        _: String,
        delta: i64,
        _: Option<u64>,
    ) -> Result<i64, imports::cache::Error> {
        Ok(delta)
    }

    fn compare_and_set(
        &mut self,
        _: String,
        _: Option<String>,
        _: String,
        _: Option<u64>,
    ) -> Result<bool, imports::cache::Error> {
        Ok(true)
    }
}

impl imports::http::Host for Host {
    fn send(
        &mut self,
        _: imports::http::Request,
    ) -> Result<imports::http::Response, imports::http::Error> {
        Err(imports::http::Error::NotGranted(
            "there is no network here".to_owned(),
        ))
    }
}

impl imports::events::Host for Host {
    fn emit(&mut self, _: String, _: String) -> Result<String, imports::events::Error> {
        Err(imports::events::Error::Refused(
            "there are no events here".to_owned(),
        ))
    }
}

impl imports::tools::Host for Host {
    fn call(&mut self, name: String, _: String) -> Result<String, imports::tools::Error> {
        Err(imports::tools::Error::UnknownTool(name))
    }
}

impl imports::environment::Host for Host {
    fn get(&mut self, _: String) -> Result<Option<String>, imports::environment::Error> {
        Ok(None)
    }
}

impl imports::files::Host for Host {
    fn read(&mut self, path: String) -> Result<Vec<u8>, imports::files::Error> {
        Err(imports::files::Error::NotFound(path))
    }

    fn entries(&mut self, path: String) -> Result<Vec<String>, imports::files::Error> {
        Err(imports::files::Error::NotFound(path))
    }
}

impl imports::hooks::Host for Host {
    fn all(&mut self) -> Result<Vec<imports::hooks::Hook>, imports::hooks::Error> {
        Ok(Vec::new())
    }

    fn source(&mut self, _: String) -> Result<Option<String>, imports::hooks::Error> {
        Ok(None)
    }
}

impl imports::clock::Host for Host {
    fn now(&mut self) -> u64 {
        0
    }
}

impl imports::random::Host for Host {
    fn bytes(&mut self, count: u32) -> Vec<u8> {
        vec![0; count as usize]
    }
}
