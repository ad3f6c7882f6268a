//! Tests of the client's output: setup, requests with bodies, and acknowledgments.

use super::*;

#[test]
fn a_connection_starts_with_preface_settings_and_window_update() {
    let mut client = Client::new(vec![kind("GET", b"", None)]);
    assert!(client.protocol.output(&client.session).starts_with(frame::PREFACE));
    let settings = [[0, 2, 0, 0, 0, 0], [0, 4, 0, 16, 0, 0], [0, 6, 0, 1, 0, 0]].concat();
    let window = ((16 << 20) - 65_535u32).to_be_bytes().to_vec();
    assert_eq!(client.take_output(), [(frame::SETTINGS, 0, 0, settings), (frame::WINDOW_UPDATE, 0, 0, window)]);
}

#[test]
fn repeated_requests_are_short() {
    let mut client = Client::with_requests(0);
    client.request(0..2);
    let first = [&[0x82, 0x86, 0x41, 9][..], b"localhost", &[0x84]].concat();
    assert_eq!(client.take_output(), [(frame::HEADERS, ALL, 1, first), (frame::HEADERS, ALL, 3, vec![0x82, 0x86, 0xbe, 0x84])]);
    client.receive(frame::SETTINGS, 0, 0, &[0, 1, 0, 0, 0, 0]).expect("a server may disable the dynamic table");
    client.request(2..4);
    let emptied = [&[0x20, 0x20, 0x82, 0x86, 0x01, 9][..], b"localhost", &[0x84]].concat();
    let literal = emptied[2..].to_vec();
    let sent = client.take_output();
    assert_eq!(sent, [(frame::SETTINGS, frame::ACK, 0, vec![]), (frame::HEADERS, ALL, 5, emptied), (frame::HEADERS, ALL, 7, literal)]);
}

#[test]
fn bodies_respect_flow_control() {
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
    // The first stream uses up the connection's window.
    let (mut first, end) = sent(&mut client, 1);
    assert_eq!((first.len(), end), (65_535, false));
    client.receive(frame::WINDOW_UPDATE, 0, 0, &[0, 1, 0, 0]).unwrap();
    let (second, _) = sent(&mut client, 3);
    assert_eq!(second.len(), 65_535, "the window of the first stream is used up");
    // Shrinking all stream windows makes the windows of both streams negative. They must become positive before the client sends more.
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
fn pings_and_settings_are_acknowledged() {
    let mut client = Client::with_requests(0);
    client.receive(frame::PING, 0, 0, b"pingpong").unwrap();
    client.receive(frame::PING, frame::ACK, 0, b"pingpong").unwrap();
    client.receive(frame::SETTINGS, 0, 0, b"").unwrap();
    client.receive(frame::SETTINGS, frame::ACK, 0, b"").unwrap();
    let expected = [(frame::PING, frame::ACK, 0, b"pingpong".to_vec()), (frame::SETTINGS, frame::ACK, 0, vec![])];
    assert_eq!(client.take_output(), expected);
}
