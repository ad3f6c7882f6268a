//! The queue of unsent requests of one connection.

/// Unsent bytes of one connection: positions `start` to `end` in a sequence of requests without gaps. If the first request is partly sent,
/// `start` lies within it.
///
/// If requests differ, the sequence is the connection's own buffer. Otherwise, it is one request repeated without end, and the prepared
/// buffer holds the first repetitions. Subtracting whole requests from both positions then leaves the content unchanged.
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
