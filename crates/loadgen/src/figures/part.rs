//! Measurements of one kind of request in a mix.

use hdrhistogram::Histogram;

use super::histogram::new_histogram;
use crate::time::coordinator_pauses::Pauses;

/// Counts and times of one kind of request.
#[derive(Debug)]
pub struct Part {
    pub sent: u64,
    pub errors: u64,
    /// Timed-out requests. Their times are in `times` although they have no response.
    pub timed_out: u64,
    /// Response times in an open loop, service times in a closed loop.
    pub times: Histogram<u64>,
}

impl Default for Part {
    /// Resets the new histogram to touch its memory, so that recording causes no page faults.
    fn default() -> Self {
        let mut times = new_histogram();
        times.reset();
        Self { sent: 0, errors: 0, timed_out: 0, times }
    }
}

impl Part {
    /// Returns the number of correct responses.
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
            self.times.add(&other.times).unwrap_or_else(|error| unreachable!("histograms with equal bounds cannot be merged: {error}"));
            pauses.pause();
        }
    }
}
