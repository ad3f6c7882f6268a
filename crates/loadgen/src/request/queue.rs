//! The queue of unsent requests on one connection.

use std::collections::VecDeque;
use std::ops::Range;

/// The unsent bytes of one connection: positions `start` to `end` in a sequence of requests without gaps, and then the ranges in `later`. If
/// the first of these requests has been partly sent, `start` is inside this request.
///
/// If all requests are identical, the sequence repeats one request forever, and a shared buffer contains the first repetitions. Reducing
/// both positions by a multiple of the request's length then leaves the bytes between them unchanged.
///
/// If the requests differ, the positions refer to a shared tape with all requests. Requests that are apart on the tape are in `later`. If
/// there is no tape, each connection stores its sequence in its own buffer.
#[derive(Debug, Default)]
pub struct Queue {
    pub(super) start: usize,
    pub(super) end: usize,
    later: VecDeque<Range<usize>>,
    pub(super) own: Vec<u8>,
}

impl Queue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Appends a request at this place on the tape.
    #[inline]
    pub(super) fn append(&mut self, place: Range<usize>) {
        if self.is_empty() {
            (self.start, self.end) = (place.start, place.end);
        } else if self.later.is_empty() && self.end == place.start {
            self.end = place.end;
        } else {
            self.append_apart(place);
        }
    }

    #[cold]
    fn append_apart(&mut self, place: Range<usize>) {
        match self.later.back_mut() {
            Some(last) if last.end == place.start => last.end = place.end,
            _ => self.later.push_back(place),
        }
    }

    /// Continues with the next range after the first one has been sent.
    #[inline]
    pub(super) fn continue_later(&mut self) {
        let next = if self.later.is_empty() { None } else { self.later.pop_front() };
        (self.start, self.end) = next.map_or((0, 0), |range| (range.start, range.end));
    }

    /// Returns the number of unsent bytes.
    pub fn bytes(&self) -> usize {
        self.end - self.start + self.later.iter().map(Range::len).sum::<usize>()
    }
}
