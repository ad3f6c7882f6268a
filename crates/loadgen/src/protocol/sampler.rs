//! Keeps a few complete responses from a load.
//!
//! The caller requests samples at regular intervals. For each sample, the sampler keeps the next response to a request of one part of the
//! load. The parts take turns.

use std::collections::BTreeSet;

use crate::figures::sample::{SAMPLE_BYTES_MAX, Sample};
use crate::request::kind::Awaited;

/// Limits on the number and the total size of the samples of one thread. Sampling ends when either limit is reached.
const SAMPLES_MAX: usize = 1000;
const BYTES_MAX: usize = 4 << 20;

/// The part of a sampled response that has arrived so far.
pub struct Kept {
    /// Index of the request.
    request: u32,
    status: u16,
    head: Vec<u8>,
    body: Vec<u8>,
    truncated: bool,
}

impl Kept {
    pub fn take_in(&mut self, piece: &[u8]) {
        let room = SAMPLE_BYTES_MAX - self.body.len();
        self.truncated |= piece.len() > room;
        self.body.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

#[derive(Default)]
pub struct Sampler {
    /// The parts of the load to sample. These are the parts with bodies that the load generator doesn't check itself, or all parts if it
    /// checks every body.
    parts: Vec<u16>,
    turn: usize,
    armed: Option<u16>,
    kept: Vec<Kept>,
    /// Number and total size of all responses kept so far.
    count: usize,
    bytes: usize,
}

impl Sampler {
    pub fn new(awaited: &[Awaited]) -> Self {
        let all_are_checked = awaited.iter().all(|response| response.expectation.checks_body());
        let sampled = awaited.iter().filter(|response| all_are_checked || !response.expectation.checks_body());
        let parts: BTreeSet<_> = sampled.map(|response| response.part).collect();
        Self { parts: parts.into_iter().collect(), ..Self::default() }
    }

    /// Selects the part of the load whose next response is kept. Returns `None` if a limit has been reached.
    pub fn arm(&mut self) -> Option<u16> {
        if self.parts.is_empty() || self.count >= SAMPLES_MAX || self.bytes >= BYTES_MAX {
            return None;
        }
        // If no response of the previously selected part has arrived yet, that part stays selected.
        if self.armed.is_none() {
            self.armed = Some(self.parts[self.turn]);
            self.turn = (self.turn + 1) % self.parts.len();
        }
        self.armed
    }

    /// Returns whether the next response to a request of this part is to be kept.
    #[inline]
    pub fn wants(&self, part: u16) -> bool {
        self.armed == Some(part)
    }

    /// Starts keeping the response that begins with this head, if the part of its request is selected. `request` is the request's index.
    pub fn begin(&mut self, request: u32, part: u16, status: u16, head: &[u8]) -> Option<Box<Kept>> {
        if !self.wants(part) {
            return None;
        }
        self.armed = None;
        Some(Box::new(Kept { request, status, head: head.to_vec(), body: Vec::new(), truncated: false }))
    }

    pub fn keep(&mut self, kept: Kept) {
        self.count += 1;
        self.bytes += kept.head.len() + kept.body.len();
        self.kept.push(kept);
    }

    pub fn take(&mut self) -> Vec<Sample> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let sample = |kept: Kept| Sample {
            request: kept.request,
            status: kept.status,
            head: text(&kept.head),
            body: text(&kept.body),
            truncated: kept.truncated,
        };
        self.kept.drain(..).map(sample).collect()
    }
}
