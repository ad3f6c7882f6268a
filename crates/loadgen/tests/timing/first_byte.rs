//! Tests of the time to the first byte, with servers that send the head and the body of each response after known delays.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::common::frames::Frames;
use crate::common::slices::Commanded;
use crate::common::tls::{certificate, tls_config};
use crate::common::{ENGINES, load, read_request, serve, serve_bytes, url};
use loadgen::figures::distribution::Distribution;
use loadgen::figures::result::RunResult;
use rustls::{ServerConnection, StreamOwned};

/// Time from a request to the head of its response, and from the head to the body.
const HEAD_DELAY: Duration = Duration::from_millis(5);
const BODY_DELAY: Duration = Duration::from_millis(20);
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
const BODY: &[u8] = b"hello";
/// The expected medians, in microseconds. Sleeping and the connection add at most a millisecond each.
const FIRST_BYTE_US: Range<f64> = 5e3..6e3;
const RESPONSE_US: Range<f64> = 25e3..27e3;
/// Number of runs of which one must have the expected medians, because other programs may delay any of them.
const ATTEMPTS: u32 = 3;

/// Sends the head and the body of a response. Returns false if the client has disconnected.
fn respond_slowly(stream: &mut impl Write) -> bool {
    std::thread::sleep(HEAD_DELAY);
    let begun = stream.write_all(HEAD).and_then(|()| stream.flush()).is_ok();
    std::thread::sleep(BODY_DELAY);
    begun && stream.write_all(BODY).and_then(|()| stream.flush()).is_ok()
}

fn read_request_of(stream: &mut impl Read) -> bool {
    let (mut seen, mut byte) = (Vec::new(), [0; 1]);
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => seen.push(byte[0]),
            _ => return false,
        }
    }
    true
}

/// Like `serve`, but without Nagle's algorithm. It would hold back the body until the client acknowledges the head.
fn serve_promptly(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    serve(move |stream| {
        stream.set_nodelay(true).expect("a TCP socket");
        handle(stream);
    })
}

fn serve_slowly() -> SocketAddr {
    serve_promptly(|mut stream| while read_request(&mut stream) && respond_slowly(&mut stream) {})
}

fn serve_over_tls(alpn: &[u8], handle: fn(StreamOwned<ServerConnection, TcpStream>)) -> String {
    let config = tls_config(alpn, &certificate());
    let address = serve_promptly(move |stream| {
        let tls = ServerConnection::new(Arc::clone(&config)).expect("a valid configuration");
        handle(StreamOwned::new(tls, stream));
    });
    format!("https://localhost:{}/", address.port())
}

fn answer_frames(stream: StreamOwned<ServerConnection, TcpStream>) {
    let Some(mut frames) = Frames::accept(stream) else { return };
    while let Some(request) = frames.next() {
        std::thread::sleep(HEAD_DELAY);
        frames.begin_answer(request.stream);
        std::thread::sleep(BODY_DELAY);
        frames.end_answer(request.stream);
    }
}

fn latency(result: &RunResult) -> &Distribution {
    result.response_time_us.as_ref().unwrap_or(&result.service_time_us)
}

/// Checks the medians of the time to the first byte and of the latency, for any engine.
fn assert_medians(args: &[&str], first_byte_us: &Range<f64>, response_us: &Range<f64>) {
    assert_percentiles(args, |times| times.p50, first_byte_us, response_us);
}

fn assert_percentiles(args: &[&str], of: fn(&Distribution) -> Option<f64>, first_byte_us: &Range<f64>, response_us: &Range<f64>) {
    for engine in ENGINES {
        let mut seen = Vec::new();
        let is_true = (0..ATTEMPTS).any(|_| {
            let result = load(&[args, &["--engine", engine]].concat()).expect("the run succeeds");
            assert_eq!(result.first_byte_us.count, latency(&result).count, "{engine} {args:?}");
            let found = [&result.first_byte_us, latency(&result)].map(|times| of(times).expect("enough responses"));
            seen.push(found);
            first_byte_us.contains(&found[0]) && response_us.contains(&found[1])
        });
        assert!(is_true, "{engine} {args:?}: first byte and response in us: {seen:?}");
    }
}

