//! Tests of how TLS streams begin and end: handshakes, close_notify, and connections that end without close_notify.

use std::io::{ErrorKind as IoErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock, mpsc};
use std::time::Duration;

use crate::common::tls::{certificate, config_of, tls_config};
use crate::common::{ENGINES, load, load_until, serve};
use loadgen::figures::errors::ErrorKind;
use loadgen::figures::result::RunResult;
use loadgen::protocol::http1::Http1;
use loadgen::protocol::tls::{Tls, TlsSetup, Trust};
use loadgen::protocol::{Flow, Outcome, Protocol, Slot};
use loadgen::request::Requests;
use loadgen::request::expectation::Expectation;
use loadgen::request::kind::MethodKind;
use loadgen::request::kind::RequestKind;
use proptest::prelude::*;
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion};

const SIZED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const UNTIL_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nhello";
/// Time limit for a run. Only a run that hangs reaches it, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

static CONFIG: LazyLock<Arc<ServerConfig>> = LazyLock::new(|| tls_config(b"http/1.1", &certificate()));

/// Runs a load in a separate thread. Panics if the run doesn't end within the time limit.
fn bounded_load(address: SocketAddr, engine: &'static str, enough: fn(&RunResult) -> bool) -> RunResult {
    let (sender, receiver) = mpsc::channel();
    let https = format!("https://{address}/");
    std::thread::spawn(move || {
        let common = ["-c", "2", "--timeout", "30s", "-k", "--expect-body", "hello", "--engine", engine, &https];
        let _ = sender.send(load_until(enough, &common));
    });
    receiver.recv_timeout(PATIENCE).expect("the run ends")
}

fn some_are_right(result: &RunResult) -> bool {
    result.requests.ok > 0
}

fn some_fail(result: &RunResult) -> bool {
    result.errors.total() > 0
}

/// Completes the handshake and reads one request. Returns false if the client has disconnected.
fn accept(tls: &mut ServerConnection, stream: &mut TcpStream) -> bool {
    let (mut request, mut piece) = (Vec::new(), [0; 1024]);
    while !request.ends_with(b"\r\n\r\n") {
        match tls.complete_io(stream) {
            Ok((0, 0)) | Err(_) => return false,
            Ok(_) => {}
        }
        match tls.reader().read(&mut piece) {
            Ok(count @ 1..) => request.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == IoErrorKind::WouldBlock => {}
            _ => return false,
        }
    }
    true
}

fn flush(tls: &mut ServerConnection, stream: &mut TcpStream) {
    while tls.wants_write() && tls.write_tls(stream).is_ok() {}
}

