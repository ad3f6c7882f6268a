//! Looking for events for a short while before going to sleep.
//!
//! A thread that sleeps costs both sides: the server's send has to wake it, which is an interrupt to another core (and, in a virtual
//! machine, a trip through the hypervisor), and the response waits until the core is up again. That time is the generator's, not the
//! server's, so polling makes figures truer as well as higher. It pays only while responses follow each other closely and the server
//! does not require this very core: so each wait that was polled for in vain doubles the number of waits that go to sleep at once.

use crate::time::clock::now_ns;

/// How long to look. Longer than a fast server takes to respond; shorter than two trips through the scheduler of a busy machine.
const POLL_NS: u64 = 50_000;
/// Maximum number of waits in a row that are not polled for: empty polls then cost 50 ns of each.
const SKIPPED_MAX: u32 = 1023;
/// Looks between two readings of the clock.
const LOOKS: u32 = 16;
/// Maximum time between two looks of an engine whose looks cost the server.
const SPACING_MAX_NS: u64 = 2_000;
/// What part of the shortest service time of late the time between two looks may be. A figure is off by at most 0.8%, but for a response
/// that comes faster than any of the last 20 to 40 ms: it may be noticed up to `SPACING_MAX_NS` late.
const SPACING_PART: u64 = 128;
/// Far longer than this many looks take: in a longer gap between two readings another thread had the CPU, so no CPU time was spent.
const GAP_MAX_NS: u64 = 20_000;

#[derive(Debug, Default)]
pub struct Polling {
    /// Waits that go to sleep at once, before the next one that is polled for.
    skip: u32,
    skipped_last: u32,
    spent_ns: u64,
}

/// What came of looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// There is something.
    Found,
    /// The time that was to be waited is over.
    TimeIsOver,
    /// There is nothing yet, or looking does not pay: sleep.
    Sleep,
}

/// How long to wait between two looks where each takes from the server's core the cache line on which it announces responses. Responses
/// then come in fewer and larger batches, each a little late by what cannot be seen in its time.
#[inline]
pub fn spacing_ns(shortest_service_ns: u64) -> u64 {
    (shortest_service_ns / SPACING_PART).min(SPACING_MAX_NS)
}

impl Polling {
    /// Looks until `ready` says so, for at most `wait_ns` and never for long. Between two looks, and before the first, `spacing_ns` pass.
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
            // No pause instruction: hypervisors take a run of them for a lock that is waited for, and give the core to somebody else.
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

    /// CPU time spent looking so far, in nanoseconds.
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
    fn looking_in_vain_becomes_rare_and_success_brings_it_back() {
        let mut polling = Polling::default();
        let mut looked = 0;
        for _ in 0..10_000 {
            let before = polling.spent_ns();
            assert_eq!(polling.look(LONG_NS, 0, || false), Looked::Sleep);
            looked += u32::from(polling.spent_ns() > before);
        }
        assert!((10..25).contains(&looked), "{looked} of 10,000 waits were polled for");
        while polling.look(LONG_NS, 0, || true) != Looked::Found {}
        assert_eq!(polling.look(LONG_NS, 0, || false), Looked::Sleep);
        assert_eq!(polling.skip, 1, "one success makes the next failure the first");
    }

    #[test]
    fn a_short_wait_is_polled_to_its_end() {
        let mut polling = Polling::default();
        let start_ns = now_ns();
        assert_eq!(polling.look(POLL_NS / 2, 0, || false), Looked::TimeIsOver);
        assert!(now_ns() - start_ns >= POLL_NS / 2);
    }

    #[test]
    fn looks_are_close_together_against_the_times_that_they_add_to() {
        assert_eq!(spacing_ns(u64::MAX), SPACING_MAX_NS);
        assert_eq!(spacing_ns(12_800), 100);
        assert_eq!(spacing_ns(0), 0);
        let (mut polling, mut looks, start_ns) = (Polling::default(), 0, now_ns());
        let looked = polling.look(LONG_NS, 1_000, || {
            looks += 1;
            looks == 10
        });
        assert_eq!(looked, Looked::Found);
        assert!(now_ns() - start_ns >= 10_000, "time passes before each look");
    }
}
