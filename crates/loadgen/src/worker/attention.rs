//! Tracks the time up to which all incoming data has been read, and how long the thread was stopped.
//!
//! When a thread that was stopped (by SIGSTOP, a busy CPU, a CPU quota or a hypervisor) runs again, it may find responses that arrived
//! before their timeout. Timeouts are therefore measured against the time up to which all data has been read, not against the current time.
//! A thread may also be stopped after it has noted the time of a request, but before it has sent it, so the stop itself isn't counted.

/// Minimum delay of a sweep that counts as a stall. Timers and large batches of events cause shorter delays.
const STALL_MIN_NS: u64 = 10_000_000;
/// Maximum number of events per connection that can be queued when the thread enters the kernel: a response and the end of the connection.
const EVENTS_PER_CONNECTION: usize = 2;

#[derive(Debug, Default)]
pub struct Attention {
    read_until_ns: u64,
    /// Time at which the thread first entered the kernel after `read_until_ns` last advanced; `None` if the thread hasn't entered the
    /// kernel since then.
    pass: Option<u64>,
    /// Number of events handled since the time in `pass`.
    handled: usize,
    stalled_ns: u64,
    /// Stalls since `turned_ns`, and those in the timeout before it.
    excused_ns: [u64; 2],
    turned_ns: u64,
    cpu_at_sweep_ns: u64,
}

impl Attention {
    /// Returns the time up to which all incoming data has been read.
    pub fn read_until_ns(&self) -> u64 {
        self.read_until_ns
    }

    /// Returns the total time for which the thread has been stopped so far.
    pub fn stalled_ns(&self) -> u64 {
        self.stalled_ns
    }

    /// Returns the time before which requests must have been sent to be overdue. It is earlier by the stalls of the last one to two timeouts.
    pub fn overdue_ns(&mut self, timeout_ns: u64) -> u64 {
        if self.read_until_ns >= self.turned_ns.saturating_add(timeout_ns) {
            self.excused_ns = [0, self.excused_ns[0]];
            self.turned_ns = self.read_until_ns;
        }
        (self.read_until_ns + 1).saturating_sub(timeout_ns).saturating_sub(self.excused_ns.iter().sum())
    }

    /// Records that the thread entered the kernel at `entered_ns` and has handled `events` events since then. `all` is true if no events
    /// are left.
    ///
    /// The kernel lists events in order. Once the thread has handled as many events as could have been queued at `entered_ns`, it has
    /// handled every event that was queued at that time.
    #[inline]
    pub fn note_read(&mut self, entered_ns: u64, events: usize, all: bool, connections: usize) {
        let start_ns = *self.pass.get_or_insert(entered_ns);
        self.handled += events;
        if all || self.handled >= EVENTS_PER_CONNECTION * connections {
            self.read_until_ns = start_ns;
            (self.pass, self.handled) = (None, 0);
        }
    }

    /// Records a sweep that was due at `due_ns`. A long delay counts as a stall. The CPU time that the thread used in the meantime is
    /// subtracted from the delay.
    pub fn note_sweep(&mut self, due_ns: u64, now_ns: u64, cpu_ns: u64) {
        let worked_ns = cpu_ns - std::mem::replace(&mut self.cpu_at_sweep_ns, cpu_ns);
        let late_ns = now_ns.saturating_sub(due_ns).saturating_sub(worked_ns);
        if due_ns > 0 && late_ns >= STALL_MIN_NS {
            self.stalled_ns += late_ns;
            self.excused_ns[0] += late_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn read_until_advances_to_the_time_of_entering_the_kernel() {
        let mut attention = Attention::default();
        attention.note_read(100, 3, true, 8);
        assert_eq!(attention.read_until_ns(), 100);
        attention.note_read(200, 8, false, 8);
        assert_eq!(attention.read_until_ns(), 100, "earlier events may be left");
        attention.note_read(300, 7, false, 8);
        assert_eq!(attention.read_until_ns(), 100);
        attention.note_read(400, 1, false, 8);
        assert_eq!(attention.read_until_ns(), 200, "all events that could have been queued at 200 are handled");
        attention.note_read(500, 1, true, 8);
        assert_eq!(attention.read_until_ns(), 500);
    }

    #[test]
    fn a_late_sweep_is_a_stall_unless_the_thread_was_working() {
        let mut attention = Attention::default();
        attention.note_sweep(0, 500 * MS, 0);
        attention.note_sweep(520 * MS, 521 * MS, 10 * MS);
        assert_eq!(attention.stalled_ns(), 0, "the first sweep has no due time, and one millisecond is too short");
        attention.note_sweep(541 * MS, 600 * MS, 80 * MS);
        assert_eq!(attention.stalled_ns(), 0, "the thread was working");
        attention.note_sweep(620 * MS, 3620 * MS, 85 * MS);
        assert_eq!(attention.stalled_ns(), 2995 * MS);
    }

    #[test]
    fn a_stall_delays_timeouts_for_at_least_one_timeout_and_at_most_two() {
        let mut attention = Attention::default();
        let mut overdue_ms = |now_ms: u64, stall_ms: u64| {
            attention.note_read(now_ms * MS, 0, true, 8);
            attention.note_sweep((now_ms - stall_ms) * MS, now_ms * MS, 0);
            attention.overdue_ns(300 * MS) / MS
        };
        assert_eq!(overdue_ms(1000, 0), 700);
        assert_eq!(overdue_ms(1700, 600), 800, "no request of the time before the stall is overdue");
        assert_eq!(overdue_ms(1990, 0), 1090);
        assert_eq!(overdue_ms(2010, 0), 1710, "the server had a whole timeout after the stall");
        for now_ms in (2110..30_000).step_by(100) {
            let age_ms = now_ms - overdue_ms(now_ms, 50);
            assert!((300..=700).contains(&age_ms), "a thread that stands still for half of the time: {now_ms} {age_ms}");
        }
    }
}
