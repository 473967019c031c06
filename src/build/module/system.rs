//! The system a module sees while it is initialised: a clock that stands still,
//! numbers that are always the same, no arguments, no environment, no files.

use wasmtime::{Caller, Extern, Memory, StoreLimits, Val};

use super::preinit::PreinitError;

/// The module whose functions are answered here.
pub(crate) const MODULE: &str = "wasi_snapshot_preview1";

/// What WASI calls success, and a file that is not open.
const SUCCESS: i32 = 0;
const BAD_DESCRIPTOR: i32 = 8;

/// The first descriptor that is none of the standard streams.
const FIRST_FILE: i32 = 3;
const STANDARD_ERROR: i32 = 2;

/// The start of the year 2000, which hooks see as well if their event has no time.
const WALL_TIME: u64 = 946_684_800_000_000_000;

/// Before the first time that any call sees: the clock of a call starts at 0 and is
/// moved by looking at it. It is not 0, which Go takes for a broken clock.
const MONOTONIC_TIME: u64 = 1;

/// How much a module may print.
const MAX_PRINTED: usize = 64 << 10;

/// What a module left behind while it was initialised.
#[derive(Debug, Default)]
pub(crate) struct System {
    /// What it printed on standard output.
    pub(crate) output: Vec<u8>,
    /// What it printed on standard error.
    pub(crate) errors: Vec<u8>,
    /// How many random numbers it was given.
    drawn: u64,
    /// What it may use.
    pub(crate) limits: StoreLimits,
}

impl System {
    /// Makes the system of one initialisation.
    pub(crate) fn new(limits: StoreLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }
}

/// Answers one call of a module.
///
/// # Errors
/// Returns the name of a call that has no answer before there is an event.
pub(crate) fn answer(
    caller: &mut Caller<'_, System>,
    name: &str,
    params: &[Val],
) -> wasmtime::Result<i32> {
    let number = |place: usize| params.get(place).and_then(Val::i32).unwrap_or(0);
    let address = |place: usize| number(place).cast_unsigned() as usize;
    let is_file = number(0) >= FIRST_FILE;
    match name {
        "proc_exit" => return Err(PreinitError::Exited(number(0)).into()),
        "args_get" | "environ_get" | "sched_yield" => {}
        "args_sizes_get" | "environ_sizes_get" => {
            write(caller, address(0), &[0; 4])?;
            write(caller, address(1), &[0; 4])?;
        }
        "clock_time_get" => {
            let time = if number(0) == 0 {
                WALL_TIME
            } else {
                MONOTONIC_TIME
            };
            write(caller, address(2), &time.to_le_bytes())?;
        }
        "random_get" => fill(caller, address(0), address(1))?,
        "fd_write" if !is_file => print(caller, number(0), address(1), address(2), address(3))?,
        // All zero: a stream of no particular kind that blocks.
        "fd_fdstat_get" if !is_file => write(caller, address(1), &[0; 24])?,
        "fd_fdstat_set_flags" if !is_file => {}
        _ if name.starts_with("fd_") || name.starts_with("path_") => return Ok(BAD_DESCRIPTOR),
        _ => return Err(PreinitError::NoAnswer(format!("{MODULE}.{name}")).into()),
    }
    Ok(SUCCESS)
}

fn memory(caller: &mut Caller<'_, System>) -> wasmtime::Result<Memory> {
    match caller.get_export("memory") {
        Some(Extern::Memory(memory)) => Ok(memory),
        _ => Err(PreinitError::NoMemory.into()),
    }
}

fn write(caller: &mut Caller<'_, System>, place: usize, bytes: &[u8]) -> wasmtime::Result<()> {
    let written = memory(caller)?.write(caller, place, bytes);
    written.map_err(|_| PreinitError::OutOfBounds.into())
}

fn read(caller: &mut Caller<'_, System>, place: usize, length: usize) -> wasmtime::Result<Vec<u8>> {
    let memory = memory(caller)?;
    let end = place.saturating_add(length);
    let bytes = memory.data(&caller).get(place..end);
    bytes
        .map(<[u8]>::to_vec)
        .ok_or_else(|| PreinitError::OutOfBounds.into())
}

/// Fills memory with numbers that look random and are the same in every build.
fn fill(caller: &mut Caller<'_, System>, place: usize, length: usize) -> wasmtime::Result<()> {
    let memory = memory(caller)?;
    let (memory, system) = memory.data_and_store_mut(caller);
    let Some(bytes) = memory.get_mut(place..place.saturating_add(length)) else {
        return Err(PreinitError::OutOfBounds.into());
    };
    for chunk in bytes.chunks_mut(8) {
        system.drawn = system.drawn.wrapping_add(1);
        chunk.copy_from_slice(&mixed(system.drawn).to_le_bytes()[..chunk.len()]);
    }
    Ok(())
}

/// Makes a number out of its place in the sequence (the finaliser of SplitMix64).
fn mixed(place: u64) -> u64 {
    let mut number = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Keeps what is printed: a list of addresses and lengths says where it is.
fn print(
    caller: &mut Caller<'_, System>,
    stream: i32,
    list: usize,
    count: usize,
    written: usize,
) -> wasmtime::Result<()> {
    let mut total = 0_u32;
    for index in 0..count {
        let entry = read(caller, list.saturating_add(index.saturating_mul(8)), 8)?;
        let (place, length) = (word(&entry, 0), word(&entry, 4));
        let bytes = read(caller, place as usize, length as usize)?;
        let system = caller.data_mut();
        let paper = if stream == STANDARD_ERROR {
            &mut system.errors
        } else {
            &mut system.output
        };
        let room = MAX_PRINTED.saturating_sub(paper.len());
        paper.extend_from_slice(&bytes[..bytes.len().min(room)]);
        total = total.saturating_add(length);
    }
    write(caller, written, &total.to_le_bytes())
}

fn word(bytes: &[u8], place: usize) -> u32 {
    let bytes = bytes.get(place..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
