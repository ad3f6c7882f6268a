//! Time, as nanoseconds of the monotonic clock. One vDSO call (about 20 ns), so the loop reads it once per batch of bytes and no more often.

/// Nanoseconds since an arbitrary start that all threads of the machine share.
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CPU time that the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time that all threads of this process have used, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec, and these clocks exist on every kernel that we can run on.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
