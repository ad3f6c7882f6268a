//! Tests of responses that arrive before the client has sent the whole request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{ENGINES, load_until, scratch, serve, url};
use loadgen::protocol::http1::Http1;
use loadgen::protocol::{Flow, Outcome, Protocol};
use loadgen::request::Requests;
use loadgen::request::expectation::Expectation;
use loadgen::request::kind::MethodKind;
use loadgen::request::kind::RequestKind;
use proptest::prelude::*;

const REFUSED: &[u8] = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno";
const BODY_BYTES: usize = 10_000_000;

/// Numbers of complete and corrupted requests that a server received.
#[derive(Default)]
struct Seen {
    whole: AtomicU64,
    broken: AtomicU64,
}

/// Starts a server that responds to each request as soon as it has read the head. The server then reads the body, which must consist of the
/// letter `z`.
fn serve_early() -> (SocketAddr, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let counted = Arc::clone(&seen);
    let address = serve(move |mut stream| {
        while let Some(head) = read_head(&mut stream) {
            if !head.starts_with(b"POST / HTTP/1.1\r\n") {
                counted.broken.fetch_add(1, Ordering::Relaxed);
                return;
            }
            if stream.write_all(REFUSED).is_err() || !read_body(&mut stream, &counted) {
                return;
            }
            counted.whole.fetch_add(1, Ordering::Relaxed);
        }
    });
    (address, seen)
}

fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut head, mut byte) = (Vec::new(), [0; 1]);
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    Some(head)
}

fn read_body(stream: &mut TcpStream, seen: &Seen) -> bool {
    let (mut piece, mut left) = (vec![0; 1 << 16], BODY_BYTES);
    while left > 0 {
        let room = left.min(piece.len());
        let Ok(count @ 1..) = stream.read(&mut piece[..room]) else { return false };
        if piece[..count].iter().any(|byte| *byte != b'z') {
            seen.broken.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        left -= count;
    }
    true
}

#[test]
fn the_rest_of_an_answered_request_is_sent_before_the_next_one() {
    let file = scratch("body");
    std::fs::write(&file, vec![b'z'; BODY_BYTES]).expect("the temporary folder is writable");
    let body = format!("@{}", file.display());
    for engine in ENGINES {
        for depth in ["1", "3"] {
            let (address, seen) = serve_early();
            let post = ["-c", "2", "--timeout", "30s", "--pipeline", depth, "-X", "POST", "--body", &body];
            let target = url(address);
            let args = [&post[..], &["--expect-status", "401", "--engine", engine, &target]].concat();
            let result = load_until(|result| result.requests.ok > 2, &args);
            assert!(result.requests.ok > 0, "{engine}: {:?}", result.requests);
            assert_eq!(result.errors.total(), 0, "{engine}: {:?}", result.errors);
            assert!(seen.whole.load(Ordering::Relaxed) > 0, "{engine}: no request arrived complete");
            assert_eq!(seen.broken.load(Ordering::Relaxed), 0, "{engine}: the server received something that isn't a request");
        }
    }
    std::fs::remove_file(&file).expect("the file exists");
}

#[test]
fn an_early_response_that_ends_the_connection_is_complete() {
    for engine in ENGINES {
        let address = serve(|mut stream| {
            if read_head(&mut stream).is_some() {
                let _ = stream.write_all(b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
                let _ = stream.shutdown(std::net::Shutdown::Write);
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            }
        });
        let (body, target) = ("z".repeat(100_000), url(address));
        let post = ["-c", "2", "--timeout", "30s", "-X", "POST", "--body", &body, "--expect-status", "413", "--engine", engine, &target];
        let result = load_until(|result| result.requests.ok > 0, &post);
        assert!(result.requests.ok > 0 && result.errors.total() == 0, "{engine}: {:?} {:?}", result.requests, result.errors);
    }
}

/// An event on a connection.
#[derive(Clone, Debug)]
enum Event {
    /// Starts requests until the pipeline is full.
    Fill,
    Send(prop::sample::Index),
    Respond,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![Just(Event::Fill), any::<prop::sample::Index>().prop_map(Event::Send), Just(Event::Respond)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The model tracks how many requests were started and answered, and how many bytes were sent.
    #[test]
    fn a_response_is_valid_once_part_of_its_request_was_sent(
        events in prop::collection::vec(event(), 1..80),
        lengths in prop::collection::vec(prop_oneof![1..50usize, 65_000..70_000usize], 1..3),
        depth in 1..5u16,
    ) {
        let kinds: Vec<_> =
            lengths.iter().map(|length| RequestKind::fixed(vec![b'x'; *length], MethodKind::Other, Expectation::default())).collect();
        let mut protocol = Http1::new(Requests::new(kinds, &vec![1; lengths.len()], depth));
        let mut session = protocol.open();
        let (mut started, mut sent, mut responded) = (0, 0, 0);
        let bytes_of = |count: usize| (0..count).map(|number| lengths[number % lengths.len()]).sum::<usize>();
        for event in events {
            match event {
                Event::Fill => {
                    while started - responded < usize::from(depth) {
                        protocol.request(&mut session, (started % usize::from(depth)) as u16);
                        started += 1;
                    }
                }
                Event::Send(index) => {
                    let count = index.index(protocol.output(&session).len() + 1);
                    protocol.sent(&mut session, count);
                    sent += count;
                }
                Event::Respond => {
                    let mut seen = Vec::new();
                    let flow = protocol.receive(&mut session, b"HTTP/1.1 204 No Content\r\n\r\n", &mut seen);
                    if responded == started || sent <= bytes_of(responded) {
                        prop_assert!(flow.is_err() && seen.is_empty());
                        return Ok(());
                    }
                    prop_assert_eq!(flow, Ok(Flow::Open));
                    prop_assert_eq!(seen, [((responded % usize::from(depth)) as u16, Outcome::Ok)]);
                    responded += 1;
                }
            }
            prop_assert_eq!(protocol.output(&session).is_empty(), sent == bytes_of(started));
        }
    }
}
