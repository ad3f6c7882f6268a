//! Tests with HTTP/2 servers that end connections gracefully, refuse streams or leave one request unanswered.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::frames::{CANCEL, Frame, Frames, HEADERS, REFUSED_STREAM, RST_STREAM};
use crate::common::tls::{certificate, tls_config};
use crate::common::{ENGINES, load, scratch, serve, url};
use loadgen::figures::result::RunResult;
use rustls::{ServerConnection, StreamOwned};

/// The stream ID in the first GOAWAY frame from a server that will name the last stream in a second frame (RFC 9113, 6.8).
const ANY_STREAM: u32 = (1 << 31) - 1;

/// Checks that each sent request is counted exactly once, either as ended or as in flight.
fn assert_conserved(result: &RunResult, engine: &str) {
    let requests = &result.requests;
    let ended = requests.completed + result.errors.total() - result.errors.not_sent + requests.in_flight + requests.unprocessed;
    assert_eq!(requests.sent, ended, "{engine}: {requests:?} {:?}", result.errors);
}

/// The server's record of one test.
#[derive(Default)]
struct Seen {
    connections: AtomicU64,
    answered: AtomicU64,
    canceled: Mutex<Vec<u32>>,
}

/// Starts a server that passes each connection to `handle`.
fn serve_frames(handle: impl Fn(Frames<std::net::TcpStream>, &Seen) + Send + Sync + 'static) -> (SocketAddr, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let shared = Arc::clone(&seen);
    let address = serve(move |stream| {
        shared.connections.fetch_add(1, Ordering::Relaxed);
        if let Some(frames) = Frames::accept(stream) {
            handle(frames, &shared);
        }
    });
    (address, seen)
}

fn answer_all<S: std::io::Read + Write>(frames: &mut Frames<S>, streams: impl Iterator<Item = u32>) {
    for stream in streams {
        frames.answer(stream);
    }
}

/// Starts a server that answers `count` requests per connection and then sends GOAWAY. If `warn` is true, the server answers only half as
/// many. It then sends a first GOAWAY that allows any stream, and a second one that names the last stream.
fn serve_so_many(count: u32, warn: bool) -> SocketAddr {
    let (address, _) = serve_frames(move |mut frames, _| {
        let mut held = Vec::new();
        for at in 1..=count {
            let Some(Frame { stream, .. }) = frames.next() else { return };
            if at > count / 2 {
                held.push(stream);
            } else if !frames.answer(stream) {
                return;
            }
            // Hold back at most four answers. The client always has more requests in flight, so it never waits for these answers alone.
            if held.len() == 4 && at < count {
                answer_all(&mut frames, held.drain(..));
            }
            if warn && at == count / 2 {
                frames.go_away(ANY_STREAM);
            }
            if at == count || (warn && at >= count / 2) {
                frames.go_away(stream);
                break;
            }
        }
        answer_all(&mut frames, held.into_iter().rev());
        frames.drain();
    });
    address
}

#[test]
fn each_stream_of_a_mix_is_checked_against_its_own_request() {
    let path = scratch("http2.json");
    let mix = r#"[{"name": "right", "path": "/a", "expect_body": "hello"}, {"name": "wrong", "path": "/b", "expect_body": "other"}]"#;
    std::fs::write(&path, mix).expect("the temporary folder is writable");
    let path = path.to_str().expect("the temporary path is UTF-8");
    for engine in ENGINES {
        let address = url(serve_so_many(10_000_000, false));
        let more = ["-c", "2", "--pipeline", "5", "-d", "300ms", "--mix", path, "--engine", engine, &address];
        let result = load(&[&["--http2"][..], &more].concat()).expect("the run succeeds");
        let [right, wrong] = &result.parts[..] else { panic!("{engine}: {:?}", result.parts) };
        assert!(right.ok > 0 && right.errors == 0, "{engine}: {right:?}");
        assert!(wrong.ok == 0 && wrong.errors == result.errors.unexpected_body && wrong.errors > 0, "{engine}: {wrong:?}");
        assert!(right.sent.abs_diff(wrong.sent) <= 1, "{engine}: {} {}", right.sent, wrong.sent);
        assert_eq!(result.requests.sent, result.requests.completed + result.requests.in_flight, "{engine}");
    }
}

#[test]
fn a_graceful_goaway_is_not_an_error() {
    for engine in ENGINES {
        for warn in [false, true] {
            let address = url(serve_so_many(41, warn));
            let result =
                load(&["--http2", "-c", "3", "--pipeline", "8", "-d", "400ms", "--expect-body", "hello", "--engine", engine, &address])
                    .expect("the run succeeds");
            assert_eq!(result.errors.total(), 0, "{engine}: {:?} {:?}", result.requests, result.errors);
            assert!(result.requests.ok > 40 && result.requests.unprocessed > 0, "{engine}: {:?}", result.requests);
            assert!(result.connect_time_us.count > 3, "{engine}: {:?}", result.connect_time_us);
            assert_conserved(&result, engine);
        }
    }
}

