//! Tests of the time to the first byte, with servers that send the head and the body of each response after known delays.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::common::frames::Frames;
use crate::common::record::{Times, assert_times, waiting_us};
use crate::common::slices::Commanded;
use crate::common::tls::{certificate, tls_config};
use crate::common::{each_engine, load, read_request, serve, serve_bytes, url};
use loadgen::figures::distribution::Distribution;
use loadgen::figures::result::RunResult;
use loadgen::time::clock::now_ns;
use rustls::{ServerConnection, StreamOwned};

/// Time from a request to the head of its response, and from the head to the body.
const HEAD_DELAY: Duration = Duration::from_millis(5);
const BODY_DELAY: Duration = Duration::from_millis(20);
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
const BODY: &[u8] = b"hello";

/// The server's record: the times from a request to the head of its response and to its body, and by how much both were late.
#[derive(Default)]
struct Sent {
    heads: Times,
    bodies: Times,
    late: Times,
}

/// Sends the head and the body of a response after their delays. Returns false if the client has disconnected.
fn respond_slowly(sent: &Sent, mut send: impl FnMut(bool) -> bool) -> bool {
    let came_ns = now_ns();
    let head_due_ns = came_ns + HEAD_DELAY.as_nanos() as u64;
    let head_ns = sent.late.sleep_until(head_due_ns);
    let begun = send(true);
    let body_ns = sent.late.sleep_until(head_due_ns + BODY_DELAY.as_nanos() as u64);
    if !begun || !send(false) {
        return false;
    }
    sent.heads.push(head_ns - came_ns);
    sent.bodies.push(body_ns - came_ns);
    true
}

