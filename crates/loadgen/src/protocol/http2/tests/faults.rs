//! Tests of invalid frames, which cause stream errors or connection errors.

use super::*;

#[test]
fn connection_errors_end_the_connection() {
    let begun = bytes_of(frame::HEADERS, 0, 1, OK);
    let over = bytes_of(frame::HEADERS, ALL, 1, OK);
    let goaway = |last: u8| bytes_of(frame::GOAWAY, 0, 0, &[0, 0, 0, last, 0, 0, 0, 0]);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("data without a stream", bytes_of(frame::DATA, 0, 0, b"x")),
        ("data on an idle stream", bytes_of(frame::DATA, 0, 5, b"x")),
        ("data on a stream of the server's", bytes_of(frame::DATA, 0, 2, b"x")),
        ("data on a closed stream", [&over[..], &bytes_of(frame::DATA, 0, 1, b"x")].concat()),
        ("data with too much padding", bytes_of(frame::DATA, frame::PADDED, 1, b"\x01")),
        ("data with padding but without its length", bytes_of(frame::DATA, frame::PADDED, 1, b"")),
        ("headers without a stream", bytes_of(frame::HEADERS, ALL, 0, OK)),
        ("headers on an idle stream", bytes_of(frame::HEADERS, ALL, 5, OK)),
        ("headers on a stream of the server's", bytes_of(frame::HEADERS, ALL, 2, OK)),
        ("headers on a closed stream", [&over[..], &over].concat()),
        ("headers with too much padding", bytes_of(frame::HEADERS, ALL | frame::PADDED, 1, b"\x02\x88")),
        ("headers too short for a priority", bytes_of(frame::HEADERS, ALL | frame::WITH_PRIORITY, 1, OK)),
        ("headers that cannot be decoded", bytes_of(frame::HEADERS, ALL, 1, &[0xff])),
        ("headers with an index beyond the table", bytes_of(frame::HEADERS, ALL, 1, &[0x88, 0xbe])),
        ("a continuation without a header block", bytes_of(frame::CONTINUATION, frame::END_HEADERS, 1, OK)),
        ("a continuation on another stream", [&begun[..], &bytes_of(frame::CONTINUATION, frame::END_HEADERS, 3, b"")].concat()),
        ("data within a header block", [&begun[..], &bytes_of(frame::DATA, 0, 1, b"")].concat()),
        ("an unknown frame within a header block", [&begun[..], &bytes_of(0xaa, 0, 1, b"")].concat()),
        ("another header block within one", [&begun[..], &begun].concat()),
        (
            "an endless header block",
            [begun.clone(), bytes_of(frame::CONTINUATION, 0, 1, &[0x88; 16_384]).repeat(4), bytes_of(frame::CONTINUATION, 0, 1, OK)]
                .concat(),
        ),
        ("a frame that is too large", bytes_of(0xaa, 0, 0, &[0; 16_385])),
        ("the header of a frame that is too large", vec![0, 0x40, 1, 0xaa, 0, 0, 0, 0, 0]),
        ("HTTP/1.1", b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        ("a priority without a stream", bytes_of(frame::PRIORITY, 0, 0, &[0; 5])),
        ("a reset that is too short", bytes_of(frame::RST_STREAM, 0, 1, &[0; 3])),
        ("a reset that is too long", bytes_of(frame::RST_STREAM, 0, 1, &[0; 5])),
        ("a reset without a stream", bytes_of(frame::RST_STREAM, 0, 0, &[0; 4])),
        ("a reset of an idle stream", bytes_of(frame::RST_STREAM, 0, 5, &[0; 4])),
        ("an incomplete setting", bytes_of(frame::SETTINGS, 0, 0, &[0; 5])),
        ("settings on a stream", bytes_of(frame::SETTINGS, 0, 1, b"")),
        ("an acknowledgment with settings", bytes_of(frame::SETTINGS, frame::ACK, 0, &[0; 6])),
        ("one acknowledgment too many", bytes_of(frame::SETTINGS, frame::ACK, 0, b"").repeat(2)),
        ("settings that enable push", bytes_of(frame::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1])),
        ("settings with too large a window", bytes_of(frame::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0])),
        (
            "settings that make a stream's window too large",
            [bytes_of(frame::WINDOW_UPDATE, 0, 1, &[0x7f, 0xff, 0, 0]), bytes_of(frame::SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])].concat(),
        ),
        ("a maximum frame size that is too small", bytes_of(frame::SETTINGS, 0, 0, &[0, 5, 0, 0, 0x3f, 0xff])),
        ("a maximum frame size that is too large", bytes_of(frame::SETTINGS, 0, 0, &[0, 5, 1, 0, 0, 0])),
        ("a push promise", bytes_of(frame::PUSH_PROMISE, frame::END_HEADERS, 1, &[0, 0, 0, 2, 0x82, 0x84, 0x86])),
        ("a ping on a stream", bytes_of(frame::PING, 0, 1, &[0; 8])),
        ("a ping that is too short", bytes_of(frame::PING, 0, 0, &[0; 7])),
        ("a ping that is too long", bytes_of(frame::PING, frame::ACK, 0, &[0; 9])),
        ("endless pings", bytes_of(frame::PING, 0, 0, &[0; 8]).repeat(70_000)),
        ("a GOAWAY on a stream", bytes_of(frame::GOAWAY, 0, 1, &[0; 8])),
        ("a GOAWAY that is too short", bytes_of(frame::GOAWAY, 0, 0, &[0; 7])),
        ("a GOAWAY that raises the last stream", [goaway(1), goaway(3)].concat()),
        ("a window update that is too short", bytes_of(frame::WINDOW_UPDATE, 0, 0, &[0; 3])),
        ("a window update of zero", bytes_of(frame::WINDOW_UPDATE, 0, 0, &[0; 4])),
        ("a window update that is too large", bytes_of(frame::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])),
        ("a window update on an idle stream", bytes_of(frame::WINDOW_UPDATE, 0, 5, &[0, 0, 0, 1])),
        ("a window update on a stream of the server's", bytes_of(frame::WINDOW_UPDATE, 0, 2, &[0, 0, 0, 1])),
    ];
    for (name, bytes) in cases {
        let mut client = Client::with_requests(2);
        let fault = client.receive_bytes(&bytes).expect_err(name);
        assert_eq!(fault.kind, ErrorKind::InvalidResponse, "{name}");
        let is_right = |(_, outcome): &(Slot, Outcome)| *outcome == Outcome::Ok;
        assert_eq!(
            client.take_outcomes().iter().filter(|one| is_right(one)).count(),
            usize::from(name.ends_with(" closed stream")),
            "{name}"
        );
    }
}

