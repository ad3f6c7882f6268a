//! Tests of a single connection, frame by frame.

mod ends;
mod faults;
mod requests;
mod responses;
mod slices;

use std::sync::Arc;

use super::frame::{self, Head};
use super::*;
use crate::request::expectation::{BodyExpectation, Expectation};
use crate::request::kind::MethodKind;

/// Header blocks with `:status: 200` and `:status: 404` from the static table.
const OK: &[u8] = &[0x88];
const NOT_FOUND: &[u8] = &[0x8d];
const ALL: u8 = frame::END_HEADERS | frame::END_STREAM;
const INVALID: Outcome = Outcome::Failed(ErrorKind::InvalidResponse);

type Frame = (u8, u8, u32, Vec<u8>);

/// A client and what it has reported so far.
struct Client {
    protocol: Http2,
    session: Session,
    reported: Reported,
}

#[derive(Default)]
struct Reported {
    /// Slots whose response has begun, in order of the reports. A slot may be reported several times.
    begun: Vec<Slot>,
    outcomes: Vec<(Slot, Outcome)>,
}

impl Sink for Reported {
    fn begin(&mut self, slot: Slot) {
        self.begun.push(slot);
    }

    fn complete(&mut self, slot: Slot, outcome: Outcome) {
        self.outcomes.push((slot, outcome));
    }
}

fn kind(method: &str, body: &[u8], expected: Option<&[u8]>) -> RequestKind {
    let method_kind = if method == "HEAD" { MethodKind::Head } else { MethodKind::Other };
    let body_expectation = expected.map_or(BodyExpectation::Any, |body| BodyExpectation::Exact(body.into()));
    let mut kind = RequestKind::fixed(vec![b'x'], method_kind, Expectation { status: None, body: body_expectation });
    let fields = [(":method", method), (":scheme", "http"), (":authority", "localhost"), (":path", "/")];
    let fields = fields.map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).to_vec();
    kind.structured = Some(Structured { fields, body: Arc::from(body) });
    kind
}

fn bytes_of(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::write(&mut bytes, kind, flags, stream, payload);
    bytes
}

/// Encodes header fields as literals that aren't added to the dynamic table.
fn literals(fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
    fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

fn response(fields: &[(&str, &str)]) -> Vec<u8> {
    [OK, &literals(fields)].concat()
}

impl Client {
    fn new(kinds: Vec<RequestKind>) -> Self {
        let weights = vec![1; kinds.len()];
        let mut protocol = Http2::new(Requests::new(kinds, &weights, 64));
        let session = protocol.open();
        Self { protocol, session, reported: Reported::default() }
    }

    /// Creates a client that has received the server's settings and sent `count` GET requests. Their slots start at 0.
    fn with_requests(count: u16) -> Self {
        let mut client = Self::new(vec![kind("GET", b"", None)]);
        client.set_up();
        client.request(0..count);
        client.take_output();
        client
    }

    fn set_up(&mut self) {
        self.receive(frame::SETTINGS, 0, 0, b"").expect("empty settings are valid");
        self.take_output();
    }

    fn request(&mut self, slots: std::ops::Range<u16>) {
        slots.for_each(|slot| _ = self.protocol.request(&mut self.session, slot));
        self.protocol.prepare_output(&mut self.session);
    }

    fn receive(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Result<Flow, Fault> {
        self.receive_bytes(&bytes_of(kind, flags, stream, payload))
    }

    fn receive_bytes(&mut self, bytes: &[u8]) -> Result<Flow, Fault> {
        self.protocol.receive(&mut self.session, bytes, &mut self.reported)
    }

    fn take_outcomes(&mut self) -> Vec<(Slot, Outcome)> {
        std::mem::take(&mut self.reported.outcomes)
    }

    /// Returns all pending frames and marks them as sent.
    fn take_output(&mut self) -> Vec<Frame> {
        let mut bytes = Vec::new();
        loop {
            self.protocol.prepare_output(&mut self.session);
            let output = self.protocol.output(&self.session);
            if output.is_empty() {
                break;
            }
            bytes.extend_from_slice(output);
            let count = output.len();
            self.protocol.sent(&mut self.session, count);
        }
        frames(bytes.strip_prefix(frame::PREFACE).unwrap_or(&bytes))
    }
}

fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk() {
        let head = Head::read(head);
        frames.push((head.kind, head.flags, head.stream, rest[..head.length].to_vec()));
        bytes = &rest[head.length..];
    }
    frames
}

fn reset(stream: u32, code: u32) -> Frame {
    (frame::RST_STREAM, 0, stream, code.to_be_bytes().to_vec())
}
