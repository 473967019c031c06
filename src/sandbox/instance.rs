//! One call into a guest: a fresh store, the hook's limits, and a name for every
//! way it can end.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use wasmtime::{CallHook, PoolConcurrencyLimitError, ResourceLimiter, Store, Trap};

use super::engine::Engine;
use super::image::Part;
use super::limits::Limits;
use crate::capability::Border;
use crate::capability::wasi::{self, Clock, Exited, Program, Waiting, Wasi};
use crate::chain::{Ran, Usage};
use crate::failure::{Cause, Failure};

/// After this much fuel the guest is paused to look at the clock: mostly under a
/// millisecond, a tenth of a second for a guest that does nothing but miss the
/// processor's caches. Unlike epochs, this costs the compiled code nothing.
const FUEL_BETWEEN_LOOKS: u64 = 1_000_000;

/// What may cross the border in one call beside the texts of an answer.
const BORDER_ROOM: usize = 1 << 20;

/// What one call holds on the host's side.
pub struct Call {
    /// The only way out of the sandbox.
    pub border: Border,
    /// What `wasi:*` needs, for guests that import it.
    pub(crate) wasi: Option<Box<Wasi>>,
    /// What the guest shows of its memory, while somebody wants to see it.
    pub(super) shown: Option<Vec<Part>>,
    limiter: Limiter,
    /// The fuel that making the instance took, if that was before the call.
    spent: u64,
}

/// An instance that was made before it was needed, for one call.
pub struct Spare<G> {
    store: Store<Call>,
    guest: G,
}

impl<G> Spare<G> {
    /// Makes one.
    ///
    /// # Errors
    /// Returns why there is none.
    pub fn new(
        engine: &Engine,
        make: impl AsyncFnOnce(&mut Store<Call>) -> wasmtime::Result<G>,
    ) -> Result<Self, Failure> {
        let mut store = open(engine, Border::closed());
        let guest = step(&mut store, make)?;
        let given = store.data().border.limits().fuel;
        store.data_mut().spent = given.saturating_sub(store.get_fuel().unwrap_or(0));
        Ok(Self { store, guest })
    }

    /// Says whether a call with these limits would have made the same one. A call that
    /// would have failed at that has to fail in the same way.
    #[must_use]
    pub fn fits(&self, limits: &Limits) -> bool {
        let Call { limiter, spent, .. } = self.store.data();
        limits.fuel > *spent
            && limits.memory >= limiter.peak
            && limits.table_elements >= limiter.elements
            && limits.instances >= limiter.limits.instances
    }

    /// Runs `work` in it, as if it had just been made for the border's hook.
    pub fn run<T>(
        self,
        border: Border,
        work: impl AsyncFnOnce(&G, &mut Store<Call>) -> wasmtime::Result<T>,
    ) -> (Ran<T>, Used) {
        let Self { mut store, guest } = self;
        let call = store.data_mut();
        call.limiter.limits = *border.limits();
        call.border = border;
        let worked = Worked::of(&mut store, async |store| work(&guest, store).await);
        let over = Call::new(Border::closed());
        let call = std::mem::replace(store.data_mut(), over);
        (worked.ran(call), Used(store))
    }
}

