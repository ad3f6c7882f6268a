//! What one thread counts and times during one slice of the run. Slices merge by addition, histograms included.

use std::sync::Mutex;

use hdrhistogram::Histogram;

use crate::errors::{ErrorCounts, ErrorKind};
use crate::pauses::Pauses;
use crate::protocol::Outcome;
use crate::units;

/// Longer times are recorded as this.
pub const LONGEST_NS: u64 = units::LONGEST.as_nanos() as u64;
/// How many histograms a recorder has.
pub const HISTOGRAMS: u32 = 4;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram of nanoseconds from 1 ns to 24 hours, three significant digits: about 310 KB, whatever it holds.
pub fn new_histogram() -> Histogram<u64> {
    match Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("the bounds are constants that hdrhistogram accepts: {error}"),
    }
}

/// When a request was meant to be sent, and when it was. In a closed loop both are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub intended_ns: u64,
    pub actual_ns: u64,
}

#[derive(Debug)]
pub struct Recorder {
    pub sent: u64,
    pub completed: u64,
    pub ok: u64,
    pub errors: ErrorCounts,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    /// Timed-out requests: their values in the histograms are lower bounds.
    pub censored: u64,
    pub service: Histogram<u64>,
    pub response: Histogram<u64>,
    pub lag: Histogram<u64>,
    pub connect: Histogram<u64>,
    open_loop: bool,
}

impl Recorder {
    /// The histograms that will be used are resident from the beginning, so that a new value costs no page fault during the run.
    pub fn new(open_loop: bool) -> Self {
        let mut recorder = Self::untouched(open_loop);
        recorder.service.reset();
        recorder.connect.reset();
        if open_loop {
            recorder.response.reset();
            recorder.lag.reset();
        }
        recorder
    }

    fn untouched(open_loop: bool) -> Self {
        Self {
            sent: 0,
            completed: 0,
            ok: 0,
            errors: ErrorCounts::default(),
            bytes_received: 0,
            bytes_sent: 0,
            censored: 0,
            service: new_histogram(),
            response: new_histogram(),
            lag: new_histogram(),
            connect: new_histogram(),
            open_loop,
        }
    }

    /// Forgets everything, histogram by histogram.
    pub fn reset(&mut self, pauses: Pauses) {
        (self.sent, self.completed, self.ok) = (0, 0, 0);
        (self.bytes_received, self.bytes_sent, self.censored) = (0, 0, 0);
        self.errors = ErrorCounts::default();
        for histogram in [&mut self.service, &mut self.response, &mut self.lag, &mut self.connect] {
            if !histogram.is_empty() {
                histogram.reset();
                pauses.pause();
            }
        }
    }

    /// Adds what another one holds, histogram by histogram.
    pub fn merge(&mut self, other: &Self, pauses: Pauses) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.ok += other.ok;
        self.errors.merge(&other.errors);
        self.bytes_received += other.bytes_received;
        self.bytes_sent += other.bytes_sent;
        self.censored += other.censored;
        for (mine, theirs) in [
            (&mut self.service, &other.service),
            (&mut self.response, &other.response),
            (&mut self.lag, &other.lag),
            (&mut self.connect, &other.connect),
        ] {
            if !theirs.is_empty() {
                mine.add(theirs).unwrap_or_else(|error| unreachable!("all histograms have the same bounds: {error}"));
                pauses.pause();
            }
        }
    }

    #[inline]
    pub fn request_sent(&mut self, sent: Sent) {
        self.sent += 1;
        if self.open_loop {
            self.lag.saturating_record((sent.actual_ns - sent.intended_ns.min(sent.actual_ns)).max(1));
        }
    }

    /// So many requests that were sent at the same time and ended in the same way.
    #[inline]
    pub fn requests_ended(&mut self, sent: Sent, now_ns: u64, outcome: Outcome, count: u64) {
        self.completed += if outcome.is_complete() { count } else { 0 };
        match outcome {
            Outcome::Ok => {
                self.ok += count;
                self.times(sent, now_ns, count);
            }
            Outcome::UnexpectedStatus => self.errors.add(ErrorKind::UnexpectedStatus, count),
            Outcome::UnexpectedBody => self.errors.add(ErrorKind::UnexpectedBody, count),
            Outcome::Failed(kind) => self.errors.add(kind, count),
            Outcome::Unprocessed => {}
        }
    }

    /// A timed-out request took at least as long as it was waited for: leaving it out would make the tail look better than it is.
    pub fn request_timed_out(&mut self, sent: Sent, now_ns: u64) {
        self.errors.add(ErrorKind::Timeout, 1);
        self.censored += 1;
        self.times(sent, now_ns, 1);
    }

    #[inline]
    fn times(&mut self, sent: Sent, now_ns: u64, count: u64) {
        self.service.saturating_record_n(now_ns.saturating_sub(sent.actual_ns).max(1), count);
        if self.open_loop {
            self.response.saturating_record_n(now_ns.saturating_sub(sent.intended_ns).max(1), count);
        }
    }

    pub fn connected(&mut self, took_ns: u64) {
        self.connect.saturating_record(took_ns.max(1));
    }
}

/// Empty recorders, which go round between all threads and the coordinator, so that a long run takes no more memory than a short one.
#[derive(Debug)]
pub struct Pool {
    open_loop: bool,
    pauses: Pauses,
    spares: Mutex<Vec<Recorder>>,
}

impl Pool {
    /// A pool of so many, which are emptied with these pauses.
    pub fn new(open_loop: bool, size: usize, pauses: Pauses) -> Self {
        Self { open_loop, pauses, spares: Mutex::new((0..size).map(|_| Recorder::new(open_loop)).collect()) }
    }

    /// An empty recorder; a new one if the coordinator is behind.
    pub fn take(&self) -> Recorder {
        let spare = self.spares().pop();
        spare.unwrap_or_else(|| Recorder::new(self.open_loop))
    }

    pub fn give_back(&self, mut recorder: Recorder) {
        recorder.reset(self.pauses);
        self.spares().push(recorder);
    }

    fn spares(&self) -> std::sync::MutexGuard<'_, Vec<Recorder>> {
        self.spares.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
