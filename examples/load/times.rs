//! The processor time of this thread and of this process, and the memory of this process.
//!
//! *Invariant:* a processor time has no fixed zero. Only the difference between two times means anything.

use std::fs;
use std::time::Duration;

/// Returns how long this thread has run on a processor.
pub(crate) fn of_thread() -> Duration {
    clock::of(clock::THREAD)
}

/// Returns how long all threads of this process have run on processors.
pub(crate) fn of_process() -> Duration {
    clock::of(clock::PROCESS)
}

#[cfg(unix)]
mod clock {
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    pub(super) const THREAD: ClockId = ClockId::ThreadCPUTime;
    pub(super) const PROCESS: ClockId = ClockId::ProcessCPUTime;

    pub(super) fn of(clock: ClockId) -> Duration {
        let time = clock_gettime(clock);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

/// Other systems: the times are not known here, so they are zero.
#[cfg(not(unix))]
mod clock {
    use std::time::Duration;

    pub(super) const THREAD: () = ();
    pub(super) const PROCESS: () = ();

    pub(super) fn of((): ()) -> Duration {
        Duration::ZERO
    }
}

/// Returns how many bytes of this process are in physical memory. Returns `None` on systems without
/// `/proc/self/status`.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1_024)
}
