//! Tests of the heap, in memory that a test set aside.

use std::cell::Cell;

use super::*;

/// What was set aside for a test.
struct Room {
    end: Cell<usize>,
    limit: usize,
}

impl Memory for Room {
    fn end(&self) -> usize {
        self.end.get()
    }

    fn grow(&self, stop: usize) -> bool {
        if stop <= self.limit {
            self.end.set(stop);
        }
        stop <= self.limit
    }
}

const ROOM: usize = 1 << 20;

/// Calls a test with a heap of so many bytes that can grow to a MiB.
fn with_heap(size: usize, test: impl FnOnce(&mut Heap<Room>, usize)) {
    let mut room = vec![0_u128; ROOM / 16];
    let start = room.as_mut_ptr().cast::<u8>();
    let memory = Room {
        end: Cell::new(start.addr() + size),
        limit: start.addr() + ROOM,
    };
    test(&mut Heap::new(start, memory), start.addr());
}

fn bytes(size: usize) -> Layout {
    Layout::from_size_align(size, 1).unwrap()
}

#[test]
fn every_size_has_a_list_whose_blocks_are_long_enough() {
    let mut last = class(1);
    assert_eq!(last, (0, 8));
    for size in (1..5_000).chain((5_000..1 << 31).step_by(999_983)) {
        let (list, rounded) = class(size);
        assert!(
            list < SIZES && rounded >= size && rounded % GRAIN == 0,
            "{size}"
        );
        assert!(rounded < size + size / 4 + GRAIN, "{size} wastes memory");
        assert!(list == last.0 && rounded == last.1 || list > last.0 && rounded > last.1);
        last = (list, rounded);
    }
}

#[test]
fn blocks_are_distinct_and_aligned() {
    for size in [0, 1_000] {
        with_heap(size, |heap, start| {
            let first = heap.take(bytes(3));
            assert_eq!(first.addr(), start);
            let second = heap.take(Layout::from_size_align(100, 64).unwrap());
            assert_eq!(second.addr() % 64, 0);
            assert!(second.addr() >= start + 8);
            assert!(heap.take(bytes(1)).addr() >= second.addr() + 100);
        });
    }
}

#[test]
fn the_last_block_grows_and_shrinks_where_it_is() {
    for size in [0, ROOM] {
        with_heap(size, |heap, _| unsafe {
            let block = heap.take(bytes(10));
            assert_eq!(heap.resize(block, bytes(10), 5_000), block);
            assert_eq!(heap.resize(block, bytes(5_000), 20), block);
            assert_eq!(heap.take(bytes(1)), block.wrapping_add(24));
        });
    }
}

#[test]
fn a_block_in_the_middle_moves_with_what_it_holds() {
    for size in [0, 16, ROOM] {
        with_heap(size, |heap, _| unsafe {
            let block = heap.take(bytes(8));
            block.copy_from_nonoverlapping(b"contents".as_ptr(), 8);
            heap.take(bytes(8));
            let moved = heap.resize(block, bytes(8), 100);
            assert_ne!(moved, block);
            assert_eq!(std::slice::from_raw_parts(moved, 8), b"contents");
            let moved = heap.resize(moved, bytes(100), 1);
            assert_eq!(*moved, b'c');
        });
    }
}

#[test]
fn the_last_block_moves_when_a_short_call_becomes_a_long_one() {
    with_heap(16, |heap, _| unsafe {
        let block = heap.take(bytes(8));
        block.copy_from_nonoverlapping(b"contents".as_ptr(), 8);
        let moved = heap.resize(block, bytes(8), 100);
        assert_eq!(std::slice::from_raw_parts(moved, 8), b"contents");
        assert_eq!(heap.resize(moved, bytes(100), 5_000), moved);
    });
}

#[test]
fn what_is_given_back_is_taken_again() {
    with_heap(64, |heap, start| unsafe {
        let kept = heap.take(bytes(40));
        for round in 0..100_000 {
            // Given back in the order in which they were taken, not the reverse.
            let (first, second) = (heap.take(bytes(700)), heap.take(bytes(1_500)));
            assert!(
                second.addr() + 1_500 <= start + 8_192,
                "round {round} leaks"
            );
            heap.give_back(first, bytes(700));
            heap.give_back(second, bytes(1_500));
        }
        heap.give_back(kept, bytes(40));
    });
}

#[test]
fn memory_that_is_refused_leaves_the_heap_as_it_was() {
    for size in [0, ROOM] {
        with_heap(size, |heap, start| unsafe {
            let block = heap.take(bytes(8));
            assert!(heap.take(bytes(ROOM)).is_null());
            assert!(heap.take(bytes(u32::MAX as usize)).is_null());
            assert!(heap.resize(block, bytes(8), 2 * ROOM).is_null());
            assert_eq!(heap.take(bytes(8)).addr(), start + 8);
        });
    }
}

#[test]
fn no_two_blocks_ever_overlap() {
    for size in [0, 10_000] {
        with_heap(size, |heap, _| unsafe { take_and_give_at_random(heap) });
    }
}

unsafe fn take_and_give_at_random(heap: &mut Heap<Room>) {
    let mut blocks: Vec<(*mut u8, Layout, u8)> = Vec::new();
    let mut seed = 1_u32;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below
    };
    for round in 0..50_000 {
        let mark = round as u8;
        let layout = Layout::from_size_align(1 + random(600), 1 << random(4)).unwrap();
        if blocks.len() < 20 || blocks.len() < 200 && random(3) == 0 {
            let block = heap.take(layout);
            assert!(!block.is_null(), "round {round}: no memory left");
            blocks.push((block, layout, mark));
        } else {
            let index = random(blocks.len());
            let (block, old, old_mark) = blocks.swap_remove(index);
            unsafe { check(block, old.size(), old_mark) };
            if random(2) == 0 {
                unsafe { heap.give_back(block, old) };
                continue;
            }
            let moved = unsafe { heap.resize(block, old, layout.size()) };
            unsafe { check(moved, old.size().min(layout.size()), old_mark) };
            let layout = Layout::from_size_align(layout.size(), old.align()).unwrap();
            blocks.push((moved, layout, mark));
        }
        if let Some((block, layout, mark)) = blocks.last() {
            assert_eq!(block.addr() % layout.align(), 0);
            unsafe { block.write_bytes(*mark, layout.size()) };
        }
    }
}

unsafe fn check(block: *mut u8, size: usize, mark: u8) {
    let bytes = unsafe { std::slice::from_raw_parts(block, size) };
    assert!(
        bytes.iter().all(|&byte| byte == mark),
        "another block wrote here"
    );
}
