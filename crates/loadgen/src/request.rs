//! What is sent: each kind of request with what its response must be, and the order in which kinds take turns.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::protocol::http1::MethodKind;
use crate::protocol::http1::body::Expectation;
use crate::schedule::Random;

const SEQUENCE: &[u8] = b"{{seq}}";
const RANDOM: &[u8] = b"{{random}}";
/// Placeholders are replaced by text of one length, so that a template can state its Content-Length.
const SEQUENCE_DIGITS: usize = 10;
const RANDOM_DIGITS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placeholder {
    Sequence,
    Random,
}

/// A request in the form that HTTP/2 needs.
#[derive(Clone, Debug)]
pub struct Structured {
    pub head: http::Request<()>,
    pub body: Bytes,
}

/// One kind of request.
#[derive(Clone, Debug)]
pub struct RequestKind {
    pub method_kind: MethodKind,
    /// As HTTP/1.1 sends it.
    pub bytes: Vec<u8>,
    /// As HTTP/2 sends it, if it is to.
    pub structured: Option<Structured>,
    pub expectation: Expectation,
    /// Where the text of placeholders goes.
    placeholders: Vec<(usize, Placeholder)>,
}

impl RequestKind {
    pub fn fixed(bytes: Vec<u8>, method_kind: MethodKind, expectation: Expectation) -> Self {
        Self { method_kind, bytes, structured: None, expectation, placeholders: Vec::new() }
    }

    /// A request with `{{seq}}` and `{{random}}` in it.
    pub fn from_template(template: &[u8], method_kind: MethodKind, expectation: Expectation) -> Self {
        let (mut bytes, mut placeholders, mut rest) = (Vec::new(), Vec::new(), template);
        while !rest.is_empty() {
            let (kind, name, digits) = match rest {
                _ if rest.starts_with(SEQUENCE) => (Placeholder::Sequence, SEQUENCE, SEQUENCE_DIGITS),
                _ if rest.starts_with(RANDOM) => (Placeholder::Random, RANDOM, RANDOM_DIGITS),
                _ => {
                    bytes.push(rest[0]);
                    rest = &rest[1..];
                    continue;
                }
            };
            placeholders.push((bytes.len(), kind));
            bytes.resize(bytes.len() + digits, b'0');
            rest = &rest[name.len()..];
        }
        Self { method_kind, bytes, structured: None, expectation, placeholders }
    }
}

/// All kinds of requests, ready to be sent by one thread.
#[derive(Clone, Debug)]
pub struct Requests {
    kinds: Arc<[RequestKind]>,
    /// Where there is but one kind and it never changes: as often as can be in flight on a connection, back to back.
    prepared: Option<Arc<[u8]>>,
    /// The order in which kinds take turns, over and over.
    turns: Arc<[u16]>,
    turn: usize,
    sequence: u64,
    sequence_step: u64,
    random: Random,
}

impl Requests {
    /// `depth` is the largest number of requests in flight on one connection.
    pub fn new(kinds: Vec<RequestKind>, weights: &[u32], depth: u16) -> Self {
        let prepared = match &kinds[..] {
            [only] if only.placeholders.is_empty() => Some(only.bytes.repeat(usize::from(depth)).into()),
            _ => None,
        };
        Self { kinds: kinds.into(), prepared, turns: turns(weights).into(), turn: 0, sequence: 0, sequence_step: 1, random: Random::new(0) }
    }

    /// The share of one thread: its numbers are those that no other thread uses.
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

    /// The buffer that `queue_next` cuts its ranges from, if it never changes.
    #[inline]
    pub fn prepared(&self) -> Option<&[u8]> {
        self.prepared.as_deref()
    }

