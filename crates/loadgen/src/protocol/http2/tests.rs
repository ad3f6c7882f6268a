//! One connection, frame by frame: what the client sends, what it takes for right, and what it refuses.

use std::sync::Arc;

use proptest::prelude::*;

use super::frame::{self, Head};
use super::*;
use crate::request::expectation::{BodyExpectation, Expectation};
use crate::request::kind::MethodKind;

/// `:status: 200` and `:status: 404` of the static table.
const OK: &[u8] = &[0x88];
const NOT_FOUND: &[u8] = &[0x8d];
const ALL: u8 = frame::END_HEADERS | frame::END_STREAM;
const INVALID: Outcome = Outcome::Failed(ErrorKind::InvalidResponse);

type Frame = (u8, u8, u32, Vec<u8>);

/// A client and what it has told so far.
struct Client {
    protocol: Http2,
    session: Session,
    outcomes: Vec<(Slot, Outcome)>,
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

/// Header fields as literals that join no table.
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
        Self { protocol, session, outcomes: Vec::new() }
    }

    /// A client of a server whose settings have come, with `count` GET requests on their way, in slots from 0 on.
    fn with_requests(count: u16) -> Self {
        let mut client = Self::new(vec![kind("GET", b"", None)]);
        client.set_up();
        client.request(0..count);
        client.take_output();
        client
    }

    fn set_up(&mut self) {
        self.receive(frame::SETTINGS, 0, 0, b"").expect("empty settings are right");
        self.take_output();
    }

    fn request(&mut self, slots: std::ops::Range<u16>) {
        slots.for_each(|slot| self.protocol.request(&mut self.session, slot));
        self.protocol.prepare_output(&mut self.session);
    }

    fn receive(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Result<Flow, Fault> {
        self.receive_bytes(&bytes_of(kind, flags, stream, payload))
    }

    fn receive_bytes(&mut self, bytes: &[u8]) -> Result<Flow, Fault> {
        self.protocol.receive(&mut self.session, bytes, &mut self.outcomes)
    }

    fn take_outcomes(&mut self) -> Vec<(Slot, Outcome)> {
        std::mem::take(&mut self.outcomes)
    }

    /// All frames that wait to be sent.
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

#[test]
fn the_first_frames_are_preface_settings_and_window() {
    let mut client = Client::new(vec![kind("GET", b"", None)]);
    assert!(client.protocol.output(&client.session).starts_with(frame::PREFACE));
    let settings = [[0, 2, 0, 0, 0, 0], [0, 4, 0, 16, 0, 0], [0, 6, 0, 1, 0, 0]].concat();
    let window = ((16 << 20) - 65_535u32).to_be_bytes().to_vec();
    assert_eq!(client.take_output(), [(frame::SETTINGS, 0, 0, settings), (frame::WINDOW_UPDATE, 0, 0, window)]);
}

#[test]
fn requests_are_short_once_they_repeat() {
    let mut client = Client::with_requests(0);
    client.request(0..2);
    let first = [&[0x82, 0x86, 0x41, 9][..], b"localhost", &[0x84]].concat();
    assert_eq!(client.take_output(), [(frame::HEADERS, ALL, 1, first), (frame::HEADERS, ALL, 3, vec![0x82, 0x86, 0xbe, 0x84])]);
    client.receive(frame::SETTINGS, 0, 0, &[0, 1, 0, 0, 0, 0]).expect("a server needs no table");
    client.request(2..4);
    let emptied = [&[0x20, 0x20, 0x82, 0x86, 0x01, 9][..], b"localhost", &[0x84]].concat();
    let literal = emptied[2..].to_vec();
    let sent = client.take_output();
    assert_eq!(sent, [(frame::SETTINGS, frame::ACK, 0, vec![]), (frame::HEADERS, ALL, 5, emptied), (frame::HEADERS, ALL, 7, literal)]);
}

#[test]
fn correct_responses_are_correct() {
    let data = |flags, stream, payload: &[u8]| bytes_of(frame::DATA, flags, stream, payload);
    let head = |flags, stream, block: &[u8]| bytes_of(frame::HEADERS, flags, stream, block);
    let with_length = response(&[("content-length", "5"), ("server", "x")]);
    let padded = [&[3, 0, 0, 0, 1, 16][..], OK, &[0; 3]].concat();
    let interim = literals(&[(":status", "103"), ("link", "</x>")]);
    for frames in [
        [head(frame::END_HEADERS, 1, OK), data(frame::END_STREAM, 1, b"hello")].concat(),
        [head(frame::END_HEADERS, 1, &with_length), data(0, 1, b"he"), data(0, 1, b""), data(1, 1, b"llo")].concat(),
        [head(frame::END_HEADERS, 1, &with_length), data(0, 1, b"hello"), data(1, 1, b"")].concat(),
        [head(frame::END_HEADERS, 1, OK), data(0, 1, b"hello"), head(ALL, 1, &literals(&[("x-sum", "1")]))].concat(),
        [head(frame::END_HEADERS, 1, OK), data(0, 1, b"hello"), head(ALL, 1, b"")].concat(),
        [head(ALL & !frame::END_STREAM | frame::PADDED | frame::WITH_PRIORITY, 1, &padded), data(9, 1, b"\x02hello\0\0")].concat(),
        [head(frame::END_HEADERS, 1, &interim).repeat(16), head(frame::END_HEADERS, 1, OK), data(1, 1, b"hello")].concat(),
        [
            head(0, 1, &with_length[..4]),
            bytes_of(frame::CONTINUATION, 0, 1, b""),
            bytes_of(frame::CONTINUATION, frame::END_HEADERS, 1, &with_length[4..]),
            data(1, 1, b"hello"),
        ]
        .concat(),
        [
            bytes_of(frame::PRIORITY, 0, 1, &[0; 5]),
            bytes_of(frame::PRIORITY, 0, 9, &[0; 5]),
            bytes_of(0xaa, 0xff, 7, b"what is unknown is ignored"),
            bytes_of(frame::SETTINGS, 0, 0, &[0, 99, 1, 2, 3, 4]),
            bytes_of(frame::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]),
            head(frame::END_HEADERS, 1, OK),
            data(1, 1, b"hello"),
            bytes_of(frame::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]),
            bytes_of(frame::RST_STREAM, 0, 1, &[0; 4]),
        ]
        .concat(),
    ] {
        let mut client = Client::new(vec![kind("GET", b"", Some(b"hello"))]);
        client.set_up();
        client.request(0..1);
        assert_eq!(client.receive_bytes(&frames), Ok(Flow::Open), "{frames:?}");
        assert_eq!(client.take_outcomes(), [(0, Outcome::Ok)], "{frames:?}");
    }
}

