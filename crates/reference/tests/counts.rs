//! Tests of the server's counts with correct and incorrect clients on loopback. No assertion depends on time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use reference::response::body_of;
use reference::{Counts, Options, Server};

const REQUEST: &[u8] = b"GET /data HTTP/1.1\r\nHost: localhost\r\n\r\n";
const LIMIT: Duration = Duration::from_secs(20);

fn start(delay_ms: u64, close_after: Option<u64>, body_bytes: usize) -> Server {
    let options =
        Options { path: "/data".to_owned(), body: body_of(body_bytes), delay: Duration::from_millis(delay_ms), close_after, threads: 2 };
    Server::start(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap()
}

fn connect(server: &Server) -> TcpStream {
    let socket = TcpStream::connect(server.address).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

/// Reads the next response. Returns its head and its body.
fn response(socket: &mut TcpStream) -> (String, Vec<u8>) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).expect("the head of a response");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    socket.read_exact(&mut body).expect("the body of a response");
    (head, body)
}

fn exchange(socket: &mut TcpStream) -> (String, Vec<u8>) {
    socket.write_all(REQUEST).unwrap();
    response(socket)
}

fn brief(counts: &Counts) -> (u64, u64, i64, u64, u64) {
    (counts.requests, counts.connections, counts.in_flight_max, counts.pipelined, counts.wrong_requests)
}

#[test]
fn counts_sequential_requests_on_one_connection() {
    let server = start(0, None, 12);
    let mut socket = connect(&server);
    for _ in 0..100 {
        let (head, body) = exchange(&mut socket);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("\r\nDate: "), "{head}");
        assert_eq!(body, body_of(12));
    }
    let counts = server.counts();
    assert_eq!(brief(&counts), (100, 1, 1, 0, 0));
    assert_eq!(counts.body_bytes_sent, 1200);
    assert!(counts.bytes_sent > counts.body_bytes_sent);
    assert_eq!(counts.first_request.as_bytes(), REQUEST);
}

#[test]
fn counts_ten_parallel_requests_with_delayed_responses() {
    let server = start(500, None, 12);
    let barrier = Arc::new(Barrier::new(10));
    let clients: Vec<_> = (0..10)
        .map(|_| {
            let (mut socket, barrier) = (connect(&server), barrier.clone());
            thread::spawn(move || {
                barrier.wait();
                exchange(&mut socket)
            })
        })
        .collect();
    clients.into_iter().for_each(|client| drop(client.join().unwrap()));
    let counts = server.counts();
    assert_eq!((counts.requests, counts.connections, counts.pipelined), (10, 10, 0));
    assert!(counts.in_flight_max >= 2, "{counts:?}");
}

#[test]
fn pipelined_requests_are_counted_and_answered_in_order() {
    let server = start(0, None, 3);
    let mut socket = connect(&server);
    let mut batch = REQUEST.repeat(9);
    batch.extend_from_slice(b"GET /nope HTTP/1.1\r\n\r\n");
    socket.write_all(&batch).unwrap();
    for _ in 0..9 {
        assert_eq!(response(&mut socket).1, body_of(3));
    }
    assert!(response(&mut socket).0.starts_with("HTTP/1.1 404 "));
    let counts = server.counts();
    assert_eq!(counts.requests, 10);
    assert_eq!(counts.wrong_requests, 1);
    assert!(counts.pipelined >= 1 && counts.in_flight_max >= 2, "{counts:?}");
}

#[test]
fn a_request_may_arrive_in_pieces() {
    let server = start(0, None, 12);
    let mut socket = connect(&server);
    for byte in REQUEST {
        socket.write_all(&[*byte]).unwrap();
    }
    assert_eq!(response(&mut socket).1, body_of(12));
    assert_eq!(brief(&server.counts()), (1, 1, 1, 0, 0));
}

#[test]
fn a_slow_reader_receives_a_complete_megabyte() {
    let server = start(0, None, 1_000_000);
    let mut socket = connect(&server);
    for _ in 0..5 {
        assert_eq!(exchange(&mut socket).1, body_of(1_000_000));
    }
    let counts = server.counts();
    assert_eq!(brief(&counts), (5, 1, 1, 0, 0));
    assert_eq!(counts.body_bytes_sent, 5_000_000);
}

#[test]
fn a_connection_is_closed_after_the_given_number_of_responses() {
    let server = start(0, Some(1), 12);
    for _ in 0..20 {
        let mut socket = connect(&server);
        assert!(exchange(&mut socket).0.contains("\r\nConnection: close\r\n"));
        assert_eq!(socket.read(&mut [0]).unwrap(), 0);
    }
    assert_eq!(brief(&server.counts()), (20, 20, 1, 0, 0));
}

#[test]
fn closes_the_connection_on_request() {
    let server = start(0, None, 12);
    let mut socket = connect(&server);
    socket.write_all(b"GET /data HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    assert!(response(&mut socket).0.contains("\r\nConnection: close\r\n"));
    assert_eq!(socket.read(&mut [0]).unwrap(), 0);
}

#[test]
fn head_responses_have_a_length_but_no_body() {
    let server = start(0, None, 12);
    let mut socket = connect(&server);
    socket.write_all(b"HEAD /data HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert!(text.contains("\r\nContent-Length: 12\r\n") && text.ends_with("\r\n\r\n"), "{text}");
    assert_eq!(server.counts().wrong_requests, 1);
}

#[test]
fn invalid_requests_are_rejected_and_counted() {
    let server = start(0, None, 12);
    let mut socket = connect(&server);
    socket.write_all(b"\x16\x03\x01 hello\r\n\r\n").unwrap();
    assert!(response(&mut socket).0.starts_with("HTTP/1.1 400 "));
    assert_eq!(socket.read(&mut [0]).unwrap(), 0);
    let mut other = connect(&server);
    other.write_all(b"DELETE /data HTTP/1.1\r\n\r\n").unwrap();
    assert!(response(&mut other).0.starts_with("HTTP/1.1 405 "));
    assert_eq!(server.counts().wrong_requests, 2);
}

#[test]
fn a_disconnected_client_leaves_nothing_in_flight() {
    let server = start(300, None, 12);
    for _ in 0..3 {
        let mut socket = connect(&server);
        socket.write_all(REQUEST).unwrap();
        drop(socket);
        let mut next = connect(&server);
        exchange(&mut next);
    }
    assert!(server.counts().in_flight_max <= 2);
}
