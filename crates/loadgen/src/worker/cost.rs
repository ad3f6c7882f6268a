//! What a thread has cost so far, and what kept it from its work.

use crate::time::clock;

/// Read off one thread by itself, since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time.
    pub cpu_ns: u64,
    /// CPU time spent looking for events when there was nothing else to do.
    pub polled_ns: u64,
    /// How long it was ready to run and waited for a CPU; `None` where the kernel does not count that.
    pub waited_ns: Option<u64>,
    /// How long it stood still, for whatever reason, when it should have run.
    pub stalled_ns: u64,
}

impl Cost {
    /// Of the calling thread; what the thread counts itself is given.
    pub fn of_this_thread(polled_ns: u64, stalled_ns: u64) -> Self {
        Self { cpu_ns: clock::thread_cpu_ns(), polled_ns, waited_ns: waited_ns(), stalled_ns }
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

/// The second number of schedstat: time spent waiting on a run queue, in nanoseconds (Documentation/scheduler/sched-stats.rst).
fn waited_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_grow_and_are_subtracted_part_by_part() {
        let before = Cost::of_this_thread(5, 7);
        let cost = Cost::of_this_thread(15, 8).since(before);
        assert_eq!((cost.polled_ns, cost.stalled_ns), (10, 1));
        let unknown = Cost { waited_ns: None, ..before };
        assert_eq!(Cost::of_this_thread(5, 7).since(unknown).waited_ns, None);
    }
}