#[test]
fn status_and_body_are_judged() {
    for (block, body, outcome) in [
        (NOT_FOUND, &b"hello"[..], Outcome::UnexpectedStatus),
        (OK, b"hellO", Outcome::UnexpectedBody),
        (OK, b"hell", Outcome::UnexpectedBody),
        (OK, b"hello!", Outcome::UnexpectedBody),
        (OK, b"", Outcome::UnexpectedBody),
        (OK, b"hello", Outcome::Ok),
    ] {
        let mut client = Client::new(vec![kind("GET", b"", Some(b"hello"))]);
        client.set_up();
        for turn in 0..3 {
            client.request(0..1);
            client.receive(frame::HEADERS, frame::END_HEADERS, 2 * turn + 1, block).unwrap();
            client.receive(frame::DATA, frame::END_STREAM, 2 * turn + 1, body).unwrap();
            assert_eq!(client.take_outcomes(), [(0, outcome)], "{body:?}, turn {turn}");
        }
        assert_eq!(client.protocol.parser_counts(), ParserCounts { fast: 2, full: 1 });
    }
}

#[test]
fn a_response_without_a_body_may_state_a_length() {
    let length = literals(&[("content-length", "5")]);
    let mut client = Client::new(vec![kind("HEAD", b"", None)]);
    client.set_up();
    client.request(0..3);
    client.receive(frame::HEADERS, ALL, 1, &[OK, &length].concat()).unwrap();
    client.receive(frame::HEADERS, ALL, 3, &[&[0x8b][..], &length].concat()).unwrap();
    client.receive(frame::HEADERS, frame::END_HEADERS, 5, OK).unwrap();
    client.receive(frame::DATA, frame::END_STREAM, 5, b"x").unwrap();
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok), (1, Outcome::Ok), (2, INVALID)]);
}

