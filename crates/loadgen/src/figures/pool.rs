//! A pool of reusable recorders.

use std::sync::Mutex;

use super::recorder::Recorder;
use crate::time::coordinator_pauses::Pauses;

/// A pool of empty recorders. The load threads and the coordinator reuse them, so that a long run takes no more memory than a short one.
#[derive(Debug)]
pub struct Pool {
    open_loop: bool,
    parts: usize,
    pauses: Pauses,
    spares: Mutex<Vec<Recorder>>,
}

impl Pool {
    /// Creates a pool of `size` recorders with `parts` parts each. `pauses` are the pauses between histograms while the pool empties a
    /// recorder.
    pub fn new(open_loop: bool, parts: usize, size: usize, pauses: Pauses) -> Self {
        Self { open_loop, parts, pauses, spares: Mutex::new((0..size).map(|_| Recorder::new(open_loop, parts)).collect()) }
    }

    /// Returns an empty recorder. If the pool is empty because the coordinator has fallen behind, allocates a new one.
    pub fn take(&self) -> Recorder {
        let spare = self.spares().pop();
        spare.unwrap_or_else(|| Recorder::new(self.open_loop, self.parts))
    }

    pub fn give_back(&self, mut recorder: Recorder) {
        recorder.reset(self.pauses);
        self.spares().push(recorder);
    }

    fn spares(&self) -> std::sync::MutexGuard<'_, Vec<Recorder>> {
        self.spares.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
