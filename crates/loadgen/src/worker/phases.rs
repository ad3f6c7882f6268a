//! The time-driven work of a worker: starting, ending spans, detecting timeouts, waiting for the last responses and stopping.

use std::sync::atomic::Ordering;

use super::connection::State;
use super::cost::Cost;
use super::events::NO_RESPONSE;
use super::{Final, Report, Worker};
use crate::figures::errors::ErrorKind;
use crate::figures::recorder::{Recorder, Sent};
use crate::figures::result::TlsHandshakes;
use crate::protocol::{Fault, Protocol};
use crate::time::clock;
use crate::time::window::{Phase, Span, Window};

/// Interval of sweeps while requests are being sent. In a sweep, the worker checks for overdue responses, for connections to set up, and
/// whether it must stop.
const SWEEP_NS: u64 = 20_000_000;
/// Interval between sweeps while no requests are being sent: before the load starts and during a drain.
const SWEEP_EARLY_NS: u64 = 1_000_000;
/// Time beyond the timeout after which a server that accepts no connection counts as unreachable.
const UNREACHABLE_SLACK_NS: u64 = 1_000_000_000;
/// Maximum time by which a drain may exceed the request timeout.
const DRAIN_SLACK_NS: u64 = 1_000_000_000;

impl<P: Protocol> Worker<P> {
    /// Returns whether requests are being sent.
    pub(super) fn running(&self) -> bool {
        matches!(self.span.phase, Phase::Warmup | Phase::Measure) && !self.done
    }

    /// Does everything that is due. Afterwards, the engine must empty `to_close`, `to_open` and `to_flush`, in this order.
    pub fn tick(&mut self, now_ns: u64) {
        self.cut_spans(now_ns);
        if self.span.phase == Phase::Wait {
            self.start_if_told(now_ns);
        }
        if self.done || self.span.phase == Phase::Wait {
            return;
        }
        if now_ns >= self.next_sweep_ns {
            self.attention.note_sweep(self.next_sweep_ns, now_ns, clock::thread_cpu_ns());
            self.shortest.turn();
            self.sweep(now_ns);
            self.next_sweep_ns = now_ns + if self.running() { SWEEP_NS } else { SWEEP_EARLY_NS };
        }
        if self.span.phase == Phase::Drain && !self.awaits_responses() {
            self.conclude(now_ns);
        }
        if self.span.phase == Phase::Wait {
            return;
        }
        if self.running() {
            self.dispatch(now_ns);
            if self.has_sent_all() && self.requests_in_flight().next().is_none() {
                self.finish(now_ns, false);
                return;
            }
        }
        let next_send_ns = if self.running() { self.pacing.wake_ns() } else { u64::MAX };
        self.wake_ns = self.span.end_ns.min(self.next_sweep_ns).min(next_send_ns);
    }

    fn sweep(&mut self, now_ns: u64) {
        if self.shared.is_stopping() {
            self.finish(now_ns, false);
            return;
        }
        let overdue_ns = self.attention.overdue_ns(self.limits.timeout_ns);
        for index in 0..self.connections.len() as u32 {
            self.time_out(index, overdue_ns, now_ns);
            self.open_if_due(index, now_ns);
        }
        match self.span.phase {
            Phase::Connect => self.note_ready(now_ns),
            Phase::Measure => {
                self.sample_if_due(now_ns);
                self.give_up_if_unreachable(now_ns);
            }
            Phase::Warmup | Phase::Drain | Phase::Wait => {}
        }
    }

    /// Stops a run that would otherwise never send all its requests, because the server doesn't accept connections any more.
    fn give_up_if_unreachable(&mut self, now_ns: u64) {
        if !self.limits.ends_with_requests || self.connections.iter().any(|connection| connection.state == State::Open) {
            self.last_open_ns = now_ns;
        } else if now_ns - self.last_open_ns > self.limits.timeout_ns.saturating_add(UNREACHABLE_SLACK_NS) {
            self.shared.unreachable.store(true, Ordering::Relaxed);
            self.shared.stop();
        }
    }

