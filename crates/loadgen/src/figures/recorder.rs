//! The counts and times that one thread records during one span of the run. Recorders of different threads and spans can be merged without
//! loss.

use hdrhistogram::Histogram;

use super::errors::{ErrorCounts, ErrorKind};
use super::histogram::new_histogram;
use super::outcome::Outcome;
use super::part::Part;
use super::result::TlsHandshakes;
use crate::time::coordinator_pauses::Pauses;

/// Number of histograms in a recorder, not counting those of its parts.
pub const HISTOGRAMS: u32 = 6;

/// The send times and the kind of a request. In a closed loop, the intended and the actual send time are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub intended_ns: u64,
    pub actual_ns: u64,
    /// Index of the kind of request in the mix.
    pub kind: u16,
}

#[derive(Debug)]
pub struct Recorder {
    pub sent: u64,
    pub completed: u64,
    pub ok: u64,
    /// Number of requests that the server reported as not processed, or that were never sent because their connection ended.
    pub unprocessed: u64,
    pub errors: ErrorCounts,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    /// Number of connections that the server closed while no request was in flight on them.
    pub idle_closed: u64,
    /// Number of requests whose times are lower bounds, because they timed out or were unfinished at the end of the run.
    pub censored: u64,
    /// Sum of the ages of the unfinished requests that were added to `service`.
    pub unfinished_ns: u64,
    /// TLS handshakes; `None` without TLS.
    pub tls_handshakes: Option<TlsHandshakes>,
    /// Earliest intended send time of the requests that belong to the current phase of the run. The times of earlier requests are ignored.
    pub due_from_ns: u64,
    /// Number of correct responses to requests that were due before `due_from_ns`, in an open loop. `ok` doesn't include them. In a closed
    /// loop, `ok` counts all correct responses, regardless of when their requests were sent.
    pub early_ok: u64,
    pub service: Histogram<u64>,
    pub response: Histogram<u64>,
    /// Times from the intended to the actual send. Each is the sum of a connection wait and a generator lag.
    pub lag: Histogram<u64>,
    pub connection_wait: Histogram<u64>,
    pub generator_lag: Histogram<u64>,
    pub connect: Histogram<u64>,
    /// Measurements per kind of request; empty if the load isn't a mix.
    pub parts: Box<[Part]>,
    open_loop: bool,
    /// Whether to record more than service times. Open loops and mixes require this. One flag covers both, so that the common case, a
    /// closed loop without a mix, takes only one branch.
    detailed: bool,
}

impl Recorder {
    /// Creates a recorder and touches the memory of the histograms it will use, so that recording causes no page faults during the run.
    pub fn new(open_loop: bool, parts: usize) -> Self {
        let mut recorder = Self::untouched(open_loop);
        recorder.parts = (0..parts).map(|_| Part::default()).collect();
        recorder.detailed = open_loop || parts > 0;
        recorder.service.reset();
        recorder.connect.reset();
        if open_loop {
            recorder.response.reset();
            recorder.lag.reset();
            recorder.connection_wait.reset();
            recorder.generator_lag.reset();
        }
        recorder
    }

    /// Creates a recorder whose memory is mapped lazily. It is meant for times that aren't recorded during the load.
    pub fn untouched(open_loop: bool) -> Self {
        Self {
            sent: 0,
            completed: 0,
            ok: 0,
            unprocessed: 0,
            errors: ErrorCounts::default(),
            bytes_received: 0,
            bytes_sent: 0,
            idle_closed: 0,
            censored: 0,
            unfinished_ns: 0,
            tls_handshakes: None,
            due_from_ns: 0,
            early_ok: 0,
            service: new_histogram(),
            response: new_histogram(),
            lag: new_histogram(),
            connection_wait: new_histogram(),
            generator_lag: new_histogram(),
            connect: new_histogram(),
            parts: Box::default(),
            open_loop,
            detailed: open_loop,
        }
    }

    /// Empties the recorder and pauses after each histogram.
    pub fn reset(&mut self, pauses: Pauses) {
        (self.sent, self.completed, self.ok, self.early_ok, self.unprocessed) = (0, 0, 0, 0, 0);
        (self.bytes_received, self.bytes_sent, self.idle_closed, self.censored, self.due_from_ns) = (0, 0, 0, 0, 0);
        (self.errors, self.unfinished_ns, self.tls_handshakes) = (ErrorCounts::default(), 0, None);
        let lags = [&mut self.lag, &mut self.connection_wait, &mut self.generator_lag];
        for histogram in [&mut self.service, &mut self.response, &mut self.connect].into_iter().chain(lags) {
            if !histogram.is_empty() {
                histogram.reset();
                pauses.pause();
            }
        }
        self.parts.iter_mut().for_each(|part| part.reset(pauses));
    }