#[test]
fn an_open_loop_retries_unprocessed_requests() {
    for engine in ENGINES {
        let address = url(serve_so_many(20, false));
        let result =
            load(&["--http2", "-c", "2", "--pipeline", "16", "-r", "2k", "-d", "500ms", "--timeout", "1s", "--engine", engine, &address])
                .expect("the run succeeds");
        // The server sends the held answers in groups of four, so up to three requests may remain unanswered on each of the two
        // connections.
        assert_eq!(result.errors.total(), result.errors.timeout, "{engine}: {:?} {:?}", result.requests, result.errors);
        assert!(result.errors.timeout <= 6, "{engine}: {:?} {:?}", result.requests, result.errors);
        assert!(result.requests.ok > 20 && result.requests.unprocessed > 0, "{engine}: {:?}", result.requests);
        assert_conserved(&result, engine);
        let requests = &result.requests;
        let accounted = requests.sent - requests.unprocessed + requests.unsent;
        assert!(requests.offered.is_some_and(|offered| offered.abs_diff(accounted) <= 1), "{engine}: {requests:?}");
    }
}

#[test]
fn a_server_that_sends_goaway_at_once_is_not_flooded() {
    for engine in ENGINES {
        for pace in [&["-d", "1s"][..], &["-d", "1s", "-r", "100"]] {
            let (address, seen) = serve_frames(|mut frames, _| {
                frames.go_away(0);
                frames.drain();
            });
            let address = url(address);
            let result =
                load(&[&["--http2", "-c", "2", "--pipeline", "4", "--engine", engine, &address], pace].concat()).expect("the run succeeds");
            let connections = seen.connections.load(Ordering::Relaxed);
            assert!((4..40).contains(&connections), "{engine}: {connections} connections");
            assert_eq!((result.errors.total(), result.requests.completed), (0, 0), "{engine}: {:?}", result.errors);
            assert_conserved(&result, engine);
        }
    }
}

#[test]
fn a_server_that_refuses_every_stream_is_not_flooded() {
    for engine in ENGINES {
        let (address, seen) = serve_frames(|mut frames, _| {
            while let Some(frame) = frames.next() {
                frames.reset(frame.stream, REFUSED_STREAM);
            }
        });
        let result =
            load(&["--http2", "-c", "2", "--pipeline", "4", "-d", "1s", "--engine", engine, &url(address)]).expect("the run succeeds");
        let connections = seen.connections.load(Ordering::Relaxed);
        assert!((4..40).contains(&connections), "{engine}: {connections} connections");
        assert!((8..400).contains(&result.requests.unprocessed), "{engine}: {:?}", result.requests);
        assert_eq!((result.errors.total(), result.requests.completed), (0, 0), "{engine}: {:?}", result.errors);
        assert_conserved(&result, engine);
    }
}

#[test]
fn occasional_refused_streams_are_not_errors() {
    for engine in ENGINES {
        let (address, seen) = serve_frames(|mut frames, _| {
            let mut number = 0;
            while let Some(frame) = frames.next() {
                number += 1;
                if number % 3 == 0 {
                    frames.reset(frame.stream, REFUSED_STREAM)
                } else {
                    frames.answer(frame.stream)
                };
            }
        });
        for pace in [&["-d", "300ms"][..], &["-d", "300ms", "-r", "1k"], &["-d", "300ms", "--think-time", "1ms"]] {
            let address = url(address);
            seen.connections.store(0, Ordering::Relaxed);
            let result =
                load(&[&["--http2", "-c", "1", "--pipeline", "4", "--engine", engine, &address], pace].concat()).expect("the run succeeds");
            assert_eq!(result.errors.total(), 0, "{engine}: {:?} {:?}", result.requests, result.errors);
            assert!(result.requests.ok > 10 && result.requests.unprocessed > 3, "{engine}: {:?}", result.requests);
            assert_eq!(seen.connections.load(Ordering::Relaxed), 1, "{engine}");
            assert_conserved(&result, engine);
        }
    }
}

/// Answers all streams completely except the first, of which it sends only the beginning. Sends the rest after the client has canceled that
/// stream.
fn leave_one_unanswered<S: std::io::Read + Write>(mut frames: Frames<S>, seen: &Seen) {
    while let Some(frame) = frames.next() {
        match frame.kind {
            HEADERS if frame.stream == 1 => {
                frames.begin_answer(1);
            }
            HEADERS => {
                seen.answered.fetch_add(1, Ordering::Relaxed);
                frames.answer(frame.stream);
            }
            RST_STREAM if frame.code() == CANCEL => {
                seen.canceled.lock().expect("the lock isn't poisoned").push(frame.stream);
                frames.end_answer(frame.stream);
            }
            _ => {}
        }
    }
}

