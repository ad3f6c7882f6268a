//! The counts and times that one thread records during one span of the run. Recorders of different threads and spans can be merged without
//! loss.

use hdrhistogram::Histogram;

use super::errors::{ErrorCounts, ErrorKind};
use super::events::{Block, EventRecorder, EventStream};
use super::histogram::{add, add_beyond, new_histogram, p99_ns, unused_histogram};
use super::outcome::Outcome;
use super::part::Parts;
use super::result::TlsHandshakes;
use crate::time::coordinator_pauses::Pauses;

/// Number of histograms in a recorder, not counting those of its parts.
pub const HISTOGRAMS: u32 = 8;

/// The times of a request, and its part of the load. In a closed loop, the intended and the actual send time are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub intended_ns: u64,
    pub actual_ns: u64,
    /// Time of the read that returned the first byte of the response; 0 if the protocol hasn't reported it. HTTP/2 also reports responses
    /// that arrive in one read.
    pub first_byte_ns: u64,
    /// Index of the part of the load.
    pub part: u16,
}

impl Sent {
    /// Creates a request of the first part that has no response yet.
    #[inline]
    pub fn at(intended_ns: u64, actual_ns: u64) -> Self {
        Self { intended_ns, actual_ns, first_byte_ns: 0, part: 0 }
    }
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
    /// Latencies of the responses that arrived in several reads. `latency` contains them too.
    pub in_pieces: Histogram<u64>,
    /// Times to the first byte of the responses in `in_pieces`. All other responses arrived in one read, together with their first byte.
    pub in_pieces_first_byte: Histogram<u64>,
    /// Times from the intended to the actual send. Each is the sum of a connection wait and a generator lag.
    pub lag: Histogram<u64>,
    pub connection_wait: Histogram<u64>,
    pub generator_lag: Histogram<u64>,
    pub connect: Histogram<u64>,
    /// Measurements per part of the load; empty if the load isn't a mix.
    pub parts: Parts,
    /// Events of event streams; `None` before the first one.
    pub events: Option<Box<EventRecorder>>,
    /// Age and time to the first byte of each unfinished request whose response has begun.
    begun: Vec<(u64, u64)>,
    open_loop: bool,
    /// Whether to record more about requests that were sent than their number. Open loops and mixes require this. One flag covers both, so
    /// that the common case, a closed loop without a mix, takes only one branch.
    detailed: bool,
}