/// Starts a server that answers one request per connection with these bytes, sends a close_notify if `notify` is true, and then calls
/// `end`.
fn serve_once(answer: &'static [u8], notify: bool, end: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> SocketAddr {
    serve(move |mut stream| {
        let mut tls = ServerConnection::new(Arc::clone(&CONFIG)).expect("a valid configuration");
        if !accept(&mut tls, &mut stream) {
            return;
        }
        let _ = tls.writer().write_all(answer);
        if notify {
            tls.send_close_notify();
        }
        flush(&mut tls, &mut stream);
        end(&mut stream);
        // Wait for the client to disconnect, because closing the socket earlier could reset the connection.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    })
}

#[test]
fn data_after_close_notify_is_ignored() {
    for engine in ENGINES {
        let address = serve_once(SIZED, true, |stream| {
            std::thread::sleep(Duration::from_millis(20));
            let _ = stream.write_all(&[23]);
        });
        let result = bounded_load(address, engine, some_are_right);
        assert!(result.requests.ok > 0, "{engine}: {:?} {:?}", result.requests, result.errors);
        assert_eq!(result.errors.closed_early, result.errors.total(), "{engine}: {:?}", result.errors);
    }
}

#[test]
fn close_notify_instead_of_a_response_fails_the_request() {
    for engine in ENGINES {
        let result = bounded_load(serve_once(b"", true, |_| {}), engine, some_fail);
        assert_eq!(result.requests.ok, 0);
        assert!(result.errors.closed_early > 0, "{engine}: {:?}", result.errors);
        assert_eq!(result.errors.closed_early, result.errors.total(), "{engine}: {:?}", result.errors);
    }
}

/// The server keeps the connection open, so only the close_notify can end the body.
#[test]
fn close_notify_ends_a_body_without_length() {
    for engine in ENGINES {
        let result = bounded_load(serve_once(UNTIL_CLOSE, true, |_| {}), engine, some_are_right);
        assert!(result.requests.ok > 0 && result.errors.total() == 0, "{engine}: {:?} {:?}", result.requests, result.errors);
    }
}

#[test]
fn a_body_without_length_and_without_close_notify_may_be_truncated() {
    for engine in ENGINES {
        let address = serve_once(UNTIL_CLOSE, false, |stream| {
            let _ = stream.shutdown(Shutdown::Write);
        });
        let result = bounded_load(address, engine, some_fail);
        assert_eq!(result.requests.completed, 0, "{engine}: {:?}", result.requests);
        assert!(result.errors.closed_early > 0, "{engine}: {:?}", result.errors);
        assert_eq!(result.errors.closed_early, result.errors.total(), "{engine}: {:?}", result.errors);
    }
}

/// The Content-Length proves that the body is complete.
#[test]
fn a_body_with_a_length_needs_no_close_notify() {
    for engine in ENGINES {
        let address = serve_once(SIZED, false, |stream| {
            let _ = stream.shutdown(Shutdown::Write);
        });
        let result = bounded_load(address, engine, some_are_right);
        assert!(result.requests.ok > 0, "{engine}: {:?} {:?}", result.requests, result.errors);
        assert_eq!(result.errors.closed_early, result.errors.total(), "{engine}: {:?}", result.errors);
    }
}

fn serve_version(version: &'static SupportedProtocolVersion) -> SocketAddr {
    let config = Arc::new(config_of(&[version], b"http/1.1", &certificate()));
    serve(move |mut stream| {
        let mut tls = ServerConnection::new(Arc::clone(&config)).expect("a valid configuration");
        while accept(&mut tls, &mut stream) && tls.writer().write_all(SIZED).is_ok() {
            flush(&mut tls, &mut stream);
        }
    })
}

#[test]
fn sessions_are_resumed_only_with_the_option() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for engine in ENGINES {
            let address = serve_version(version);
            let https = format!("https://{address}/");
            let run = |resumption| {
                let args =
                    ["-c", "2", "-k", "--no-keepalive", "--timeout", "30s", "--engine", engine, "--tls-resumption", resumption, &https];
                load_until(|result| result.connect_time_us.count > 4, &args)
            };
            let (off, on) = (run("off"), run("on"));
            assert_eq!((off.config.tls_resumption, on.config.tls_resumption), (Some(false), Some(true)));
            let (full, mixed) = (off.tls_handshakes.expect("TLS"), on.tls_handshakes.expect("TLS"));
            assert!(full.full > 2 && full.resumed == 0, "{engine}, {version:?}: {full:?}");
            assert!(mixed.full >= 1 && mixed.resumed > 0, "{engine}, {version:?}: {mixed:?}");
            assert_eq!(full.full, off.connect_time_us.count, "each connection is set up by one handshake");
            assert_eq!(mixed.full + mixed.resumed, on.connect_time_us.count, "each connection is set up by one handshake");
        }
    }
}

#[test]
fn handshakes_are_full_by_default_and_absent_over_http() {
    let https = format!("https://{}/", serve_version(&rustls::version::TLS13));
    let result = load(&["-c", "1", "-d", "100ms", "-k", &https]).expect("the run succeeds");
    assert_eq!(result.config.tls_resumption, Some(false));
    let plain = crate::common::url(crate::common::serve_bytes(SIZED));
    let result = load(&["-c", "1", "-d", "100ms", &plain]).expect("the run succeeds");
    assert_eq!((result.config.tls_resumption, result.tls_handshakes), (None, None));
    let error = load(&["-c", "1", "-d", "100ms", "--tls-resumption", "on", &plain]).expect_err("there is nothing to resume");
    assert!(format!("{error:#}").contains("--tls-resumption"), "{error:#}");
}

/// The way in which a server ends a stream after the responses.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Nothing,
    Notify,
    NotifyAndMore,
    Garbage,
    Truncated,
}