#[test]
fn first_bytes_take_as_long_as_the_server_waits() {
    let target = url(serve_slowly());
    for args in [&["-c", "8"][..], &["-c", "8", "-t", "2"], &["-r", "200", "-c", "16"], &["-r", "200", "-c", "16", "-t", "2"]] {
        assert_medians(&[args, &["-d", "500ms", &target]].concat(), &FIRST_BYTE_US, &RESPONSE_US);
    }
}

#[test]
fn first_bytes_over_tls_take_as_long_as_the_server_waits() {
    let https = serve_over_tls(b"http/1.1", |mut stream| while read_request_of(&mut stream) && respond_slowly(&mut stream) {});
    assert_medians(&["-c", "8", "-d", "500ms", "-k", &https], &FIRST_BYTE_US, &RESPONSE_US);
    let http2 = serve_over_tls(b"h2", answer_frames);
    assert_medians(&["-c", "8", "-d", "500ms", "-k", "--http2", &http2], &FIRST_BYTE_US, &RESPONSE_US);
}

/// One connection serves 40 requests per second, so most of the 100 requests wait for it.
#[test]
fn in_an_open_loop_the_wait_for_a_connection_counts() {
    let target = url(serve_slowly());
    for engine in ENGINES {
        let result = load(&["-r", "100", "-c", "1", "-d", "1s", "--engine", engine, &target]).expect("the run succeeds");
        let (first_byte_us, response_us) = (result.first_byte_us.p50.expect("a median"), latency(&result).p50.expect("a median"));
        assert!(first_byte_us > 200e3, "{engine}: {first_byte_us}");
        assert!((15e3..30e3).contains(&(response_us - first_byte_us)), "{engine}: {first_byte_us} {response_us}");
    }
}

#[test]
fn slices_contain_times_to_the_first_byte() {
    let target = url(serve_slowly());
    for engine in ENGINES {
        let mut load = Commanded::new(&["-c", "16", "-t", "2", "--engine", engine, &target]);
        load.order("warmup 50");
        load.slices(3, "slice 10 200");
        let result = load.end();
        let [first_byte, service] = ["first_byte_us", "service_time_us"].map(|name| &result[name]);
        assert_eq!(first_byte["count"], service["count"], "{engine}");
        let medians = [first_byte, service].map(|times| times["p50"].as_f64().expect("a median"));
        assert!((5e3..10e3).contains(&medians[0]) && (25e3..40e3).contains(&medians[1]), "{engine}: {medians:?}");
    }
}

/// The time to the first byte is known even if the rest of the response never arrives.
#[test]
fn incomplete_responses_have_a_first_byte() {
    let target = url(serve_promptly(|mut stream| {
        while read_request(&mut stream) {
            std::thread::sleep(HEAD_DELAY);
            let _ = stream.write_all(HEAD);
        }
    }));
    let timed_out = ["-r", "100", "-c", "64", "-d", "400ms", "--timeout", "200ms", &target];
    assert_medians(&timed_out, &FIRST_BYTE_US, &(199e3..240e3));
    // All requests arrive at once, each at a new thread. Half of the threads can wait for each other for longer than a millisecond.
    let unfinished = ["-c", "16", "-d", "300ms", "--timeout", "10s", &target];
    assert_percentiles(&unfinished, |times| times.p25, &FIRST_BYTE_US, &(250e3..301e3));
}

#[test]
fn the_first_byte_of_a_response_in_one_read_takes_as_long_as_the_response() {
    let target = url(serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
    for engine in ENGINES {
        for args in [&["-c", "2"][..], &["-r", "500"]] {
            let result = load(&[args, &["-d", "200ms", "--engine", engine, &target]].concat()).expect("the run succeeds");
            assert_eq!(&result.first_byte_us, latency(&result), "{engine} {args:?}");
        }
    }
}
