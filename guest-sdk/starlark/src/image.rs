//! What loading leaves in the memory, shown to the host and put back by it.
//!
//! Everything an instance knows between two calls lies in its linear memory above the
//! stack, so a fresh instance that gets those bytes is an instance that has loaded. The
//! bytes go straight to where they belong: the host asks `cabi_realloc` for room for each
//! block, and here that is the block's own address. Nothing is allocated meanwhile, since
//! the allocator's own records are among what is put.

use core::arch::wasm32;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::Interpreter;
use crate::bindings::exports::hookbox::starlark::image::Guest;
use crate::bindings::hookbox::starlark::images;

unsafe extern "C" {
    /// Where the stack ends and all that lives longer begins, given by the linker.
    static __stack_high: u8;
}

/// Bytes in a page of memory.
const PAGE: u32 = 64 << 10;

/// Where the addresses lie while blocks come in: at the far end of the stack, which is
/// no part of an image and which nothing reaches that runs then.
const FAR_END: u32 = 1 << 10;

/// How many blocks fit there, with the table of their places beside their addresses.
const MOST: u32 = 50_000;

/// How far `put` has come. It is no part of an image either, or it would change while
/// it is in use.
#[repr(align(64))]
struct Putting {
    /// How often the host has asked for room, counted from 1; 0 if nothing is put.
    step: AtomicU32,
    /// How many blocks come.
    blocks: AtomicU32,
}

static PUTTING: Putting = Putting {
    step: AtomicU32::new(0),
    blocks: AtomicU32::new(0),
};

impl Guest for Interpreter {
    fn show() {
        let putting = (&raw const PUTTING) as u32;
        let parts = [
            ((&raw const __stack_high) as u32, putting),
            (putting + size_of::<Putting>() as u32, pages() * PAGE),
        ];
        for (from, to) in parts {
            // SAFETY: all of it is memory of this instance, which has one thread, and
            // nothing here writes until the host has copied it.
            let bytes =
                unsafe { std::slice::from_raw_parts(from as *const u8, (to - from) as usize) };
            images::part(from, bytes);
        }
    }

    fn begin(wanted: u32) {
        let missing = wanted.saturating_sub(pages());
        if missing > 0 && wasm32::memory_grow(0, missing as usize) == usize::MAX {
            wasm32::unreachable();
        }
        PUTTING.step.store(1, Relaxed);
    }
}

fn pages() -> u32 {
    wasm32::memory_size(0) as u32
}

/// Ends what `begin` began: by now every block lies where it belongs. In the generated
/// code the lists would be arguments, and freed as such.
#[unsafe(export_name = "hookbox:starlark/image@0.1.0#put")]
extern "C" fn put(_addresses: u32, _count: u32, _blocks: u32, _as_many: u32) {
    PUTTING.step.store(0, Relaxed);
    PUTTING.blocks.store(0, Relaxed);
}

/// Gives the host room for what it hands over.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(
    old: *mut u8,
    old_length: usize,
    align: usize,
    length: usize,
) -> *mut u8 {
    match PUTTING.step.load(Relaxed) {
        // SAFETY: handed on as it came.
        0 => unsafe { wit_bindgen::rt::cabi_realloc(old, old_length, align, length) },
        step => {
            PUTTING.step.store(step + 1, Relaxed);
            place(step, length as u32) as *mut u8
        }
    }
}

/// Returns where the list goes that comes at this step: the addresses, the table of the
/// blocks, then block for block.
fn place(step: u32, length: u32) -> u32 {
    match step {
        1 => {
            let blocks = length / size_of::<u32>() as u32;
            if blocks > MOST {
                wasm32::unreachable();
            }
            PUTTING.blocks.store(blocks, Relaxed);
            FAR_END
        }
        2 => FAR_END + PUTTING.blocks.load(Relaxed) * size_of::<u32>() as u32,
        _ => {
            let block = step - 3;
            if block >= PUTTING.blocks.load(Relaxed) {
                wasm32::unreachable();
            }
            let address = FAR_END + block * size_of::<u32>() as u32;
            // SAFETY: the host has put all addresses there, at the first step.
            unsafe { *(address as *const u32) }
        }
    }
}
