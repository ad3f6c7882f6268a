//! Requests that wait on one connection.

/// What waits to be sent on one connection: the bytes from `start` to `end` of a row in which requests stand back to back. A request may be partly
/// sent: then `start` lies within it.
///
/// The row is the connection's own where requests differ. Otherwise it is an endless repetition of the one request, of which the prepared buffer is
/// the beginning; any number of whole requests can then be taken off both positions, and what lies between them stays the same.
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

    /// How many bytes wait.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.end - self.start
    }
}