#[test]
fn a_known_block_means_the_same_only_with_the_same_table() {
    let mut client = Client::with_requests(4);
    // The first inserts x: 1, the second refers to it; the third inserts another entry, so the same index means `connection`.
    let kept = |name: &str, value: &str| [&[0x40, name.len() as u8][..], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat();
    client.receive(frame::HEADERS, ALL, 1, &[OK, &kept("x", "1")].concat()).unwrap();
    client.receive(frame::HEADERS, ALL, 3, &[0x88, 0xbe]).unwrap();
    client.receive(frame::HEADERS, ALL, 5, &[OK, &kept("connection", "close")].concat()).unwrap();
    client.receive(frame::HEADERS, ALL, 7, &[0x88, 0xbe]).unwrap();
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok), (1, Outcome::Ok), (2, INVALID), (3, INVALID)]);
}

/// Each of these ends the connection.
#[test]
fn faults_of_the_connection_end_it() {
    let begun = bytes_of(frame::HEADERS, 0, 1, OK);
    let over = bytes_of(frame::HEADERS, ALL, 1, OK);
    let goaway = |last: u8| bytes_of(frame::GOAWAY, 0, 0, &[0, 0, 0, last, 0, 0, 0, 0]);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("data on the connection", bytes_of(frame::DATA, 0, 0, b"x")),
        ("data on an idle stream", bytes_of(frame::DATA, 0, 5, b"x")),
        ("data on a stream of the server", bytes_of(frame::DATA, 0, 2, b"x")),
        ("data on a stream that is over", [&over[..], &bytes_of(frame::DATA, 0, 1, b"x")].concat()),
        ("data with too much padding", bytes_of(frame::DATA, frame::PADDED, 1, b"\x01")),
        ("data with padding and no length of it", bytes_of(frame::DATA, frame::PADDED, 1, b"")),
        ("headers on the connection", bytes_of(frame::HEADERS, ALL, 0, OK)),
        ("headers on an idle stream", bytes_of(frame::HEADERS, ALL, 5, OK)),
        ("headers on a stream of the server", bytes_of(frame::HEADERS, ALL, 2, OK)),
        ("headers on a stream that is over", [&over[..], &over].concat()),
        ("headers with too much padding", bytes_of(frame::HEADERS, ALL | frame::PADDED, 1, b"\x02\x88")),
        ("headers too short for a priority", bytes_of(frame::HEADERS, ALL | frame::WITH_PRIORITY, 1, OK)),
        ("headers that cannot be decoded", bytes_of(frame::HEADERS, ALL, 1, &[0xff])),
        ("headers with an index of nothing", bytes_of(frame::HEADERS, ALL, 1, &[0x88, 0xbe])),
        ("a continuation of nothing", bytes_of(frame::CONTINUATION, frame::END_HEADERS, 1, OK)),
        ("a continuation of another stream", [&begun[..], &bytes_of(frame::CONTINUATION, frame::END_HEADERS, 3, b"")].concat()),
        ("data within a header block", [&begun[..], &bytes_of(frame::DATA, 0, 1, b"")].concat()),
        ("an unknown frame within a header block", [&begun[..], &bytes_of(0xaa, 0, 1, b"")].concat()),
        ("another header block within one", [&begun[..], &begun].concat()),
        (
            "a header block without end",
            [begun.clone(), bytes_of(frame::CONTINUATION, 0, 1, &[0x88; 16_384]).repeat(4), bytes_of(frame::CONTINUATION, 0, 1, OK)]
                .concat(),
        ),
        ("a frame that is too large", bytes_of(0xaa, 0, 0, &[0; 16_385])),
        ("the head of a frame that is too large", vec![0, 0x40, 1, 0xaa, 0, 0, 0, 0, 0]),
        ("text", b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        ("a priority of the connection", bytes_of(frame::PRIORITY, 0, 0, &[0; 5])),
        ("a reset that is too short", bytes_of(frame::RST_STREAM, 0, 1, &[0; 3])),
        ("a reset that is too long", bytes_of(frame::RST_STREAM, 0, 1, &[0; 5])),
        ("a reset of the connection", bytes_of(frame::RST_STREAM, 0, 0, &[0; 4])),
        ("a reset of an idle stream", bytes_of(frame::RST_STREAM, 0, 5, &[0; 4])),
        ("a part of a setting", bytes_of(frame::SETTINGS, 0, 0, &[0; 5])),
        ("settings of a stream", bytes_of(frame::SETTINGS, 0, 1, b"")),
        ("an acknowledgement with settings", bytes_of(frame::SETTINGS, frame::ACK, 0, &[0; 6])),
        ("an acknowledgement too many", bytes_of(frame::SETTINGS, frame::ACK, 0, b"").repeat(2)),
        ("settings that enable push", bytes_of(frame::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1])),
        ("settings with too large a window", bytes_of(frame::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0])),
        (
            "settings that make a window too large",
            [bytes_of(frame::WINDOW_UPDATE, 0, 1, &[0x7f, 0xff, 0, 0]), bytes_of(frame::SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])].concat(),
        ),
        ("settings with too small a frame", bytes_of(frame::SETTINGS, 0, 0, &[0, 5, 0, 0, 0x3f, 0xff])),
        ("settings with too large a frame", bytes_of(frame::SETTINGS, 0, 0, &[0, 5, 1, 0, 0, 0])),
        ("a promise", bytes_of(frame::PUSH_PROMISE, frame::END_HEADERS, 1, &[0, 0, 0, 2, 0x82, 0x84, 0x86])),
        ("a ping of a stream", bytes_of(frame::PING, 0, 1, &[0; 8])),
        ("a ping that is too short", bytes_of(frame::PING, 0, 0, &[0; 7])),
        ("a ping that is too long", bytes_of(frame::PING, frame::ACK, 0, &[0; 9])),
        ("pings without end", bytes_of(frame::PING, 0, 0, &[0; 8]).repeat(70_000)),
        ("the end of a stream of them", bytes_of(frame::GOAWAY, 0, 1, &[0; 8])),
        ("an end that is too short", bytes_of(frame::GOAWAY, 0, 0, &[0; 7])),
        ("an end that moves up", [goaway(1), goaway(3)].concat()),
        ("a window that is too short", bytes_of(frame::WINDOW_UPDATE, 0, 0, &[0; 3])),
        ("a window of nothing", bytes_of(frame::WINDOW_UPDATE, 0, 0, &[0; 4])),
        ("a window too large", bytes_of(frame::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])),
        ("a window of an idle stream", bytes_of(frame::WINDOW_UPDATE, 0, 5, &[0, 0, 0, 1])),
        ("a window of a stream of the server", bytes_of(frame::WINDOW_UPDATE, 0, 2, &[0, 0, 0, 1])),
    ];
    for (name, bytes) in cases {
        let mut client = Client::with_requests(2);
        let fault = client.receive_bytes(&bytes).expect_err(name);
        assert_eq!(fault.kind, ErrorKind::InvalidResponse, "{name}");
        let is_right = |(_, outcome): &(Slot, Outcome)| *outcome == Outcome::Ok;
        assert_eq!(client.take_outcomes().iter().filter(|one| is_right(one)).count(), usize::from(name.ends_with(" over")), "{name}");
    }
}

