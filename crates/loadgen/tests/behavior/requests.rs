//! Tests of runs that end after a number of requests.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{ENGINES, load, read_request, serve, serve_bytes, url};
use loadgen::figures::result::RunResult;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Starts a server that counts the requests it answers.
fn counting() -> (String, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&count);
    let address = serve(move |mut stream| {
        while read_request(&mut stream) && stream.write_all(HELLO).is_ok() {
            seen.fetch_add(1, Ordering::Relaxed);
        }
    });
    (url(address), count)
}

/// Asserts that the result covers the whole run: every request, every response, and nothing else.
fn assert_whole(result: &RunResult, total: u64, what: &str) {
    let requests = result.requests;
    assert_eq!((requests.sent, requests.completed, requests.ok), (total, total, total), "{what}: {requests:?} {:?}", result.errors);
    assert_eq!((requests.in_flight, requests.unsent, requests.backlog, result.censored), (0, 0, 0, 0), "{what}");
    assert_eq!(result.service_time_us.count, total, "{what}");
    assert_eq!(result.intervals.iter().map(|interval| interval.completed).sum::<u64>(), total, "{what}");
    assert_eq!(result.generator.threads.iter().map(|thread| thread.completed).sum::<u64>(), total, "{what}");
    assert!((result.throughput_rps * result.duration_s - total as f64).abs() < 1e-6 * total as f64, "{what}");
    assert_eq!(result.config.duration_s, result.duration_s, "{what}");
    if let Some(offered) = requests.offered {
        assert_eq!(offered, total, "{what}");
    }
}

#[test]
fn exactly_this_number_of_requests_is_sent() {
    let loads: [&[&str]; 7] = [
        &[],
        &["--pipeline", "4"],
        &["--no-keepalive"],
        &["--requests-per-connection", "3"],
        &["--think-time", "1ms"],
        &["--rate", "2k"],
        &["--rate", "2k", "--arrivals", "poisson"],
    ];
    for engine in ENGINES {
        for threads in ["1", "3"] {
            for more in loads {
                let (target, count) = counting();
                let what = format!("{engine}, {threads} threads, {more:?}");
                let args = ["-n", "301", "-c", "5", "-t", threads, "--interval", "100ms", "--engine", engine, &target];
                let result = load(&[&args[..], more].concat()).expect("the run succeeds");
                assert_whole(&result, 301, &what);
                assert_eq!(count.load(Ordering::Relaxed), 301, "{what}");
                assert_eq!(result.config.requests, Some(301));
            }
        }
    }
}

#[test]
fn fewer_requests_than_connections_leave_connections_unused() {
    for engine in ENGINES {
        for more in [&[][..], &["--rate", "1k"]] {
            let (target, count) = counting();
            let args = ["-n", "2", "-c", "16", "-t", "4", "--engine", engine, &target];
            let result = load(&[&args[..], more].concat()).expect("the run succeeds");
            assert_whole(&result, 2, engine);
            assert_eq!(count.load(Ordering::Relaxed), 2);
        }
    }
}

/// The throughput of a run includes the time until the last response, so it is at most N / duration.
#[test]
fn the_window_ends_with_the_last_response() {
    for engine in ENGINES {
        for more in [&["-t", "2"][..], &["-t", "2", "--rate", "10k"]] {
            let count = AtomicU64::new(0);
            let address = serve(move |mut stream| {
                while read_request(&mut stream) {
                    if count.fetch_add(1, Ordering::Relaxed) == 99 {
                        std::thread::sleep(Duration::from_millis(700));
                    }
                    if stream.write_all(HELLO).is_err() {
                        return;
                    }
                }
            });
            let begin = Instant::now();
            let result = load(&[&["-n", "100", "-c", "4", "--engine", engine, &url(address)], more].concat()).expect("the run succeeds");
            assert_whole(&result, 100, engine);
            assert!((0.7..begin.elapsed().as_secs_f64()).contains(&result.duration_s), "{engine} {more:?}: {}", result.duration_s);
        }
    }
}

