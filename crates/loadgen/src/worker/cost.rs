//! CPU time and delays of a thread.

use crate::time::clock;

/// The counters of one thread since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time.
    pub cpu_ns: u64,
    /// CPU time spent polling for events while idle.
    pub polled_ns: u64,
    /// Time for which the thread was ready to run but waited for a CPU; `None` if the kernel doesn't report it.
    pub waited_ns: Option<u64>,
    /// Time for which the thread was stopped, for any reason, although it should have been running.
    pub stalled_ns: u64,
}

impl Cost {
    /// Reads the counters of the calling thread. The caller keeps track of two counters itself and passes their values.
    pub fn of_this_thread(polled_ns: u64, stalled_ns: u64) -> Self {
        Self { cpu_ns: clock::thread_cpu_ns(), polled_ns, waited_ns: waited_ns(), stalled_ns }
    }

    pub fn add(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.polled_ns += other.polled_ns;
        self.waited_ns = self.waited_ns.into_iter().chain(other.waited_ns).reduce(|one, other| one + other);
        self.stalled_ns += other.stalled_ns;
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns - before.cpu_ns,
            polled_ns: self.polled_ns - before.polled_ns,
            waited_ns: self.waited_ns.zip(before.waited_ns).map(|(now, then)| now.saturating_sub(then)),
            stalled_ns: self.stalled_ns - before.stalled_ns,
        }
    }
}

/// Reads the second field of schedstat: nanoseconds spent waiting on a run queue (Documentation/scheduler/sched-stats.rst).
fn waited_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_subtracts_each_counter() {
        let before = Cost::of_this_thread(5, 7);
        let cost = Cost::of_this_thread(15, 8).since(before);
        assert_eq!((cost.polled_ns, cost.stalled_ns), (10, 1));
        let unknown = Cost { waited_ns: None, ..before };
        assert_eq!(Cost::of_this_thread(5, 7).since(unknown).waited_ns, None);
    }
}
