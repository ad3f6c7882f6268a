//! Tests of the events that are counted, the events that are lost, and the streams that fail.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustls::{ServerConnection, StreamOwned};

use crate::common::frames::{CANCEL, Frame, Frames, HEADERS};
use crate::common::tls::{certificate, tls_config};
use crate::common::{ENGINES, load, read_request, serve, serve_bytes, url};
use loadgen::figures::result::RunResult;

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
/// Six events: with each kind of line end, of several lines, and with comments and other fields. Ids 3 and 4 are missing.
const SIX_EVENTS: &str = "\u{feff}: hello\n\nretry: 10\nid: 1\ndata: a\n\nid: 2\r\ndata: b\r\ndata: b\r\n\r\n: ping\r\rid: 5\rdata: c\r\r\
                          event: x\nid: 6\ndata\n\nid:7\ndata: e\n\nid: 8\ndata: f\n\nevent: no-data\n\ndata: unfinished\n";

fn chunk(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n", body.len())
}

/// Starts a server that answers each request with this text, `piece` bytes at a time, and then closes the connection if `closes` is set.
fn serve_pieces(response: String, piece: usize, closes: bool) -> SocketAddr {
    serve(move |mut stream| {
        stream.set_nodelay(true).expect("a TCP socket");
        while read_request(&mut stream) && response.as_bytes().chunks(piece).all(|bytes| stream.write_all(bytes).is_ok()) && !closes {}
    })
}

/// Runs a load of event streams with each engine, and with one and two threads.
fn for_each_engine(args: &[&str], address: SocketAddr, check: impl Fn(&RunResult)) {
    for engine in ENGINES {
        for threads in ["1", "2"] {
            let target = url(address);
            check(&load(&[&["--sse", "--engine", engine, "-t", threads, &target], args].concat()).expect("the run succeeds"));
        }
    }
}

#[test]
fn events_are_found_in_any_framing_and_any_pieces() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; charset=utf-8\r\n";
    let chunks: String = SIX_EVENTS.split_inclusive('a').map(chunk).collect();
    for (response, closes) in [
        (format!("{CHUNKED}{chunks}0\r\n\r\n"), false),
        (format!("{head}Content-Length: {}\r\n\r\n{SIX_EVENTS}", SIX_EVENTS.len()), false),
        (format!("{head}\r\n{SIX_EVENTS}"), true),
    ] {
        for piece in [1, 7, 10_000] {
            for_each_engine(&["-n", "8", "-c", "2"], serve_pieces(response.clone(), piece, closes), |result| {
                let events = result.events.as_ref().expect("events");
                assert_eq!((events.count, events.streams, result.requests.ok), (48, 8, 8), "{response} {piece}");
                assert_eq!((events.numbered_streams, events.lost), (8, Some(16)), "{response} {piece}");
                assert_eq!((events.first_us.count, events.between_us.count), (8, 40), "{response} {piece}");
                assert_eq!((result.errors.total(), result.service_time_us.count), (0, 8), "{response} {piece}");
            });
        }
    }
}

#[test]
fn events_in_one_read_are_a_nanosecond_apart() {
    let response = format!("{CHUNKED}{}0\r\n\r\n", chunk("data: a\n\ndata: b\n\n"));
    for_each_engine(&["-n", "50", "-c", "2"], serve_pieces(response, 10_000, false), |result| {
        let events = result.events.as_ref().expect("events");
        assert_eq!((events.between_us.count, events.between_us.p50), (50, Some(0.001)));
        assert_eq!(events.lost, None, "there are no ids");
    });
}

