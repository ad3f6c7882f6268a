//! The requests to send: their kinds, their correct responses and, in a mix, their order.

pub mod expectation;
pub mod kind;
pub mod queue;

use std::sync::Arc;

use crate::random::Random;
use kind::{Placeholder, RANDOM_DIGITS, RequestKind, SEQUENCE_DIGITS};
use queue::Queue;

/// Maximum size of the buffer that holds prepared copies of a request. If the request is small, the buffer holds as many copies as can be
/// queued on one connection, so that a pipeline of requests is sent in one piece. If the request is large, the buffer holds fewer copies,
/// but at least one.
const PREPARED_BYTES_MAX: usize = 64 * 1024;

/// The requests that one thread sends: their kinds and their order.
#[derive(Clone, Debug)]
pub struct Requests {
    kinds: Arc<[RequestKind]>,
    /// Copies of the request, back to back. `None` if there are several kinds of requests, or if the request has placeholders.
    prepared: Option<Arc<[u8]>>,
    /// Maximum number of requests in flight on one connection.
    depth: usize,
    /// Indices of the kinds in the order in which they are sent. The sequence repeats.
    turns: Arc<[u16]>,
    turn: usize,
    sequence: u64,
    sequence_step: u64,
    random: Random,
}

impl Requests {
    /// Creates the requests for a load. `depth` is the maximum number of requests in flight on one connection.
    pub fn new(kinds: Vec<RequestKind>, weights: &[u32], depth: u16) -> Self {
        let depth = usize::from(depth);
        let prepared = match &kinds[..] {
            [only] if only.placeholders.is_empty() => {
                // Make one more copy than there can be requests in flight. The queue may also contain the rest of a request that was
                // answered early.
                let copies = (PREPARED_BYTES_MAX / only.bytes.len().max(1)).clamp(1, depth + 1);
                Some(only.bytes.repeat(copies).into())
            }
            _ => None,
        };
        let turns = turns(weights).into();
        Self { kinds: kinds.into(), prepared, depth, turns, turn: 0, sequence: 0, sequence_step: 1, random: Random::new(0) }
    }

    /// Returns the requests for one thread. Each thread uses different sequence numbers.
    pub fn of_thread(mut self, thread: u32, threads: u32, seed: u64) -> Self {
        self.sequence = u64::from(thread);
        self.sequence_step = u64::from(threads);
        self.turn = self.turns.len() * thread as usize / threads as usize;
        self.random = Random::of_thread(seed, thread);
        self
    }

    pub fn kinds(&self) -> &[RequestKind] {
        &self.kinds
    }

    /// Returns the number of kinds that need separate statistics. This is 0 if there is only one kind.
    pub fn parts(&self) -> usize {
        if self.kinds.len() > 1 { self.kinds.len() } else { 0 }
    }

    /// Returns whether the output is in memory that never changes.
    #[inline]
    pub fn are_prepared(&self) -> bool {
        self.prepared.is_some()
    }

    /// Returns the maximum total size of the requests in flight on one connection, in bytes. Returns `usize::MAX` if the requests differ.
    pub fn in_flight_bytes_max(&self) -> usize {
        if self.are_prepared() { self.depth.saturating_mul(self.kinds[0].bytes.len()) } else { usize::MAX }
    }

    /// Appends the next request to the queue and returns its kind.
    #[inline]
    pub fn queue_next(&mut self, queue: &mut Queue) -> u16 {
        if !self.are_prepared() {
            return self.write_next(queue);
        }
        queue.end += self.kinds[0].bytes.len();
        0
    }

    /// Returns bytes from the front of the queue. If requests are large, the result may not include the whole queue. The result is empty
    /// only if the queue is empty.
    #[inline]
    pub fn output<'a>(&'a self, queue: &'a Queue) -> &'a [u8] {
        let row = self.prepared.as_deref().unwrap_or(&queue.own);
        &row[queue.start..queue.end.min(row.len())]
    }

    /// Removes the first `count` bytes from the queue.
    #[inline]
    pub fn sent(&self, queue: &mut Queue, count: usize) {
        queue.start += count;
        debug_assert!(queue.start <= queue.end);
        if queue.is_empty() {
            (queue.start, queue.end) = (0, 0);
            queue.own.clear();
        } else if self.are_prepared() {
            let whole = queue.start - queue.start % self.kinds[0].bytes.len();
            queue.start -= whole;
            queue.end -= whole;
        } else if queue.start >= queue.bytes() {
            // This moves no more bytes than were sent since the last move, so the average cost per byte is constant.
            queue.own.drain(..queue.start);
            queue.end -= queue.start;
            queue.start = 0;
        }
    }

    /// Returns the kind of the next request.
    pub fn next_kind(&mut self) -> u16 {
        let index = self.turns[self.turn];
        self.turn = if self.turn + 1 == self.turns.len() { 0 } else { self.turn + 1 };
        index
    }

    fn write_next(&mut self, queue: &mut Queue) -> u16 {
        let index = self.next_kind();
        let kind = &self.kinds[usize::from(index)];
        let start = queue.own.len();
        queue.own.extend_from_slice(&kind.bytes);
        for (offset, placeholder) in &kind.placeholders {
            match placeholder {
                Placeholder::Sequence => write_digits(&mut queue.own[start + offset..][..SEQUENCE_DIGITS], self.sequence, 10),
                Placeholder::Random => write_digits(&mut queue.own[start + offset..][..RANDOM_DIGITS], self.random.next_u64(), 16),
            }
        }
        self.sequence += self.sequence_step;
        queue.end = queue.own.len();
        index
    }
}