/// What is left of an instance whose call is over. Taking it apart takes time that nobody
/// has to wait for.
pub struct Used(#[expect(dead_code, reason = "only there to be dropped")] Store<Call>);

/// Runs `work` in a fresh store with the limits of the border's hook.
///
/// `work` gets the store and returns the future of instantiating and calling;
/// it never sees the deadline, which is enforced from outside.
pub fn run<T>(
    engine: &Engine,
    border: Border,
    work: impl AsyncFnOnce(&mut Store<Call>) -> wasmtime::Result<T>,
) -> Ran<T> {
    run_in(open(engine, border), work)
}

/// Does the same for a guest that imports `wasi:*`.
pub fn run_with_wasi<T>(
    engine: &Engine,
    border: Border,
    work: impl AsyncFnOnce(&mut Store<Call>) -> wasmtime::Result<T>,
) -> Ran<T> {
    let mut store = open(engine, border);
    store.data_mut().prepare_wasi();
    run_in(watched(store), work)
}

/// Does the same for a program: what it reads and where it answers is not the log.
pub(crate) fn run_program<T>(
    engine: &Engine,
    border: Border,
    program: &Program,
    work: impl AsyncFnOnce(&mut Store<Call>) -> wasmtime::Result<T>,
) -> Ran<T> {
    let mut store = open(engine, border);
    store.data_mut().prepare_program(program);
    run_in(watched(store), work)
}

fn watched(mut store: Store<Call>) -> Store<Call> {
    // A guest that does little but call the host uses hardly any fuel, and is not
    // paused for a long time.
    store.call_hook(|store, crossing| match crossing {
        CallHook::CallingHost => store.data().border.check_time(),
        _ => Ok(()),
    });
    store
}

fn run_in<T>(
    mut store: Store<Call>,
    work: impl AsyncFnOnce(&mut Store<Call>) -> wasmtime::Result<T>,
) -> Ran<T> {
    let worked = Worked::of(&mut store, work);
    worked.ran(store.into_data())
}

/// What work in a store came to.
struct Worked<T> {
    result: Result<T, Failure>,
    fuel: u64,
    started: Instant,
}

impl<T> Worked<T> {
    fn of(
        store: &mut Store<Call>,
        work: impl AsyncFnOnce(&mut Store<Call>) -> wasmtime::Result<T>,
    ) -> Self {
        let started = Instant::now();
        let given = store.data().border.limits().fuel;
        let result = step(store, work);
        let left = store.get_fuel().unwrap_or(0);
        Self {
            result,
            fuel: given.saturating_sub(left),
            started,
        }
    }

    fn ran(self, mut call: Call) -> Ran<T> {
        let mut result = self.result;
        if let Some(wasi) = &call.wasi {
            let printed = wasi.printed();
            if let Err(failure) = &mut result
                && failure.cause == Cause::Trap
                && !printed.lines.is_empty()
            {
                // Most languages print why before they give up.
                failure.message += "; what it printed is in the log";
            }
            call.border.log_printed(printed);
        }
        Ran {
            usage: Usage {
                // At a trap the counter was not brought up to date.
                fuel: result.is_ok().then_some(self.fuel),
                memory_bytes: call.limiter.peak as u64,
                refused_memory: call.limiter.refusal.is_some(),
                duration: self.started.elapsed(),
            },
            result,
            left: call.border.leave(),
        }
    }
}

impl Call {
    fn new(border: Border) -> Self {
        Self {
            wasi: None,
            shown: None,
            limiter: Limiter::new(*border.limits()),
            spent: 0,
            border,
        }
    }
}

/// Makes a fresh store with the limits of the border's hook.
pub fn open(engine: &Engine, border: Border) -> Store<Call> {
    let mut store = Store::new(engine.wasmtime(), Call::new(border));
    store.limiter(|call| &mut call.limiter);
    store
}

/// Does one piece of work in a store, with all of its fuel and until its deadline.
///
/// # Errors
/// Returns the name of the way it ended. The store is of no further use then.
pub fn step<T>(
    store: &mut Store<Call>,
    work: impl AsyncFnOnce(&mut Store<Call>) -> wasmtime::Result<T>,
) -> Result<T, Failure> {
    let limits = *store.data().border.limits();
    let deadline = store.data().border.deadline();
    let clock = store
        .data()
        .wasi
        .as_ref()
        .map(|wasi| Arc::clone(wasi.clock()));
    let driven = match prepare(store, &limits) {
        Ok(()) => drive(work(store), deadline, clock.as_deref()),
        Err(error) => Driven::Done(Err(error)),
    };
    match driven {
        Driven::Done(Ok(value)) => Ok(value),
        Driven::Done(Err(error)) => Err(name(&error, store.data(), &limits)),
        Driven::Late => Err(late(&limits)),
    }
}

fn prepare(store: &mut Store<Call>, limits: &Limits) -> wasmtime::Result<()> {
    let spent = store.data().spent;
    store.set_fuel(limits.fuel.saturating_sub(spent))?;
    store.fuel_async_yield_interval(Some(FUEL_BETWEEN_LOOKS))?;
    // What a guest makes the host copy in one call across the border: an answer,
    // and room for the records around its texts.
    store.set_hostcall_fuel(
        limits
            .decision
            .saturating_mul(2)
            .saturating_add(BORDER_ROOM),
    );
    Ok(())
}

enum Driven<T> {
    Done(wasmtime::Result<T>),
    Late,
}

/// Polls a guest until it ends or its time is up. Mostly it has only stopped to let
/// the clock be looked at, and goes on at once.
fn drive<T>(
    work: impl Future<Output = wasmtime::Result<T>>,
    deadline: Instant,
    clock: Option<&Clock>,
) -> Driven<T> {
    let _threads = clock.and_then(|_| wasi::enter_threads());
    let mut work = pin!(work);
    let bell = Arc::new(Bell::new());
    let waker = Waker::from(Arc::clone(&bell));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut context) {
            return Driven::Done(result);
        }
        match clock.map_or(Waiting::Outside, Clock::waiting) {
            Waiting::Nothing => {}
            Waiting::Outside => bell.wait(deadline),
            Waiting::Until(moment) => bell.wait(deadline.min(moment)),
        }
        if Instant::now() >= deadline {
            return Driven::Late;
        }
    }
}

