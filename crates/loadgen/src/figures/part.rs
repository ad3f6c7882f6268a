//! Measurements of one kind of request in a mix.

use hdrhistogram::Histogram;

use super::histogram::new_histogram;
use crate::time::coordinator_pauses::Pauses;

/// Counts and times of one kind of request.
#[derive(Debug)]
pub struct Part {
    pub sent: u64,
    pub errors: u64,
    /// Number of timed-out requests. `times` includes the time that the worker waited for each of them.
    pub timed_out: u64,
    /// Number of correct responses within the window to requests that were sent before the window. `times` doesn't include them.
    pub early: u64,
    /// Number of correct responses after the end of the window. `times` includes them.
    pub late: u64,
    /// Response times in an open loop, service times in a closed loop.
    pub times: Histogram<u64>,
}

impl Default for Part {
    /// Creates a part and touches the memory of its histogram, so that recording causes no page faults.
    fn default() -> Self {
        let mut times = new_histogram();
        times.reset();
        Self { sent: 0, errors: 0, timed_out: 0, early: 0, late: 0, times }
    }
}

impl Part {
    /// Returns the number of correct responses within the window.
    pub fn ok(&self) -> u64 {
        self.times.len() - self.timed_out - self.late + self.early
    }

    pub fn reset(&mut self, pauses: Pauses) {
        (self.sent, self.errors, self.timed_out, self.early, self.late) = (0, 0, 0, 0, 0);
        if !self.times.is_empty() {
            self.times.reset();
            pauses.pause();
        }
    }

    /// Adds the times of the requests that ended in the drain after a slice. `Recorder::add_late` adds the errors of the drain.
    pub fn add_drain(&mut self, drain: &Self) {
        self.timed_out += drain.timed_out;
        self.late += drain.times.len() - drain.timed_out;
        self.times.add(&drain.times).unwrap_or_else(|error| unreachable!("histograms with equal bounds cannot be merged: {error}"));
    }

    pub fn merge(&mut self, other: &Self, pauses: Pauses) {
        self.sent += other.sent;
        self.errors += other.errors;
        self.timed_out += other.timed_out;
        self.early += other.early;
        self.late += other.late;
        if !other.times.is_empty() {
            self.times.add(&other.times).unwrap_or_else(|error| unreachable!("histograms with equal bounds cannot be merged: {error}"));
            pauses.pause();
        }
    }
}
