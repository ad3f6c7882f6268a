//! Progress of a run, and who is told of it.

use crate::time::window::Phase;

/// What happened in one slice of the run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub phase: Phase,
    /// Since the phase began.
    pub elapsed_s: f64,
    /// Since the phase began.
    pub completed: u64,
    pub errors: u64,
    /// Over this slice, as are the percentiles.
    pub throughput_rps: f64,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
}

/// Is told how a run goes.
pub trait Observer {
    /// Something that the user should know, in one sentence.
    fn warn(&mut self, message: &str);
    /// So many connections are set up, and the load waits for its start.
    fn ready(&mut self, _connected: u32) {}
    /// A phase has just begun.
    fn phase(&mut self, phase: Phase);
    fn progress(&mut self, progress: &Progress);
    /// The measured window is over.
    fn done(&mut self);
}
