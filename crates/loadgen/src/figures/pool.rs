//! A pool of reusable recorders.

use std::sync::Mutex;

use super::recorder::Recorder;
use crate::time::coordinator_pauses::Pauses;

/// Empty recorders that circulate between the threads and the coordinator, so that a long run takes no more memory than a short one.
#[derive(Debug)]
pub struct Pool {
    open_loop: bool,
    parts: usize,
    pauses: Pauses,
    spares: Mutex<Vec<Recorder>>,
}

impl Pool {
    /// Creates a pool of `size` recorders with `parts` parts each. When the pool empties a recorder, it pauses between histograms as
    /// `pauses` specifies.
    pub fn new(open_loop: bool, parts: usize, size: usize, pauses: Pauses) -> Self {
        Self { open_loop, parts, pauses, spares: Mutex::new((0..size).map(|_| Recorder::new(open_loop, parts)).collect()) }
    }

    /// Returns an empty recorder. Allocates a new one if the coordinator has fallen behind and the pool is empty.
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