/// Fills `room` with the lowest digits of `value` in this base.
fn write_digits(room: &mut [u8], mut value: u64, base: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(value % base) as usize];
        value /= base;
    }
}

/// Returns a sequence of indices. Each index occurs as many times as its weight specifies, evenly spread (nginx's smooth weighted round
/// robin).
fn turns(weights: &[u32]) -> Vec<u16> {
    let total: i64 = weights.iter().map(|weight| i64::from(*weight)).sum();
    let mut credit = vec![0i64; weights.len()];
    (0..total)
        .map(|_| {
            credit.iter_mut().zip(weights).for_each(|(credit, weight)| *credit += i64::from(*weight));
            // Iterate in reverse to find the first of equal maxima, because `max_by_key` returns the last one.
            let index = (0..credit.len()).rev().max_by_key(|index| credit[*index]).unwrap_or(0);
            credit[index] -= total;
            index as u16
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::expectation::Expectation;
    use super::kind::MethodKind;
    use super::*;

    fn fixed(text: &str) -> RequestKind {
        RequestKind::fixed(text.as_bytes().to_vec(), MethodKind::Other, Expectation::default())
    }

    #[test]
    fn turns_are_spread_evenly_by_weight() {
        assert_eq!(turns(&[3, 1]), [0, 0, 1, 0]);
        assert_eq!(turns(&[1, 1]), [0, 1]);
        assert_eq!(turns(&[5]), [0; 5]);
    }

    #[test]
    fn small_requests_are_prepared_repeatedly_and_large_ones_once() {
        let prepared = |length: usize, depth| {
            let requests = Requests::new(vec![fixed(&"x".repeat(length))], &[1], depth);
            (requests.prepared.as_ref().map(|bytes| bytes.len()), requests.in_flight_bytes_max())
        };
        assert_eq!(prepared(10 << 20, 64), (Some(10 << 20), 640 << 20));
        assert_eq!(prepared(100, 16), (Some(1700), 1600));
    }

    #[test]
    fn placeholders_differ_but_have_a_fixed_length() {
        let template = RequestKind::from_template(b"GET /{{seq}}?{{random}} {{x}}", MethodKind::Other, Expectation::default());
        let mut requests = Requests::new(vec![template], &[1], 1).of_thread(1, 4, 7);
        let mut write = || {
            let mut queue = Queue::default();
            requests.queue_next(&mut queue);
            String::from_utf8_lossy(requests.output(&queue)).into_owned()
        };
        let (first, second) = (write(), write());
        assert!(first.starts_with("GET /0000000001?") && second.starts_with("GET /0000000005?"), "{first} {second}");
        assert!(first.ends_with(" {{x}}") && first.len() == second.len());
        assert_ne!(first[16..], second[16..]);
    }

    /// An operation on a queue.
    #[derive(Clone, Debug)]
    enum Event {
        Queue,
        Send(prop::sample::Index),
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let event = prop_oneof![Just(Event::Queue), any::<prop::sample::Index>().prop_map(Event::Send)];
        prop::collection::vec(event, 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Compares the queue with a model, which is a plain vector of bytes. The request lengths are near the values at which the number
        /// of prepared copies changes.
        #[test]
        fn sends_exactly_the_queued_bytes(
            events in events(),
            lengths in prop::collection::vec(prop_oneof![1..40usize, 12_000..14_000usize, 65_000..66_000usize], 1..3),
            depth in 1..6u16,
            template in any::<bool>(),
        ) {
            let kinds: Vec<_> = lengths
                .iter()
                .map(|length| {
                    let text = (0..*length).map(|at| b'a' + (at % 23) as u8).collect::<Vec<_>>();
                    let text = if template { [&text[..], b"{{seq}}"].concat() } else { text };
                    RequestKind::from_template(&text, MethodKind::Other, Expectation::default())
                })
                .collect();
            let mut requests = Requests::new(kinds.clone(), &vec![1; kinds.len()], depth);
            let (mut queue, mut model, mut number) = (Queue::default(), Vec::new(), 0);
            for event in events {
                match event {
                    Event::Queue => {
                        let kind = requests.queue_next(&mut queue);
                        prop_assert_eq!(usize::from(kind), number % kinds.len());
                        model.extend_from_slice(&kinds[usize::from(kind)].bytes);
                        if template {
                            let digits = model.len() - SEQUENCE_DIGITS;
                            model.splice(digits.., format!("{number:010}").into_bytes());
                        }
                        number += 1;
                    }
                    Event::Send(index) => {
                        let output = requests.output(&queue);
                        let count = index.index(output.len() + 1);
                        requests.sent(&mut queue, count);
                        model.drain(..count);
                    }
                }
                prop_assert_eq!(queue.bytes(), model.len());
                prop_assert_eq!(queue.is_empty(), model.is_empty());
                let output = requests.output(&queue);
                prop_assert!(output == &model[..output.len()]);
                prop_assert_eq!(output.is_empty(), model.is_empty());
                // Small requests are sent in one piece, unless the queue contains more requests than can be in flight.
                if !requests.are_prepared() || model.len() <= lengths[0] * usize::from(depth) && requests.in_flight_bytes_max() <= 8192 {
                    prop_assert_eq!(output.len(), model.len());
                }
            }
        }
    }
}
