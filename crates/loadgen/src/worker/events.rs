//! Handles events on the connections of a worker.

use std::sync::atomic::Ordering;

use super::connection::{Connection, Flight, State};
use super::pacing::Pacing;
use super::shortest::Shortest;
use super::{Next, Worker};
use crate::figures::errors::ErrorKind;
use crate::figures::events::Block;
use crate::figures::recorder::{Recorder, Sent};
use crate::protocol::{Fault, Flow, Outcome, Protocol, Sink, Slot};
use crate::time::window::Phase;

/// Maximum number of simultaneous connection attempts before the load begins. An accept queue of the usual length can hold this number of
/// connections without dropping any. During the load, only `-c` limits the number of attempts.
pub(super) const CONNECTING_MAX: u32 = 128;
pub(super) const NO_RESPONSE: &str = "no complete response within the timeout";

/// How the server closed the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Closed,
    Reset,
}

/// A sink that records the requests that end on one connection.
struct Completions<'a> {
    flight: &'a mut Flight,
    recorder: &'a mut Recorder,
    pacing: &'a mut Pacing,
    shortest: &'a mut Shortest,
    now_ns: u64,
    /// Requests that haven't been recorded yet: their common times, their common outcome and their number. Pipelined requests often
    /// have the same times and outcome, so they are recorded together.
    alike: (Sent, Outcome, u64),
    /// Number of requests that ended.
    done: u64,
    /// Number of requests that ended with a complete response.
    completed: u64,
    /// Number of requests that the server didn't process.
    unprocessed: u64,
}

impl Sink for Completions<'_> {
    #[inline]
    fn begin(&mut self, slot: Slot) {
        self.flight.begin_response(slot, self.now_ns);
    }

    fn event(&mut self, slot: Slot, block: Block) {
        if let Some((sent, stream)) = self.flight.event_stream(slot) {
            self.recorder.event(sent, stream, block, self.now_ns);
        }
    }

    #[inline]
    fn complete(&mut self, slot: Slot, outcome: Outcome) {
        let mut sent = self.flight.free(slot);
        if !self.recorder.parts.is_empty() {
            self.recorder.part_ended(sent, self.now_ns, outcome);
            sent.part = 0; // requests of different parts are recorded together
        }
        if (self.alike.0, self.alike.1) != (sent, outcome) {
            self.record();
            self.alike = (sent, outcome, 0);
        }
        self.alike.2 += 1;
        self.done += 1;
        self.completed += u64::from(outcome.is_complete());
        if outcome == Outcome::Unprocessed {
            self.unprocessed += 1;
            self.pacing.put_back(sent.intended_ns);
        }
    }
}

impl Completions<'_> {
    #[inline]
    fn record(&mut self) {
        let (sent, outcome, count) = self.alike;
        if count > 0 {
            self.shortest.note(self.now_ns.saturating_sub(sent.actual_ns));
            self.recorder.requests_ended(sent, self.now_ns, outcome, count);
        }
    }
}

impl<P: Protocol> Worker<P> {
    /// Handles a newly connected socket.
    pub fn connected(&mut self, index: u32, now_ns: u64) {
        self.cut_spans(now_ns);
        let connection = &mut self.connections[index as usize];
        let State::Connecting { since_ns } = connection.state else { return };
        self.connecting -= 1;
        connection.session = self.protocol.open();
        connection.left = self.limits.requests_per_connection;
        connection.state = State::Handshaking { since_ns };
        self.shake_hands(index, now_ns);
    }

    /// Handles a failure to connect. `reason` is the error message of the operating system.
    pub fn connect_failed(&mut self, index: u32, kind: ErrorKind, reason: &str, now_ns: u64) {
        self.cut_spans(now_ns);
        if !matches!(self.connections[index as usize].state, State::Connecting { .. }) {
            return; // the worker has already abandoned the attempt
        }
        self.connecting -= 1;
        self.attempt_failed(index, kind, reason, now_ns);
    }

    /// Handles received data. The engine must then flush the connection, or close it if this function returns `Next::Close`.
    #[inline]
    pub fn received(&mut self, index: u32, bytes: &[u8], now_ns: u64) -> Next {
        self.cut_spans(now_ns);
        self.recorder.bytes_received += bytes.len() as u64;
        self.feed(index, now_ns, |protocol, session, sink| protocol.receive(session, bytes, sink))
    }

    /// Handles body bytes that the kernel discarded because only their number matters.
    pub fn skipped(&mut self, index: u32, count: usize, now_ns: u64) -> Next {
        self.cut_spans(now_ns);
        self.recorder.bytes_received += count as u64;
        self.feed(index, now_ns, |protocol, session, sink| protocol.skip(session, count, sink))
    }

