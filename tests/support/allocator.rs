//! An allocator that counts for each thread: the bytes that are allocated now, the most bytes that were
//! allocated at one time, the bytes of all allocations together, and the number of allocations.
//!
//! *Invariant:* the system's allocator provides the memory; this one only counts.
#![allow(dead_code, reason = "each binary uses a part")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    static GIVEN: Cell<isize> = const { Cell::new(0) };
    static TIMES: Cell<usize> = const { Cell::new(0) };
}

pub(crate) struct Counting;

fn count(bytes: isize) {
    // A thread that ends frees memory after its counters no longer exist.
    let held = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        held.get()
    });
    if let Ok(held) = held {
        MOST.try_with(|most| most.set(most.get().max(held))).ok();
        GIVEN.try_with(|given| given.set(given.get() + bytes.max(0))).ok();
        TIMES.try_with(|times| times.set(times.get() + usize::from(bytes > 0))).ok();
    }
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory that is handed out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`, and the system's `alloc` has the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the pointer came from `alloc` or `realloc` above, so from the system, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - layout.size() as isize);
        // SAFETY: the pointer came from `alloc` or `realloc` above, so from the system, with this layout.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

/// Returns how many bytes this thread holds.
pub(crate) fn held() -> isize {
    HELD.with(Cell::get)
}

/// Returns the result of `work`, and by how many bytes the memory of this thread grew at most during `work`.
pub(crate) fn measure<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.with(Cell::get);
    MOST.with(|most| most.set(before));
    let result = work();
    (result, (MOST.with(Cell::get) - before) as usize)
}

/// Returns the result of `work`, and how many bytes this thread allocated during `work`, including bytes that
/// it freed again.
pub(crate) fn measure_given<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = GIVEN.with(Cell::get);
    let result = work();
    (result, (GIVEN.with(Cell::get) - before) as usize)
}

/// Returns the result of `work`, and how often this thread allocated memory, or more of it, during `work`.
pub(crate) fn measure_times<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TIMES.with(Cell::get);
    let result = work();
    (result, TIMES.with(Cell::get) - before)
}

#[test]
fn the_memory_held_at_a_time_is_counted() {
    let (_, most) = measure(|| {
        let first = vec![0_u8; 1_000];
        drop(first);
        vec![0_u8; 700]
    });
    assert_eq!(most, 1_000);
    let (_, given) = measure_given(|| {
        drop(vec![0_u8; 1_000]);
        vec![0_u8; 700]
    });
    assert_eq!(given, 1_700);
    let (_, times) = measure_times(|| drop((vec![0_u8; 1_000], Vec::<u8>::new(), Box::new(7))));
    assert_eq!(times, 2);
}