#[test]
fn settings_come_first() {
    for bytes in [
        bytes_of(frame::PING, 0, 0, &[0; 8]),
        bytes_of(frame::SETTINGS, frame::ACK, 0, b""),
        bytes_of(frame::HEADERS, ALL, 1, OK),
        bytes_of(0xaa, 0, 0, b""),
    ] {
        let mut client = Client::new(vec![kind("GET", b"", None)]);
        client.request(0..1);
        assert!(client.receive_bytes(&bytes).is_err(), "{bytes:?}");
        assert_eq!(client.take_outcomes(), []);
    }
}

/// Each of these ends one stream, and no other.
#[test]
fn faults_of_a_stream_end_it_alone() {
    let head = |flags, block: &[u8]| bytes_of(frame::HEADERS, flags, 1, block);
    let data = |flags, payload: &[u8]| bytes_of(frame::DATA, flags, 1, payload);
    let open = |fields: &[(&str, &str)]| head(frame::END_HEADERS, &response(fields));
    let status = |text: &str| literals(&[(":status", text)]);
    let mut cases: Vec<(&str, Vec<u8>, u32)> = vec![
        ("no status", head(ALL, b""), frame::PROTOCOL_ERROR),
        ("two of them", head(ALL, &[0x88, 0x88]), frame::PROTOCOL_ERROR),
        ("a pseudo-header of requests", head(ALL, &[0x88, 0x84]), frame::PROTOCOL_ERROR),
        ("a status behind a field", head(ALL, &[&literals(&[("a", "b")]), OK].concat()), frame::PROTOCOL_ERROR),
        ("data without a head", data(1, b"hello"), frame::PROTOCOL_ERROR),
        ("data behind an interim response", [head(frame::END_HEADERS, &status("100")), data(1, b"x")].concat(), frame::PROTOCOL_ERROR),
        ("an interim response that ends", head(ALL, &status("100")), frame::PROTOCOL_ERROR),
        ("a switch of protocols", head(frame::END_HEADERS, &status("101")), frame::PROTOCOL_ERROR),
        ("interim responses without end", head(frame::END_HEADERS, &status("103")).repeat(17), frame::PROTOCOL_ERROR),
        ("a body that is too short", [open(&[("content-length", "5")]), data(1, b"hell")].concat(), frame::PROTOCOL_ERROR),
        ("a body that is too long", [open(&[("content-length", "5")]), data(0, b"hello!")].concat(), frame::PROTOCOL_ERROR),
        ("no body", head(ALL, &response(&[("content-length", "5")])), frame::PROTOCOL_ERROR),
        ("a body of no content", [head(frame::END_HEADERS, &[0x89]), data(1, b"x")].concat(), frame::PROTOCOL_ERROR),
        ("a body of what is not modified", [head(frame::END_HEADERS, &[0x8b]), data(1, b"x")].concat(), frame::PROTOCOL_ERROR),
        ("trailers that do not end", [open(&[]), head(frame::END_HEADERS, b"")].concat(), frame::PROTOCOL_ERROR),
        ("trailers with a status", [open(&[]), head(ALL, OK)].concat(), frame::PROTOCOL_ERROR),
        ("trailers with capital letters", [open(&[]), head(ALL, &literals(&[("X", "y")]))].concat(), frame::PROTOCOL_ERROR),
        ("trailers before the body ends", [open(&[("content-length", "5")]), head(ALL, b"")].concat(), frame::PROTOCOL_ERROR),
        ("a window of nothing", bytes_of(frame::WINDOW_UPDATE, 0, 1, &[0; 4]), frame::PROTOCOL_ERROR),
        ("a window too large", bytes_of(frame::WINDOW_UPDATE, 0, 1, &[0x7f, 0xff, 0xff, 0xff]), frame::FLOW_CONTROL_ERROR),
        ("a priority too short", bytes_of(frame::PRIORITY, 0, 1, &[0; 4]), frame::FRAME_SIZE_ERROR),
    ];
    for (name, value) in [("Server", "x"), ("connection", "close"), ("te", "gzip"), ("a", "\n"), ("content-length", "x")] {
        cases.push((name, head(ALL, &response(&[(name, value)])), frame::PROTOCOL_ERROR));
    }
    for (name, bytes, code) in cases {
        let mut client = Client::with_requests(2);
        assert_eq!(client.receive_bytes(&bytes), Ok(Flow::Open), "{name}");
        assert_eq!(client.take_outcomes(), [(0, INVALID)], "{name}");
        assert_eq!(client.take_output(), [reset(1, code)], "{name}");
        // What the server had sent before it heard of that is no fault.
        assert_eq!(client.receive(frame::HEADERS, frame::END_HEADERS, 1, OK), Ok(Flow::Open), "{name}");
        assert_eq!(client.receive(frame::DATA, frame::END_STREAM, 1, b"late"), Ok(Flow::Open), "{name}");
        assert_eq!(client.receive(frame::HEADERS, ALL, 3, OK), Ok(Flow::Open), "{name}");
        assert_eq!(client.take_outcomes(), [(1, Outcome::Ok)], "{name}");
    }
}