    /// Adds the contents of another recorder and pauses after each histogram.
    pub fn merge(&mut self, other: &Self, pauses: Pauses) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.ok += other.ok;
        self.early_ok += other.early_ok;
        self.unprocessed += other.unprocessed;
        self.errors.merge(&other.errors);
        self.bytes_received += other.bytes_received;
        self.bytes_sent += other.bytes_sent;
        self.idle_closed += other.idle_closed;
        self.censored += other.censored;
        self.unfinished_ns += other.unfinished_ns;
        self.tls_handshakes = TlsHandshakes::sum(self.tls_handshakes, other.tls_handshakes);
        for (mine, theirs) in [
            (&mut self.service, &other.service),
            (&mut self.response, &other.response),
            (&mut self.lag, &other.lag),
            (&mut self.connection_wait, &other.connection_wait),
            (&mut self.generator_lag, &other.generator_lag),
            (&mut self.connect, &other.connect),
        ] {
            if !theirs.is_empty() {
                mine.add(theirs).unwrap_or_else(|error| unreachable!("histograms with equal bounds cannot be merged: {error}"));
                pauses.pause();
            }
        }
        self.parts.iter_mut().zip(&other.parts).for_each(|(mine, theirs)| mine.merge(theirs, pauses));
    }

    /// Returns whether a request belongs to the current phase of the run.
    #[inline]
    fn counts(&self, intended_ns: u64) -> bool {
        intended_ns >= self.due_from_ns
    }

    /// Records a request that was sent. `free_ns` is the time at which its connection became free.
    #[inline]
    pub fn request_sent(&mut self, sent: Sent, free_ns: u64) {
        if !self.counts(sent.intended_ns) {
            return;
        }
        self.sent += 1;
        if self.detailed {
            self.sent_in_detail(sent, free_ns);
        }
    }

    fn sent_in_detail(&mut self, sent: Sent, free_ns: u64) {
        let Sent { intended_ns, actual_ns, kind } = sent;
        if let Some(part) = self.parts.get_mut(usize::from(kind)) {
            part.sent += 1;
        }
        if self.open_loop {
            let wait_ns = free_ns.saturating_sub(intended_ns);
            let lag_ns = actual_ns.saturating_sub(intended_ns);
            self.lag.saturating_record(lag_ns.max(1));
            self.connection_wait.saturating_record(wait_ns.max(1));
            self.generator_lag.saturating_record(lag_ns.saturating_sub(wait_ns).max(1));
        }
    }

    /// Records `count` requests that were sent at the same time and ended in the same way.
    #[inline]
    pub fn requests_ended(&mut self, sent: Sent, now_ns: u64, outcome: Outcome, count: u64) {
        if !self.counts(sent.intended_ns) {
            return self.earlier_ended(sent, outcome, count);
        }
        self.completed += if outcome.is_complete() { count } else { 0 };
        match outcome {
            Outcome::Ok => {
                self.ok += count;
                self.times(sent, now_ns, count);
            }
            Outcome::UnexpectedStatus => self.failed(sent, ErrorKind::UnexpectedStatus, count),
            Outcome::UnexpectedBody => self.failed(sent, ErrorKind::UnexpectedBody, count),
            Outcome::Failed(kind) => self.failed(sent, kind, count),
            Outcome::Unprocessed => self.unprocessed += count,
        }
    }

    /// Records the end of requests from an earlier phase.
    #[cold]
    fn earlier_ended(&mut self, sent: Sent, outcome: Outcome, count: u64) {
        if self.open_loop {
            self.early_ok += if matches!(outcome, Outcome::Ok) { count } else { 0 };
            return;
        }
        self.completed += if outcome.is_complete() { count } else { 0 };
        match outcome {
            Outcome::Ok => {
                self.ok += count;
                if let Some(part) = self.parts.get_mut(usize::from(sent.kind)) {
                    part.early += count;
                }
            }
            Outcome::UnexpectedStatus => self.failed(sent, ErrorKind::UnexpectedStatus, count),
            Outcome::UnexpectedBody => self.failed(sent, ErrorKind::UnexpectedBody, count),
            Outcome::Failed(kind) => self.failed(sent, kind, count),
            Outcome::Unprocessed => self.unprocessed += count,
        }
    }

    pub fn request_failed(&mut self, sent: Sent, kind: ErrorKind) {
        if self.counts(sent.intended_ns) || !self.open_loop {
            self.failed(sent, kind, 1);
        }
    }

    fn failed(&mut self, sent: Sent, kind: ErrorKind, count: u64) {
        self.errors.add(kind, count);
        if let Some(part) = self.parts.get_mut(usize::from(sent.kind)) {
            part.errors += count;
        }
    }

    pub fn request_not_sent(&mut self, intended_ns: u64) {
        if self.counts(intended_ns) {
            self.errors.add(ErrorKind::NotSent, 1);
        }
    }

    /// Records a timed-out request. The time until the timeout is recorded as a lower bound on the response time. Without this time, the
    /// high percentiles would look too good.
    pub fn request_timed_out(&mut self, sent: Sent, now_ns: u64) {
        self.request_failed(sent, ErrorKind::Timeout);
        if self.counts(sent.intended_ns) {
            self.censored += 1;
            if let Some(part) = self.parts.get_mut(usize::from(sent.kind)) {
                part.timed_out += 1;
            }
            self.times(sent, now_ns, 1);
        }
    }

    /// Records the age of a request that was unfinished at `end_ns`. If `actual_ns` is `None`, the request was never sent.
    pub fn unfinished(&mut self, actual_ns: Option<u64>, intended_ns: u64, end_ns: u64) {
        if let Some(actual_ns) = actual_ns {
            self.service.saturating_record(end_ns.saturating_sub(actual_ns).max(1));
        }
        if self.open_loop {
            self.response.saturating_record(end_ns.saturating_sub(intended_ns).max(1));
        }
    }

    /// Adds the unfinished requests that are older than the p99 of the run.
    ///
    /// Their ages are added as times. An age is a lower bound on the request's final time, so no percentile becomes too high. Younger
    /// requests are left out, because their ages say almost nothing about their final times.
    pub fn add_unfinished(&mut self, ages: &Self, beyond: P99) {
        let (service, service_ns) = add_beyond(&mut self.service, &ages.service, beyond.service_ns);
        let (response, _) = add_beyond(&mut self.response, &ages.response, beyond.response_ns);
        self.censored += if self.open_loop { response } else { service };
        self.unfinished_ns += service_ns;
    }

    /// Adds the times, errors and incorrect responses of the requests that were in flight at the end of the window. Correct responses to
    /// these requests arrived too late to count towards throughput.
    pub fn add_late(&mut self, late: &Self) {
        self.completed += late.completed - late.ok;
        self.errors.merge(&late.errors);
        self.unprocessed += late.unprocessed;
        self.censored += late.censored;
        add(&mut self.service, &late.service);
        add(&mut self.response, &late.response);
        for (mine, theirs) in self.parts.iter_mut().zip(&late.parts) {
            mine.errors += theirs.errors;
        }
    }

    /// Adds the results of the drain after a slice. Unlike `add_late`, this function also adds connect times, TLS handshakes and the times
    /// of each kind of request.
    pub fn add_drain(&mut self, drain: &Self) {
        self.add_late(drain);
        add(&mut self.connect, &drain.connect);
        self.tls_handshakes = TlsHandshakes::sum(self.tls_handshakes, drain.tls_handshakes);
        for (mine, theirs) in self.parts.iter_mut().zip(&drain.parts) {
            mine.add_drain(theirs);
        }
    }

    pub fn p99(&self) -> P99 {
        let of = |histogram: &Histogram<u64>| if histogram.is_empty() { 0 } else { histogram.value_at_percentile(99.0) };
        P99 { service_ns: of(&self.service), response_ns: of(&self.response) }
    }

    #[inline]
    fn times(&mut self, sent: Sent, now_ns: u64, count: u64) {
        self.service.saturating_record_n(now_ns.saturating_sub(sent.actual_ns).max(1), count);
        if self.detailed {
            self.times_in_detail(sent, now_ns, count);
        }
    }

    fn times_in_detail(&mut self, sent: Sent, now_ns: u64, count: u64) {
        // In a closed loop, this is the service time, because the intended and the actual send time are equal.
        let time_ns = now_ns.saturating_sub(sent.intended_ns).max(1);
        if self.open_loop {
            self.response.saturating_record_n(time_ns, count);
        }
        if let Some(part) = self.parts.get_mut(usize::from(sent.kind)) {
            part.times.saturating_record_n(time_ns, count);
        }
    }

    pub fn connected(&mut self, took_ns: u64) {
        self.connect.saturating_record(took_ns.max(1));
    }
}

