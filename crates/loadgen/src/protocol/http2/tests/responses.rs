//! Tests of valid responses and of the checks of their status and body.

use super::*;

#[test]
fn accepts_valid_responses() {
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
            bytes_of(0xaa, 0xff, 7, b"unknown frames are ignored"),
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
fn a_response_begins_with_its_first_header_frame() {
    let mut client = Client::with_requests(4);
    let with_length = response(&[("content-length", "5")]);
    client.receive(frame::HEADERS, ALL, 1, OK).unwrap();
    assert!(client.reported.begun.is_empty(), "a response in one frame is complete at once");
    client.receive(frame::HEADERS, frame::END_HEADERS, 5, OK).unwrap();
    assert_eq!(client.reported.begun, [2]);
    client.receive(frame::HEADERS, 0, 3, &with_length[..4]).unwrap();
    assert_eq!(client.reported.begun, [2, 1], "the rest of the block is missing");
    client.receive(frame::CONTINUATION, frame::END_HEADERS, 3, &with_length[4..]).unwrap();
    client.receive(frame::HEADERS, frame::END_HEADERS, 7, &literals(&[(":status", "103")])).unwrap();
    assert_eq!(client.reported.begun.last(), Some(&3), "an interim response is a part of the response");
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok)]);
}

#[test]
fn status_and_body_are_checked() {
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
fn a_response_without_a_body_may_have_a_content_length() {
    let length = literals(&[("content-length", "5")]);
    let mut client = Client::new(vec![kind("HEAD", b"", None)]);
    client.set_up();
    client.request(0..3);
    client.receive(frame::HEADERS, ALL, 1, &[OK, &length].concat()).unwrap();
    client.receive(frame::HEADERS, ALL, 3, &[&[0x8b][..], &length].concat()).unwrap();
    client.receive(frame::HEADERS, frame::END_HEADERS, 5, OK).unwrap();
    client.receive(frame::DATA, frame::END_STREAM, 5, b"x").unwrap();
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok), (1, Outcome::UnexpectedStatus), (2, INVALID)]);
}

#[test]
fn a_known_block_is_decoded_again_after_the_table_changes() {
    let mut client = Client::with_requests(4);
    // The first block inserts `x: 1` into the table, and the second one refers to it by index. The third one inserts another entry, so the
    // same index in the fourth block refers to `connection`.
    let kept = |name: &str, value: &str| [&[0x40, name.len() as u8][..], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat();
    client.receive(frame::HEADERS, ALL, 1, &[OK, &kept("x", "1")].concat()).unwrap();
    client.receive(frame::HEADERS, ALL, 3, &[0x88, 0xbe]).unwrap();
    client.receive(frame::HEADERS, ALL, 5, &[OK, &kept("connection", "close")].concat()).unwrap();
    client.receive(frame::HEADERS, ALL, 7, &[0x88, 0xbe]).unwrap();
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok), (1, Outcome::Ok), (2, INVALID), (3, INVALID)]);
}

#[test]
fn the_server_must_respect_flow_control() {
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
    assert_eq!(opened, 2 * 3 * (1 << 19), "each stream gets an update for each half of its window");
    // Received data must be subtracted from each window only once, and padding must be included.
    assert_eq!(client.session.receive_window.update(), None);
    client.receive(frame::HEADERS, frame::END_HEADERS, 5, OK).unwrap();
    let padded = [&[255][..], &[0; 256]].concat();
    for _ in 0..2040 {
        client.receive(frame::DATA, frame::PADDED, 5, &padded).unwrap();
    }
    let frames = client.take_output();
    assert_eq!(frames.iter().filter(|(kind, _, stream, _)| (*kind, *stream) == (frame::WINDOW_UPDATE, 5)).count(), 0);
    client.receive(frame::DATA, frame::PADDED, 5, &padded).unwrap();
    assert_eq!(client.take_output().len(), 1, "2,041 frames of 257 bytes use half of the window");
}

#[test]
fn a_sample_is_the_whole_response_on_one_stream() {
    let mut client = Client::with_requests(3);
    let head = response(&[("content-type", "text/plain")]);
    client.receive(frame::HEADERS, frame::END_HEADERS, 1, &head).expect("a valid head");
    client.receive(frame::DATA, frame::END_STREAM, 1, b"before").expect("a valid body");
    client.protocol.sample_next();
    for (stream, body) in [(3, &b"he"[..]), (5, b"other")] {
        client.receive(frame::HEADERS, frame::END_HEADERS, stream, &head).expect("a valid head");
        client.receive(frame::DATA, 0, stream, body).expect("a valid body");
    }
    client.receive(frame::DATA, frame::END_STREAM, 5, b"").expect("a valid body");
    assert!(client.protocol.take_samples().is_empty(), "the response is incomplete");
    client.receive(frame::DATA, frame::END_STREAM, 3, b"llo").expect("a valid body");
    let samples = client.protocol.take_samples();
    let texts: Vec<_> = samples.iter().map(|sample| (sample.status, sample.head.as_str(), sample.body.as_str())).collect();
    assert_eq!(texts, [(200, "HTTP/2 200\r\ncontent-type: text/plain\r\n\r\n", "hello")]);
    assert_eq!(client.take_outcomes().len(), 3);
}

#[test]
fn interim_responses_and_failed_streams_are_no_samples() {
    let mut client = Client::with_requests(2);
    client.protocol.sample_next();
    client.receive(frame::HEADERS, frame::END_HEADERS, 1, &literals(&[(":status", "103")])).expect("a valid interim response");
    client.receive(frame::HEADERS, frame::END_HEADERS, 1, OK).expect("a valid head");
    client.receive(frame::RST_STREAM, 0, 1, &frame::CANCEL.to_be_bytes()).expect("a valid reset");
    client.protocol.sample_next();
    client.receive(frame::HEADERS, ALL, 3, NOT_FOUND).expect("a valid head");
    let samples = client.protocol.take_samples();
    assert_eq!(samples.iter().map(|sample| (sample.status, sample.head.as_str())).collect::<Vec<_>>(), [(404, "HTTP/2 404\r\n\r\n")]);
}
