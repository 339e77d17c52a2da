//! What the server has used up: processor time and heap memory.
//!
//! *Invariant:* clients, and what carries packets between the apps, use up nothing of it.

use std::time::Duration;

use crate::{allocator, cpu};

/// What the server has used up.
#[derive(Default)]
pub(crate) struct Account {
    /// The processor time.
    pub(crate) time: Duration,
    /// The bytes of heap memory that it holds.
    pub(crate) heap: isize,
}

impl Account {
    /// Counts the time and the memory of work of the server.
    pub(crate) fn work<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let began = cpu::thread_time();
        let result = self.hold(work);
        self.time += cpu::thread_time() - began;
        result
    }

    /// Counts only the memory, where packets change hands.
    pub(crate) fn hold<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let before = allocator::held();
        let result = work();
        self.heap += allocator::held() - before;
        result
    }
}
