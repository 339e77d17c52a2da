//! The processor time of this thread. Other load on the machine changes it much less than the elapsed time,
//! so the two times differ if a measurement was disturbed.
//!
//! *Invariant:* only differences between two times mean anything.

use std::time::Duration;

/// Returns the time that this thread has run.
#[cfg(unix)]
pub(crate) fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns zero, because the time is not known here.
#[cfg(not(unix))]
pub(crate) fn thread_time() -> Duration {
    Duration::ZERO
}
