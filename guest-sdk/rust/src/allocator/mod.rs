//! An allocator for calls that end soon.
//!
//! A hook runs in a fresh instance for each call, so memory is mostly taken and seldom
//! given back. Taking the next free bytes costs a fraction of what a general allocator
//! costs, and starting right behind the program's own data keeps what a short call
//! writes to in one page, which the host has to restore after every call.
//!
//! A hook that works through a large text must not run out of memory for that. So once
//! the memory has to grow, blocks come in a few sizes, and what is given back waits in
//! a list for the next one of its size. A short call never gets there.

#![allow(unsafe_code)]

#[cfg(all(target_os = "unknown", feature = "allocator"))]
mod component;
#[cfg(test)]
mod tests;

use std::alloc::Layout;
use std::ptr;

/// Every block starts at a multiple of this, and has room for a link.
const GRAIN: usize = 8;

/// Four sizes for each power of two, up to all the memory there can be. A power of two
/// itself, so that picking a list is a mask and not a check that could panic in here.
const SIZES: usize = 128;

/// Where memory comes from.
pub(crate) trait Memory {
    /// Returns the end of the memory there is.
    fn end(&self) -> usize;

    /// Makes the memory reach at least up to an address, and says whether it does.
    fn grow(&self, stop: usize) -> bool;
}

/// The memory that a program takes blocks from.
pub(crate) struct Heap<M> {
    next: *mut u8,
    end: usize,
    memory: M,
    /// Blocks from here on have one of the sizes; none before the memory has grown.
    sized_from: usize,
    free: [*mut u8; SIZES],
}

impl<M: Memory> Heap<M> {
    /// Makes a heap that starts at a multiple of [`GRAIN`].
    pub(crate) const fn new(start: *mut u8, memory: M) -> Self {
        Self {
            next: start,
            end: 0,
            memory,
            sized_from: usize::MAX,
            free: [ptr::null_mut(); SIZES],
        }
    }

    /// Takes a block; null if there is no memory left.
    pub(crate) fn take(&mut self, layout: Layout) -> *mut u8 {
        if self.is_short() {
            let block = self.aligned(layout);
            if self.fits(block, grains(layout.size())) {
                return block;
            }
        }
        self.take_sized(layout)
    }

    /// Gives a block back.
    ///
    /// # Safety
    /// The block must have been taken with this layout, and not be used any more.
    pub(crate) unsafe fn give_back(&mut self, block: *mut u8, layout: Layout) {
        if !self.is_short() {
            // SAFETY: the caller's.
            unsafe { self.give_back_sized(block, layout) };
        } else if block.wrapping_add(grains(layout.size())) == self.next {
            self.next = block;
        }
    }

    /// Changes the size of a block, where it is if possible.
    ///
    /// # Safety
    /// The block must have been taken with this layout; only the block that is returned
    /// may be used any more.
    pub(crate) unsafe fn resize(
        &mut self,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        let stays = if self.is_short() {
            let is_last = block.wrapping_add(grains(layout.size())) == self.next;
            new_size <= layout.size() && !is_last || is_last && self.fits(block, grains(new_size))
        } else {
            self.resize_sized(block, layout, new_size)
        };
        if stays {
            return block;
        }
        // SAFETY: the caller's.
        unsafe { self.relocate(block, layout, new_size) }
    }

    fn is_short(&self) -> bool {
        self.sized_from == usize::MAX
    }

    /// Returns where the next block would start.
    fn aligned(&self, layout: Layout) -> *mut u8 {
        let gap = self.next.addr().wrapping_neg() & (layout.align() - 1);
        self.next.wrapping_add(gap)
    }

    /// Makes a block the last one if there is memory for it.
    fn fits(&mut self, block: *mut u8, size: usize) -> bool {
        match block.addr().checked_add(size) {
            Some(stop) if stop <= self.end || self.first_look(stop) => {
                self.next = block.wrapping_add(size);
                true
            }
            _ => false,
        }
    }

    /// Asks how much memory there is, which cannot be known when the program is built.
    #[cold]
    fn first_look(&mut self, stop: usize) -> bool {
        self.end = self.memory.end();
        stop <= self.end
    }

    /// Takes a block of one of the sizes, growing the memory if need be.
    #[cold]
    fn take_sized(&mut self, layout: Layout) -> *mut u8 {
        if self.is_short() {
            self.sized_from = self.next.addr();
        }
        let (class, size) = class(layout.size());
        let listed = self.free[class % SIZES];
        if layout.align() <= GRAIN && !listed.is_null() {
            // SAFETY: a block in a list holds the link to the one after it.
            self.free[class % SIZES] = unsafe { listed.cast::<*mut u8>().read() };
            return listed;
        }
        let block = self.aligned(layout);
        if self.grown_fits(block, size) {
            block
        } else {
            ptr::null_mut()
        }
    }

    fn grown_fits(&mut self, block: *mut u8, size: usize) -> bool {
        self.fits(block, size)
            || block
                .addr()
                .checked_add(size)
                .is_some_and(|stop| self.memory.grow(stop))
                && self.fits(block, size)
    }

    /// # Safety
    /// As for [`Heap::give_back`].
    #[cold]
    unsafe fn give_back_sized(&mut self, block: *mut u8, layout: Layout) {
        if block.addr() < self.sized_from {
            return;
        }
        let (class, size) = class(layout.size());
        if block.wrapping_add(size) == self.next {
            self.next = block;
            return;
        }
        // SAFETY: a block is at least one grain long, and starts at one.
        unsafe { block.cast::<*mut u8>().write(self.free[class % SIZES]) };
        self.free[class % SIZES] = block;
    }

    /// Says whether a block could be made larger or smaller where it is.
    #[cold]
    fn resize_sized(&mut self, block: *mut u8, layout: Layout, new_size: usize) -> bool {
        if block.addr() < self.sized_from {
            return new_size <= layout.size();
        }
        let ((_, size), (_, new)) = (class(layout.size()), class(new_size));
        new == size || block.wrapping_add(size) == self.next && self.grown_fits(block, new)
    }

    /// Moves a block to one of another size.
    ///
    /// # Safety
    /// As for [`Heap::resize`].
    #[cold]
    unsafe fn relocate(&mut self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the alignment is that of a layout, and the caller checked the new size.
        let moved =
            self.take(unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) });
        if !moved.is_null() {
            // SAFETY: the blocks are distinct, and both have so many bytes.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, layout.size().min(new_size));
                self.give_back(block, layout);
            }
        }
        moved
    }
}

/// Rounds a size up to whole grains.
fn grains(size: usize) -> usize {
    (size + (GRAIN - 1)) & !(GRAIN - 1)
}

/// Returns the list and the size of blocks that have room for so many bytes.
fn class(size: usize) -> (usize, usize) {
    let grains = grains(size) / GRAIN;
    if grains <= 4 {
        return (grains.saturating_sub(1), grains * GRAIN);
    }
    // Between two powers of two there are four steps.
    let power = (grains - 1).ilog2() as usize;
    let steps = grains.div_ceil(1 << (power - 2));
    (4 * power + steps - 9, (steps << (power - 2)) * GRAIN)
}
