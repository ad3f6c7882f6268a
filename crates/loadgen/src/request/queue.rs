//! The queue of unsent requests of one connection.

/// The unsent bytes of one connection. They are the positions `start` to `end` in a gapless sequence of requests. If the first unsent
/// request has been sent in part, `start` lies within this request.
///
/// If the requests differ, each connection stores its sequence in its own buffer. If all requests are identical, the sequence is one
/// request repeated without end, and a buffer prepared in advance holds the first repetitions. Both positions can then be reduced by the
/// length of whole requests without changing the bytes between them.
#[derive(Debug, Default)]
pub struct Queue {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) own: Vec<u8>,
}

impl Queue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns the number of unsent bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.end - self.start
    }
}
