//! Up to when everything that came has been read, and how long the thread stood still.
//!
//! A thread that was stopped (SIGSTOP, a full CPU, a quota, a hypervisor) finds responses that came in time when it runs again. Whether
//! a response is late is therefore judged by the time up to which all that came is known to have been read, and not by the clock.

/// A sweep that is late by less says nothing: timers and large batches take as much.
const STALL_MIN_NS: u64 = 10_000_000;
/// Events for each connection that may have been in the kernel's list when the thread entered the kernel: its response, and its end.
const EVENTS_PER_CONNECTION: usize = 2;

#[derive(Debug, Default)]
pub struct Attention {
    read_until_ns: u64,
    /// When the thread entered the kernel for the first time since `read_until_ns` was moved on, and how many events it has handled since then.
    pass: Option<u64>,
    handled: usize,
    stalled_ns: u64,
    cpu_at_sweep_ns: u64,
}

impl Attention {
    /// Everything that came before this instant has been read.
    pub fn read_until_ns(&self) -> u64 {
        self.read_until_ns
    }

    /// How long the thread has stood still so far.
    pub fn stalled_ns(&self) -> u64 {
        self.stalled_ns
    }

    /// The thread entered the kernel at `entered_ns` and handled `events` events since; `all`: no more are left. The kernel lists events
    /// in the order in which they happened, so once as many are handled as can have been listed then, those from before are among them.
    #[inline]
    pub fn note_read(&mut self, entered_ns: u64, events: usize, all: bool, connections: usize) {
        let start_ns = *self.pass.get_or_insert(entered_ns);
        self.handled += events;
        if all || self.handled >= EVENTS_PER_CONNECTION * connections {
            self.read_until_ns = start_ns;
            (self.pass, self.handled) = (None, 0);
        }
    }

    /// A sweep that was due at `due_ns` comes now. What it is late by is a stall, but for the time in which the thread was at work.
    pub fn note_sweep(&mut self, due_ns: u64, now_ns: u64, cpu_ns: u64) {
        let worked_ns = cpu_ns - std::mem::replace(&mut self.cpu_at_sweep_ns, cpu_ns);
        let late_ns = now_ns.saturating_sub(due_ns).saturating_sub(worked_ns);
        if due_ns > 0 && late_ns >= STALL_MIN_NS {
            self.stalled_ns += late_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn time_is_read_up_to_when_the_kernel_was_entered_and_not_later() {
        let mut attention = Attention::default();
        attention.note_read(100, 3, true, 8);
        assert_eq!(attention.read_until_ns(), 100);
        attention.note_read(200, 8, false, 8);
        assert_eq!(attention.read_until_ns(), 100, "there may be more from before");
        attention.note_read(300, 7, false, 8);
        assert_eq!(attention.read_until_ns(), 100);
        attention.note_read(400, 1, false, 8);
        assert_eq!(attention.read_until_ns(), 200, "as many as can have been there at 200 are handled");
        attention.note_read(500, 1, true, 8);
        assert_eq!(attention.read_until_ns(), 500);
    }

    #[test]
    fn a_late_sweep_is_a_stall_unless_the_thread_was_at_work() {
        let mut attention = Attention::default();
        attention.note_sweep(0, 500 * MS, 0);
        attention.note_sweep(520 * MS, 521 * MS, 10 * MS);
        assert_eq!(attention.stalled_ns(), 0, "the first sweep has no time, and a millisecond is none");
        attention.note_sweep(541 * MS, 600 * MS, 80 * MS);
        assert_eq!(attention.stalled_ns(), 0, "it worked");
        attention.note_sweep(620 * MS, 3620 * MS, 85 * MS);
        assert_eq!(attention.stalled_ns(), 2995 * MS);
    }
}
