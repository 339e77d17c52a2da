//! The processor time of this thread. Other load on the machine changes it much less than the elapsed time.
//! So if the two times differ, the measurement was disturbed.
//!
//! *Invariant:* a processor time has no fixed zero. Only the difference between two times means anything.

use std::time::Duration;

/// Returns for how long this thread has run on a processor.
#[cfg(unix)]
pub(crate) fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns zero, because this system does not say the time.
#[cfg(not(unix))]
pub(crate) fn thread_time() -> Duration {
    Duration::ZERO
}