    fn sample_if_due(&mut self, now_ns: u64) {
        if self.limits.sample_every_ns < u64::MAX && now_ns >= self.next_sample_ns {
            self.next_sample_ns = now_ns + self.limits.sample_every_ns;
            self.protocol.sample_next();
        }
    }

    /// Reports that the worker is ready once all its connections are set up or have failed. Starts the first window when its start time has
    /// come.
    fn note_ready(&mut self, now_ns: u64) {
        let newly = self.attempted == self.connections.len() && !std::mem::replace(&mut self.said_ready, true);
        if newly && self.shared.in_slices {
            self.hand_over(None);
            self.rest(now_ns);
        } else {
            self.start_if_told(now_ns);
        }
        if newly {
            self.shared.ready.fetch_add(1, Ordering::Release);
        }
    }

    /// Starts the next window if its start time has come.
    fn start_if_told(&mut self, now_ns: u64) {
        if self.shared.is_stopping() {
            self.finish(now_ns, false);
            return;
        }
        match self.shared.window.after(self.windows) {
            Some((number, window)) if now_ns >= window.warmup_start_ns => {
                self.windows = number;
                self.start(window, now_ns);
            }
            next if self.span.phase == Phase::Wait => self.wake_ns = next.map_or(u64::MAX, |(_, window)| window.warmup_start_ns),
            _ => {}
        }
    }

    fn start(&mut self, window: Window, now_ns: u64) {
        self.hand_over(None);
        self.next_sweep_ns = window.warmup_start_ns; // sweep at once; a late start is a stall, but the time asleep isn't
        self.window = window;
        self.last_open_ns = now_ns;
        self.enter(window.first());
        self.pacing.start(window.warmup_start_ns);
        self.cut_spans(now_ns); // the thread may have woken up late
        for index in 0..self.connections.len() as u32 {
            self.put_to_work(index, now_ns);
        }
    }

    /// Stops all activity until the next window, including attempts to set up connections.
    fn rest(&mut self, now_ns: u64) {
        self.enter(Span { phase: Phase::Wait, start_ns: now_ns, end_ns: u64::MAX });
        self.to_open.clear();
        for (index, connection) in (0..).zip(&mut self.connections) {
            if matches!(connection.state, State::Connecting { .. } | State::Handshaking { .. }) {
                connection.close(now_ns, false);
                self.to_close.push(index);
            }
        }
        self.connecting = 0;
        self.wake();
    }

    /// Ends each span whose end time has passed. In the common case, no span has ended, and this function is cheap.
    #[inline]
    pub(super) fn cut_spans(&mut self, now_ns: u64) {
        if now_ns >= self.span.end_ns {
            self.cut_spans_slowly(now_ns);
        }
    }

    #[cold]
    fn cut_spans_slowly(&mut self, now_ns: u64) {
        while now_ns >= self.span.end_ns && !self.done {
            let Some(next) = self.window.next(&self.span) else {
                self.finish(self.span.end_ns, true);
                return;
            };
            self.hand_over_span(None, next.phase == self.span.phase);
            self.enter(next);
        }
    }

    /// Begins a span.
    fn enter(&mut self, span: Span) {
        if span.phase != self.span.phase && span.phase == Phase::Measure {
            self.note_measure_start(span.start_ns);
        }
        self.span = span;
        self.recorder.due_from_ns = self.due_from_ns();
    }

    /// Returns the time from which requests must be due to count, or 0 if all count.
    ///
    /// In an open loop, only requests that were due within the window count. In a closed loop, the load of a slice starts at once on all
    /// connections, and times of requests from before the window would show this burst. But if such a request is still in flight at the end
    /// of the window, it takes the connection's whole window, and its time counts. Otherwise, a server that leaves some connections waiting
    /// would look fast.
    fn due_from_ns(&self) -> u64 {
        match self.span.phase {
            Phase::Measure if self.drains() => self.window.measure_start_ns,
            Phase::Drain if self.pacing.load.is_open() => self.window.measure_start_ns,
            _ => 0,
        }
    }

    /// Returns whether a drain follows each window. In a drain, the worker waits for the responses to the last requests.
    fn drains(&self) -> bool {
        self.pacing.load.is_open() || self.shared.in_slices
    }

