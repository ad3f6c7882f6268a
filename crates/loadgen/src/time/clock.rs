//! Time, as nanoseconds of the monotonic clock. One vDSO call (about 20 ns), so the loop reads it once per batch of bytes and no more often.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since an arbitrary start that all threads of the machine share.
pub fn now_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// CPU time that the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}

/// CPU time that all threads of this process have used, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    read(ClockId::ProcessCPUTime)
}

/// Nanoseconds as seconds.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
