//! Measurements of the parts of a mix.

use hdrhistogram::Histogram;

use super::histogram::{add, new_histogram};
use crate::time::coordinator_pauses::Pauses;

/// Number of times that are added to the histograms at once.
const RECENT_MAX: usize = 1024;

/// The measurements of all parts of a mix; empty if the load isn't a mix.
#[derive(Debug, Default)]
pub struct Parts {
    parts: Box<[Part]>,
    /// Number of sent requests per part that `parts` doesn't include yet. These counters are together in the CPU's cache.
    sent: Box<[u64]>,
    /// Times that aren't in the histograms yet, with the index of their part. The histograms of many parts don't fit into the CPU's fastest
    /// cache together with everything else, so times are added in batches.
    recent: Vec<(u16, u64)>,
}

impl Parts {
    pub fn new(count: usize) -> Self {
        let recent = Vec::with_capacity(if count > 0 { RECENT_MAX } else { 0 });
        Self { parts: (0..count).map(|_| Part::default()).collect(), sent: vec![0; count].into(), recent }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the measurements. The caller must have called `settle`.
    pub fn iter(&self) -> impl Iterator<Item = &Part> {
        debug_assert!(self.recent.is_empty());
        self.parts.iter()
    }

    /// Returns the measurements of one part. They may lack recent requests.
    #[inline]
    pub fn get_mut(&mut self, part: u16) -> Option<&mut Part> {
        self.parts.get_mut(usize::from(part))
    }

    #[inline]
    pub fn request_sent(&mut self, part: u16) {
        if let Some(sent) = self.sent.get_mut(usize::from(part)) {
            *sent += 1;
        }
    }

    #[inline]
    pub fn record_time(&mut self, part: u16, time_ns: u64) {
        if self.recent.len() == RECENT_MAX {
            self.settle();
        }
        if !self.parts.is_empty() {
            self.recent.push((part, time_ns));
        }
    }

    /// Adds recent requests to the parts.
    pub fn settle(&mut self) {
        for (part, sent) in self.parts.iter_mut().zip(&mut self.sent) {
            part.sent += std::mem::take(sent);
        }
        for (part, time_ns) in self.recent.drain(..) {
            self.parts[usize::from(part)].times.saturating_record(time_ns);
        }
    }

    pub fn reset(&mut self, pauses: Pauses) {
        self.recent.clear();
        self.sent.fill(0);
        self.parts.iter_mut().for_each(|part| part.reset(pauses));
    }

    /// Adds settled measurements of another recorder.
    pub fn merge(&mut self, other: &Self, pauses: Pauses) {
        self.parts.iter_mut().zip(other.iter()).for_each(|(mine, theirs)| mine.merge(theirs, pauses));
    }

    /// Adds the errors of the requests that were in flight at the end of the window.
    pub fn add_late(&mut self, late: &Self) {
        self.parts.iter_mut().zip(late.iter()).for_each(|(mine, theirs)| mine.errors += theirs.errors);
    }

    /// Adds the times of the requests that ended in the drain after a slice. `add_late` adds their errors.
    pub fn add_drain(&mut self, drain: &Self) {
        self.parts.iter_mut().zip(drain.iter()).for_each(|(mine, theirs)| mine.add_drain(theirs));
    }
}

/// Counts and times of one part of a mix.
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
    fn default() -> Self {
        Self { sent: 0, errors: 0, timed_out: 0, early: 0, late: 0, times: new_histogram() }
    }
}

impl Part {
    /// Returns the number of correct responses within the window.
    pub fn ok(&self) -> u64 {
        self.times.len() - self.timed_out - self.late + self.early
    }

    fn reset(&mut self, pauses: Pauses) {
        (self.sent, self.errors, self.timed_out, self.early, self.late) = (0, 0, 0, 0, 0);
        if !self.times.is_empty() {
            self.times.reset();
            pauses.pause();
        }
    }

    fn add_drain(&mut self, drain: &Self) {
        self.timed_out += drain.timed_out;
        self.late += drain.times.len() - drain.timed_out;
        add(&mut self.times, &drain.times);
    }

    fn merge(&mut self, other: &Self, pauses: Pauses) {
        self.sent += other.sent;
        self.errors += other.errors;
        self.timed_out += other.timed_out;
        self.early += other.early;
        self.late += other.late;
        if !other.times.is_empty() {
            add(&mut self.times, &other.times);
            pauses.pause();
        }
    }
}
