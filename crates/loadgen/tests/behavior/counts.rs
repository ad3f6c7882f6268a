//! Tests of the counters in results, with ordinary and unusual servers.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{ENGINES, load, read_request, serve, serve_bytes, serve_bytes_once, url};
use loadgen::figures::encoding::decode;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn every_framing_counts_as_correct() {
    let framings: [(&[u8], bool); 5] = [
        (HELLO, false),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: x\r\n\r\n", false),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", true),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", true),
    ];
    for (response, once) in framings {
        for engine in ENGINES {
            let address = if once { serve_bytes_once(response) } else { serve_bytes(response) };
            let result =
                load(&["-c", "2", "-d", "200ms", "--expect-body", "hello", "--engine", engine, &url(address)]).expect("the run succeeds");
            assert!(result.requests.ok > 10, "{engine}: {:?} {:?}", result.requests, result.errors);
            let text = String::from_utf8_lossy(response);
            assert_eq!(result.errors.total(), 0, "{engine}, {text}: {:?}", result.errors);
            assert_eq!(result.requests.ok, result.requests.completed);
            // If requests in flight at the end of the window have waited longer than most completed requests took, they count as censored.
            // Their ages are in the histogram as lower bounds.
            assert_eq!(result.requests.ok + result.censored, result.service_time_us.count);
            assert_eq!(result.requests.ok, result.intervals.iter().map(|interval| interval.completed).sum::<u64>());
            assert_eq!(result.bytes.received, result.intervals.iter().map(|interval| interval.bytes_received).sum::<u64>());
        }
    }
}

#[test]
fn intervals_have_percentiles_with_ten_samples_beyond() {
    let result = load(&["-c", "4", "-d", "400ms", "--interval", "200ms", &url(serve_bytes(HELLO))]).expect("the run succeeds");
    for interval in &result.intervals {
        let samples = decode(&interval.histogram).expect("a histogram").len();
        for (figure, least) in [(interval.p50_us, 20), (interval.p99_us, 1_000), (interval.p99_9_us, 10_000)] {
            assert_eq!(figure.is_some(), samples >= least, "{samples} samples: {figure:?}");
        }
    }
}

#[test]
fn repeated_heads_take_the_shortcut() {
    let result = load(&["-c", "2", "-d", "200ms", &url(serve_bytes(HELLO))]).expect("the run succeeds");
    assert!(result.parser.fast > 10);
    assert!(result.parser.full <= 1);
}