/// Delivers the server's stream to one connection in pieces. `lengths` contains the lengths of the pieces, and is repeated as necessary.
/// Returns the completions and how the connection ended.
fn deliver(answers: &[&[u8]], ending: Ending, lengths: &[usize]) -> (Vec<(Slot, Outcome)>, Result<Flow, ErrorKind>) {
    let kind = RequestKind::fixed(b"GET / HTTP/1.1\r\n\r\n".to_vec(), MethodKind::Other, Expectation::default());
    let setup = TlsSetup::new("localhost", b"http/1.1", Trust::Anything, false).expect("a valid name");
    let mut protocol = Tls::new(Http1::new(Requests::new(vec![kind], &[1], 3)), setup);
    let mut session = protocol.open();
    let mut server = ServerConnection::new(Arc::clone(&CONFIG)).expect("a valid configuration");
    let mut seen = Vec::new();
    let mut requested = false;
    loop {
        let mut output = protocol.output(&session).to_vec();
        if output.is_empty() && requested {
            break;
        }
        // Send the output in two parts, to check that `sent` handles partial sends.
        protocol.sent(&mut session, output.len() / 2);
        protocol.sent(&mut session, output.len() - output.len() / 2);
        while !output.is_empty() {
            let taken = server.read_tls(&mut &output[..]).expect("reading from memory cannot fail");
            server.process_new_packets().expect("the client's records are valid");
            output.drain(..taken);
        }
        let mut from_server = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut from_server).expect("writing to memory cannot fail");
        }
        if !from_server.is_empty() {
            assert_eq!(protocol.receive(&mut session, &from_server, &mut seen), Ok(Flow::Open));
        }
        if protocol.ready(&session) && !std::mem::replace(&mut requested, true) {
            (0..3).for_each(|slot| _ = protocol.request(&mut session, slot));
        }
    }
    let mut stream = Vec::new();
    for answer in answers {
        server.writer().write_all(answer).expect("writing to memory cannot fail");
    }
    if matches!(ending, Ending::Notify | Ending::NotifyAndMore) {
        server.send_close_notify();
    }
    while server.wants_write() {
        server.write_tls(&mut stream).expect("writing to memory cannot fail");
    }
    match ending {
        Ending::Nothing | Ending::Notify | Ending::Truncated => {}
        Ending::NotifyAndMore => stream.extend_from_slice(&[23, 3, 3]),
        // This record isn't encrypted with a valid key.
        Ending::Garbage => {
            stream.extend_from_slice(&[23, 3, 3, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
        }
    }
    let (mut rest, mut lengths) = (&stream[..], lengths.iter().cycle());
    while !rest.is_empty() {
        let (piece, later) = rest.split_at((*lengths.next().expect("there is one")).min(rest.len()));
        rest = later;
        match protocol.receive(&mut session, piece, &mut seen) {
            Ok(Flow::Open) => {}
            over => return (seen, over.map_err(|fault| fault.kind)),
        }
    }
    let over = if matches!(ending, Ending::Truncated) { Err(protocol.end_of_stream(&mut session, &mut seen).kind) } else { Ok(Flow::Open) };
    (seen, over)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splitting_a_stream_does_not_change_how_it_ends(
        sized in 0..3usize,
        until_close in any::<bool>(),
        ending in prop_oneof![
            Just(Ending::Nothing), Just(Ending::Notify), Just(Ending::NotifyAndMore), Just(Ending::Garbage), Just(Ending::Truncated)
        ],
        lengths in prop::collection::vec(1..200usize, 1..4),
    ) {
        let mut answers = vec![SIZED; sized];
        answers.extend(until_close.then_some(UNTIL_CLOSE));
        let notified = matches!(ending, Ending::Notify | Ending::NotifyAndMore);
        let complete = sized + usize::from(until_close && notified);
        let expected: Vec<_> = (0..complete as Slot).map(|slot| (slot, Outcome::Ok)).collect();
        let over = match ending {
            Ending::Nothing => Ok(Flow::Open),
            Ending::Notify | Ending::NotifyAndMore | Ending::Truncated => Err(ErrorKind::ClosedEarly),
            Ending::Garbage => Err(ErrorKind::Tls),
        };
        for lengths in [&lengths[..], &[1], &[usize::MAX]] {
            prop_assert_eq!(deliver(&answers, ending, lengths), (expected.clone(), over));
        }
    }
}