#[test]
fn settings_must_come_first() {
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

#[test]
fn stream_errors_end_only_the_stream() {
    let head = |flags, block: &[u8]| bytes_of(frame::HEADERS, flags, 1, block);
    let data = |flags, payload: &[u8]| bytes_of(frame::DATA, flags, 1, payload);
    let open = |fields: &[(&str, &str)]| head(frame::END_HEADERS, &response(fields));
    let status = |text: &str| literals(&[(":status", text)]);
    let mut cases: Vec<(&str, Vec<u8>, u32)> = vec![
        ("no status", head(ALL, b""), frame::PROTOCOL_ERROR),
        ("two statuses", head(ALL, &[0x88, 0x88]), frame::PROTOCOL_ERROR),
        ("a request pseudo-header", head(ALL, &[0x88, 0x84]), frame::PROTOCOL_ERROR),
        ("a status after a regular field", head(ALL, &[&literals(&[("a", "b")]), OK].concat()), frame::PROTOCOL_ERROR),
        ("data without a head", data(1, b"hello"), frame::PROTOCOL_ERROR),
        ("data after an interim response", [head(frame::END_HEADERS, &status("100")), data(1, b"x")].concat(), frame::PROTOCOL_ERROR),
        ("an interim response that ends the stream", head(ALL, &status("100")), frame::PROTOCOL_ERROR),
        ("an upgrade", head(frame::END_HEADERS, &status("101")), frame::PROTOCOL_ERROR),
        ("endless interim responses", head(frame::END_HEADERS, &status("103")).repeat(17), frame::PROTOCOL_ERROR),
        ("a body that is too short", [open(&[("content-length", "5")]), data(1, b"hell")].concat(), frame::PROTOCOL_ERROR),
        ("a body that is too long", [open(&[("content-length", "5")]), data(0, b"hello!")].concat(), frame::PROTOCOL_ERROR),
        ("a missing body", head(ALL, &response(&[("content-length", "5")])), frame::PROTOCOL_ERROR),
        ("a body with status 204", [head(frame::END_HEADERS, &[0x89]), data(1, b"x")].concat(), frame::PROTOCOL_ERROR),
        ("a body with status 304", [head(frame::END_HEADERS, &[0x8b]), data(1, b"x")].concat(), frame::PROTOCOL_ERROR),
        ("trailers that don't end the stream", [open(&[]), head(frame::END_HEADERS, b"")].concat(), frame::PROTOCOL_ERROR),
        ("trailers with a status", [open(&[]), head(ALL, OK)].concat(), frame::PROTOCOL_ERROR),
        ("trailers with uppercase letters", [open(&[]), head(ALL, &literals(&[("X", "y")]))].concat(), frame::PROTOCOL_ERROR),
        ("trailers before the body ends", [open(&[("content-length", "5")]), head(ALL, b"")].concat(), frame::PROTOCOL_ERROR),
        ("a window update of zero", bytes_of(frame::WINDOW_UPDATE, 0, 1, &[0; 4]), frame::PROTOCOL_ERROR),
        ("a window update that is too large", bytes_of(frame::WINDOW_UPDATE, 0, 1, &[0x7f, 0xff, 0xff, 0xff]), frame::FLOW_CONTROL_ERROR),
        ("a priority that is too short", bytes_of(frame::PRIORITY, 0, 1, &[0; 4]), frame::FRAME_SIZE_ERROR),
    ];
    for (name, value) in [("Server", "x"), ("connection", "close"), ("te", "gzip"), ("a", "\n"), ("content-length", "x")] {
        cases.push((name, head(ALL, &response(&[(name, value)])), frame::PROTOCOL_ERROR));
    }
    for (name, bytes, code) in cases {
        let mut client = Client::with_requests(2);
        assert_eq!(client.receive_bytes(&bytes), Ok(Flow::Open), "{name}");
        assert_eq!(client.take_outcomes(), [(0, INVALID)], "{name}");
        assert_eq!(client.take_output(), [reset(1, code)], "{name}");
        // Frames that the server sent before it received the reset are not errors.
        assert_eq!(client.receive(frame::HEADERS, frame::END_HEADERS, 1, OK), Ok(Flow::Open), "{name}");
        assert_eq!(client.receive(frame::DATA, frame::END_STREAM, 1, b"late"), Ok(Flow::Open), "{name}");
        assert_eq!(client.receive(frame::HEADERS, ALL, 3, OK), Ok(Flow::Open), "{name}");
        assert_eq!(client.take_outcomes(), [(1, Outcome::Ok)], "{name}");
    }
}
