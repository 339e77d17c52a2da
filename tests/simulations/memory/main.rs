//! How much memory objects, connections, lists of changes and half-open connections need. Also tests that
//! steady ticks and predictions allocate no memory.
//!
//! *Invariant:* an allocator counts the bytes of each thread, and each test runs on a thread of its own.

#[path = "../../support/allocator.rs"]
mod allocator;
#[path = "../../support/crowd.rs"]
mod crowd;
#[path = "../../support/residents.rs"]
mod residents;
#[path = "../../support/mod.rs"]
mod support;
#[path = "../../support/wanderers.rs"]
mod wanderers;

mod assets;
mod bases;
mod borrowed;
mod bulk_messages;
mod connections;
mod empty_arrays;
mod half_open;
mod large_worlds;
mod long_lists;
mod objects;
mod prediction;
mod quic;
mod refusals;
mod steady;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;
