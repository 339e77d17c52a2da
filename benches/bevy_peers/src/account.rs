//! The processor time and the heap memory that the server uses.
//!
//! *Invariant:* the work of clients and of the transport between the apps is not counted.

use std::time::Duration;

use crate::{allocator, cpu};

/// The processor time and the heap memory that the server uses.
#[derive(Default)]
pub(crate) struct Account {
    /// The processor time.
    pub(crate) time: Duration,
    /// The heap memory that the server occupies, in bytes.
    pub(crate) heap: isize,
}

impl Account {
    /// Runs some work of the server, and adds its time and the memory that it allocated or freed.
    pub(crate) fn work<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let began = cpu::thread_time();
        let result = self.hold(work);
        self.time += cpu::thread_time() - began;
        result
    }

    /// Runs work that moves packets out of the server or into it. Counts only the memory.
    pub(crate) fn hold<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let before = allocator::held();
        let result = work();
        self.heap += allocator::held() - before;
        result
    }
}
