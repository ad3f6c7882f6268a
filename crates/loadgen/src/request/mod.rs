//! The requests to send: their correct responses, their order and the parts of the load that they belong to.

pub mod expectation;
pub mod kind;
pub mod queue;

use std::collections::HashMap;
use std::sync::Arc;

use crate::random::Random;
use kind::{Awaited, Placeholder, RANDOM_DIGITS, RequestKind, SEQUENCE_DIGITS};
use queue::Queue;

/// Maximum size of the buffer that holds prepared copies of a request. If the request is small, the buffer holds as many copies as can be
/// queued on one connection, so that a pipeline of requests is sent in one piece. If the request is large, the buffer holds fewer copies,
/// but at least one.
const PREPARED_BYTES_MAX: usize = 64 * 1024;
/// Number of bytes on the tape between a request that is queued and one that is loaded into the CPU's cache. A tape is often larger than the
/// cache, and the kernel reads each request only once in each round.
const TAPE_BYTES_AHEAD: usize = 1024;
/// Maximum size of the tape of requests. If the requests in their whole order are longer, each connection copies its requests.
const TAPE_BYTES_MAX: usize = 64 << 20;

/// A part of the load: all requests with the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    /// Sum of the weights of its requests.
    pub weight: u32,
}

/// Where connections take the bytes of their requests from.
#[derive(Clone, Debug)]
enum Source {
    /// Copies of the only request, back to back.
    Copies(Arc<[u8]>),
    /// All requests in the order in which they are sent, back to back.
    Tape(Tape),
    /// The requests themselves, which every connection copies. They have placeholders, or the tape would be too long.
    Requests,
}

/// Requests in the order in which they are sent. After the last one, the tape repeats the first ones, so that a pipeline of requests that
/// begins near the end is also in one piece.
#[derive(Clone, Debug)]
struct Tape {
    bytes: Arc<[u8]>,
    /// The place of each request, and then the end of the tape.
    places: Arc<[Place]>,
}

/// Where a request begins on the tape, and the request's index. The two are together, because they are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    start: u32,
    kind: u32,
}

/// The requests that one thread sends, and their order.
#[derive(Clone, Debug)]
pub struct Requests {
    kinds: Arc<[RequestKind]>,
    parts: Arc<[Part]>,
    awaited: Arc<[Awaited]>,
    /// For each request, the index of its response in `awaited`. There are fewer responses than requests, so they stay in the CPU's cache.
    awaited_of: Arc<[u32]>,
    source: Source,
    /// Maximum number of requests in flight on one connection.
    depth: usize,
    /// Indices of the requests in the order in which they are sent. The sequence repeats.
    turns: Arc<[u32]>,
    turn: usize,
    sequence: u64,
    sequence_step: u64,
    random: Random,
}