#[test]
fn the_server_may_send_what_windows_allow_and_no_more() {
    let mut client = Client::with_requests(20);
    let piece = vec![b'x'; 16_384];
    let mut opened = 0;
    for stream in [1, 3] {
        client.receive(frame::HEADERS, frame::END_HEADERS, stream, OK).unwrap();
        for _ in 0..100 {
            assert_eq!(client.receive(frame::DATA, 0, stream, &piece), Ok(Flow::Open));
        }
        for (kind, _, of, payload) in client.take_output() {
            assert_eq!((kind, of), (frame::WINDOW_UPDATE, stream));
            opened += frame::number(&payload);
        }
    }
    assert_eq!(opened, 2 * 3 * (1 << 19), "each stream is told at each half of its window");
    // Nothing is taken off one window twice; padding counts.
    assert_eq!(client.session.receive_window.update(), None);
    client.receive(frame::HEADERS, frame::END_HEADERS, 5, OK).unwrap();
    let padded = [&[255][..], &[0; 256]].concat();
    for _ in 0..2040 {
        client.receive(frame::DATA, frame::PADDED, 5, &padded).unwrap();
    }
    let told = client.take_output();
    assert_eq!(told.iter().filter(|(kind, _, stream, _)| (*kind, *stream) == (frame::WINDOW_UPDATE, 5)).count(), 0);
    client.receive(frame::DATA, frame::PADDED, 5, &padded).unwrap();
    assert_eq!(client.take_output().len(), 1, "257 bytes 2,041 times are half of the window");
}

