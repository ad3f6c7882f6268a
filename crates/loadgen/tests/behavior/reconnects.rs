//! Tests that reconnecting keeps the number of connections at `-c` and doesn't flood servers.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::common::{ENGINES, load, read_request, serve, url};
use loadgen::figures::pool::Pool;
use loadgen::protocol::http1::Http1;
use loadgen::request::Requests;
use loadgen::request::expectation::Expectation;
use loadgen::request::kind::MethodKind;
use loadgen::request::kind::RequestKind;
use loadgen::time::coordinator_pauses::Pauses;
use loadgen::time::window::Window;
use loadgen::worker::{Limits, Load, Next, Shared, Worker};

const MS: u64 = 1_000_000;

#[test]
fn a_server_that_closes_idle_connections_at_once_is_not_flooded() {
    for engine in ENGINES {
        let accepted = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&accepted);
        let address = serve(move |_stream| {
            seen.fetch_add(1, Ordering::Relaxed);
        });
        let result = load(&["-r", "1", "-c", "64", "-d", "1s", "--engine", engine, &url(address)]).expect("the run succeeds");
        let accepted = accepted.load(Ordering::Relaxed);
        assert!(result.idle_closed > 0);
        // Each connection makes its first two attempts without a pause, and the others after pauses of 10, 20, 40 … 640 ms. These are nine
        // attempts within the window. A few more happen before the window.
        assert!(accepted < 64 * 14, "{engine}: {accepted} connections");
    }
}

#[test]
fn connections_that_served_requests_reconnect_at_once() {
    for engine in ENGINES {
        let address = serve(|mut stream| {
            let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
            while read_request(&mut stream) && stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_ok() {}
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read(&mut [0; 1]);
        });
        let result = load(&["-r", "10", "-c", "1", "-d", "1s", "--engine", engine, &url(address)]).expect("the run succeeds");
        assert!(result.idle_closed > 3, "{engine}: {}", result.idle_closed);
        assert!(result.requests.ok + result.errors.total() >= 8, "{engine}: {:?} {:?}", result.requests, result.errors);
    }
}

/// If each request needs a new connection and the network is slow, all connections may be in setup at the same time.
#[test]
fn during_the_load_all_connections_may_be_set_up_at_once() {
    const CONNECTIONS: u32 = 1000;
    let kind = RequestKind::fixed(b"GET / HTTP/1.1\r\n\r\n".to_vec(), MethodKind::Other, Expectation::default());
    let limits = Limits {
        depth: 1,
        event_streams: false,
        requests_per_connection: 1,
        timeout_ns: 2_000 * MS,
        ends_with_requests: false,
        sample_every_ns: u64::MAX,
    };
    let (shared, pool) = (Arc::new(Shared::default()), Arc::new(Pool::new(false, 0, 1, Pauses::default())));
    let (reports, _received) = sync_channel(8);
    let protocol = Http1::new(Requests::new(vec![kind], &[1], 1));
    let mut worker = Worker::new(protocol, CONNECTIONS, limits, Load::Closed { think_ns: 0 }, Arc::clone(&shared), reports, pool);
    let mut now_ns = 0;
    let mut first_attempts = 0;
    while first_attempts < CONNECTIONS {
        worker.tick(now_ns);
        let opened = std::mem::take(&mut worker.to_open);
        assert!(opened.len() <= 128, "too many connections in setup before the load");
        first_attempts += opened.len() as u32;
        opened.into_iter().for_each(|index| worker.connected(index, now_ns));
        now_ns += MS;
    }
    worker.to_flush.clear();
    shared
        .window
        .set(Window { warmup_start_ns: now_ns, measure_start_ns: now_ns, end_ns: u64::MAX, interval_ns: u64::MAX / 2 })
        .expect("unset");
    worker.tick(now_ns);
    for index in 0..CONNECTIONS {
        let length = worker.output(index).len();
        worker.sent(index, length);
        assert_eq!(worker.received(index, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", now_ns), Next::Close);
    }
    assert_eq!(worker.to_open.len(), CONNECTIONS as usize);
}

#[test]
fn the_result_has_the_reason_of_a_failed_reconnect() {
    for engine in ENGINES {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            drop(listener); // nobody listens for a second connection
            while read_request(&mut stream) && stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_ok() {}
        });
        let result = load(&["-c", "1", "-d", "300ms", "--requests-per-connection", "3", "--engine", engine, &url(address)])
            .expect("the run succeeds");
        assert_eq!(result.requests.ok, 3);
        assert!(result.errors.connect_refused > 0);
        assert!(result.connect_failure.is_some_and(|reason| reason.contains("refused")), "{engine}");
    }
}