    fn note_measure_start(&mut self, start_ns: u64) {
        if self.limits.event_streams {
            let (events, closed_loop) = (self.recorder.events(), !self.pacing.load.is_open());
            for connection in &mut self.connections {
                connection.flight.event_streams().for_each(|(open_ns, stream)| events.window_begins(stream, open_ns, closed_loop));
            }
        }
        self.cost_at_measure = self.cost();
        self.parser_at_measure = self.protocol.parser_counts();
        self.silence.begin(start_ns, self.attention.stalled_ns(), Some(self.shortest.ns()).filter(|ns| *ns < u64::MAX));
        self.backlog = self.requests_in_flight().count() as u64 + self.pacing.unsent(start_ns).count() as u64;
    }

    fn cost(&self) -> Cost {
        Cost::of_this_thread(self.polled_ns, self.attention.stalled_ns())
    }

    fn requests_in_flight(&self) -> impl Iterator<Item = Sent> {
        let open = self.connections.iter().filter(|connection| connection.state == State::Open);
        open.flat_map(|connection| connection.flight.requests())
    }

    /// Returns the requests in flight that await their response or, if responses are event streams, their first event.
    fn awaited(&self) -> impl Iterator<Item = Sent> {
        let open = self.connections.iter().filter(|connection| connection.state == State::Open);
        open.flat_map(|connection| connection.flight.awaited())
    }

    /// Ends the run early because the engine cannot continue.
    pub fn give_up(&mut self, now_ns: u64) {
        self.cut_spans(now_ns);
        if !self.done {
            self.finish(now_ns, false);
        }
    }

    /// Ends the window, or the drain that follows it.
    ///
    /// If `drain` is true, an open loop then waits for the responses to its requests. A request without a response therefore counts as
    /// timed out, even if the window was shorter than the timeout. After a slice, both open and closed loops wait for all responses.
    fn finish(&mut self, end_ns: u64, drain: bool) {
        if self.ended.is_none() {
            let measured = self.span.phase == Phase::Measure;
            self.span = Span { end_ns: end_ns.min(self.span.end_ns), ..self.span };
            let parser = self.protocol.parser_counts();
            let has_stalls = self.pacing.is_immediate() && !self.limits.event_streams;
            if measured && self.limits.event_streams {
                self.note_streams(end_ns);
            }
            let ended = Final {
                backlog: self.backlog,
                cost: if measured { self.cost().since(self.cost_at_measure) } else { Cost::default() },
                stalls: has_stalls.then(|| self.silence.until(end_ns, self.attention.stalled_ns())),
                parser: crate::protocol::ParserCounts {
                    fast: parser.fast - self.parser_at_measure.fast,
                    full: parser.full - self.parser_at_measure.full,
                },
                shared_cpu: std::mem::take(&mut self.shared_cpu),
                samples: self.protocol.take_samples(),
                ..Final::default()
            };
            self.ended = Some((ended, end_ns));
            if drain && self.drains() && self.awaits_responses() {
                self.hand_over(None);
                // All requests time out before this limit, unless this thread gets too little CPU time to notice the timeouts.
                let limit_ns = end_ns.saturating_add(self.limits.timeout_ns).saturating_add(DRAIN_SLACK_NS);
                self.enter(Span { phase: Phase::Drain, start_ns: end_ns, end_ns: limit_ns });
                return;
            }
        }
        self.conclude(end_ns);
    }

    /// Hands over the remaining results of a window. If more slices can follow, then waits for the next one.
    fn conclude(&mut self, now_ns: u64) {
        let Some((ended, end_ns)) = self.ended.take() else { return };
        let goes_on = self.shared.in_slices && !self.shared.is_stopping();
        if goes_on {
            self.fail_unanswered(now_ns);
        }
        let (unfinished, in_flight, unsent) = self.unfinished(end_ns);
        self.span.end_ns = now_ns.min(self.span.end_ns);
        self.hand_over(Some((Final { in_flight, unsent, ..ended }, unfinished)));
        if goes_on {
            self.rest(now_ns);
            return;
        }
        self.done = true;
        // Later events must not end another span.
        self.span.end_ns = u64::MAX;
    }