/// Wakes the thread that drives a guest. Each call has its own, so that a nested
/// call cannot take the ring that was meant for the outer one.
struct Bell {
    thread: Thread,
    rung: AtomicBool,
}

impl Bell {
    fn new() -> Self {
        Self {
            thread: thread::current(),
            rung: AtomicBool::new(false),
        }
    }

    fn wait(&self, until: Instant) {
        while !self.rung.swap(false, Ordering::Acquire) {
            let now = Instant::now();
            if now >= until {
                return;
            }
            thread::park_timeout(until - now);
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

fn late(limits: &Limits) -> Failure {
    Failure::new(
        Cause::Deadline,
        format!(
            "the call took longer than {:?}; if it has to, raise `wall_time` under `limits:`",
            limits.wall_time
        ),
    )
}

/// Gives the way a call ended its name.
fn name(error: &wasmtime::Error, call: &Call, limits: &Limits) -> Failure {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return match &call.limiter.refusal {
            // A guest that was refused memory mostly says so in words of its own.
            Some(refusal) if failure.cause == Cause::HookError => Failure {
                cause: refusal.cause,
                message: format!("{}; {}", failure.message, refusal.message),
                stack: failure.stack.clone(),
            },
            _ => failure.clone(),
        };
    }
    if let Some(exited) = error.downcast_ref::<Exited>() {
        // Without a code it is what the old `exit(1)` comes to.
        let code = exited.code.unwrap_or(1);
        return Failure::new(
            Cause::Trap,
            format!("the guest exited with code {code} instead of answering"),
        );
    }
    let trap = error.downcast_ref::<Trap>();
    if trap == Some(&Trap::OutOfFuel) {
        return Failure::new(
            Cause::OutOfFuel,
            format!(
                "the call used up its {} units of fuel; look for a loop that does not end, or raise `fuel` under `limits:`",
                grouped(limits.fuel)
            ),
        );
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return Failure::new(
            Cause::Busy,
            "more calls run at once than the sandbox has room for; dispatch fewer events at once",
        );
    }
    // A guest that is refused memory mostly traps for a reason of its own.
    if let Some(refusal) = &call.limiter.refusal {
        return refusal.clone();
    }
    match trap {
        Some(Trap::StackOverflow) => Failure::new(
            Cause::Stack,
            "the call stack overflowed; look for a recursion that does not end, or source nested very deep",
        ),
        Some(trap) => Failure::new(
            Cause::Trap,
            format!(
                "the guest trapped: {}; this is a bug in the hook",
                trap.to_string().trim_start_matches("wasm trap: ")
            ),
        ),
        None if copied_too_much(error) => Failure::new(
            Cause::BadAnswer,
            format!(
                "the guest handed over more than the {} bytes allowed; say less, or raise `decision` under `limits:`",
                limits.decision
            ),
        ),
        None => Failure::new(
            Cause::Trap,
            format!(
                "the guest broke the contract: {error:#}; this is a bug in the hook or its SDK"
            ),
        ),
    }
}

/// Tells the refusal to copy too much from a guest, for which wasmtime has no type.
fn copied_too_much(error: &wasmtime::Error) -> bool {
    format!("{error:#}").contains("fuel allocated for hostcalls has been exhausted")
}

/// Writes a number with separators, as people write large ones.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Counts what a guest holds, refuses what is over its limit, and remembers
/// that it did: the guest itself only sees an allocation fail.
struct Limiter {
    limits: Limits,
    memory: usize,
    elements: usize,
    peak: usize,
    refusal: Option<Failure>,
}

impl Limiter {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            memory: 0,
            elements: 0,
            peak: 0,
            refusal: None,
        }
    }

    fn refuse(&mut self, cause: Cause, message: String) -> wasmtime::Result<bool> {
        self.refusal = Some(Failure::new(cause, message));
        Ok(false)
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.limits.memory {
            return self.refuse(
                Cause::OutOfMemory,
                format!(
                    "the call asked for {} KiB of memory and may have {} KiB; use less, or raise `memory` under `limits:`",
                    grouped((total >> 10) as u64),
                    grouped((self.limits.memory >> 10) as u64)
                ),
            );
        }
        self.memory = total;
        self.peak = self.peak.max(total);
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self
            .elements
            .saturating_add(desired.saturating_sub(current));
        if total > self.limits.table_elements {
            return self.refuse(
                Cause::OutOfTables,
                format!(
                    "the component's tables need {total} elements and may have {}; raise `table_elements` under `limits:`",
                    self.limits.table_elements
                ),
            );
        }
        self.elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn tables(&self) -> usize {
        self.limits.instances
    }

    fn memories(&self) -> usize {
        self.limits.instances
    }
}