fn send_piece(stream: &mut impl Write, is_head: bool) -> bool {
    stream.write_all(if is_head { HEAD } else { BODY }).and_then(|()| stream.flush()).is_ok()
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

fn serve_slowly() -> (String, Arc<Sent>) {
    let sent = Arc::new(Sent::default());
    let record = Arc::clone(&sent);
    let address = serve_promptly(
        move |mut stream| while read_request(&mut stream) && respond_slowly(&record, |is_head| send_piece(&mut stream, is_head)) {},
    );
    (url(address), sent)
}

fn serve_over_tls(alpn: &[u8], handle: fn(StreamOwned<ServerConnection, TcpStream>, &Sent)) -> (String, Arc<Sent>) {
    let sent = Arc::new(Sent::default());
    let (record, config) = (Arc::clone(&sent), tls_config(alpn, &certificate()));
    let address = serve_promptly(move |stream| {
        let tls = ServerConnection::new(Arc::clone(&config)).expect("a valid configuration");
        handle(StreamOwned::new(tls, stream), &record);
    });
    (format!("https://localhost:{}/", address.port()), sent)
}

fn answer_http1(mut stream: StreamOwned<ServerConnection, TcpStream>, sent: &Sent) {
    while read_request_of(&mut stream) && respond_slowly(sent, |is_head| send_piece(&mut stream, is_head)) {}
}

fn answer_http2(stream: StreamOwned<ServerConnection, TcpStream>, sent: &Sent) {
    let Some(mut frames) = Frames::accept(stream) else { return };
    while let Some(request) = frames.next() {
        respond_slowly(sent, |is_head| if is_head { frames.begin_answer(request.stream) } else { frames.end_answer(request.stream) });
    }
}

fn latency(result: &RunResult) -> &Distribution {
    result.response_time_us.as_ref().unwrap_or(&result.service_time_us)
}

fn ends(times: &Distribution) -> [Option<f64>; 2] {
    [times.min, times.p25]
}

/// Checks the times to the first byte and to the last one, with any engine.
fn assert_pieces(args: &[&str], serve: impl Fn() -> (String, Arc<Sent>) + Sync) {
    each_engine(|engine| {
        let (target, sent) = serve();
        let result = load(&[args, &["--engine", engine, &target]].concat()).expect("the run succeeds");
        let what = format!("{engine} {args:?}");
        assert_eq!((result.errors.total(), result.first_byte_us.count), (0, latency(&result).count), "{what}");
        let error_max_us = sent.late.error_max_us(waiting_us(&result));
        assert_times(ends(&result.first_byte_us), &sent.heads, error_max_us, &format!("{what}: first byte"));
        assert_times(ends(latency(&result)), &sent.bodies, error_max_us, &format!("{what}: response"));
    });
}

#[test]
fn first_bytes_take_as_long_as_the_server_waits() {
    for args in [&["-c", "4"][..], &["-c", "4", "-t", "2"], &["-r", "200", "-c", "16"], &["-r", "200", "-c", "16", "-t", "2"]] {
        assert_pieces(&[args, &["-n", "48"]].concat(), serve_slowly);
    }
}

#[test]
fn first_bytes_over_tls_take_as_long_as_the_server_waits() {
    assert_pieces(&["-c", "8", "-n", "48", "-k"], || serve_over_tls(b"http/1.1", answer_http1));
    assert_pieces(&["-c", "8", "-n", "48", "-k", "--http2"], || serve_over_tls(b"h2", answer_http2));
}

/// One connection serves 40 requests per second, so most of the 24 requests wait for it.
#[test]
fn in_an_open_loop_the_wait_for_a_connection_counts() {
    each_engine(|engine| {
        let (target, _) = serve_slowly();
        let result = load(&["-r", "100", "-c", "1", "-n", "24", "--engine", engine, &target]).expect("the run succeeds");
        let (first_byte_us, response_us) = (result.first_byte_us.p50.expect("a median"), latency(&result).p50.expect("a median"));
        assert!(first_byte_us > 100e3 && response_us >= first_byte_us, "{engine}: {first_byte_us} {response_us}");
    });
}

#[test]
fn slices_contain_times_to_the_first_byte() {
    each_engine(|engine| {
        let (target, sent) = serve_slowly();
        let mut load = Commanded::new(&["-c", "16", "-t", "2", "--engine", engine, &target]);
        load.slices(3, "slice 10 80");
        let result = load.end();
        let [first_byte, service] = ["first_byte_us", "service_time_us"].map(|name| &result[name]);
        assert_eq!(first_byte["count"], service["count"], "{engine}");
        let waiting_us = result["generator"]["waiting"].as_f64().unwrap_or(0.0) * result["duration_s"].as_f64().expect("a number") * 1e6;
        let error_max_us = sent.late.error_max_us(waiting_us);
        assert_times(["min", "p25"].map(|name| first_byte[name].as_f64()), &sent.heads, error_max_us, &format!("{engine}: first byte"));
        assert_times(["min", "p25"].map(|name| service[name].as_f64()), &sent.bodies, error_max_us, &format!("{engine}: response"));
    });
}

/// The time to the first byte is known even if the rest of the response never arrives.
#[test]
fn incomplete_responses_have_a_first_byte() {
    each_engine(|engine| {
        for is_timeout in [true, false] {
            let sent = Arc::new(Sent::default());
            let record = Arc::clone(&sent);
            let address = serve_promptly(move |mut stream| {
                while read_request(&mut stream) {
                    let came_ns = now_ns();
                    let head_ns = record.late.sleep_until(came_ns + HEAD_DELAY.as_nanos() as u64);
                    record.heads.push(if is_timeout { head_ns - came_ns } else { head_ns });
                    let _ = stream.write_all(HEAD);
                }
            });
            let timed_out = ["-r", "100", "-c", "64", "-d", "400ms", "--timeout", "200ms"];
            let unfinished = ["-c", "16", "-t", "1", "-d", "300ms", "--timeout", "10s"];
            let args = if is_timeout { timed_out } else { unfinished };
            let result = load(&[&args[..], &["--engine", engine, &url(address)]].concat()).expect("the run succeeds");
            let what = format!("{engine} {args:?}");
            assert_eq!(result.first_byte_us.count, latency(&result).count, "{what}");
            let error_max_us = sent.late.error_max_us(waiting_us(&result));
            if is_timeout {
                assert_times(ends(&result.first_byte_us), &sent.heads, error_max_us, &what);
            } else {
                // The requests are all sent at the start, or a bit later.
                let head_us = result.first_byte_us.p25.expect("enough requests");
                let head_max_us = sent.heads.since(result.start_ns).quantile_us(0.25) + error_max_us;
                assert!((HEAD_DELAY.as_micros() as f64..head_max_us).contains(&head_us), "{what}: {head_us} us, not {head_max_us}");
            }
            let ages_us = if is_timeout { 199e3..300e3 } else { 200e3..302e3 };
            let age_us = latency(&result).p25.expect("enough requests");
            assert!(ages_us.contains(&age_us), "{what}: {age_us}");
        }
    });
}

#[test]
fn the_first_byte_of_a_response_in_one_read_takes_as_long_as_the_response() {
    let target = url(serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
    each_engine(|engine| {
        for args in [&["-c", "2"][..], &["-r", "500"]] {
            let result = load(&[args, &["-d", "200ms", "--engine", engine, &target]].concat()).expect("the run succeeds");
            assert_eq!(&result.first_byte_us, latency(&result), "{engine} {args:?}");
        }
    });
}
