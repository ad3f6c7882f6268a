//! The queue of unsent requests on one connection.

/// The unsent bytes of one connection: positions `start` to `end` in a sequence of requests without gaps. If the first of these requests
/// has been partly sent, `start` is inside this request.
///
/// If the requests differ, each connection stores its sequence in its own buffer. If all requests are identical, the sequence repeats one
/// request forever, and a shared buffer contains the first repetitions. Reducing both positions by a multiple of the request's length then
/// leaves the bytes between them unchanged.
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
