//! Tests of waiting for the first correct response of a server that starts.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{sleep, spawn};
use std::time::Duration;

use clap::Parser;

use crate::common::frames::{Frame, Frames};
use crate::common::tls::{certificate, tls_config};
use crate::common::{read_request, serve, url};
use loadgen::cli::Args;
use loadgen::run::first_response::{FirstResponse, first_response};
use loadgen::time::clock::now_ns;
use rustls::{ServerConnection, StreamOwned};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const STARTING: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nwait";
/// Time limit for a test. Only a test that hangs reaches it, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for the first correct response in a separate thread.
fn waiting(args: &[&str]) -> Receiver<FirstResponse> {
    let args: Vec<String> = ["httpbench-loadgen", "--first-response"].iter().chain(args).map(ToString::to_string).collect();
    let (sender, receiver) = channel();
    spawn(move || {
        let plan = Args::parse_from(args).plan().expect("valid arguments");
        sender.send(first_response(&plan).expect("a response"))
    });
    receiver
}

/// Returns an address at which nothing listens.
fn free_address() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port")
}

fn answer(mut stream: TcpStream, response: &[u8]) {
    if read_request(&mut stream) && stream.write_all(response).is_ok() {
        let _ = stream.read(&mut [0; 1]); // the client closes the connection
    }
}

#[test]
fn a_server_that_listens_later_gets_a_request_then() {
    let address = free_address();
    let found = waiting(&["--expect-body", "hello", &url(address)]);
    sleep(Duration::from_millis(100));
    let listener = TcpListener::bind(address).expect("the port is free");
    let listened_ns = now_ns();
    let (stream, _) = listener.accept().expect("a connection");
    let accepted_ns = now_ns();
    sleep(Duration::from_millis(50));
    answer(stream, HELLO);
    let found = found.recv_timeout(PATIENCE).expect("the response is noticed");
    assert!(found.sent_ns > listened_ns - 20_000_000, "not before the server listened, except that `bind` returned late: {found:?}");
    assert!(found.waiting_ns < listened_ns, "{found:?} {listened_ns}");
    assert!(found.received_ns > accepted_ns + 50_000_000, "not before the server responded: {found:?} {accepted_ns}");
}

#[test]
fn only_a_correct_response_counts() {
    let count = AtomicU64::new(0);
    let seen = Arc::new(AtomicU64::new(0));
    let correct_ns = Arc::clone(&seen);
    let address = serve(move |mut stream| match count.fetch_add(1, Ordering::Relaxed) {
        0 => answer(stream, STARTING),
        1 => answer(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwait"),
        2 => answer(stream, b"HTTP/1.1 nonsense\r\n\r\n"),
        3 => drop(stream),
        4 => {
            read_request(&mut stream);
            sleep(Duration::from_millis(400)); // longer than the time limit of a request
        }
        _ => {
            let _ = seen.compare_exchange(0, now_ns(), Ordering::Relaxed, Ordering::Relaxed);
            answer(stream, HELLO);
        }
    });
    let found = waiting(&["--timeout", "3ms", "--expect-body", "hello", &url(address)]);
    let found = found.recv_timeout(PATIENCE).expect("the correct response is noticed");
    assert!(found.received_ns > correct_ns.load(Ordering::Relaxed), "{found:?}");
}

#[test]
fn any_success_is_correct_by_default() {
    let count = AtomicU64::new(0);
    let address = serve(move |stream| {
        let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
        answer(stream, if is_first { STARTING } else { b"HTTP/1.1 204 No Content\r\n\r\n" });
    });
    assert!(waiting(&[&url(address)]).recv_timeout(PATIENCE).is_ok());
}

#[test]
fn http2_works() {
    let address = serve(|stream| {
        let Some(mut frames) = Frames::accept(stream) else { return };
        while let Some(Frame { stream, .. }) = frames.next() {
            frames.answer(stream);
        }
    });
    assert!(waiting(&["--http2", &url(address)]).recv_timeout(PATIENCE).is_ok());
}

/// With TLS, the time of the request doesn't include the handshake.
#[test]
fn the_request_is_timed_without_the_handshake() {
    let config = tls_config(b"http/1.1", &certificate());
    let address = serve(move |stream| {
        sleep(Duration::from_millis(300));
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a valid configuration");
        let mut stream = StreamOwned::new(connection, stream);
        let mut request = [0; 4096];
        while let Ok(1..) = stream.read(&mut request) {
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    });
    let begin_ns = now_ns();
    let found = waiting(&["-k", &format!("https://{address}/")]).recv_timeout(PATIENCE).expect("a response");
    assert!(found.sent_ns - begin_ns >= 300_000_000, "{found:?} {begin_ns}");
}
