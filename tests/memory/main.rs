//! How much memory connections, lists of changes and half-open connections take.
//!
//! *Invariant:* an allocator counts the bytes of each thread, and each test runs on a thread of its own.

#[path = "../support/allocator.rs"]
mod allocator;
#[path = "../support/crowd.rs"]
mod crowd;
#[path = "../support/mod.rs"]
mod support;

mod connections;
mod half_open;
mod long_lists;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;
