//! What a worker does as time passes: start, cut slices, detect late requests and stop.

use std::sync::atomic::Ordering;

use super::connection::State;
use super::cost::Cost;
use super::{Final, Report, Worker};
use crate::figures::recorder::{Recorder, Sent};
use crate::protocol::Protocol;
use crate::time::clock;
use crate::time::window::{Phase, Slice};

/// How often a worker checks for late responses, connections to set up and a request to stop.
const SWEEP_NS: u64 = 20_000_000;
/// The same, before the run starts.
const SWEEP_EARLY_NS: u64 = 1_000_000;

impl<P: Protocol> Worker<P> {
    pub(super) fn running(&self) -> bool {
        self.slice.phase != Phase::Connect && self.done.is_none()
    }

    /// Does everything that is due. Afterwards, the engine drains `to_close`, `to_open` and `to_flush`, in this order.
    pub fn tick(&mut self, now_ns: u64) {
        self.cut_slices(now_ns);
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
        self.wake_ns = self.slice.end_ns.min(self.next_sweep_ns).min(self.pacing.wake_ns());
    }

    fn sweep(&mut self, now_ns: u64) {
        if self.shared.stop.load(Ordering::Relaxed) {
            self.finish(now_ns);
            return;
        }
        for index in 0..self.connections.len() as u32 {
            self.time_out(index, now_ns);
            self.open_if_due(index, now_ns);
        }
        if !self.running() {
            self.start_if_told(now_ns);
        }
        self.sample_if_due(now_ns);
    }

    fn sample_if_due(&mut self, now_ns: u64) {
        if self.slice.phase == Phase::Measure && self.limits.sample_every_ns < u64::MAX && now_ns >= self.next_sample_ns {
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

    /// Ends each slice whose time is over. Cheap in the common case that there is none.
    #[inline]
    pub(super) fn cut_slices(&mut self, now_ns: u64) {
        if now_ns >= self.slice.end_ns {
            self.cut_slices_slowly(now_ns);
        }
    }

    #[cold]
    fn cut_slices_slowly(&mut self, now_ns: u64) {
        while now_ns >= self.slice.end_ns && self.done.is_none() {
            let next = self.shared.window.get().and_then(|window| window.next(&self.slice));
            let Some(next) = next else {
                self.finish(self.slice.end_ns);
                return;
            };
            self.hand_over(None);
            self.enter(next);
        }
    }

    /// Begins a slice. In an open loop, measured slices count only requests that were due within the window.
    fn enter(&mut self, slice: Slice) {
        if slice.phase != self.slice.phase && slice.phase == Phase::Measure {
            self.note_measure_start(slice.start_ns);
        }
        self.slice = slice;
        self.recorder.due_from_ns = self.due_from_ns();
    }

    fn due_from_ns(&self) -> u64 {
        match self.shared.window.get() {
            Some(window) if self.slice.phase == Phase::Measure && self.pacing.load.is_open() => window.measure_start_ns,
            _ => 0,
        }
    }

    fn note_measure_start(&mut self, start_ns: u64) {
        self.cost_at_measure = self.cost();
        self.parser_at_measure = self.protocol.parser_counts();
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
        self.cut_slices(now_ns);
        if self.done.is_none() {
            self.finish(now_ns);
        }
    }

    fn finish(&mut self, end_ns: u64) {
        let measured = self.slice.phase == Phase::Measure;
        self.slice = Slice { end_ns: end_ns.min(self.slice.end_ns), ..self.slice };
        let (unfinished, in_flight, unsent) = self.unfinished(end_ns);
        self.hand_over(Some(unfinished));
        let parser = self.protocol.parser_counts();
        self.done = Some(Final {
            in_flight,
            unsent,
            backlog: self.backlog,
            completed: self.completed,
            cost: if measured { self.cost().since(self.cost_at_measure) } else { Cost::default() },
            parser: crate::protocol::ParserCounts {
                fast: parser.fast - self.parser_at_measure.fast,
                full: parser.full - self.parser_at_measure.full,
            },
            tls_handshakes: self.protocol.tls_handshakes(),
            samples: self.protocol.take_samples(),
        });
        // Events after the end must not cut another slice.
        self.slice.end_ns = u64::MAX;
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

    /// Hands the slice over to the coordinator and continues with an empty recorder from the pool.
    fn hand_over(&mut self, unfinished: Option<Recorder>) {
        let recorder = std::mem::replace(&mut self.recorder, self.pool.take());
        self.recorder.due_from_ns = recorder.due_from_ns;
        if self.slice.phase == Phase::Measure {
            self.completed += recorder.completed;
        }
        // This fails if the coordinator has given up, and then the result isn't needed.
        let _ = self.reports.send(Report { slice: self.slice, recorder, unfinished });
    }
}