/// One slow connection holds up its own requests only, because the threads take requests from a common number.
#[test]
fn a_slow_connection_sends_fewer_requests() {
    for engine in ENGINES {
        let connections = AtomicU64::new(0);
        let address = serve(move |mut stream| {
            let is_slow = connections.fetch_add(1, Ordering::Relaxed) == 0;
            while read_request(&mut stream) {
                std::thread::sleep(Duration::from_millis(if is_slow { 100 } else { 1 }));
                if stream.write_all(HELLO).is_err() {
                    return;
                }
            }
        });
        let result = load(&["-n", "400", "-c", "2", "-t", "2", "--engine", engine, &url(address)]).expect("the run succeeds");
        assert_whole(&result, 400, engine);
        assert!(result.duration_s < 10.0, "half of the requests on the slow connection would take 20 s, not {}", result.duration_s);
    }
}

#[test]
fn failed_requests_count_as_sent() {
    for engine in ENGINES {
        let missing = url(serve_bytes(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
        let result = load(&["-n", "50", "-c", "2", "--engine", engine, &missing]).expect("the run succeeds");
        assert_eq!((result.requests.sent, result.requests.ok, result.errors.unexpected_status), (50, 0, 50));
        let silent = url(serve(|mut stream| while read_request(&mut stream) {}));
        for more in [&[][..], &["--rate", "1k"]] {
            let args = ["-n", "6", "-c", "3", "--timeout", "200ms", "--engine", engine, &silent];
            let result = load(&[&args[..], more].concat()).expect("the run succeeds");
            assert_eq!((result.requests.sent, result.requests.completed, result.errors.timeout), (6, 0, 6), "{engine} {more:?}");
            assert_eq!((result.requests.in_flight, result.requests.unsent), (0, 0));
        }
    }
}

/// The server answers ten requests and then disappears.
#[test]
fn a_run_whose_server_disappears_ends_with_an_error() {
    for engine in ENGINES {
        for more in [&[][..], &["--rate", "100"]] {
            // A server of another test can't get the port afterward, because the others have a different address.
            let listener = std::net::TcpListener::bind(("127.0.0.77", 0)).expect("a free port");
            let target = url(listener.local_addr().expect("a bound socket has an address"));
            std::thread::spawn(move || {
                // The first connection is the load generator's check of the address.
                let mut streams: Vec<_> = listener.incoming().take(2).flatten().collect();
                drop(listener);
                let stream = streams.last_mut().expect("a connection");
                for _ in 0..10 {
                    if !read_request(stream) || stream.write_all(HELLO).is_err() {
                        return;
                    }
                }
            });
            let args = ["-n", "1000", "-c", "1", "--timeout", "300ms", "--engine", engine, &target];
            let result = load(&[&args[..], more].concat()).expect("a result until then");
            let failure = result.failure.expect("a failure");
            assert!(failure.contains("no connection to") && failure.contains("of 1000 requests were not sent"), "{failure}");
            assert_eq!(result.requests.ok, 10, "{engine} {more:?}");
        }
    }
}

#[test]
fn options_that_need_a_duration_conflict() {
    for more in [&["-d", "1s"][..], &["--warmup", "1s"], &["--rate", "1..2"], &["--part", "1/2", "--rate", "1"], &["--slices-on-stdin"]] {
        assert!(load(&[&["-n", "5", "http://127.0.0.1:1/"], more].concat()).is_err(), "{more:?}");
    }
}

#[test]
fn options_of_other_load_generators_are_accepted_or_answered() {
    let target = url(serve_bytes(HELLO));
    let run = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen")).args(args).output().expect("the program starts");
    for args in [&["-z", "100ms", "-m", "POST"][..], &["-R", "100", "-d", "100ms", "--latency"], &["-n", "10", "-L"]] {
        let output = run(&[args, &["-c", "2", &target]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for (args, answer) in [
        (["-q", "100"], "--rate 100"),
        (["-s", "post.lua"], "--mix FILE"),
        (["-T", "2s"], "--timeout 2s"),
        (["-n", "mix.json"], "--mix FILE"),
        (["--requests", "mix.json"], "--mix FILE"),
    ] {
        let output = run(&[&args[..], &[&target]].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text.contains(answer), "{args:?}: {text}");
    }
}
