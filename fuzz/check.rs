//! Checks properties of the response parser that hold for any input. The fuzz target and the test that replays the corpus share these
//! checks.

use loadgen::protocol::http1::Http1;
use loadgen::protocol::{Fault, Flow, Outcome, Protocol, Slot};
use loadgen::request::Requests;
use loadgen::request::expectation::{BodyExpectation, Expectation};
use loadgen::request::kind::MethodKind;
use loadgen::request::kind::RequestKind;

const DEPTH: u16 = 3;

/// The completed requests, and how parsing ended.
type Seen = (Vec<(Slot, Outcome)>, Result<Flow, Fault>);

/// Checks the parser with one input. Its first byte chooses the method and the expectation, and its second byte chooses the size of the
/// pieces into which the rest is split. Splitting must not change the result, no more requests may complete than were sent, and nothing may
/// panic.
pub fn response(input: &[u8]) {
    let [choice, split, bytes @ ..] = input else { return };
    let whole = feed([bytes].into_iter(), *choice);
    assert!(whole.0.len() <= usize::from(DEPTH));
    let pieces = feed(bytes.chunks(usize::from(*split).max(1)), *choice);
    // After an error, the pieces may give a different result. Extra bytes after the last response are an error only if they arrive together
    // with that response.
    if whole.1.is_ok() {
        assert_eq!(whole, pieces);
    } else {
        assert!(pieces.0.starts_with(&whole.0));
    }
}

fn feed<'a>(pieces: impl Iterator<Item = &'a [u8]>, choice: u8) -> Seen {
    let method = if choice & 1 == 1 { MethodKind::Head } else { MethodKind::Other };
    let body = if choice & 2 == 2 { BodyExpectation::Exact(b"hello"[..].into()) } else { BodyExpectation::Any };
    let kind = RequestKind::fixed(b"GET / HTTP/1.1\r\n\r\n".to_vec(), method, Expectation { status: None, body });
    let mut protocol = Http1::new(Requests::new(vec![kind], &[1], DEPTH));
    let mut session = protocol.open();
    (0..DEPTH).for_each(|slot| _ = protocol.request(&mut session, slot));
    let queued = protocol.output(&session).len();
    protocol.sent(&mut session, queued);
    let (mut seen, mut flow) = (Vec::new(), Ok(Flow::Open));
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        flow = protocol.receive(&mut session, piece, &mut seen);
        if flow != Ok(Flow::Open) {
            break;
        }
    }
    if flow == Ok(Flow::Open) {
        protocol.end_of_stream(&mut session, &mut seen);
    }
    (seen, flow)
}
