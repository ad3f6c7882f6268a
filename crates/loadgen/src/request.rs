//! What is sent: each kind of request with what its response must be, and the order in which kinds take turns.

use std::ops::Range;
use std::sync::Arc;

use crate::protocol::http1::MethodKind;
use crate::protocol::http1::body::Expectation;

/// One kind of request.
#[derive(Clone, Debug)]
pub struct RequestKind {
    pub method_kind: MethodKind,
    pub bytes: Arc<[u8]>,
    pub expectation: Expectation,
}

/// All kinds of requests, ready to be sent by one thread.
#[derive(Clone, Debug)]
pub struct Requests {
    kinds: Arc<[RequestKind]>,
    /// The only kind, as often as can be in flight on a connection, back to back.
    prepared: Arc<[u8]>,
}

impl Requests {
    /// `depth` is the largest number of requests in flight on one connection.
    pub fn new(kind: RequestKind, depth: u16) -> Self {
        let prepared = kind.bytes.repeat(usize::from(depth)).into();
        Self { kinds: Arc::new([kind]), prepared }
    }

    pub fn kinds(&self) -> &[RequestKind] {
        &self.kinds
    }

    /// The buffer that `queue_next` cuts its ranges from, if it never changes.
    pub fn prepared(&self) -> Option<&[u8]> {
        Some(&self.prepared)
    }

    /// Appends the next request to `queued` and returns its kind.
    #[inline]
    pub fn queue_next(&mut self, queued: &mut Range<usize>, _own: &mut Vec<u8>) -> u16 {
        let length = self.kinds[0].bytes.len();
        if queued.end + length > self.prepared.len() {
            // All copies are alike: what is left of the first one can as well be taken from further in front.
            let shift = queued.start / length * length;
            *queued = queued.start - shift..queued.end - shift;
        }
        queued.end += length;
        0
    }
}