#[test]
fn bodies_are_sent_as_windows_allow() {
    let body: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    let mut client = Client::new(vec![kind("POST", &body, None)]);
    client.set_up();
    client.request(0..2);
    let sent = |client: &mut Client, stream| -> (Vec<u8>, bool) {
        let frames = client.take_output();
        assert!(frames.iter().all(|(_, _, _, payload)| payload.len() <= 16_384));
        let own = frames.iter().filter(|(kind, _, of, _)| *kind == frame::DATA && *of == stream);
        let end = own.clone().any(|(_, flags, ..)| flags & frame::END_STREAM != 0);
        (own.flat_map(|(_, _, _, payload)| payload.clone()).collect(), end)
    };
    // The window of the connection is used up by the first stream.
    let (mut first, end) = sent(&mut client, 1);
    assert_eq!((first.len(), end), (65_535, false));
    client.receive(frame::WINDOW_UPDATE, 0, 0, &[0, 1, 0, 0]).unwrap();
    let (second, _) = sent(&mut client, 3);
    assert_eq!(second.len(), 65_535, "the window of the first stream is used up");
    // A smaller window of all streams takes these below zero; it has to come up again first.
    client.receive(frame::SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0]).unwrap();
    client.receive(frame::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 0xff]).unwrap();
    client.receive(frame::WINDOW_UPDATE, 0, 0, &[0, 0x10, 0, 0]).unwrap();
    assert_eq!(sent(&mut client, 1).0.len(), 0);
    client.receive(frame::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 7]).unwrap();
    let (more, _) = sent(&mut client, 1);
    assert_eq!(more.len(), 7);
    first.extend(more);
    client.receive(frame::SETTINGS, 0, 0, &[0, 4, 0, 0x10, 0, 0]).unwrap();
    let frames = client.take_output();
    let rest = |stream| -> Vec<u8> {
        let own = frames.iter().filter(move |(kind, _, of, _)| *kind == frame::DATA && *of == stream);
        own.flat_map(|(_, _, _, payload)| payload.clone()).collect()
    };
    assert!([first, rest(1)].concat() == body && [second, rest(3)].concat() == body);
    assert!(client.session.sending.is_empty());
}

#[test]
fn an_early_response_ends_its_request() {
    let mut client = Client::new(vec![kind("POST", &[b'z'; 100_000], None)]);
    client.set_up();
    client.request(0..1);
    client.take_output();
    client.receive(frame::HEADERS, ALL, 1, OK).unwrap();
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok)]);
    assert_eq!(client.take_output(), [reset(1, frame::CANCEL)]);
    assert_eq!(client.receive(frame::RST_STREAM, 0, 1, &[0; 4]), Ok(Flow::Open));
    assert_eq!(client.receive(frame::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]), Ok(Flow::Open));
    assert!(client.session.sending.is_empty());
}