    /// Handles a close or reset of the connection by the server. The engine must have closed its socket already.
    pub fn ended(&mut self, index: u32, end: End, now_ns: u64) {
        self.cut_spans(now_ns);
        let next = self.feed(index, now_ns, |protocol, session, sink| match end {
            End::Closed => Err(protocol.end_of_stream(session, sink)),
            End::Reset => Err(protocol.reset(session, sink)),
        });
        debug_assert_eq!(next, Next::Close);
    }

    #[inline]
    fn feed(
        &mut self,
        index: u32,
        now_ns: u64,
        step: impl FnOnce(&mut P, &mut P::Session, &mut Completions<'_>) -> Result<Flow, Fault>,
    ) -> Next {
        let Self { protocol, connections, recorder, pacing, shortest, .. } = self;
        let Connection { session, flight, last_bytes_ns, state, .. } = &mut connections[index as usize];
        *last_bytes_ns = now_ns;
        let idle = flight.count == 0 && *state == State::Open;
        let alike = (Sent::default(), Outcome::Ok, 0);
        let mut completions = Completions { flight, recorder, pacing, shortest, now_ns, alike, done: 0, completed: 0, unprocessed: 0 };
        let flow = step(protocol, session, &mut completions);
        completions.record();
        let Completions { done, completed, unprocessed, .. } = completions;
        if completed > 0 {
            self.connections[index as usize].succeeded();
            let own_ns = self.attention.stalled_ns();
            if self.silence.is_long(now_ns) {
                self.silence.end(now_ns, own_ns);
            }
            self.silence.note(now_ns, own_ns);
        }
        if let Some(tickets) = self.shared.tickets.as_ref().filter(|_| unprocessed > 0) {
            tickets.give_back(unprocessed);
        }
        if unprocessed > 0 || matches!(flow, Ok(Flow::Drain | Flow::Close)) {
            self.connections[index as usize].refuse();
        }
        match flow {
            Ok(Flow::Open) => self.after_completions(index, done, now_ns),
            Ok(Flow::Drain) => {
                self.connections[index as usize].left = 0;
                self.after_completions(index, done, now_ns)
            }
            Ok(Flow::Close) => self.fail(index, Fault::closed_early("the server announced that it would close the connection"), now_ns),
            Err(fault) => {
                self.recorder.idle_closed += u64::from(idle && fault.kind != ErrorKind::InvalidResponse);
                self.fail(index, fault, now_ns)
            }
        }
    }

    /// Continues an open connection after `done` requests have ended.
    #[inline]
    fn after_completions(&mut self, index: u32, done: u64, now_ns: u64) -> Next {
        let connection = &mut self.connections[index as usize];
        if connection.state != State::Open {
            return self.shake_hands(index, now_ns);
        }
        if (connection.left == 0 || connection.refused) && connection.flight.count == 0 {
            self.retire(index, now_ns, false);
            return Next::Close;
        }
        if connection.refused {
            connection.held_back += done;
            return Next::Keep;
        }
        let done = done + std::mem::take(&mut connection.held_back);
        if !self.running() {
            // Data may also arrive while no requests are sent: responses during a drain, and HTTP/2 settings or TLS session tickets before
            // the load.
        } else if self.pacing.is_immediate() {
            self.fill(index, now_ns);
        } else {
            self.free(index, done, now_ns);
        }
        self.note_drained();
        Next::Keep
    }

    /// During a drain, and after the last request of the run, makes the worker check soon whether the last response has arrived.
    #[inline]
    fn note_drained(&mut self) {
        if self.span.phase == Phase::Drain || self.has_sent_all() {
            self.wake_ns = 0;
        }
    }

    /// Closes a connection and fails its requests in flight.
    pub(super) fn fail(&mut self, index: u32, fault: Fault, now_ns: u64) -> Next {
        let connection = &mut self.connections[index as usize];
        if let State::Handshaking { .. } = connection.state {
            self.attempt_failed(index, fault.kind, &fault.reason, now_ns);
            return Next::Close;
        }
        let recorder = &mut self.recorder;
        let in_flight = connection.flight.count;
        let read_until_ns = self.attention.read_until_ns();
        if fault.kind == ErrorKind::Timeout && self.limits.event_streams {
            connection.flight.awaited().for_each(|sent| recorder.first_event_timed_out(sent, read_until_ns));
        }
        connection.flight.drain(|sent| match fault.kind {
            ErrorKind::Timeout => recorder.request_timed_out(sent, read_until_ns),
            kind => recorder.request_failed(sent, kind),
        });
        // If no request was in flight, the unexpected data counts as an error.
        if in_flight == 0 && fault.kind == ErrorKind::InvalidResponse {
            recorder.errors.add(fault.kind, 1);
        }
        // A connection on which the server completed no request counts as failed, even if the server closed it normally. After repeated
        // failures, the worker pauses before it reconnects. Otherwise, it would flood a server that closes idle connections.
        let failed = in_flight > 0 || !connection.served;
        self.retire(index, now_ns, failed);
        Next::Close
    }

    fn attempt_failed(&mut self, index: u32, kind: ErrorKind, reason: &str, now_ns: u64) {
        self.recorder.errors.add(kind, 1);
        if let Ok(mut failure) = self.shared.connect_failure.lock() {
            *failure = Some(Fault { kind, reason: reason.to_owned().into() });
        }
        self.note_attempt(index);
        self.retire(index, now_ns, true);
    }

    fn note_attempt(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        self.attempted += usize::from(!connection.attempted);
        connection.attempted = true;
    }

    /// Marks the connection as closed and schedules a new attempt.
    fn retire(&mut self, index: u32, now_ns: u64, failed: bool) {
        self.connections[index as usize].close(now_ns, failed);
        self.note_drained();
        self.open_if_due(index, now_ns);
    }

    pub(super) fn open_if_due(&mut self, index: u32, now_ns: u64) {
        if matches!(self.span.phase, Phase::Drain | Phase::Wait) {
            return;
        }
        let connection = &self.connections[index as usize];
        let attempted = connection.attempted;
        let State::Closed { not_before_ns } = connection.state else { return };
        // Every connection gets its first attempt before any connection is retried.
        let turn = self.running() || (self.connecting < CONNECTING_MAX && (!attempted || self.attempted == self.connections.len()));
        if not_before_ns <= now_ns && turn {
            self.connections[index as usize].state = State::Connecting { since_ns: now_ns };
            self.connecting += 1;
            self.to_open.push(index);
        }
    }

    fn shake_hands(&mut self, index: u32, now_ns: u64) -> Next {
        let connection = &mut self.connections[index as usize];
        let State::Handshaking { since_ns } = connection.state else { return Next::Keep };
        self.to_flush.push(index);
        if !self.protocol.ready(&connection.session) {
            return Next::Keep;
        }
        connection.state = State::Open;
        self.recorder.connected(now_ns - since_ns);
        self.shared.connected.fetch_add(1, Ordering::Relaxed);
        self.last_open_ns = now_ns;
        self.note_attempt(index);
        self.put_to_work(index, now_ns);
        Next::Keep
    }

    /// Fails a connection's requests or connection attempt if they began before `overdue_ns`.
    pub(super) fn time_out(&mut self, index: u32, overdue_ns: u64, now_ns: u64) {
        let connection = &mut self.connections[index as usize];
        match connection.state {
            State::Connecting { since_ns } if since_ns < overdue_ns => {
                self.connecting -= 1;
                self.to_close.push(index);
                self.attempt_failed(index, ErrorKind::ConnectTimeout, "no response within the timeout", now_ns);
            }
            State::Handshaking { since_ns } if since_ns < overdue_ns => {
                self.to_close.push(index);
                self.attempt_failed(index, ErrorKind::ConnectTimeout, "handshake not finished within the timeout", now_ns);
            }
            State::Open => {
                if connection.flight.has_older_than(overdue_ns) {
                    self.time_out_requests(index, overdue_ns, now_ns);
                }
            }
            State::Closed { .. } | State::Connecting { .. } | State::Handshaking { .. } => {}
        }
    }

    /// Fails the overdue requests, which are those sent before `overdue_ns`, except for event streams that have begun. Requests that were
    /// sent later stay in flight if the protocol can abandon individual requests. Otherwise, they fail too.
    ///
    /// If all requests in flight are overdue and no data has arrived since the oldest of them was sent, the connection is considered dead
    /// and is closed.
    fn time_out_requests(&mut self, index: u32, overdue_ns: u64, now_ns: u64) {
        let Self { protocol, connections, recorder, attention, limits, .. } = self;
        let Connection { session, flight, last_bytes_ns, .. } = &mut connections[index as usize];
        let dead = flight.requests().all(|sent| sent.actual_ns < overdue_ns && *last_bytes_ns < sent.actual_ns);
        let mut done = 0;
        for slot in 0..flight.depth() {
            if !dead && flight.is_older_than(slot, overdue_ns) && protocol.abandon(session, slot) {
                let sent = flight.free(slot);
                if limits.event_streams {
                    recorder.first_event_timed_out(sent, attention.read_until_ns());
                }
                recorder.request_timed_out(sent, attention.read_until_ns());
                done += 1;
            }
        }
        if self.span.phase == Phase::Drain && self.shared.in_slices {
            // The server may still be busy with the abandoned requests, so the next slice uses a new connection.
            connections[index as usize].left = 0;
        }
        let next = if done == 0 {
            self.fail(index, Fault { kind: ErrorKind::Timeout, reason: NO_RESPONSE.into() }, now_ns)
        } else {
            self.to_flush.push(index);
            self.after_completions(index, done, now_ns)
        };
        if next == Next::Close {
            self.to_close.push(index);
        }
    }
}
