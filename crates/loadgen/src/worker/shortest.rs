//! Tracks the shortest recent service time. A delay in the load generator matters only if it isn't much shorter than this time.

/// The shortest service times of the current and the previous period; `u64::MAX` for a period without responses.
#[derive(Debug)]
pub struct Shortest {
    current_ns: u64,
    last_ns: u64,
}

impl Default for Shortest {
    fn default() -> Self {
        Self { current_ns: u64::MAX, last_ns: u64::MAX }
    }
}

impl Shortest {
    #[inline]
    pub fn note(&mut self, service_ns: u64) {
        self.current_ns = self.current_ns.min(service_ns);
    }

    /// Begins a new period.
    pub fn turn(&mut self) {
        self.last_ns = std::mem::replace(&mut self.current_ns, u64::MAX);
    }

    #[inline]
    pub fn ns(&self) -> u64 {
        self.current_ns.min(self.last_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_time_counts_at_once_but_a_longer_one_after_two_periods() {
        let mut shortest = Shortest::default();
        assert_eq!(shortest.ns(), u64::MAX);
        shortest.note(20_000);
        shortest.turn();
        shortest.note(900_000);
        assert_eq!(shortest.ns(), 20_000);
        shortest.turn();
        assert_eq!(shortest.ns(), 900_000);
        shortest.note(5_000);
        assert_eq!(shortest.ns(), 5_000);
    }
}
