//! Polls for events for a short time before sleeping.
//!
//! If the thread sleeps, a response costs both the server and the load generator more time. To wake up the thread, the server's `send` must
//! interrupt another core, which takes an exit to the hypervisor in a virtual machine. The response then waits until that core is awake.
//! The server isn't responsible for this delay, so polling makes the measurements more accurate.
//!
//! Polling pays off only while responses arrive in quick succession and the server doesn't need the same core. Therefore, each poll that
//! finds nothing doubles the number of subsequent waits in which the thread sleeps without polling first.

use crate::time::clock::now_ns;

/// Maximum duration of a poll. A fast server responds within this time, and two context switches on a busy machine take longer.
const POLL_NS: u64 = 50_000;
/// Maximum number of consecutive waits without polling. At this maximum, polls that find nothing cost only 50 ns per wait on average.
const SKIPPED_MAX: u32 = 1023;
/// Number of checks between two readings of the clock.
const LOOKS: u32 = 16;
/// Maximum time between two checks, for an engine whose checks slow down the server.
const SPACING_MAX_NS: u64 = 2_000;
/// The time between two checks is the shortest recent service time divided by this number.
///
/// With this ratio, the spacing adds at most 0.8% to a measured time, unless a response is faster than all responses in the last 20 to 40
/// ms. Such a response may be detected up to `SPACING_MAX_NS` late.
const SPACING_PART: u64 = 128;
/// Maximum time between two clock readings that is taken as the CPU time of a poll. If the time is longer, another thread must have had
/// the CPU in between.
const GAP_MAX_NS: u64 = 20_000;

#[derive(Debug, Default)]
pub struct Polling {
    /// Number of upcoming waits in which the thread sleeps without polling first.
    skip: u32,
    skipped_last: u32,
    spent_ns: u64,
}

/// The outcome of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// An event is ready.
    Found,
    /// The maximum wait has passed.
    TimeIsOver,
    /// The engine should sleep, because nothing is ready or polling doesn't pay off.
    Sleep,
}

/// Returns the time to wait between two checks, for an engine whose checks take a cache line from the server's core.
///
/// The spacing makes the engine collect responses in fewer, larger batches. `SPACING_PART` explains why the delay hardly affects the
/// measured times.
#[inline]
pub fn spacing_ns(shortest_service_ns: u64) -> u64 {
    (shortest_service_ns / SPACING_PART).min(SPACING_MAX_NS)
}

impl Polling {
    /// Polls until `ready` returns true, or until `wait_ns` or `POLL_NS` has passed. Waits `spacing_ns` before each check. Returns at once
    /// if recent polls found nothing.
    #[inline]
    pub fn look(&mut self, wait_ns: u64, spacing_ns: u64, mut ready: impl FnMut() -> bool) -> Looked {
        if self.skip > 0 {
            self.skip -= 1;
            return Looked::Sleep;
        }
        let mut before_ns = now_ns();
        let end_ns = before_ns + wait_ns.min(POLL_NS);
        let looks = if spacing_ns > 0 { 1 } else { LOOKS };
        loop {
            // Don't use a pause instruction. Hypervisors would mistake the loop for a spin lock and give the core to another guest.
            while spacing_ns > 0 && now_ns() < (before_ns + spacing_ns).min(end_ns) {}
            let found = (0..looks).any(|_| ready());
            let now = now_ns();
            self.spent_ns += if now - before_ns <= GAP_MAX_NS { now - before_ns } else { 0 };
            before_ns = now;
            if found || now >= end_ns {
                return if found { self.found() } else { self.in_vain(wait_ns) };
            }
        }
    }

    /// Returns the CPU time spent polling so far, in nanoseconds.
    pub fn spent_ns(&self) -> u64 {
        self.spent_ns
    }

    fn found(&mut self) -> Looked {
        self.skipped_last = 0;
        Looked::Found
    }

    fn in_vain(&mut self, wait_ns: u64) -> Looked {
        if wait_ns <= POLL_NS {
            return Looked::TimeIsOver;
        }
        self.skipped_last = (2 * self.skipped_last + 1).min(SKIPPED_MAX);
        self.skip = self.skipped_last;
        Looked::Sleep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_NS: u64 = 1_000_000_000;

    #[test]
    fn fruitless_polls_become_rare_until_one_succeeds() {
        let mut polling = Polling::default();
        let mut looked = 0;
        for _ in 0..10_000 {
            let before = polling.spent_ns();
            assert_eq!(polling.look(LONG_NS, 0, || false), Looked::Sleep);
            looked += u32::from(polling.spent_ns() > before);
        }
        assert!((10..25).contains(&looked), "{looked} of 10,000 waits polled");
        while polling.look(LONG_NS, 0, || true) != Looked::Found {}
        assert_eq!(polling.look(LONG_NS, 0, || false), Looked::Sleep);
        assert_eq!(polling.skip, 1, "one success resets the count of failures");
    }

    #[test]
    fn a_short_wait_is_polled_to_its_end() {
        let mut polling = Polling::default();
        let start_ns = now_ns();
        assert_eq!(polling.look(POLL_NS / 2, 0, || false), Looked::TimeIsOver);
        assert!(now_ns() - start_ns >= POLL_NS / 2);
    }

    #[test]
    fn checks_are_spaced_by_a_small_fraction_of_the_service_time() {
        assert_eq!(spacing_ns(u64::MAX), SPACING_MAX_NS);
        assert_eq!(spacing_ns(12_800), 100);
        assert_eq!(spacing_ns(0), 0);
        let (mut polling, mut looks, start_ns) = (Polling::default(), 0, now_ns());
        let looked = polling.look(LONG_NS, 1_000, || {
            looks += 1;
            looks == 10
        });
        assert_eq!(looked, Looked::Found);
        assert!(now_ns() - start_ns >= 10_000, "the spacing applies before each check");
    }
}