impl Recorder {
    /// Creates an empty recorder. A closed loop never records the times that only an open loop has.
    pub fn new(open_loop: bool, parts: usize) -> Self {
        let of_open_loop = || if open_loop { new_histogram() } else { unused_histogram() };
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
            response: of_open_loop(),
            in_pieces: new_histogram(),
            in_pieces_first_byte: new_histogram(),
            lag: of_open_loop(),
            connection_wait: of_open_loop(),
            generator_lag: of_open_loop(),
            connect: new_histogram(),
            parts: Parts::new(parts),
            events: None,
            begun: Vec::new(),
            open_loop,
            detailed: open_loop || parts > 0,
        }
    }

    /// Empties the recorder and pauses after each histogram.
    pub fn reset(&mut self, pauses: Pauses) {
        (self.sent, self.completed, self.ok, self.early_ok, self.unprocessed) = (0, 0, 0, 0, 0);
        (self.bytes_received, self.bytes_sent, self.idle_closed, self.censored, self.due_from_ns) = (0, 0, 0, 0, 0);
        (self.errors, self.unfinished_ns, self.tls_handshakes) = (ErrorCounts::default(), 0, None);
        self.begun.clear();
        let times = [&mut self.service, &mut self.response, &mut self.in_pieces, &mut self.in_pieces_first_byte, &mut self.connect];
        let lags = [&mut self.lag, &mut self.connection_wait, &mut self.generator_lag];
        for histogram in times.into_iter().chain(lags) {
            if !histogram.is_empty() {
                histogram.reset();
                pauses.pause();
            }
        }
        self.parts.reset(pauses);
        if let Some(events) = &mut self.events {
            events.reset(pauses);
        }
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
        self.begun.extend_from_slice(&other.begun);
        for (mine, theirs) in [
            (&mut self.service, &other.service),
            (&mut self.response, &other.response),
            (&mut self.in_pieces, &other.in_pieces),
            (&mut self.in_pieces_first_byte, &other.in_pieces_first_byte),
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
        self.parts.merge(&other.parts, pauses);
        if let Some(theirs) = &other.events {
            self.events().merge(theirs, pauses);
        }
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
            self.parts.request_sent(sent.part);
            if self.open_loop {
                self.sent_in_open_loop(sent, free_ns);
            }
        }
    }

    fn sent_in_open_loop(&mut self, sent: Sent, free_ns: u64) {
        let wait_ns = free_ns.saturating_sub(sent.intended_ns);
        let lag_ns = sent.actual_ns.saturating_sub(sent.intended_ns);
        self.lag.saturating_record(lag_ns.max(1));
        self.connection_wait.saturating_record(wait_ns.max(1));
        self.generator_lag.saturating_record(lag_ns.saturating_sub(wait_ns).max(1));
    }

    /// Records `count` requests that were sent at the same time and ended in the same way. `part_ended` records the results of their parts.
    #[inline]
    pub fn requests_ended(&mut self, sent: Sent, now_ns: u64, outcome: Outcome, count: u64) {
        if !self.counts(sent.intended_ns) {
            return self.earlier_ended(outcome, count);
        }
        self.completed += if outcome.is_complete() { count } else { 0 };
        match outcome {
            Outcome::Ok => {
                self.ok += count;
                self.times(sent, now_ns, count);
            }
            Outcome::Unprocessed => self.unprocessed += count,
            _ => self.failed(outcome, count),
        }
    }

    /// Records the end of a request in the results of its part.
    pub fn part_ended(&mut self, sent: Sent, now_ns: u64, outcome: Outcome) {
        let counts = self.counts(sent.intended_ns);
        if outcome == Outcome::Ok && counts {
            self.part_time(sent, now_ns);
        } else if let Some(part) = self.parts.get_mut(sent.part)
            && (counts || !self.open_loop)
        {
            match outcome {
                Outcome::Ok => part.early += 1,
                Outcome::Unprocessed => {}
                _ => part.errors += 1,
            }
        }
    }

    /// Records the response time of a part in an open loop, and its service time in a closed loop, where the two send times are equal.
    fn part_time(&mut self, sent: Sent, now_ns: u64) {
        self.parts.record_time(sent.part, now_ns.saturating_sub(sent.intended_ns).max(1));
    }

    /// Records the end of requests from an earlier phase.
    #[cold]
    fn earlier_ended(&mut self, outcome: Outcome, count: u64) {
        if self.open_loop {
            self.early_ok += if matches!(outcome, Outcome::Ok) { count } else { 0 };
            return;
        }
        self.completed += if outcome.is_complete() { count } else { 0 };
        match outcome {
            Outcome::Ok => self.ok += count,
            Outcome::Unprocessed => self.unprocessed += count,
            _ => self.failed(outcome, count),
        }
    }

    pub fn request_failed(&mut self, sent: Sent, kind: ErrorKind) {
        if self.counts(sent.intended_ns) || !self.open_loop {
            self.errors.add(kind, 1);
            if let Some(part) = self.parts.get_mut(sent.part) {
                part.errors += 1;
            }
        }
    }

    fn failed(&mut self, outcome: Outcome, count: u64) {
        match outcome {
            Outcome::UnexpectedStatus => self.errors.add(ErrorKind::UnexpectedStatus, count),
            Outcome::UnexpectedBody => self.errors.add(ErrorKind::UnexpectedBody, count),
            Outcome::Failed(kind) => self.errors.add(kind, count),
            Outcome::Ok | Outcome::Unprocessed => {}
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
            if let Some(part) = self.parts.get_mut(sent.part) {
                part.timed_out += 1;
            }
            self.part_time(sent, now_ns);
            self.times(sent, now_ns, 1);
        }
    }

    /// Records the age of a request that was in flight at `end_ns`.
    pub fn unfinished(&mut self, sent: Sent, end_ns: u64) {
        self.service.saturating_record(end_ns.saturating_sub(sent.actual_ns).max(1));
        self.unsent(sent.intended_ns, end_ns);
        if sent.first_byte_ns != 0 {
            self.begun.push((end_ns.saturating_sub(sent.intended_ns).max(1), first_byte_time_ns(sent, end_ns)));
        }
    }

    /// Records the age of a request of an open loop that was due but had not been sent at `end_ns`.
    pub fn unsent(&mut self, intended_ns: u64, end_ns: u64) {
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
        let (latency, beyond_ns) = if self.open_loop { (&self.response, beyond.response_ns) } else { (&self.service, beyond.service_ns) };
        for (age_ns, first_byte_ns) in ages.begun.iter().filter(|(age_ns, _)| latency.highest_equivalent(*age_ns) > beyond_ns) {
            self.in_pieces.saturating_record(latency.lowest_equivalent(*age_ns)); // the value that `add_beyond` has added
            self.in_pieces_first_byte.saturating_record(*first_byte_ns);
        }
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
        add(&mut self.in_pieces, &late.in_pieces);
        add(&mut self.in_pieces_first_byte, &late.in_pieces_first_byte);
        self.parts.add_late(&late.parts);
        if let Some(theirs) = &late.events {
            self.events().add_first(theirs);
        }
    }

    /// Adds the results of the drain after a slice. Unlike `add_late`, this function also adds connect times, TLS handshakes and the times
    /// of each part of the load.
    pub fn add_drain(&mut self, drain: &Self) {
        self.add_late(drain);
        add(&mut self.connect, &drain.connect);
        self.tls_handshakes = TlsHandshakes::sum(self.tls_handshakes, drain.tls_handshakes);
        self.parts.add_drain(&drain.parts);
    }

    pub fn p99(&self) -> P99 {
        P99 { service_ns: p99_ns(&self.service), response_ns: p99_ns(&self.response) }
    }

    /// Returns the times that count as latency: response times in an open loop, service times in a closed loop.
    pub fn latency(&self) -> &Histogram<u64> {
        if self.open_loop { &self.response } else { &self.service }
    }

    /// Returns the times to the first byte, counted from the same times as the latencies.
    pub fn first_byte(&self) -> Histogram<u64> {
        let mut times = self.latency().clone();
        times.subtract(&self.in_pieces).unwrap_or_else(|error| unreachable!("all responses in pieces have a latency: {error}"));
        add(&mut times, &self.in_pieces_first_byte);
        times
    }

    #[inline]
    fn times(&mut self, sent: Sent, now_ns: u64, count: u64) {
        self.service.saturating_record_n(now_ns.saturating_sub(sent.actual_ns).max(1), count);
        if self.open_loop {
            self.response.saturating_record_n(now_ns.saturating_sub(sent.intended_ns).max(1), count);
        }
        if sent.first_byte_ns != 0 && sent.first_byte_ns != now_ns {
            self.time_in_pieces(sent, now_ns, count);
        }
    }

    /// Records the time to the first byte of responses that arrived in several reads. Responses in one read, the common case, don't need
    /// this: their first byte took as long as the whole response.
    fn time_in_pieces(&mut self, sent: Sent, now_ns: u64, count: u64) {
        self.in_pieces.saturating_record_n(now_ns.saturating_sub(sent.intended_ns).max(1), count);
        self.in_pieces_first_byte.saturating_record_n(first_byte_time_ns(sent, now_ns), count);
    }

    /// Returns the events, and allocates memory for them if there were none before.
    pub fn events(&mut self) -> &mut EventRecorder {
        self.events.get_or_insert_default()
    }

    /// Records a block of an event stream.
    pub fn event(&mut self, sent: Sent, stream: &mut EventStream, block: Block, now_ns: u64) {
        let due_ns = self.counts(sent.intended_ns).then_some(sent.intended_ns);
        self.events().arrived(stream, block, sent.actual_ns, due_ns, now_ns);
    }

    /// Records that the first event of a stream didn't arrive within the timeout.
    pub fn first_event_timed_out(&mut self, sent: Sent, now_ns: u64) {
        if self.counts(sent.intended_ns) {
            self.events().timed_out(sent.intended_ns, now_ns);
        }
    }

    pub fn connected(&mut self, took_ns: u64) {
        self.connect.saturating_record(took_ns.max(1));
    }
}

/// Returns the time from the intended send to the first byte. `end_ns` is the end of the response or of the wait for it. In a timeout, this
/// may be earlier than the first byte.
fn first_byte_time_ns(sent: Sent, end_ns: u64) -> u64 {
    sent.first_byte_ns.min(end_ns).saturating_sub(sent.intended_ns).max(1)
}

/// 99th percentiles; 0 if there are no samples.
#[derive(Clone, Copy, Debug)]
pub struct P99 {
    pub service_ns: u64,
    pub response_ns: u64,
}
