//! The heap of a component: all memory behind the program's own data.

use std::alloc::{GlobalAlloc, Layout};
use std::arch::wasm32::{memory_grow, memory_size};
use std::cell::UnsafeCell;

use super::{Heap, Memory};

const PAGE: usize = 1 << 16;

struct Linear;

impl Memory for Linear {
    fn end(&self) -> usize {
        // The last page of all ends where addresses do.
        memory_size::<0>().saturating_mul(PAGE)
    }

    fn grow(&self, stop: usize) -> bool {
        let more = stop.div_ceil(PAGE).saturating_sub(memory_size::<0>());
        memory_grow::<0>(more) != usize::MAX
    }
}

struct Global(UnsafeCell<Heap<Linear>>);

// SAFETY: a component has one thread.
unsafe impl Sync for Global {}

unsafe extern "C" {
    /// Where the linker put the end of the program's own data.
    static mut __heap_base: u8;
}

#[global_allocator]
static GLOBAL: Global = Global(UnsafeCell::new(Heap::new(&raw mut __heap_base, Linear)));

// SAFETY: blocks are distinct, aligned, as long as asked for, and stay where they
// are until they are given back. One thread, and no call allocates within another.
unsafe impl GlobalAlloc for Global {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { (*self.0.get()).take(layout) }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { (*self.0.get()).give_back(block, layout) }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        unsafe { (*self.0.get()).resize(block, layout, new_size) }
    }
}
