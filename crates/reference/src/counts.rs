//! Counters shared by all threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use crate::response::Response;

/// Counters that all threads update.
#[derive(Default)]
pub struct Counters {
    pub requests: AtomicU64,
    pub connections: AtomicU64,
    pub pipelined: AtomicU64,
    pub wrong_requests: AtomicU64,
    body_bytes_sent: AtomicU64,
    bytes_sent: AtomicU64,
    in_flight: AtomicI64,
    in_flight_max: AtomicI64,
    first_request: Mutex<Option<String>>,
}

/// A snapshot of the counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub requests: u64,
    pub connections: u64,
    /// Maximum number of requests that waited for a response at the same time.
    pub in_flight_max: i64,
    /// Number of requests that arrived before the response to the previous request on their connection was sent.
    pub pipelined: u64,
    /// Number of requests that have a wrong method, a wrong path or a body, or that aren't HTTP.
    pub wrong_requests: u64,
    pub body_bytes_sent: u64,
    /// Number of bytes sent, including heads and bodies.
    pub bytes_sent: u64,
    /// The head of the first request; empty if there was none.
    pub first_request: String,
}

impl Counters {
    /// Counts a request, whose response is now pending.
    pub fn came(&self, head: &[u8]) {
        if self.requests.fetch_add(1, Relaxed) == 0 {
            *self.first_request.lock().unwrap() = Some(String::from_utf8_lossy(head).into_owned());
        }
        self.owed();
    }

    /// Counts a response as sent. Call this before the write that sends its last bytes. Otherwise, the client could read the counts or send
    /// its next request on another connection before this response is counted.
    pub fn sent(&self, response: &Response) {
        self.bytes_sent.fetch_add(response.bytes.len() as u64, Relaxed);
        self.body_bytes_sent.fetch_add(response.body_bytes as u64, Relaxed);
        self.discarded();
    }

    /// Undoes `sent` for a response that could not be sent completely.
    pub fn unsent(&self, response: &Response) {
        self.bytes_sent.fetch_sub(response.bytes.len() as u64, Relaxed);
        self.body_bytes_sent.fetch_sub(response.body_bytes as u64, Relaxed);
        self.owed();
    }

    /// Counts a response as no longer pending, without any bytes sent.
    pub fn discarded(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    fn owed(&self) {
        let now = self.in_flight.fetch_add(1, Relaxed) + 1;
        self.in_flight_max.fetch_max(now, Relaxed);
    }

    pub fn read(&self) -> Counts {
        Counts {
            requests: self.requests.load(Relaxed),
            connections: self.connections.load(Relaxed),
            in_flight_max: self.in_flight_max.load(Relaxed),
            pipelined: self.pipelined.load(Relaxed),
            wrong_requests: self.wrong_requests.load(Relaxed),
            body_bytes_sent: self.body_bytes_sent.load(Relaxed),
            bytes_sent: self.bytes_sent.load(Relaxed),
            first_request: self.first_request.lock().unwrap().clone().unwrap_or_default(),
        }
    }
}
