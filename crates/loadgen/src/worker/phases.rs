//! What a worker does as time passes: start, cut spans, detect late requests, await the last responses and stop.

use std::sync::atomic::Ordering;

use super::connection::State;
use super::cost::Cost;
use super::{Final, Report, Worker};
use crate::figures::recorder::{Recorder, Sent};
use crate::protocol::Protocol;
use crate::time::clock;
use crate::time::window::{Phase, Span};

/// How often a worker checks for late responses, connections to set up and a request to stop.
const SWEEP_NS: u64 = 20_000_000;
/// The same, before the run starts.
const SWEEP_EARLY_NS: u64 = 1_000_000;
/// How much longer than the timeout a drain may last.
const DRAIN_SLACK_NS: u64 = 1_000_000_000;

impl<P: Protocol> Worker<P> {
    /// Returns whether requests are being sent.
    pub(super) fn running(&self) -> bool {
        matches!(self.span.phase, Phase::Warmup | Phase::Measure) && self.done.is_none()
    }

    /// Does everything that is due. Afterwards, the engine drains `to_close`, `to_open` and `to_flush`, in this order.
    pub fn tick(&mut self, now_ns: u64) {
        self.cut_spans(now_ns);
        if self.done.is_some() {
            return;
        }
        if now_ns >= self.next_sweep_ns {
            self.attention.note_sweep(self.next_sweep_ns, now_ns, clock::thread_cpu_ns());
            self.shortest.turn();
            self.sweep(now_ns);
            self.next_sweep_ns = now_ns + if self.running() { SWEEP_NS } else { SWEEP_EARLY_NS };
        }
        if self.running() {
            self.dispatch(now_ns);
        }
        let next_send_ns = if self.running() { self.pacing.wake_ns() } else { u64::MAX };
        self.wake_ns = self.span.end_ns.min(self.next_sweep_ns).min(next_send_ns);
    }

    fn sweep(&mut self, now_ns: u64) {
        if self.shared.stop.load(Ordering::Relaxed) {
            self.finish(now_ns, false);
            return;
        }
        for index in 0..self.connections.len() as u32 {
            self.time_out(index, now_ns);
            self.open_if_due(index, now_ns);
        }
        match self.span.phase {
            Phase::Connect => self.start_if_told(now_ns),
            Phase::Measure => self.sample_if_due(now_ns),
            Phase::Drain if !self.awaits_responses() => self.conclude(),
            Phase::Warmup | Phase::Drain => {}
        }
    }

    fn sample_if_due(&mut self, now_ns: u64) {
        if self.limits.sample_every_ns < u64::MAX && now_ns >= self.next_sample_ns {
            self.next_sample_ns = now_ns + self.limits.sample_every_ns;
            self.protocol.sample_next();
        }
    }

    fn start_if_told(&mut self, now_ns: u64) {
        if self.attempted == self.connections.len() && !std::mem::replace(&mut self.said_ready, true) {
            self.shared.ready.fetch_add(1, Ordering::Release);
        }
        let Some(window) = self.shared.window.get().copied() else { return };
        if now_ns < window.warmup_start_ns {
            return;
        }
        self.hand_over(None);
        self.enter(window.first());
        self.pacing.start(window.warmup_start_ns);
        for index in 0..self.connections.len() as u32 {
            self.put_to_work(index, now_ns);
        }
    }

    /// Ends each span whose time is over. Cheap in the common case that there is none.
    #[inline]
    pub(super) fn cut_spans(&mut self, now_ns: u64) {
        if now_ns >= self.span.end_ns {
            self.cut_spans_slowly(now_ns);
        }
    }

    #[cold]
    fn cut_spans_slowly(&mut self, now_ns: u64) {
        while now_ns >= self.span.end_ns && self.done.is_none() {
            let next = self.shared.window.get().and_then(|window| window.next(&self.span));
            let Some(next) = next else {
                self.finish(self.span.end_ns, true);
                return;
            };
            self.hand_over(None);
            self.enter(next);
        }
    }

    /// Begins a span. In an open loop, measured spans count only requests that were due within the window.
    fn enter(&mut self, span: Span) {
        if span.phase != self.span.phase && span.phase == Phase::Measure {
            self.note_measure_start(span.start_ns);
        }
        self.span = span;
        self.recorder.due_from_ns = self.due_from_ns();
    }

