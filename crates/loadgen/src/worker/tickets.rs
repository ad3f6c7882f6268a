//! The number of requests that the threads of a closed loop may still send.

use std::sync::atomic::{AtomicU64, Ordering};

/// The requests left in a run that ends after a number of requests. All threads take from the same number, so a slow thread sends fewer
/// requests, and no thread waits long for another at the end.
#[derive(Debug)]
pub struct Tickets(AtomicU64);

impl Tickets {
    pub fn new(requests: u64) -> Self {
        Self(AtomicU64::new(requests))
    }

    /// Takes one request. Returns false if none is left.
    pub fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Gives back requests that the server didn't process, so that they are sent again.
    pub fn give_back(&self, requests: u64) {
        self.0.fetch_add(requests, Ordering::Relaxed);
    }

    pub fn are_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}