    /// Appends the next request to `queued`, a range of the prepared buffer or else of `own`, and returns its kind.
    #[inline]
    pub fn queue_next(&mut self, queued: &mut Range<usize>, own: &mut Vec<u8>) -> u16 {
        let Some(prepared) = &self.prepared else { return self.write_next(queued, own) };
        let length = self.kinds[0].bytes.len();
        if queued.end + length > prepared.len() {
            // All copies are alike: what is left of the first one can as well be taken from further in front.
            let shift = queued.start / length * length;
            *queued = queued.start - shift..queued.end - shift;
        }
        queued.end += length;
        0
    }

    /// The kind whose turn it is.
    pub fn next_kind(&mut self) -> u16 {
        let index = self.turns[self.turn];
        self.turn = if self.turn + 1 == self.turns.len() { 0 } else { self.turn + 1 };
        index
    }

    fn write_next(&mut self, queued: &mut Range<usize>, own: &mut Vec<u8>) -> u16 {
        let index = self.next_kind();
        let kind = &self.kinds[usize::from(index)];
        let start = own.len();
        own.extend_from_slice(&kind.bytes);
        for (offset, placeholder) in &kind.placeholders {
            match placeholder {
                Placeholder::Sequence => write_digits(&mut own[start + offset..][..SEQUENCE_DIGITS], self.sequence, 10),
                Placeholder::Random => write_digits(&mut own[start + offset..][..RANDOM_DIGITS], self.random.next_u64(), 16),
            }
        }
        self.sequence += self.sequence_step;
        queued.end = own.len();
        index
    }
}

/// The last digits of `value` in the given base, as many as there is room for.
fn write_digits(room: &mut [u8], mut value: u64, base: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(value % base) as usize];
        value /= base;
    }
}

/// Each index as often as its weight, spread evenly (the smooth weighted round robin of nginx).
fn turns(weights: &[u32]) -> Vec<u16> {
    let total: i64 = weights.iter().map(|weight| i64::from(*weight)).sum();
    let mut credit = vec![0i64; weights.len()];
    (0..total)
        .map(|_| {
            credit.iter_mut().zip(weights).for_each(|(credit, weight)| *credit += i64::from(*weight));
            // Of equal credits the first: `max_by_key` would take the last.
            let index = (0..credit.len()).rev().max_by_key(|index| credit[*index]).unwrap_or(0);
            credit[index] -= total;
            index as u16
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(text: &str) -> RequestKind {
        RequestKind::fixed(text.as_bytes().to_vec(), MethodKind::Other, Expectation::default())
    }

    #[test]
    fn turns_follow_the_weights_evenly() {
        assert_eq!(turns(&[3, 1]), [0, 0, 1, 0]);
        assert_eq!(turns(&[1, 1]), [0, 1]);
        assert_eq!(turns(&[5]), [0; 5]);
    }

    #[test]
    fn prepared_requests_are_cut_whole_even_after_a_short_send() {
        let mut requests = Requests::new(vec![fixed("abc")], &[1], 2);
        let mut queued = 0..0;
        requests.queue_next(&mut queued, &mut Vec::new());
        requests.queue_next(&mut queued, &mut Vec::new());
        queued.start += 4; // One and a third were sent, and the first was answered.
        requests.queue_next(&mut queued, &mut Vec::new());
        assert_eq!(requests.prepared().map(|bytes| &bytes[queued]), Some(&b"bcabc"[..]));
    }

    #[test]
    fn placeholders_keep_the_length_and_differ() {
        let template = RequestKind::from_template(b"GET /{{seq}}?{{random}} {{x}}", MethodKind::Other, Expectation::default());
        let mut requests = Requests::new(vec![template], &[1], 1).of_thread(1, 4, 7);
        let mut write = || {
            let (mut queued, mut own) = (0..0, Vec::new());
            requests.queue_next(&mut queued, &mut own);
            String::from_utf8_lossy(&own[queued]).into_owned()
        };
        let (first, second) = (write(), write());
        assert!(first.starts_with("GET /0000000001?") && second.starts_with("GET /0000000005?"), "{first} {second}");
        assert!(first.ends_with(" {{x}}") && first.len() == second.len());
        assert_ne!(first[16..], second[16..]);
    }
}