#[test]
fn open_streams_are_no_errors() {
    let address = serve(|mut stream| {
        read_request(&mut stream);
        let mut is_open = stream.write_all(CHUNKED.as_bytes()).is_ok();
        while is_open {
            is_open = stream.write_all(chunk("data: x\n\n").as_bytes()).is_ok();
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let begun = Instant::now();
    for (args, streams, first) in [(&["-c", "6"][..], 6, 6), (&["-r", "40", "-c", "32"], 12, 12), (&["-c", "6", "--warmup", "200ms"], 0, 6)]
    {
        for_each_engine(&[args, &["-d", "300ms", "--timeout", "150ms"]].concat(), address, |result| {
            let events = result.events.as_ref().expect("events");
            let requests = &result.requests;
            assert_eq!((result.errors.total(), requests.sent, requests.ok), (0, streams, 0), "{args:?}: {:?}", result.errors);
            assert_eq!((events.first_us.count, result.service_time_us.count), (first, 0), "{args:?}");
            assert_eq!(requests.in_flight, streams.max(6), "{args:?}");
            assert!(events.count > 50 && events.per_s > 100.0 && events.streams >= 6, "{args:?}: {events:?}");
        });
    }
    assert!(begun.elapsed() < Duration::from_secs(12), "the load generator waits for open streams");
}

#[test]
fn a_stream_without_events_times_out() {
    let address = serve(|mut stream| {
        read_request(&mut stream);
        let mut is_open = stream.write_all(CHUNKED.as_bytes()).is_ok();
        while is_open {
            is_open = stream.write_all(chunk(": ping\n\n").as_bytes()).is_ok();
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    for_each_engine(&["-c", "2", "-d", "300ms", "--timeout", "100ms"], address, |result| {
        let events = result.events.as_ref().expect("events");
        assert!(result.errors.timeout >= 2, "{:?}", result.errors);
        assert_eq!((events.count, events.first_censored), (0, events.first_us.count));
        assert!(events.first_us.min.is_some_and(|min_us| min_us >= 75e3), "{events:?}");
    });
}

#[test]
fn a_stream_that_is_cut_off_is_an_error_but_its_events_count() {
    let response = format!("{CHUNKED}{}5\r\nda", chunk("data: a\n\ndata: b\n\n"));
    for_each_engine(&["-n", "4", "-c", "2"], serve_pieces(response, 10_000, true), |result| {
        assert_eq!((result.errors.closed_early, result.errors.total(), result.requests.ok), (4, 4, 0), "{:?}", result.errors);
        assert_eq!(result.events.as_ref().map(|events| events.count), Some(8));
    });
}

#[test]
fn responses_that_are_no_event_streams_are_errors() {
    let page = serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\ndata: a\n\n");
    for_each_engine(&["-n", "4", "-c", "2"], page, |result| {
        assert_eq!((result.errors.unexpected_content_type, result.errors.total()), (4, 4), "{:?}", result.errors);
    });
    let failure = serve_bytes(b"HTTP/1.1 503 Busy\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: a\n\n");
    for_each_engine(&["-n", "4", "-c", "2"], failure, |result| {
        assert_eq!((result.errors.unexpected_status, result.errors.total()), (4, 4), "{:?}", result.errors);
        assert_eq!(result.events.as_ref().map(|events| events.count), Some(0));
    });
}

/// Starts a server that passes each HTTP/2 connection to `handle`.
fn serve_http2(handle: impl Fn(Frames<TcpStream>) + Send + Sync + 'static) -> SocketAddr {
    serve(move |stream| {
        stream.set_nodelay(true).expect("a TCP socket");
        if let Some(frames) = Frames::accept(stream) {
            handle(frames);
        }
    })
}

/// Answers each request with `SIX_EVENTS`, `piece` bytes in each frame.
fn send_six_events<S: Read + Write>(mut frames: Frames<S>, piece: usize) {
    while let Some(Frame { kind: HEADERS, stream, .. }) = frames.next() {
        let mut pieces = SIX_EVENTS.as_bytes().chunks(piece);
        let _ = frames.begin_events(stream) && pieces.all(|bytes| frames.data(stream, bytes)) && frames.end(stream);
    }
}

#[test]
fn events_are_found_in_the_frames_of_http2() {
    let config = tls_config(b"h2", &certificate());
    let encrypted = serve(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a valid configuration");
        if let Some(frames) = Frames::accept(StreamOwned::new(connection, stream)) {
            send_six_events(frames, 7);
        }
    });
    let addresses = [1, 7, 10_000].map(|piece| url(serve_http2(move |frames| send_six_events(frames, piece))));
    for url in addresses.iter().chain([&url(encrypted).replace("http:", "https:")]) {
        for engine in ENGINES {
            for more in [&["-c", "2", "-t", "2"][..], &["-c", "2", "--pipeline", "3"], &["-r", "200", "-c", "2", "--pipeline", "2"]] {
                let args = ["--http2", "--insecure", "--sse", "-n", "8", "--engine", engine, url];
                let result = load(&[&args, more].concat()).expect("the run succeeds");
                let events = result.events.as_ref().expect("events");
                assert_eq!((events.count, events.streams, result.requests.ok), (48, 8, 8), "{engine} {more:?} {url}");
                assert_eq!((events.numbered_streams, events.lost), (8, Some(16)), "{engine} {more:?} {url}");
                assert_eq!((events.first_us.count, events.between_us.count), (8, 40), "{engine} {more:?} {url}");
                assert_eq!(result.errors.total(), 0, "{engine} {more:?} {url}: {:?}", result.errors);
            }
        }
    }
}

/// The first two of three streams on each connection send events. The third one is open, too, but its first event never comes.
#[test]
fn a_stream_of_http2_without_events_times_out_alone() {
    let address = serve_http2(|mut frames| {
        let streams: Vec<_> = std::iter::from_fn(|| frames.next()).take(3).map(|frame| frame.stream).collect();
        let mut is_open = streams.iter().all(|stream| frames.begin_events(*stream));
        while is_open {
            is_open = streams.iter().all(|stream| frames.data(*stream, if *stream == 5 { b": ping\n\n" } else { b"data: x\n\n" }));
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    for engine in ENGINES {
        let args =
            ["--http2", "--sse", "-c", "2", "--pipeline", "3", "-d", "300ms", "--timeout", "150ms", "--engine", engine, &url(address)];
        let result = load(&args).expect("the run succeeds");
        let events = result.events.as_ref().expect("events");
        assert!((2..=4).contains(&result.errors.timeout), "{engine}: {:?}", result.errors);
        assert_eq!((result.errors.timeout, result.requests.in_flight), (result.errors.total(), 6), "{engine}");
        assert!(events.first_censored >= result.errors.timeout && events.streams == 4, "{engine}: {events:?}");
        assert!(events.count > 30, "{engine}: {events:?}");
        assert_eq!(result.connect_time_us.count, 2, "{engine}: the connections stay open");
    }
}

#[test]
fn responses_over_http2_that_are_no_event_streams_are_errors_and_are_canceled() {
    let canceled = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&canceled);
    let page = serve_http2(move |mut frames| {
        while let Some(frame) = frames.next() {
            match frame.kind {
                HEADERS => _ = frames.begin_content(frame.stream, "text/html") && frames.data(frame.stream, b"data: a\n\n"),
                _ => assert_eq!((frame.code(), seen.fetch_add(1, Ordering::Relaxed) < 8), (CANCEL, true)),
            }
        }
    });
    for engine in ENGINES {
        let result = load(&["--http2", "--sse", "-n", "4", "-c", "2", "--engine", engine, &url(page)]).expect("the run succeeds");
        assert_eq!((result.errors.unexpected_content_type, result.errors.total()), (4, 4), "{engine}: {:?}", result.errors);
        assert_eq!(result.events.as_ref().map(|events| events.count), Some(0), "{engine}");
    }
    assert!(canceled.load(Ordering::Relaxed) >= 4, "the last streams end with their connections");
}

#[test]
fn options_that_need_complete_responses_are_refused() {
    for other in [&["--slices-on-stdin"][..], &["--first-response"], &["--expect-body", "x"], &["--pipeline", "2"]] {
        let refused = load(&[other, &["--sse", "http://127.0.0.1:1/"]].concat()).expect_err("the options conflict").to_string();
        assert!(refused.contains("--sse"), "{other:?}: {refused}");
    }
}