impl Requests {
    /// Creates the requests for a load. `depth` is the maximum number of requests in flight on one connection.
    pub fn new(kinds: Vec<RequestKind>, weights: &[u32], depth: u16) -> Self {
        let depth = usize::from(depth);
        let (parts, awaited, awaited_of) = parts_and_responses(&kinds);
        let turns: Arc<[u32]> = turns(weights).into();
        let source = source(&kinds, &turns, depth);
        let (kinds, parts, awaited, awaited_of) = (kinds.into(), parts.into(), awaited.into(), awaited_of.into());
        Self { kinds, parts, awaited, awaited_of, source, depth, turns, turn: 0, sequence: 0, sequence_step: 1, random: Random::new(0) }
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

    /// Returns what to do with the response to the request with this index.
    #[inline]
    pub fn awaited(&self, index: u32) -> &Awaited {
        match &*self.awaited {
            [only] => only,
            several => &several[self.awaited_of[index as usize] as usize],
        }
    }

    /// Returns what to do with the responses to all requests, without duplicates.
    pub fn all_awaited(&self) -> &[Awaited] {
        &self.awaited
    }

    /// Returns the parts that need separate statistics. There are none if all requests belong to the same part.
    pub fn parts(&self) -> &[Part] {
        if self.parts.len() > 1 { &self.parts } else { &[] }
    }

    /// Returns whether the output is in memory that never changes.
    pub fn are_stable(&self) -> bool {
        match &self.source {
            Source::Copies(_) | Source::Tape(_) => true,
            Source::Requests => false,
        }
    }

    /// Returns the maximum total size of the requests in flight on one connection, in bytes. Returns `usize::MAX` if the output isn't
    /// stable.
    pub fn in_flight_bytes_max(&self) -> usize {
        let longest = self.kinds.iter().map(|kind| kind.bytes.len()).max().unwrap_or(0);
        if self.are_stable() { self.depth.saturating_mul(longest) } else { usize::MAX }
    }

    /// Appends the next request to the queue and returns its index.
    #[inline]
    pub fn queue_next(&mut self, queue: &mut Queue) -> u32 {
        match &self.source {
            Source::Copies(_) => {
                queue.end += self.kinds[0].bytes.len();
                0
            }
            Source::Tape(tape) => {
                if self.turn >= self.turns.len() && (queue.is_empty() || self.turn + 1 == tape.places.len()) {
                    self.turn %= self.turns.len(); // leave the repetition
                }
                let [place, next] = [tape.places[self.turn], tape.places[self.turn + 1]];
                let place_range = place.start as usize..next.start as usize;
                std::hint::black_box(tape.bytes.get(place_range.end + TAPE_BYTES_AHEAD).copied());
                queue.append(place_range);
                self.turn += 1;
                place.kind
            }
            Source::Requests => self.write_next(queue),
        }
    }

    /// Returns bytes from the front of the queue. The result may not include the whole queue if requests are large, or if they are apart on
    /// the tape. It is empty only if the queue is empty.
    #[inline]
    pub fn output<'a>(&'a self, queue: &'a Queue) -> &'a [u8] {
        let row = match &self.source {
            Source::Copies(row) => row,
            Source::Tape(tape) => &tape.bytes,
            Source::Requests => &queue.own[..],
        };
        &row[queue.start..queue.end.min(row.len())]
    }

    /// Removes the first `count` bytes from the queue.
    #[inline]
    pub fn sent(&self, queue: &mut Queue, count: usize) {
        queue.start += count;
        debug_assert!(queue.start <= queue.end);
        if queue.is_empty() {
            queue.continue_later();
            queue.own.clear();
        } else if let Source::Copies(_) = self.source {
            let whole = queue.start - queue.start % self.kinds[0].bytes.len();
            queue.start -= whole;
            queue.end -= whole;
        } else if !queue.own.is_empty() && queue.start >= queue.bytes() {
            // This moves no more bytes than were sent since the last move, so the average cost per byte is constant.
            queue.own.drain(..queue.start);
            queue.end -= queue.start;
            queue.start = 0;
        }
    }

    /// Returns the index of the next request.
    pub fn next_kind(&mut self) -> u32 {
        let index = self.turns[self.turn];
        self.turn = if self.turn + 1 == self.turns.len() { 0 } else { self.turn + 1 };
        index
    }

    fn write_next(&mut self, queue: &mut Queue) -> u32 {
        let index = self.next_kind();
        let kind = &self.kinds[index as usize];
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

/// Chooses where connections take the bytes of their requests from.
fn source(kinds: &[RequestKind], turns: &[u32], depth: usize) -> Source {
    if kinds.iter().any(|kind| !kind.placeholders.is_empty() || kind.structured.is_some()) {
        return Source::Requests;
    }
    if let [only] = kinds {
        // Make one more copy than there can be requests in flight. The queue may also contain the rest of a request that was answered
        // early.
        let copies = (PREPARED_BYTES_MAX / only.bytes.len().max(1)).clamp(1, depth + 1);
        return Source::Copies(only.bytes.repeat(copies).into());
    }
    tape(kinds, turns, depth).map_or(Source::Requests, Source::Tape)
}

/// Returns the tape of these requests, or `None` if it would be too long.
fn tape(kinds: &[RequestKind], turns: &[u32], depth: usize) -> Option<Tape> {
    let order = turns.iter().cycle().take(turns.len() + depth - 1);
    let length: usize = order.clone().map(|kind| kinds[*kind as usize].bytes.len()).sum();
    if length > TAPE_BYTES_MAX {
        return None;
    }
    let (mut bytes, mut places) = (Vec::with_capacity(length), Vec::with_capacity(turns.len() + depth));
    for kind in order {
        places.push(Place { start: bytes.len() as u32, kind: *kind });
        bytes.extend_from_slice(&kinds[*kind as usize].bytes);
    }
    places.push(Place { start: bytes.len() as u32, kind: 0 });
    Some(Tape { bytes: bytes.into(), places: places.into() })
}

/// Fills `room` with the lowest digits of `value` in this base.
fn write_digits(room: &mut [u8], mut value: u64, base: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(value % base) as usize];
        value /= base;
    }
}

/// Returns the parts in the order in which their names first occur, the responses without duplicates, and for each request the index of its
/// response.
fn parts_and_responses(kinds: &[RequestKind]) -> (Vec<Part>, Vec<Awaited>, Vec<u32>) {
    let (mut parts, mut awaited): (Vec<Part>, Vec<Awaited>) = Default::default();
    let (mut part_of, mut awaited_of) = (HashMap::new(), HashMap::new());
    let indices = kinds.iter().map(|kind| {
        let part = *part_of.entry(&kind.name).or_insert_with(|| {
            parts.push(Part { name: kind.name.clone(), weight: 0 });
            parts.len() - 1
        });
        parts[part].weight += kind.weight;
        *awaited_of.entry((part, kind.method_kind, kind.expectation.key())).or_insert_with(|| {
            awaited.push(Awaited { part: part as u16, method_kind: kind.method_kind, expectation: kind.expectation.clone() });
            awaited.len() as u32 - 1
        })
    });
    let indices = indices.collect();
    (parts, awaited, indices)
}

/// Returns a sequence of indices. Each index occurs as many times as its weight specifies, evenly spread: its `n` occurrences are at the
/// centers of `n` equal sections of the sequence. The earlier index comes first if two occurrences coincide.
fn turns(weights: &[u32]) -> Vec<u32> {
    let centers = |weight: u32| (0..weight).map(move |count| (f64::from(count) + 0.5) / f64::from(weight));
    let mut turns: Vec<_> = (0u32..).zip(weights).flat_map(|(index, weight)| centers(*weight).map(move |center| (center, index))).collect();
    turns.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    turns.into_iter().map(|(_, index)| index).collect()
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
    fn requests_with_the_same_name_are_one_part() {
        let names = ["a", "b", "a"].map(|name| fixed("x").named(name, 2));
        let requests = Requests::new(names.to_vec(), &[2, 2, 2], 1);
        let part = |name: &str, weight| Part { name: name.to_owned(), weight };
        assert_eq!(requests.parts(), [part("a", 4), part("b", 2)]);
        assert_eq!((0..3).map(|index| requests.awaited(index).part).collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!(requests.all_awaited().len(), 2);
        assert!(Requests::new(vec![fixed("x"), fixed("y")], &[1, 1], 1).parts().is_empty());
    }

    #[test]
    fn small_requests_are_prepared_repeatedly_and_large_ones_once() {
        let prepared = |length: usize, depth| {
            let requests = Requests::new(vec![fixed(&"x".repeat(length))], &[1], depth);
            let Source::Copies(bytes) = &requests.source else { panic!("{:?}", requests.source) };
            (bytes.len(), requests.in_flight_bytes_max())
        };
        assert_eq!(prepared(10 << 20, 64), (10 << 20, 640 << 20));
        assert_eq!(prepared(100, 16), (1700, 1600));
    }

    #[test]
    fn different_requests_are_on_a_tape_unless_it_would_be_too_long() {
        let requests = |length: usize, weight, depth| {
            let kinds = vec![fixed(&"x".repeat(length)), fixed("y")];
            Requests::new(kinds, &[weight, 1], depth)
        };
        let short = requests(10, 2, 1);
        let Source::Tape(tape) = &short.source else { panic!("{:?}", short.source) };
        let places: Vec<_> = tape.places.iter().map(|place| (place.start, place.kind)).collect();
        assert_eq!((&tape.bytes[..], &places[..]), (&b"xxxxxxxxxxyxxxxxxxxxx"[..], &[(0, 0), (10, 1), (11, 0), (21, 0)][..]));
        assert_eq!((short.are_stable(), short.in_flight_bytes_max()), (true, 10));
        assert_eq!((requests(10, 2, 3).are_stable(), requests(10, 2, 3).in_flight_bytes_max()), (true, 30));
        let long = requests(1 << 20, 100, 1);
        assert!(matches!(long.source, Source::Requests) && !long.are_stable() && long.in_flight_bytes_max() == usize::MAX);
    }

    #[test]
    fn a_pipeline_of_different_requests_is_in_one_piece() {
        for (names, depth) in [("abc", 2), ("ab", 7), ("abcde", 5)] {
            let kinds: Vec<_> = names.split_inclusive(|_| true).map(fixed).collect();
            let mut requests = Requests::new(kinds.clone(), &vec![1; kinds.len()], depth);
            let mut order = names.chars().cycle();
            for burst in (1..=depth).cycle().take(50) {
                let mut queue = Queue::default();
                (0..burst).for_each(|_| _ = requests.queue_next(&mut queue));
                let expected: String = order.by_ref().take(usize::from(burst)).collect();
                assert_eq!(requests.output(&queue), expected.as_bytes(), "{names}, depth {depth}");
            }
        }
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
                        prop_assert_eq!(kind as usize, number % kinds.len());
                        model.extend_from_slice(&kinds[kind as usize].bytes);
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
                // Small requests are sent in one piece, unless they are apart on the tape, or the queue contains more requests than can be in
                // flight.
                let is_whole = match requests.source {
                    Source::Copies(_) => model.len() <= requests.in_flight_bytes_max() && requests.in_flight_bytes_max() <= 8192,
                    Source::Tape(_) => false,
                    Source::Requests => true,
                };
                if is_whole {
                    prop_assert_eq!(output.len(), model.len());
                }
            }
        }
    }
}
