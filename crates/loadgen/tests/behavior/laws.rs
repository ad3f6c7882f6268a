//! Tests of properties that hold for any input: splitting the bytes of a response makes no difference except to the time to its first byte,
//! and merging recorders gives the same result as recording everything in one recorder.

use std::collections::BTreeMap;

use loadgen::figures::histogram::new_histogram;
use loadgen::figures::recorder::{Recorder, Sent};
use loadgen::protocol::http1::Http1;
use loadgen::protocol::{Fault, Flow, Outcome, Protocol, Sink, Slot};
use loadgen::request::Requests;
use loadgen::request::expectation::{BodyExpectation, Expectation};
use loadgen::request::kind::MethodKind;
use loadgen::request::kind::RequestKind;
use loadgen::time::coordinator_pauses::Pauses;
use proptest::prelude::*;

const DEPTH: u16 = 4;
const BODY: &[u8] = b"some body, the only correct one";

type Completions = Vec<(Slot, Outcome)>;

/// The number of the piece with which each response began, if it was reported.
#[derive(Default)]
struct Begun {
    piece: usize,
    by_slot: BTreeMap<Slot, usize>,
}

impl Sink for Begun {
    fn begin(&mut self, slot: Slot) {
        self.by_slot.entry(slot).or_insert(self.piece);
    }

    fn complete(&mut self, _slot: Slot, _outcome: Outcome) {}
}

/// Passes pieces to a connection that is waiting for `DEPTH` responses. Returns the completions and how parsing ended.
fn feed<'a>(pieces: impl Iterator<Item = &'a [u8]>, body: BodyExpectation) -> (Completions, Result<Flow, Fault>) {
    let mut completions = Vec::new();
    let flow = feed_to(&mut completions, |_| {}, pieces, body);
    (completions, flow)
}

/// Like `feed`, but reports to `sink`. Calls `after` after each piece.
fn feed_to<'a, S: Sink>(
    sink: &mut S,
    after: impl Fn(&mut S),
    pieces: impl Iterator<Item = &'a [u8]>,
    body: BodyExpectation,
) -> Result<Flow, Fault> {
    let expectation = Expectation { status: None, body };
    let kind = RequestKind::fixed(b"GET / HTTP/1.1\r\n\r\n".to_vec(), MethodKind::Other, expectation);
    let mut protocol = Http1::new(Requests::new(vec![kind], &[1], DEPTH));
    let mut session = protocol.open();
    (0..DEPTH).for_each(|slot| _ = protocol.request(&mut session, slot));
    let queued = protocol.output(&session).len();
    protocol.sent(&mut session, queued);
    for piece in pieces {
        match protocol.receive(&mut session, piece, sink) {
            Ok(Flow::Open) => after(sink),
            over => return over,
        }
    }
    Ok(Flow::Open)
}

