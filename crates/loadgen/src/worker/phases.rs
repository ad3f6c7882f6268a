//! What a worker does as time goes by: it starts, cuts slices, looks for what is late, and stops.

use std::sync::atomic::Ordering;

use super::connection::State;
use super::{Effort, Final, Report, Worker};
use crate::clock;
use crate::protocol::Protocol;
use crate::recorder::Recorder;
use crate::window::{Phase, Slice};

/// How often a worker looks for late responses, connections to be set up, and a request to stop.
const SWEEP_NS: u64 = 20_000_000;
/// The same before the run has started.
const SWEEP_EARLY_NS: u64 = 1_000_000;

impl<P: Protocol> Worker<P> {
    pub(super) fn running(&self) -> bool {
        self.slice.phase != Phase::Connect && self.done.is_none()
    }

    /// Does what is due by now. The engine then drains `to_close`, `to_open` and `to_flush`, in this order.
    pub fn tick(&mut self, now_ns: u64) {
        self.cut_slices(now_ns);
        if self.done.is_some() {
            return;
        }
        if now_ns >= self.next_sweep_ns {
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
    }

    fn start_if_told(&mut self, now_ns: u64) {
        if self.attempted == self.connections.len() && !std::mem::replace(&mut self.said_ready, true) {
            self.shared.ready.fetch_add(1, Ordering::Release);
        }
        let Some(window) = self.shared.window.get().copied() else { return };
        if now_ns < window.warmup_start_ns {
            return;
        }
        self.hand_over();
        self.slice = window.first();
        self.note_measure_start();
        self.pacing.start(window.warmup_start_ns);
        for index in 0..self.connections.len() as u32 {
            self.put_to_work(index, now_ns);
        }
    }

    /// Ends each slice whose time is over. Cheap when there is none.
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
            self.hand_over();
            let phase_before = self.slice.phase;
            self.slice = next;
            if next.phase != phase_before {
                self.note_measure_start();
            }
        }
    }

    fn note_measure_start(&mut self) {
        if self.slice.phase == Phase::Measure {
            self.cpu_at_measure_ns = clock::thread_cpu_ns();
            self.effort_at_measure = self.effort;
            self.parser_at_measure = self.protocol.parser_counts();
            self.completed = 0;
        }
    }

    /// Ends the run early, where the engine cannot go on.
    pub fn give_up(&mut self, now_ns: u64) {
        self.cut_slices(now_ns);
        if self.done.is_none() {
            self.finish(now_ns);
        }
    }

    fn finish(&mut self, end_ns: u64) {
        let measured = self.slice.phase == Phase::Measure;
        self.slice = Slice { end_ns: end_ns.min(self.slice.end_ns), ..self.slice };
        self.hand_over();
        let parser = self.protocol.parser_counts();
        self.done = Some(Final {
            in_flight: self
                .connections
                .iter()
                .filter(|connection| connection.state == State::Open)
                .map(|connection| u64::from(connection.flight.count))
                .sum(),
            unsent: self.pacing.count_unsent(end_ns),
            completed: self.completed,
            cpu_ns: if measured { clock::thread_cpu_ns() - self.cpu_at_measure_ns } else { 0 },
            effort: if measured { self.effort.since(self.effort_at_measure) } else { Effort::default() },
            parser: crate::protocol::ParserCounts {
                fast: parser.fast - self.parser_at_measure.fast,
                full: parser.full - self.parser_at_measure.full,
            },
        });
        // Whatever comes after the end must not look for a next slice.
        self.slice.end_ns = u64::MAX;
    }

    /// Gives the slice to the coordinator and goes on with an empty recorder: one that came back, unless the coordinator is behind.
    fn hand_over(&mut self) {
        let recorder = std::mem::replace(&mut self.recorder, self.pool.take());
        // The coordinator may have given up; then nobody wants the figures.
        let _ = self.reports.send(Report { slice: self.slice, recorder });
    }

    #[inline]
    pub(super) fn recorder_at(&mut self, now_ns: u64) -> &mut Recorder {
        self.cut_slices(now_ns);
        &mut self.recorder
    }
}
