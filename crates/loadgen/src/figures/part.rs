//! What came of one kind of request, where several kinds take turns.

use hdrhistogram::Histogram;

use super::histogram::new_histogram;
use crate::time::coordinator_pauses::Pauses;

/// Counts and times of one kind of request.
#[derive(Debug)]
pub struct Part {
    pub sent: u64,
    pub errors: u64,
    /// Timed-out requests: those among the times that are no correct response.
    pub timed_out: u64,
    /// Response times in an open loop, otherwise service times.
    pub times: Histogram<u64>,
}

impl Default for Part {
    /// Its histogram is resident from the beginning.
    fn default() -> Self {
        let mut times = new_histogram();
        times.reset();
        Self { sent: 0, errors: 0, timed_out: 0, times }
    }
}

impl Part {
    /// Correct responses.
    pub fn ok(&self) -> u64 {
        self.times.len() - self.timed_out
    }

    pub fn reset(&mut self, pauses: Pauses) {
        (self.sent, self.errors, self.timed_out) = (0, 0, 0);
        if !self.times.is_empty() {
            self.times.reset();
            pauses.pause();
        }
    }

    pub fn merge(&mut self, other: &Self, pauses: Pauses) {
        self.sent += other.sent;
        self.errors += other.errors;
        self.timed_out += other.timed_out;
        if !other.times.is_empty() {
            self.times.add(&other.times).unwrap_or_else(|error| unreachable!("all histograms have the same bounds: {error}"));
            pauses.pause();
        }
    }
}
