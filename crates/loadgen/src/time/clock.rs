//! Clocks in nanoseconds. Reading the monotonic clock takes about 20 ns (vDSO), so engines avoid unnecessary readings.

use rustix::time::{ClockId, clock_gettime};

/// Returns the time of the monotonic clock, in nanoseconds. All processes on the machine share this clock.
pub fn now_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// Returns the CPU time of the calling thread, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}

/// Returns the CPU time of all threads of this process, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    read(ClockId::ProcessCPUTime)
}

/// Converts nanoseconds to seconds.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