#[test]
fn no_more_streams_are_begun_than_the_server_allows() {
    let mut client = Client::new(vec![kind("GET", b"", None)]);
    client.receive(frame::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 2]).unwrap();
    client.take_output();
    client.request(0..4);
    let begun = |client: &mut Client| client.take_output().iter().map(|(_, _, stream, _)| *stream).collect::<Vec<_>>();
    assert_eq!(begun(&mut client), [1, 3]);
    client.receive(frame::HEADERS, ALL, 3, OK).unwrap();
    assert_eq!(begun(&mut client), [5]);
    client.receive(frame::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 0]).unwrap();
    client.take_output();
    client.receive(frame::HEADERS, ALL, 1, OK).unwrap();
    assert!(begun(&mut client).is_empty());
    assert!(client.protocol.abandon(&mut client.session, 3), "a request that waits can be given up");
    client.receive(frame::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9]).unwrap();
    assert_eq!(client.take_output(), [(frame::SETTINGS, frame::ACK, 0, vec![])]);
    assert_eq!(client.take_outcomes(), [(1, Outcome::Ok), (0, Outcome::Ok)]);
}

#[test]
fn a_stream_that_is_given_up_is_cancelled() {
    let mut client = Client::with_requests(2);
    client.receive(frame::HEADERS, frame::END_HEADERS, 1, OK).unwrap();
    assert!(client.protocol.abandon(&mut client.session, 0));
    assert_eq!(client.take_output(), [reset(1, frame::CANCEL)]);
    // Its slot is used again while the rest of it comes. Its headers go through the decoder.
    client.request(0..1);
    client.receive(frame::DATA, 0, 1, b"late").unwrap();
    client.receive(frame::HEADERS, ALL, 1, &[0x40, 1, b'x', 1, b'1']).unwrap();
    client.receive(frame::HEADERS, ALL, 5, &[0x88, 0xbe]).unwrap();
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok)]);
}

#[test]
fn what_the_server_gives_up_is_told_apart() {
    let mut client = Client::with_requests(5);
    client.receive(frame::HEADERS, frame::END_HEADERS, 7, OK).unwrap();
    for (stream, code) in [(1, frame::REFUSED_STREAM), (3, frame::CANCEL), (5, frame::NO_ERROR), (7, frame::REFUSED_STREAM)] {
        assert_eq!(client.receive(frame::RST_STREAM, 0, stream, &code.to_be_bytes()), Ok(Flow::Open));
    }
    let (reset, closed) = (Outcome::Failed(ErrorKind::Reset), Outcome::Failed(ErrorKind::ClosedEarly));
    assert_eq!(client.take_outcomes(), [(0, Outcome::Unprocessed), (1, reset), (2, closed), (3, reset)]);
    assert_eq!(client.take_output(), []);
}

#[test]
fn the_end_of_a_connection_leaves_what_was_not_processed() {
    let go_away = |last: u32, code: u32| [&last.to_be_bytes()[..], &code.to_be_bytes(), b"why"].concat();
    for (code, above) in [(frame::NO_ERROR, Outcome::Unprocessed), (frame::PROTOCOL_ERROR, Outcome::Failed(ErrorKind::Reset))] {
        let mut client = Client::with_requests(3);
        client.protocol.request(&mut client.session, 3);
        assert_eq!(client.receive(frame::GOAWAY, 0, 0, &go_away(frame::STREAM_MAX, frame::NO_ERROR)), Ok(Flow::Drain));
        assert_eq!(client.take_outcomes(), [(3, Outcome::Unprocessed)]);
        assert_eq!(client.receive(frame::GOAWAY, 0, 0, &go_away(3, code)), Ok(Flow::Drain));
        assert_eq!(client.take_outcomes(), [(2, above)]);
        client.receive(frame::HEADERS, ALL, 1, OK).unwrap();
        assert_eq!(client.receive(frame::HEADERS, ALL, 3, OK), Ok(Flow::Close));
        assert_eq!(client.take_outcomes(), [(0, Outcome::Ok), (1, Outcome::Ok)]);
    }
}

#[test]
fn numbers_of_streams_end() {
    let mut client = Client::with_requests(0);
    client.session.next_id = STREAM_LAST;
    client.request(0..2);
    assert_eq!(client.take_output().len(), 1);
    assert_eq!(client.receive(frame::PING, frame::ACK, 0, &[0; 8]), Ok(Flow::Drain));
    assert_eq!(client.take_outcomes(), [(1, Outcome::Unprocessed)]);
    assert_eq!(client.receive(frame::HEADERS, ALL, STREAM_LAST, OK), Ok(Flow::Close));
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok)]);
}

