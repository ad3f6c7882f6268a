//! The interface through which a run reports its progress.

use crate::time::window::Phase;

/// The progress of a run during one span.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub phase: Phase,
    /// Time since the phase began.
    pub elapsed_s: f64,
    /// Number of requests completed since the phase began; with event streams, number of events.
    pub completed: u64,
    pub errors: u64,
    /// Throughput during this span, in requests or events. The percentiles below cover the same span: latencies or, with event streams,
    /// times between events.
    pub throughput_rps: f64,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
}

/// A summary of one slice, or of a warm-up between slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceSummary {
    /// Number of the slice, counting from 0; `None` for a warm-up.
    pub index: Option<u64>,
    /// Start and end of the window, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    pub end_ns: u64,
    /// Number of correct responses within the window. In an open loop, responses to requests that were due before the window don't count.
    pub completed: u64,
    pub errors: u64,
    pub throughput_rps: f64,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub max_us: Option<f64>,
    /// Time from the end of the window to the last response.
    pub drain_us: f64,
    /// Number of connections opened during the slice.
    pub reopened: u64,
    /// Number of all other correct responses: those during the lead-in and the drain and, in an open loop, those to requests from the
    /// lead-in.
    pub outside: u64,
}

/// A receiver of progress reports.
pub trait Observer {
    /// Reports a warning to the user, in one sentence.
    fn warn(&mut self, message: &str);
    /// Reports that the connections are set up and the load is waiting for its start signal.
    fn ready(&mut self, _connected: u32) {}
    /// Reports that a phase has just begun.
    fn phase(&mut self, phase: Phase);
    fn progress(&mut self, progress: &Progress);
    /// Reports that a slice is over and no request is in flight anymore.
    fn slice(&mut self, _slice: &SliceSummary) {}
    /// Reports that the measured window is over.
    fn done(&mut self);
}
