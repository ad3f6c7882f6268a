//! Keeps a few complete responses from a load.
//!
//! The caller requests samples at regular intervals. For each sample, the sampler keeps the next response to one kind of request. The kinds
//! take turns.

use crate::figures::sample::{SAMPLE_BYTES_MAX, Sample};
use crate::request::kind::RequestKind;

/// Limits on the number and the total size of the samples of one thread. Sampling ends when either limit is reached.
const SAMPLES_MAX: usize = 1000;
const BYTES_MAX: usize = 4 << 20;

/// The part of a sampled response that has arrived so far.
pub struct Kept {
    kind: u16,
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
    /// The kinds of requests to sample. These are the kinds whose bodies the load generator doesn't check itself, or all kinds if it checks
    /// every body.
    kinds: Vec<u16>,
    turn: usize,
    armed: Option<u16>,
    kept: Vec<Kept>,
    /// Number and total size of all responses kept so far.
    count: usize,
    bytes: usize,
}

impl Sampler {
    pub fn new(kinds: &[RequestKind]) -> Self {
        let all_are_checked = kinds.iter().all(|kind| kind.expectation.checks_body());
        let sampled = kinds.iter().enumerate().filter(|(_, kind)| all_are_checked || !kind.expectation.checks_body());
        Self { kinds: sampled.map(|(index, _)| index as u16).collect(), ..Self::default() }
    }

    /// Selects the kind of request whose next response is kept. Returns `None` if a limit has been reached.
    pub fn arm(&mut self) -> Option<u16> {
        if self.kinds.is_empty() || self.count >= SAMPLES_MAX || self.bytes >= BYTES_MAX {
            return None;
        }
        // If no response of the previously selected kind has arrived yet, that kind stays selected.
        if self.armed.is_none() {
            self.armed = Some(self.kinds[self.turn]);
            self.turn = (self.turn + 1) % self.kinds.len();
        }
        self.armed
    }

    /// Returns whether the next response of this kind is to be kept.
    #[inline]
    pub fn wants(&self, kind: u16) -> bool {
        self.armed == Some(kind)
    }

    /// Starts keeping the response that begins with this head, if its kind is selected.
    pub fn begin(&mut self, kind: u16, status: u16, head: &[u8]) -> Option<Box<Kept>> {
        if !self.wants(kind) {
            return None;
        }
        self.armed = None;
        Some(Box::new(Kept { kind, status, head: head.to_vec(), body: Vec::new(), truncated: false }))
    }

    pub fn keep(&mut self, kept: Kept) {
        self.count += 1;
        self.bytes += kept.head.len() + kept.body.len();
        self.kept.push(kept);
    }

    pub fn take(&mut self) -> Vec<Sample> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let sample = |kept: Kept| Sample {
            request: kept.kind,
            status: kept.status,
            head: text(&kept.head),
            body: text(&kept.body),
            truncated: kept.truncated,
        };
        self.kept.drain(..).map(sample).collect()
    }
}