/// 99th percentiles; 0 if there are no samples.
#[derive(Clone, Copy, Debug)]
pub struct P99 {
    pub service_ns: u64,
    pub response_ns: u64,
}

/// Adds one histogram to another. Skips empty histograms, because the cost of adding doesn't depend on the number of values.
fn add(mine: &mut Histogram<u64>, theirs: &Histogram<u64>) {
    if !theirs.is_empty() {
        mine.add(theirs).unwrap_or_else(|error| unreachable!("histograms with equal bounds cannot be merged: {error}"));
    }
}

/// Adds the values of `ages` above `beyond_ns` to `to`. Returns their count and sum.
fn add_beyond(to: &mut Histogram<u64>, ages: &Histogram<u64>, beyond_ns: u64) -> (u64, u64) {
    let mut added = (0, 0);
    for step in ages.iter_recorded().filter(|step| step.value_iterated_to() > beyond_ns) {
        // Use the lower edge of the bucket, because a lower bound must not be rounded up.
        let (age_ns, count) = (ages.lowest_equivalent(step.value_iterated_to()), step.count_at_value());
        to.saturating_record_n(age_ns, count);
        added = (added.0 + count, added.1 + to.median_equivalent(age_ns) * count); // the histogram's mean uses the same value
    }
    added
}