fn assert_one_timed_out(result: &RunResult, seen: &Seen, engine: &str) {
    assert_eq!((result.errors.timeout, result.errors.total()), (1, 1), "{engine}: {:?}", result.errors);
    assert!(result.service_time_us.max.is_some_and(|max| max >= 0.999e6), "{engine}: {:?}", result.service_time_us.max);
    assert!(result.requests.ok > 20 && result.requests.ok == result.requests.completed, "{engine}: {:?}", result.requests);
    assert!(result.requests.completed <= seen.answered.load(Ordering::Relaxed), "{engine}: {:?}", result.requests);
    assert_eq!(*seen.canceled.lock().expect("the lock isn't poisoned"), [1], "{engine}");
    assert_eq!(seen.connections.load(Ordering::Relaxed), 1, "{engine}: the connection was not kept");
    assert_conserved(result, engine);
}

const ONE_STUCK: [&str; 9] = ["--http2", "-c", "1", "--pipeline", "4", "--timeout", "1s", "-d", "1500ms"];

#[test]
fn only_the_stuck_stream_times_out() {
    for engine in ENGINES {
        for pace in [&[][..], &["-r", "500"], &["--think-time", "1ms"]] {
            let (address, seen) = serve_frames(leave_one_unanswered);
            let address = url(address);
            let result = load(&[&ONE_STUCK, pace, &["--engine", engine, &address]].concat()).expect("the run succeeds");
            assert_one_timed_out(&result, &seen, engine);
        }
    }
}

#[test]
fn only_the_stuck_stream_times_out_over_tls() {
    let config = tls_config(b"h2", &certificate());
    for engine in ENGINES {
        let seen = Arc::new(Seen::default());
        let (shared, config) = (Arc::clone(&seen), Arc::clone(&config));
        let address = serve(move |stream| {
            shared.connections.fetch_add(1, Ordering::Relaxed);
            let tls = ServerConnection::new(Arc::clone(&config)).expect("a valid configuration");
            if let Some(frames) = Frames::accept(StreamOwned::new(tls, stream)) {
                leave_one_unanswered(frames, &shared);
            }
        });
        let https = format!("https://localhost:{}/", address.port());
        let result = load(&[&ONE_STUCK[..], &["-k", "--engine", engine, &https]].concat()).expect("the run succeeds");
        assert_one_timed_out(&result, &seen, engine);
    }
}

#[test]
fn a_silent_connection_is_closed() {
    for engine in ENGINES {
        let (address, seen) = serve_frames(|frames, _| frames.drain());
        let result =
            load(&["--http2", "-c", "1", "--pipeline", "4", "--timeout", "150ms", "-d", "600ms", "--engine", engine, &url(address)])
                .expect("the run succeeds");
        assert!(result.errors.timeout >= 4 && result.errors.timeout == result.errors.total(), "{engine}: {:?}", result.errors);
        assert!(seen.connections.load(Ordering::Relaxed) >= 2, "{engine}: the connection was kept");
        assert_conserved(&result, engine);
    }
}

/// A child process that is killed when this value is dropped.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const NGINX: &str = "/usr/sbin/nginx";

/// Starts nginx, configured to end each connection after 100 requests.
fn start_nginx(folder: &std::path::Path) -> (Running, SocketAddr) {
    std::fs::create_dir_all(folder).expect("the temporary folder is writable");
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port");
    let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|name| format!("{name}_temp_path {name};\n")).concat();
    let config = format!(
        "daemon off; worker_processes 1; master_process off; pid pid; error_log stderr crit; events {{ worker_connections 256; }}\n\
         http {{ access_log off; {paths} keepalive_requests 100;\n\
         server {{ listen {free} http2; location / {{ return 200 hello; }} }} }}\n"
    );
    std::fs::write(folder.join("nginx.conf"), config).expect("the file is writable");
    let child = std::process::Command::new(NGINX).arg("-p").arg(folder).args(["-c", "nginx.conf"]).spawn().expect("nginx starts");
    let running = Running(child);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while std::net::TcpStream::connect(free).is_err() {
        assert!(std::time::Instant::now() < deadline, "nginx does not listen");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    (running, free)
}

#[test]
fn nginx_can_end_connections_without_errors() {
    if !std::path::Path::new(NGINX).exists() {
        eprintln!("skipped: there is no {NGINX}");
        return;
    }
    let folder = scratch("nginx");
    let (_running, address) = start_nginx(&folder);
    for engine in ENGINES {
        let args = ["--http2", "-c", "16", "--pipeline", "10", "-d", "500ms", "--expect-body", "hello", "--engine", engine, &url(address)];
        let result = load(&args).expect("the run succeeds");
        assert_eq!(result.errors.total(), 0, "{engine}: {:?} {:?}", result.requests, result.errors);
        assert!(result.requests.ok > 200, "{engine}: {:?}", result.requests);
        assert_conserved(&result, engine);
    }
    let _ = std::fs::remove_dir_all(&folder);
}