#[test]
fn unexpected_status_and_body_are_counted_separately() {
    let missing = serve_bytes(b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello");
    for engine in ENGINES {
        let short = ["-c", "2", "-d", "150ms", "--engine", engine];
        let run = |more: &[&str]| load(&[&short[..], more].concat()).expect("the run succeeds");
        let unexpected_status = run(&[&url(missing)]);
        assert_eq!(unexpected_status.requests.ok, 0);
        assert!(unexpected_status.errors.unexpected_status > 0);
        assert_eq!(unexpected_status.errors.unexpected_status, unexpected_status.requests.completed);
        assert!(run(&["--expect-status", "404", &url(missing)]).requests.ok > 0);
        let unexpected_body = run(&["--expect-status", "404", "--expect-body", "hallo", &url(missing)]);
        assert!(unexpected_body.errors.unexpected_body > 0 && unexpected_body.requests.ok == 0);
        let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"; // printf hello | sha256sum
        assert!(run(&["--expect-status", "404", "--expect-body-sha256", digest, &url(missing)]).requests.ok > 0);
        assert_eq!(run(&["--expect-status", "404", "--expect-body-sha256", &digest.replace('2', "3"), &url(missing)]).requests.ok, 0);
    }
}

#[test]
fn head_has_no_body() {
    let result = load(&["-c", "2", "-d", "150ms", "-X", "HEAD", &url(serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"))])
        .expect("the run succeeds");
    assert!(result.requests.ok > 10);
    assert_eq!(result.errors.total(), 0);
}

#[test]
fn requests_per_connection_are_limited() {
    for engine in ENGINES {
        let (requests, connections) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (seen_requests, seen_connections) = (Arc::clone(&requests), Arc::clone(&connections));
        let address = serve(move |mut stream| {
            seen_connections.fetch_add(1, Ordering::Relaxed);
            let mut here = 0;
            while read_request(&mut stream) && stream.write_all(HELLO).is_ok() {
                here += 1;
                seen_requests.fetch_add(1, Ordering::Relaxed);
            }
            assert!(here <= 3, "{here} requests on one connection");
        });
        let result = load(&["-c", "4", "-d", "300ms", "--requests-per-connection", "3", "--engine", engine, &url(address)])
            .expect("the run succeeds");
        let (requests, connections) = (requests.load(Ordering::Relaxed), connections.load(Ordering::Relaxed));
        assert_eq!(result.errors.total(), 0, "{:?}", result.errors);
        assert!(
            connections >= requests.div_ceil(3) && connections <= requests / 3 + 8,
            "{requests} requests over {connections} connections"
        );
        assert!(result.connect_time_us.count >= result.requests.ok / 3);
    }
}

#[test]
fn pipelined_requests_get_responses_in_order() {
    for engine in ENGINES {
        let address = serve_bytes(HELLO);
        let result = load(&["-c", "2", "--pipeline", "8", "-d", "200ms", "--expect-body", "hello", "--engine", engine, &url(address)])
            .expect("the run succeeds");
        assert!(result.requests.ok > 50 && result.errors.total() == 0, "{:?}", result.errors);
        assert_eq!(result.requests.in_flight, 16);
    }
}

#[test]
fn large_bodies_are_counted_byte_by_byte() {
    const BODY: usize = 1_000_000;
    for engine in ENGINES {
        let address = serve(|mut stream| {
            let mut response = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY}\r\n\r\n").into_bytes();
            response.resize(response.len() + BODY, b'x');
            while read_request(&mut stream) && stream.write_all(&response).is_ok() {}
        });
        let result = load(&["-c", "4", "-d", "400ms", "--engine", engine, &url(address)]).expect("the run succeeds");
        assert_eq!(result.errors.total(), 0, "{:?}", result.errors);
        assert!(result.requests.ok > 4);
        let difference = result.bytes.received as f64 - result.requests.ok as f64 * BODY as f64;
        assert!(difference.abs() <= 4.5 * BODY as f64, "{} bytes for {} responses", result.bytes.received, result.requests.ok);
    }
}

#[test]
fn large_requests_arrive_complete() {
    for engine in ENGINES {
        let address = serve(|mut stream| {
            let mut body = vec![0; 300_000];
            while read_request(&mut stream) && stream.read_exact(&mut body).is_ok() {
                let correct = body.iter().all(|byte| *byte == b'z');
                let response: &[u8] = if correct { HELLO } else { b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" };
                if stream.write_all(response).is_err() {
                    return;
                }
            }
        });
        let body = "z".repeat(300_000);
        let result =
            load(&["-c", "4", "-d", "300ms", "-X", "POST", "--body", &body, "--engine", engine, &url(address)]).expect("the run succeeds");
        assert!(result.requests.ok > 10 && result.errors.total() == 0, "{:?} {:?}", result.requests, result.errors);
    }
}

/// The server reads slowly, so the send buffers fill up with requests. Each request must still arrive complete and in order.
#[test]
fn deep_pipelines_of_large_requests_reach_a_slow_reader_complete() {
    let field = format!("X-Long: {}", "y".repeat(4000));
    for engine in ENGINES {
        let requests = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&requests);
        let address = serve(move |mut stream| {
            let (mut first, mut piece, mut at) = (Vec::new(), vec![0; 16 * 1024], 0);
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                std::thread::sleep(std::time::Duration::from_micros(500));
                for byte in &piece[..length] {
                    if !first.ends_with(b"\r\n\r\n") {
                        first.push(*byte);
                    } else {
                        assert_eq!(*byte, first[at % first.len()], "byte {at} after the first request");
                        at += 1;
                    }
                }
                let whole = if first.is_empty() { 0 } else { 1 + at / first.len() } as u64;
                for _ in seen.swap(whole, Ordering::Relaxed)..whole {
                    if stream.write_all(HELLO).is_err() {
                        return;
                    }
                }
            }
        });
        let result = load(&["-c", "1", "--pipeline", "1024", "-d", "400ms", "-H", &field, "--engine", engine, &url(address)])
            .expect("the run succeeds");
        assert_eq!(result.errors.total(), 0, "{engine}: {:?}", result.errors);
        assert!(result.requests.ok > 10 && result.requests.sent <= requests.load(Ordering::Relaxed) + 1024, "{:?}", result.requests);
    }
}

#[test]
fn a_refused_connection_is_a_one_line_error() {
    let closed = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port");
    for engine in ENGINES {
        let error = load(&["-d", "100ms", "--engine", engine, &url(closed)]).expect_err("nobody listens");
        let text = format!("{error:#}");
        assert!(text.contains(&closed.to_string()) && text.contains("refused") && !text.contains('\n'), "{text}");
        assert!(text.ends_with("hint: check that the server is running"), "{text}");
    }
}

#[test]
fn unix_sockets_and_weighted_urls_work() {
    let path = std::env::temp_dir().join(format!("loadgen-test-{}.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket in the temporary directory");
    let seen = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let counted = Arc::clone(&seen);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let counted = Arc::clone(&counted);
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                while let Ok(1..) = stream.read(&mut request) {
                    counted[usize::from(request.starts_with(b"GET /b "))].fetch_add(1, Ordering::Relaxed);
                    if stream.write_all(HELLO).is_err() {
                        return;
                    }
                }
            });
        }
    });
    for engine in ENGINES {
        let socket = path.to_string_lossy();
        let args = [
            "-c",
            "2",
            "-d",
            "150ms",
            "--weights",
            "3,1",
            "--engine",
            engine,
            "--unix-socket",
            &socket,
            "http://local/a",
            "http://local/b",
        ];
        let result = load(&args).expect("the run succeeds");
        assert!(result.requests.ok > 10 && result.errors.total() == 0, "{:?}", result.errors);
    }
    let (a, b) = (seen[0].load(Ordering::Relaxed), seen[1].load(Ordering::Relaxed));
    assert!(a.abs_diff(3 * b) <= 16, "{a} of a, {b} of b");
    std::fs::remove_file(&path).expect("the file exists");
}

/// At the end of the window, ten requests are in flight. Ten of the warm-up were in flight at its start, so no throughput is missing.
#[test]
fn throughput_reaches_the_rate_of_a_server_with_long_responses() {
    let address = serve(|mut stream| {
        while read_request(&mut stream) {
            std::thread::sleep(std::time::Duration::from_millis(100));
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    });
    for engine in ENGINES {
        let load_options = ["-c", "32", "--rate", "100", "--warmup", "500ms", "-d", "1s", "--engine", engine];
        let result = load(&[&load_options[..], &[&url(address)]].concat()).expect("the run succeeds");
        assert!((result.throughput_rps - 100.0).abs() <= 2.0, "{engine}: {}", result.throughput_rps);
    }
}
