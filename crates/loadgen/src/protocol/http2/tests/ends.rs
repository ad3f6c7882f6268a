//! Tests of streams and connections that the client or the server ends early.

use super::*;

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
fn the_server_limits_concurrent_streams() {
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
    assert!(client.protocol.abandon(&mut client.session, 3), "a waiting request can be abandoned");
    client.receive(frame::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9]).unwrap();
    assert_eq!(client.take_output(), [(frame::SETTINGS, frame::ACK, 0, vec![])]);
    assert_eq!(client.take_outcomes(), [(1, Outcome::Ok), (0, Outcome::Ok)]);
}

#[test]
fn abandoned_streams_are_reset_with_cancel() {
    let mut client = Client::with_requests(2);
    client.receive(frame::HEADERS, frame::END_HEADERS, 1, OK).unwrap();
    assert!(client.protocol.abandon(&mut client.session, 0));
    assert_eq!(client.take_output(), [reset(1, frame::CANCEL)]);
    // The slot is reused while the rest of the old response arrives. The header fields of that response must still go through the decoder.
    client.request(0..1);
    client.receive(frame::DATA, 0, 1, b"late").unwrap();
    client.receive(frame::HEADERS, ALL, 1, &[0x40, 1, b'x', 1, b'1']).unwrap();
    client.receive(frame::HEADERS, ALL, 5, &[0x88, 0xbe]).unwrap();
    assert_eq!(client.take_outcomes(), [(0, Outcome::Ok)]);
}

#[test]
fn refused_and_canceled_streams_have_different_outcomes() {
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
fn goaway_separates_processed_from_unprocessed_requests() {
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
fn streams_stop_before_ids_run_out() {
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
fn unsent_requests_are_unprocessed_when_the_connection_ends() {
    for reset in [false, true] {
        let mut client = Client::with_requests(1);
        client.protocol.request(&mut client.session, 1);
        let Client { protocol, session, reported } = &mut client;
        let fault = if reset { protocol.reset(session, reported) } else { protocol.end_of_stream(session, reported) };
        assert_eq!(fault.kind, if reset { ErrorKind::Reset } else { ErrorKind::ClosedEarly });
        assert_eq!(client.take_outcomes(), [(1, Outcome::Unprocessed)]);
    }
}
