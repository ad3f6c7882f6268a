//! Detects stalls of the server: periods in which none of the thread's connections gets a response, although each connection has a request
//! in flight.
//!
//! In a closed loop, a stall delays only the requests in flight, so percentiles may not show the stall.

/// Minimum length of a silence that counts as a stall. The kernel's scheduler or a busy core may cause shorter silences.
const STALL_MIN_NS: u64 = 10_000_000;
/// Minimum length of a stall, as a multiple of the shortest service time of the warm-up. If only a few connections wait for slow responses,
/// shorter silences are normal.
const SHORTEST_MIN: u64 = 10;

/// The stalls that one thread observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    pub count: u64,
    pub longest_ns: u64,
    pub total_ns: u64,
}

impl Stalls {
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            longest_ns: self.longest_ns.max(other.longest_ns),
            total_ns: self.total_ns + other.total_ns,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    /// Time at which the last response arrived; 0 before the first response.
    last_ns: u64,
    /// Total time for which this thread itself had been stopped at `last_ns`.
    own_ns: u64,
    stall_min_ns: u64,
    stalls: Stalls,
}

impl Silence {
    /// Starts the window and discards all earlier stalls. `own_ns` is the total time for which this thread itself has been stopped so far.
    pub fn begin(&mut self, now_ns: u64, own_ns: u64, shortest_ns: Option<u64>) {
        let stall_min_ns = STALL_MIN_NS.max(shortest_ns.unwrap_or(0).saturating_mul(SHORTEST_MIN));
        *self = Self { last_ns: now_ns, own_ns, stall_min_ns, stalls: Stalls::default() };
    }

    /// Returns the stalls up to the end of the window, including a stall that hasn't ended.
    pub fn until(mut self, end_ns: u64, own_ns: u64) -> Stalls {
        self.end(end_ns, own_ns);
        self.stalls
    }

    /// Returns whether the silence before a response at `now_ns` may be a stall.
    #[inline]
    pub fn is_long(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.last_ns) >= self.stall_min_ns
    }

    /// Records a response at `now_ns`. `own_ns` is the total time for which this thread itself has been stopped so far.
    #[inline]
    pub fn note(&mut self, now_ns: u64, own_ns: u64) {
        (self.last_ns, self.own_ns) = (now_ns, own_ns);
    }

    /// Ends a silence at `now_ns`, and records it as a stall if it was long enough.
    #[cold]
    pub fn end(&mut self, now_ns: u64, own_ns: u64) {
        let silent_ns = now_ns.saturating_sub(self.last_ns).saturating_sub(own_ns - self.own_ns);
        if self.last_ns > 0 && silent_ns >= self.stall_min_ns {
            self.stalls.count += 1;
            self.stalls.longest_ns = self.stalls.longest_ns.max(silent_ns);
            self.stalls.total_ns += silent_ns;
        }
        self.note(now_ns, own_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn only_long_silences_are_stalls() {
        let mut silence = Silence::default();
        silence.begin(1000 * MS, 0, Some(MS / 2));
        assert!(!silence.is_long(1009 * MS) && silence.is_long(1010 * MS));
        silence.note(1009 * MS, 0);
        silence.end(1029 * MS, 0);
        silence.end(1128 * MS, 5 * MS);
        assert_eq!(silence.stalls, Stalls { count: 2, longest_ns: 94 * MS, total_ns: 114 * MS }, "without its own pause of 5 ms");
        assert_eq!(silence.until(1140 * MS, 5 * MS).count, 3, "the last one still lasts");
    }

    #[test]
    fn only_pauses_during_the_silence_shorten_it() {
        let mut silence = Silence::default();
        silence.begin(1000 * MS, 0, Some(3 * MS));
        silence.note(1020 * MS, 15 * MS);
        silence.end(1055 * MS, 15 * MS);
        assert_eq!(silence.stalls.longest_ns, 35 * MS);
    }

    #[test]
    fn silences_are_normal_if_responses_take_that_long() {
        let mut silence = Silence::default();
        silence.begin(1000 * MS, 0, Some(3 * MS));
        assert!(!silence.is_long(1029 * MS) && silence.is_long(1030 * MS));
        silence.begin(1000 * MS, 0, None);
        assert!(silence.is_long(1010 * MS), "without warm-up, nothing is known");
    }
}
