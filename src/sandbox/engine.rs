//! The wasmtime engine, configured so that the same bytes give the same answer
//! and the same fuel on every run.

use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, OperatorCost, OptLevel, PoolingAllocationConfig,
    Strategy,
};

use super::limits::Limits;

/// How long the process that runs hooks lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lifetime {
    /// One event, then exit: instances come from a small pool, since the hooks of one
    /// chain run one after the other in the same pages.
    #[default]
    OneShot,
    /// Many events: instances come from a pool with memory mapped ahead.
    LongLived,
}

/// How many calls a long-lived engine holds at once. Further ones fail with
/// their own name, so this is well above the cores of any machine.
const POOL_SLOTS: u32 = 256;

/// How many calls the engine of one event has memory for at once.
const FEW_SLOTS: u32 = 32;

/// How many calls the engine of one event holds at once: those inside of each other, nine at
/// most, in the chain that somebody waits for and in the one that nobody waits for. Each has
/// a stack, and protecting the end of one more takes as long as looking at a file.
const FEW_STACKS: u32 = 20;

/// The stack a guest may use. Source nested a thousand levels deep still parses
/// within it, and a guest thread's fiber holds it without the host's own stack
/// mattering.
const GUEST_STACK: usize = 1 << 20;

/// What host functions may use on top of the guest's stack: an emitted event
/// runs a whole chain there.
const HOST_STACK: usize = 1 << 20;

/// Below this size a page of a pooled memory is kept instead of given back.
const KEEP_RESIDENT: usize = 8 << 20;

/// A wasmtime engine with everything that could make two runs differ pinned.
#[derive(Clone)]
pub struct Engine {
    inner: wasmtime::Engine,
    fingerprint: String,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("fingerprint", &self.fingerprint)
            .finish()
    }
}

impl Engine {
    /// Makes an engine.
    ///
    /// # Errors
    /// Returns what this machine lacks.
    pub fn new(lifetime: Lifetime) -> Result<Self, EngineError> {
        let inner = match lifetime {
            Lifetime::OneShot => pooled(keeping_pages(pool(FEW_SLOTS, FEW_STACKS)))
                .or_else(|_| wasmtime::Engine::new(&pinned())),
            // Not every kernel tells which pages a call changed, and not every
            // machine lends a process the address space of a pool.
            Lifetime::LongLived => pooled(keeping_pages(pool(POOL_SLOTS, POOL_SLOTS)))
                .or_else(|_| pooled(pool(POOL_SLOTS, POOL_SLOTS)))
                .or_else(|_| wasmtime::Engine::new(&pinned())),
        }
        .map_err(|error| EngineError(format!("{error:#}")))?;
        Ok(Self::of(inner))
    }

    /// Makes an engine for a few instances, which leave nothing behind for each other.
    ///
    /// # Errors
    /// Returns what this machine lacks.
    pub(crate) fn without_pool() -> Result<Self, EngineError> {
        let inner = wasmtime::Engine::new(&pinned());
        inner
            .map(Self::of)
            .map_err(|error| EngineError(format!("{error:#}")))
    }

    fn of(inner: wasmtime::Engine) -> Self {
        let fingerprint = fingerprint(&inner);
        Self { inner, fingerprint }
    }

    /// Returns wasmtime's engine.
    #[must_use]
    pub fn wasmtime(&self) -> &wasmtime::Engine {
        &self.inner
    }

    /// Returns what must be equal for compiled code to fit: the version of the
    /// engine, its configuration and the machine's instruction set.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// The engine could not be made.
#[derive(Debug, thiserror::Error)]
#[error("this machine cannot run the sandbox: {0}")]
pub struct EngineError(String);

/// The part of the configuration that compiled code depends on. It is the same
/// for every lifetime, so that all of them share the compiled code.
fn pinned() -> Config {
    let mut cost = OperatorCost::new();
    // Free by default, and a page of memory costs the host a page fault or more.
    cost.variable.memory_grow_per_page = u8::MAX;

    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        .cranelift_nan_canonicalization(true)
        .consume_fuel(true)
        .operator_cost(cost)
        .memory_init_cow(true)
        // A sparse image would otherwise be copied at instantiation, at the
        // guest's expense in fuel.
        .memory_guaranteed_dense_image_size(Limits::ceiling().memory as u64)
        .max_wasm_stack(GUEST_STACK)
        .async_stack_size(GUEST_STACK + HOST_STACK)
        .concurrency_support(false)
        .gc_support(false)
        .shared_memory(false)
        .wasm_relaxed_simd(false)
        .relaxed_simd_deterministic(true)
        .wasm_memory64(false)
        .wasm_tail_call(false)
        .wasm_component_model(true);
    config
}

fn pooled(pool: PoolingAllocationConfig) -> wasmtime::Result<wasmtime::Engine> {
    wasmtime::Engine::new(pinned().allocation_strategy(InstanceAllocationStrategy::Pooling(pool)))
}

fn pool(slots: u32, stacks: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots * 4)
        .total_memories(slots)
        .total_tables(slots * 4)
        .total_stacks(stacks)
        .max_memories_per_component(8)
        .max_tables_per_component(64)
        .max_tables_per_module(16)
        .max_memories_per_module(4)
        .max_core_instances_per_component(1_000)
        .max_component_instance_size(8 << 20)
        .max_core_instance_size(8 << 20)
        .table_elements(Limits::ceiling().table_elements)
        .max_memory_size(Limits::ceiling().memory)
        .table_keep_resident(64 << 10)
        .max_unused_warm_slots(slots);
    pool
}

/// Keeps the pages of a memory for the next call. Without the kernel's page map
/// that would mean copying all of them back, which is slower than not keeping any.
fn keeping_pages(mut pool: PoolingAllocationConfig) -> PoolingAllocationConfig {
    pool.pagemap_scan(Enabled::Yes)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .async_stack_keep_resident(64 << 10);
    pool
}

/// Hashes what wasmtime says must be equal, with a hash that is the same in
/// every process.
fn fingerprint(engine: &wasmtime::Engine) -> String {
    let mut hasher = StableHasher(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hex(&hasher.0.finalize())
}

struct StableHasher(Sha256);

impl Hasher for StableHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest
            .iter()
            .take(8)
            .fold(0, |all, &byte| all << 8 | u64::from(byte))
    }
}

/// Writes bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lifetime_shares_the_compiled_code() {
        let one_shot = Engine::new(Lifetime::OneShot).unwrap();
        let long_lived = Engine::new(Lifetime::LongLived).unwrap();
        assert_eq!(one_shot.fingerprint(), long_lived.fingerprint());
        assert_eq!(one_shot.fingerprint().len(), 64);
    }
}