fn response() -> impl Strategy<Value = Vec<u8>> {
    let status = prop_oneof![Just(200u16), Just(204), Just(304), Just(404), Just(500)];
    let date = "[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} 20[0-9]{2} [0-9]{2}:00:00 GMT";
    let body = prop_oneof![Just(BODY.to_vec()), prop::collection::vec(any::<u8>(), 0..60)];
    (status, date, body, any::<bool>(), 1..20usize, any::<bool>()).prop_map(|(status, date, body, chunked, chunk, interim)| {
        let interim = if interim { "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" } else { "" };
        let mut bytes = format!("{interim}HTTP/1.1 {status} Whatever\r\nDate: {date}\r\n").into_bytes();
        if status == 204 || status == 304 {
            bytes.extend_from_slice(b"\r\n");
        } else if chunked {
            bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            for piece in body.chunks(chunk) {
                bytes.extend_from_slice(format!("{:x};q=1\r\n", piece.len()).as_bytes());
                bytes.extend_from_slice(piece);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\nX: y\r\n\r\n");
        } else {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            bytes.extend_from_slice(&body);
        }
        bytes
    })
}

fn split(bytes: &[u8], cuts: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
    at.sort_unstable();
    at.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).filter(|piece| !piece.is_empty()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_of_valid_responses_gives_the_same_result(
        responses in prop::collection::vec(response(), 1..=usize::from(DEPTH)),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        check in any::<bool>(),
    ) {
        let body = || if check { BodyExpectation::Exact(BODY.into()) } else { BodyExpectation::Any };
        let bytes = responses.concat();
        let (whole, flow) = feed([&bytes[..]].into_iter(), body());
        prop_assert_eq!(flow, Ok(Flow::Open));
        prop_assert_eq!(whole.len(), responses.len());
        let pieces = split(&bytes, &cuts);
        prop_assert_eq!(feed(pieces.iter().map(Vec::as_slice), body()), (whole.clone(), Ok(Flow::Open)));
        prop_assert_eq!(feed(bytes.chunks(1), body()), (whole, Ok(Flow::Open)));
    }

    /// A response in one piece isn't reported as begun, so that the common case costs nothing.
    #[test]
    fn a_response_in_several_pieces_begins_with_its_first_byte(
        responses in prop::collection::vec(response(), 1..=usize::from(DEPTH)),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let pieces = split(&responses.concat(), &cuts);
        let mut begun = Begun::default();
        let flow = feed_to(&mut begun, |begun| begun.piece += 1, pieces.iter().map(Vec::as_slice), BodyExpectation::Any);
        prop_assert_eq!(flow, Ok(Flow::Open));
        let piece_of_byte: Vec<usize> = pieces.iter().enumerate().flat_map(|(number, piece)| vec![number; piece.len()]).collect();
        let (mut expected, mut start) = (BTreeMap::new(), 0);
        for (slot, response) in (0..).zip(&responses) {
            let (first, last) = (piece_of_byte[start], piece_of_byte[start + response.len() - 1]);
            if first < last {
                expected.insert(slot, first);
            }
            start += response.len();
        }
        prop_assert_eq!(begun.by_slot, expected);
    }

    #[test]
    fn no_bytes_make_the_parser_panic_or_invent_responses(
        mut bytes in response(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        let (whole, _) = feed([&bytes[..]].into_iter(), BodyExpectation::Any);
        prop_assert!(whole.len() <= usize::from(DEPTH));
        let pieces = split(&bytes, &cuts);
        let (parts, _) = feed(pieces.iter().map(Vec::as_slice), BodyExpectation::Any);
        prop_assert_eq!(parts, whole);
    }

}

// Each recorder contains megabytes of histograms, so this test runs fewer cases.
proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merged_recorders_equal_a_single_recorder(
        times in prop::collection::vec((1u64..1u64 << 40, 0u64..1u64 << 30, 1u64..4, any::<bool>(), 0..4u64), 1..200),
    ) {
        let [mut one, mut left, mut right] = [(); 3].map(|()| Recorder::new(true, 0));
        let mut first_byte = new_histogram();
        for (took, lag, count, to_left, begun) in times {
            // The response arrives in one read, or its first byte arrives after a third of the time, two thirds or all of it.
            let first_byte_ns = if begun == 0 { 0 } else { 1 + lag + took * begun / 3 };
            first_byte.saturating_record_n(if begun == 0 { lag + took } else { lag + took * begun / 3 }.max(1), count);
            let sent = Sent { first_byte_ns, ..Sent::at(1, 1 + lag) };
            let half = if to_left { &mut left } else { &mut right };
            for _ in 0..count {
                one.request_sent(sent, 1);
                one.requests_ended(sent, 1 + lag + took, Outcome::Ok, 1);
                half.request_sent(sent, 1);
            }
            half.requests_ended(sent, 1 + lag + took, Outcome::Ok, count);
        }
        left.merge(&right, Pauses::default());
        prop_assert_eq!((left.sent, left.completed, left.ok), (one.sent, one.completed, one.ok));
        prop_assert_eq!(&left.service, &one.service);
        prop_assert_eq!(&left.response, &one.response);
        prop_assert_eq!(&left.lag, &one.lag);
        prop_assert_eq!(&left.generator_lag, &one.generator_lag);
        prop_assert_eq!(&one.first_byte(), &first_byte);
        prop_assert_eq!(&left.first_byte(), &first_byte);
    }
}