    /// Records the last event stream of each connection at the end of the window.
    fn note_streams(&mut self, end_ns: u64) {
        let events = self.recorder.events();
        for connection in &mut self.connections {
            connection.flight.event_streams().for_each(|(open_ns, stream)| events.window_ends(stream, open_ns, end_ns));
        }
    }

    /// Fails all requests that are still in flight at the end of a drain.
    fn fail_unanswered(&mut self, now_ns: u64) {
        for index in 0..self.connections.len() as u32 {
            if self.connections[index as usize].flight.count > 0 {
                self.fail(index, Fault { kind: ErrorKind::Timeout, reason: NO_RESPONSE.into() }, now_ns);
                self.to_close.push(index);
            }
        }
    }

    /// Returns whether any requests of the window still await their response or, if responses are event streams, their first event. In
    /// slices, this includes requests from before the window.
    fn awaits_responses(&self) -> bool {
        let from_ns = if self.shared.in_slices { 0 } else { self.due_from_ns() };
        self.awaited().any(|sent| sent.intended_ns >= from_ns)
    }

    /// Returns the ages of the unfinished requests (`None` if there are none), the number of requests in flight, and the number of unsent
    /// requests.
    fn unfinished(&mut self, end_ns: u64) -> (Option<Recorder>, u64, u64) {
        let from_ns = self.due_from_ns();
        let open_loop = self.pacing.load.is_open();
        let (mut ages, mut in_flight, mut unsent) = (None, 0, 0);
        let new = || Recorder::new(open_loop, 0);
        for sent in self.requests_in_flight().filter(|sent| sent.intended_ns >= from_ns) {
            ages.get_or_insert_with(new).unfinished(sent, end_ns);
            in_flight += 1;
        }
        if self.limits.event_streams {
            for sent in self.awaited().filter(|sent| sent.intended_ns >= from_ns) {
                ages.get_or_insert_with(new).events().waiting(sent.intended_ns, end_ns);
            }
        }
        for due_ns in self.pacing.unsent(end_ns).filter(|due_ns| *due_ns >= from_ns) {
            let ages = ages.get_or_insert_with(new);
            ages.unsent(due_ns, end_ns);
            if self.limits.event_streams {
                ages.events().waiting(due_ns, end_ns);
            }
            unsent += 1;
        }
        (ages, in_flight, unsent)
    }

    /// Sends the last span of a phase to the coordinator and continues with an empty recorder from the pool.
    fn hand_over(&mut self, last: Option<(Final, Option<Recorder>)>) {
        self.hand_over_span(last, false);
    }

    /// Sends the span to the coordinator and continues with an empty recorder from the pool.
    ///
    /// Results per part of the load are needed only for a whole phase. While a phase goes on, they stay in the worker's recorder, so that
    /// the coordinator doesn't have to add them up for each span.
    fn hand_over_span(&mut self, last: Option<(Final, Option<Recorder>)>, phase_goes_on: bool) {
        let mut recorder = std::mem::replace(&mut self.recorder, self.pool.take());
        if phase_goes_on {
            std::mem::swap(&mut self.recorder.parts, &mut recorder.parts);
        }
        recorder.parts.settle();
        self.recorder.due_from_ns = recorder.due_from_ns;
        recorder.tls_handshakes = self.new_handshakes();
        if self.span.phase == Phase::Measure {
            self.completed += recorder.completed;
        }
        let last = last.map(|(ended, unfinished)| (Final { completed: std::mem::take(&mut self.completed), ..ended }, unfinished));
        // Sending fails if the coordinator no longer receives reports. In that case, the report isn't needed.
        let _ = self.reports.send(Report { thread: self.thread, span: self.span, recorder, last });
    }

    /// Returns the number of TLS handshakes since the last call.
    fn new_handshakes(&mut self) -> Option<TlsHandshakes> {
        let all = self.protocol.tls_handshakes()?;
        let all = TlsHandshakes { full: all.full, resumed: all.resumed, cipher: all.cipher };
        let before = std::mem::replace(&mut self.handshakes_reported, all);
        Some(TlsHandshakes { full: all.full - before.full, resumed: all.resumed - before.resumed, cipher: all.cipher })
    }
}
