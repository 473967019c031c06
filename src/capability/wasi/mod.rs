//! `wasi:*`, which toolchains import whether a hook needs it or not. Without a
//! grant it is a world of its own: the event's time, randomness that follows from
//! the event, no environment, no files, no sockets. What is printed is logged.

mod clock;
mod exit;
mod files;
mod http;
mod program;
mod random;
mod stdio;

use std::sync::{Arc, LazyLock};

use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::WasiHttpCtx;

use super::Border;
use super::log::Level;
use crate::sandbox::instance::Call;
pub use clock::TellTime;
pub(crate) use clock::{Clock, Waiting};
pub(crate) use exit::{Exited, add_exit_to_linker};
pub(crate) use program::{Program, Sheet};
pub(crate) use stdio::Printed;

/// How many resources a guest may hold at once: streams, timers, requests.
const MAX_RESOURCES: usize = 1_000;

/// How many random bytes a guest may ask for at once.
const MAX_RANDOM_BYTES: u64 = 64 << 10;

/// The packages of WASI that need no grant to be imported.
const FREE: [&str; 6] = [
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

/// Says whether an import is answered by the virtual world.
pub(crate) fn is_virtual(import: &str) -> bool {
    FREE.iter().any(|package| import.starts_with(package)) || import.starts_with("wasi:http/types")
}

/// What a guest that imports `wasi:*` holds on the host's side.
pub(crate) struct Wasi {
    ctx: WasiCtx,
    table: ResourceTable,
    clock: Arc<Clock>,
    printed: stdio::Paper,
    http_ctx: WasiHttpCtx,
    http: http::Outgoing,
}

impl Wasi {
    fn new(border: &Border, program: Option<&Program>) -> Self {
        let grants = border.grants();
        let clock = Arc::new(if grants.clock {
            Clock::real(border.tell_time(), border.reel().clone())
        } else {
            Clock::at(border.event().time())
        });
        let limits = border.limits();
        let printed = stdio::Paper::new(limits.log_lines, limits.log_bytes);
        let mut builder = WasiCtxBuilder::new();
        builder
            .wall_clock(clock::Wall(Arc::clone(&clock)))
            .monotonic_clock(clock::Monotonic(Arc::clone(&clock)))
            .stdout(printed.stream(Level::Info))
            .stderr(printed.stream(Level::Warn))
            .max_random_size(MAX_RANDOM_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .envs(&border.environment());
        if let Some(program) = program {
            program.furnish(&mut builder, printed.stream(Level::Warn));
        }
        let seed = border.event().seed(border.hook());
        if grants.random {
            builder
                .insecure_random_seed(random::Real::new(border.reel()).number())
                .secure_random(random::Real::new(border.reel()))
                .insecure_random(random::Real::new(border.reel()));
        } else {
            builder
                .insecure_random_seed(random::Seeded::new(&seed, "seed").number())
                .secure_random(random::Seeded::new(&seed, "random"))
                .insecure_random(random::Seeded::new(&seed, "insecure"));
        }
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        let mut http_ctx = WasiHttpCtx::new();
        http_ctx.set_field_size_limit(http::MAX_FIELD_BYTES);
        Self {
            ctx: builder.build(),
            table,
            http: http::Outgoing::new(border, Arc::clone(&clock)),
            clock,
            printed,
            http_ctx,
        }
    }

    /// Returns the lines that were printed since the last time.
    pub(crate) fn printed_so_far(&self) -> Printed {
        self.printed.take_whole()
    }

    /// Returns what was printed, as lines.
    pub(crate) fn printed(&self) -> Printed {
        self.printed.take()
    }

    /// Returns the clock of the call.
    pub(crate) fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }
}

impl Call {
    /// Makes what `wasi:*` needs.
    pub(crate) fn prepare_wasi(&mut self) -> &mut Wasi {
        let border = &self.border;
        self.wasi
            .get_or_insert_with(|| Box::new(Wasi::new(border, None)))
    }

    /// Makes what `wasi:*` needs for a program.
    pub(crate) fn prepare_program(&mut self, program: &Program) {
        self.wasi = Some(Box::new(Wasi::new(&self.border, Some(program))));
    }

    fn clock(&mut self) -> &Arc<Clock> {
        &self.prepare_wasi().clock
    }

    fn table(&mut self) -> &mut ResourceTable {
        &mut self.prepare_wasi().table
    }
}

impl WasiView for Call {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.prepare_wasi();
        WasiCtxView {
            ctx: &mut wasi.ctx,
            table: &mut wasi.table,
        }
    }
}

/// Adds the virtual world to a linker.
pub(crate) fn add_to_linker(linker: &mut Linker<Call>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    clocks::monotonic_clock::add_to_linker::<Call, HasSelf<Call>>(linker, |call| call)?;
    cli::exit::add_to_linker::<Call, HasSelf<Call>>(linker, |call| call)?;
    filesystem::preopens::add_to_linker::<Call, HasSelf<Call>>(linker, |call| call)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The threads on which files and requests wait. The runtime a caller may be in is
/// left alone: it could have a single thread, and that one waits for the guest.
static THREADS: LazyLock<std::io::Result<tokio::runtime::Runtime>> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("hookbox-wasi")
        .enable_all()
        .build()
});

/// Makes the threads for `wasi:*` the ones that work of this thread is handed to.
pub(crate) fn enter_threads() -> Option<tokio::runtime::EnterGuard<'static>> {
    match &*THREADS {
        Ok(threads) => Some(threads.enter()),
        Err(error) => {
            tracing::warn!(%error, "no threads for wasi:*; files and requests will fail");
            None
        }
    }
}
