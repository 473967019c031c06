//! What the generated bindings need at run time.

#![allow(unsafe_code, unreachable_pub)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
#[cfg(target_arch = "wasm32")]
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory for the parameters of one call, given back when it ends.
pub struct Cleanup {
    block: NonNull<u8>,
    layout: Layout,
}

impl Cleanup {
    /// Allocates a block; none if it would be empty.
    pub fn new(layout: Layout) -> (*mut u8, Option<Self>) {
        if layout.size() == 0 {
            return (ptr::null_mut(), None);
        }
        // SAFETY: the layout is not empty.
        match NonNull::new(unsafe { alloc(layout) }) {
            Some(block) => (block.as_ptr(), Some(Self { block, layout })),
            None => handle_alloc_error(layout),
        }
    }

    /// Leaves the block to whoever it was passed to.
    pub fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        // SAFETY: `new` allocated the block with this layout, and nobody else frees it.
        unsafe { dealloc(self.block.as_ptr(), self.layout) };
    }
}

/// Runs what the program's parts registered to be run before everything else.
///
/// Unless this is called, the linker runs it in front of every export, and so once for
/// each string that the host passes.
#[cfg(target_arch = "wasm32")]
pub fn run_ctors_once() {
    static DONE: AtomicBool = AtomicBool::new(false);

    unsafe extern "C" {
        fn __wasm_call_ctors();
    }

    if !DONE.swap(true, Ordering::Relaxed) {
        // SAFETY: the linker provides it, and it is called only here.
        unsafe { __wasm_call_ctors() };
    }
}

/// Gives the host memory to put strings and lists into.
///
/// # Safety
/// `old` must be null or a block of `old_size` bytes from this function.
#[cfg(target_os = "unknown")]
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(
    old: *mut u8,
    old_size: usize,
    align: usize,
    new_size: usize,
) -> *mut u8 {
    if new_size == 0 {
        return ptr::without_provenance_mut(align);
    }
    // SAFETY: the canonical ABI passes an alignment that is a power of two, and a size
    // that was checked against the memory's.
    unsafe {
        let block = if old_size == 0 {
            alloc(Layout::from_size_align_unchecked(new_size, align))
        } else {
            let layout = Layout::from_size_align_unchecked(old_size, align);
            std::alloc::realloc(old, layout, new_size)
        };
        if block.is_null() {
            // The host has refused to grow the memory and names this trap accordingly.
            std::process::abort();
        }
        block
    }
}