    fn due_from_ns(&self) -> u64 {
        match self.shared.window.get() {
            Some(window) if matches!(self.span.phase, Phase::Measure | Phase::Drain) && self.pacing.load.is_open() => {
                window.measure_start_ns
            }
            _ => 0,
        }
    }

    fn note_measure_start(&mut self, start_ns: u64) {
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

    /// Ends the run early because the engine cannot continue.
    pub fn give_up(&mut self, now_ns: u64) {
        self.cut_spans(now_ns);
        if self.done.is_none() {
            self.finish(now_ns, false);
        }
    }

    /// Ends the window, or the drain that follows it.
    ///
    /// If told to, an open loop then awaits the responses to its requests, so that a request without one counts as timed out even if the
    /// window was shorter than the timeout.
    fn finish(&mut self, end_ns: u64, drain: bool) {
        if self.ended.is_none() {
            let measured = self.span.phase == Phase::Measure;
            self.span = Span { end_ns: end_ns.min(self.span.end_ns), ..self.span };
            let parser = self.protocol.parser_counts();
            let ended = Final {
                backlog: self.backlog,
                cost: if measured { self.cost().since(self.cost_at_measure) } else { Cost::default() },
                stalls: self.pacing.is_immediate().then(|| std::mem::take(&mut self.silence).until(end_ns, self.attention.stalled_ns())),
                parser: crate::protocol::ParserCounts {
                    fast: parser.fast - self.parser_at_measure.fast,
                    full: parser.full - self.parser_at_measure.full,
                },
                samples: self.protocol.take_samples(),
                ..Final::default()
            };
            self.ended = Some((ended, end_ns));
            if drain && self.pacing.load.is_open() && self.awaits_responses() {
                self.hand_over(None);
                // Requests time out earlier, unless this thread gets no CPU to notice it.
                let limit_ns = end_ns.saturating_add(self.limits.timeout_ns).saturating_add(DRAIN_SLACK_NS);
                self.enter(Span { phase: Phase::Drain, start_ns: end_ns, end_ns: limit_ns });
                return;
            }
        }
        self.conclude();
    }

    /// Hands over what is left after the end of the window.
    fn conclude(&mut self) {
        let Some((ended, end_ns)) = self.ended.take() else { return };
        let (unfinished, in_flight, unsent) = self.unfinished(end_ns);
        self.hand_over(Some(unfinished));
        self.done = Some(Final { in_flight, unsent, completed: self.completed, tls_handshakes: self.protocol.tls_handshakes(), ..ended });
        // Events after the end must not cut another span.
        self.span.end_ns = u64::MAX;
    }

    /// Returns whether requests of the window are in flight.
    fn awaits_responses(&self) -> bool {
        let from_ns = self.due_from_ns();
        self.requests_in_flight().any(|sent| sent.intended_ns >= from_ns)
    }

    /// Returns the ages of the unfinished requests, how many are in flight, and how many were never sent.
    fn unfinished(&mut self, end_ns: u64) -> (Recorder, u64, u64) {
        let from_ns = self.due_from_ns();
        let (mut ages, mut in_flight, mut unsent) = (Recorder::untouched(self.pacing.load.is_open()), 0, 0);
        for sent in self.requests_in_flight().filter(|sent| sent.intended_ns >= from_ns) {
            ages.unfinished(Some(sent.actual_ns), sent.intended_ns, end_ns);
            in_flight += 1;
        }
        for due_ns in self.pacing.unsent(end_ns).filter(|due_ns| *due_ns >= from_ns) {
            ages.unfinished(None, due_ns, end_ns);
            unsent += 1;
        }
        (ages, in_flight, unsent)
    }

    /// Hands the span over to the coordinator and continues with an empty recorder from the pool.
    fn hand_over(&mut self, unfinished: Option<Recorder>) {
        let recorder = std::mem::replace(&mut self.recorder, self.pool.take());
        self.recorder.due_from_ns = recorder.due_from_ns;
        if self.span.phase == Phase::Measure {
            self.completed += recorder.completed;
        }
        // This fails if the coordinator has given up, and then the result isn't needed.
        let _ = self.reports.send(Report { span: self.span, recorder, unfinished });
    }
}