#[test]
fn pings_and_settings_are_acknowledged() {
    let mut client = Client::with_requests(0);
    client.receive(frame::PING, 0, 0, b"pingpong").unwrap();
    client.receive(frame::PING, frame::ACK, 0, b"pingpong").unwrap();
    client.receive(frame::SETTINGS, 0, 0, b"").unwrap();
    client.receive(frame::SETTINGS, frame::ACK, 0, b"").unwrap();
    let expected = [(frame::PING, frame::ACK, 0, b"pingpong".to_vec()), (frame::SETTINGS, frame::ACK, 0, vec![])];
    assert_eq!(client.take_output(), expected);
}

#[test]
fn what_was_never_sent_is_unprocessed_when_the_connection_ends() {
    for reset in [false, true] {
        let mut client = Client::with_requests(1);
        client.protocol.request(&mut client.session, 1);
        let Client { protocol, session, outcomes } = &mut client;
        let fault = if reset { protocol.reset(session, outcomes) } else { protocol.end_of_stream(session, outcomes) };
        assert_eq!(fault.kind, if reset { ErrorKind::Reset } else { ErrorKind::ClosedEarly });
        assert_eq!(client.take_outcomes(), [(1, Outcome::Unprocessed)]);
    }
}

/// A frame of any kind, more often than not about a stream that is open.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let stream = prop_oneof![8 => (0..8u32).prop_map(|number| 2 * number + 1), 1 => 0..20u32];
    let block = prop::sample::select(vec![
        OK.to_vec(),
        NOT_FOUND.to_vec(),
        response(&[("content-length", "5")]),
        vec![0x88, 0x40, 1, b'x', 1, b'y'],
    ]);
    let headers =
        (stream.clone(), block, 0..2u8).prop_map(|(id, block, end)| bytes_of(frame::HEADERS, frame::END_HEADERS | end, id, &block));
    let data = (stream.clone(), prop::sample::select(vec![&b"hello"[..], b"he", b"llo", b""]), 0..2u8)
        .prop_map(|(id, data, end)| bytes_of(frame::DATA, end, id, data));
    let ping = Just(bytes_of(frame::PING, 0, 0, b"pingpong"));
    let window =
        (prop_oneof![Just(0), stream.clone()], 0..70_000u32).prop_map(|(id, by)| bytes_of(frame::WINDOW_UPDATE, 0, id, &by.to_be_bytes()));
    let any = (0..11u8, any::<u8>(), stream, prop::collection::vec(any::<u8>(), 0..12))
        .prop_map(|(kind, flags, id, payload)| bytes_of(kind, flags, id, &payload));
    prop_oneof![8 => headers, 8 => data, 1 => ping, 1 => window, 1 => any]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The result is the same however the bytes are cut.
    #[test]
    fn slices_do_not_matter(
        frames in prop::collection::vec(any_frame(), 1..30),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = [bytes_of(frame::SETTINGS, 0, 0, b""), frames.concat()].concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.index(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let run = |cuts: &[usize]| {
            let mut client = Client::new(vec![kind("GET", b"", Some(b"hello")), kind("POST", b"body", Some(b"hello"))]);
            client.request(0..6);
            client.take_output();
            let mut flow = Ok(Flow::Open);
            for cut in cuts.windows(2) {
                flow = client.receive_bytes(&bytes[cut[0]..cut[1]]);
                if flow.is_err() {
                    break;
                }
            }
            let streams = client.session.streams.open();
            (flow, client.take_outcomes(), client.take_output(), streams)
        };
        let whole = run(&[0, bytes.len()]);
        prop_assert_eq!(&run(&cuts), &whole);
        prop_assert_eq!(&run(&(0..=bytes.len()).collect::<Vec<_>>()), &whole);
        let mut slots: Vec<_> = whole.1.iter().map(|(slot, _)| *slot).collect();
        slots.sort_unstable();
        slots.dedup();
        prop_assert_eq!(slots.len(), whole.1.len(), "no request ends twice");
        prop_assert_eq!(slots.len() + whole.3, 6, "each request has ended, or is in flight");
    }
}
