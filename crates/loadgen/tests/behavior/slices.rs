//! Tests of slices that are started by commands on stdin: their counts add up, dropped slices leave no trace, and the load generator is
//! idle between slices.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::frames::Frames;
use crate::common::slices::{Commanded, Ended, assert_sums, errors, sum};
use crate::common::tls::{certificate, tls_config};
use crate::common::{ENGINES, read_request, serve, url};
use crate::protocols::serve_proxy;
use loadgen::time::clock::now_ns;
use rustls::{ServerConnection, StreamOwned};
use serde_json::Value;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
/// Time limit for operations in these tests. A correct program never reaches it, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Counts of the connections and requests that a server has handled so far.
#[derive(Default)]
struct Served {
    connections: AtomicU64,
    read: AtomicU64,
    answered: AtomicU64,
    /// Tests increment this counter to make the server close all connections.
    closings: AtomicU64,
    closed: AtomicU64,
}

impl Served {
    fn of(count: &AtomicU64) -> u64 {
        count.load(Ordering::SeqCst)
    }

    fn add(count: &AtomicU64) -> u64 {
        count.fetch_add(1, Ordering::SeqCst)
    }
}

/// Starts a server that calls `answer` with the number of each request. The server answers the request if `answer` returns true.
fn serve_requests(answer: impl Fn(u64, &Served) -> bool + Send + Sync + 'static) -> (String, Arc<Served>) {
    let served = Arc::new(Served::default());
    let shared = Arc::clone(&served);
    let address = serve(move |mut stream| {
        Served::add(&shared.connections);
        let closings = Served::of(&shared.closings);
        stream.set_read_timeout(Some(Duration::from_millis(5))).expect("a timeout");
        while wait_for_data(&stream, || Served::of(&shared.closings) == closings) {
            stream.set_read_timeout(None).expect("a timeout");
            if !read_request(&mut stream) {
                return;
            }
            let number = Served::add(&shared.read);
            if answer(number, &shared) {
                Served::add(&shared.answered);
                if stream.write_all(HELLO).is_err() {
                    return;
                }
            }
            stream.set_read_timeout(Some(Duration::from_millis(5))).expect("a timeout");
        }
        drop(stream);
        Served::add(&shared.closed);
    });
    (url(address), served)
}

/// Waits for data while `go_on` returns true. Returns whether data has arrived.
fn wait_for_data(stream: &TcpStream, go_on: impl Fn() -> bool) -> bool {
    while go_on() {
        match stream.peek(&mut [0; 1]) {
            Ok(1..) => return true,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            _ => return false,
        }
    }
    false
}

fn serve_all() -> (String, Arc<Served>) {
    serve_requests(|_, _| true)
}

fn with<'a>(args: &[&'a str], engine: &'a str, target: &'a str) -> Vec<&'a str> {
    [args, &["--engine", engine, target]].concat()
}

#[test]
fn the_result_is_the_sum_of_the_slices() {
    for engine in ENGINES {
        let (target, served) = serve_all();
        let mut load = Commanded::new(&with(&["-c", "6", "-t", "2"], engine, &target));
        let warmup = load.order("warmup 50");
        assert_eq!((&warmup["index"], &warmup["errors"]), (&Value::Null, &0.into()));
        let slices = load.slices(4, "slice 10.5 40.25");
        for (index, slice) in slices.iter().enumerate() {
            assert_eq!(slice["index"], index);
            assert_eq!(slice["duration_s"], 0.04025);
            assert_eq!(slice["end_ns"].as_u64().unwrap() - slice["start_ns"].as_u64().unwrap(), 40_250_000);
            let rate_rps = slice["completed"].as_f64().unwrap() / 0.04025;
            assert!((slice["throughput_rps"].as_f64().unwrap() - rate_rps).abs() < 1e-6, "{slice}");
            assert_eq!((&slice["reopened"], &slice["errors"]), (&0.into(), &0.into()));
        }
        let outside = sum(&slices, "outside");
        let result = load.end();
        assert_sums(&result, &slices);
        let requests = &result["requests"];
        let around = requests["before_window"].as_u64().unwrap() + requests["in_flight"].as_u64().unwrap();
        let warm = warmup["completed"].as_u64().unwrap() + warmup["outside"].as_u64().unwrap();
        assert_eq!(around, warm + outside, "warm-ups, lead-ins and drains");
        assert_eq!(Served::of(&served.answered), around + requests["ok"].as_u64().unwrap(), "every response counts somewhere");
        assert_eq!(result["service_time_us"]["count"], requests["sent"], "each request of a window has a time");
        assert_eq!(result["censored"], 0);
        assert_eq!(result["connect_time_us"]["count"], 6);
        assert_eq!(Served::of(&served.connections), 6);
    }
}

#[test]
fn a_slice_starts_at_the_given_time() {
    for engine in ENGINES {
        let (target, _) = serve_all();
        let mut load = Commanded::new(&with(&["-c", "4", "-t", "2"], engine, &target));
        let start_ns = now_ns() + 300_000_000;
        let slice = load.order(&format!("slice 10 20 at {start_ns}"));
        assert_eq!(slice["start_ns"], start_ns + 10_000_000, "the window begins after the lead-in");
        let late = load.order(&format!("warmup 20 at {start_ns}"));
        assert!(late["start_ns"].as_u64() > slice["end_ns"].as_u64(), "a time in the past means at once");
        assert_eq!(load.end()["start_ns"], start_ns);
    }
}

#[test]
fn a_hundred_short_slices() {
    for engine in ENGINES {
        let (target, _) = serve_all();
        let mut load = Commanded::new(&with(&["-c", "4", "-t", "2"], engine, &target));
        let slices = load.slices(100, "slice 1 10");
        let result = load.end();
        assert_sums(&result, &slices);
        assert!((result["duration_s"].as_f64().unwrap() - 1.0).abs() < 1e-9);
        let threads = result["generator"]["threads"].as_array().unwrap();
        let completed: u64 = threads.iter().filter_map(|thread| thread["completed"].as_u64()).sum();
        assert_eq!(completed, result["requests"]["completed"].as_u64().unwrap());
        assert!(result["generator"]["busy"].as_f64() > Some(0.0));
    }
}

#[test]
fn dropped_slices_leave_no_trace() {
    for engine in ENGINES {
        // The server sends wrong responses, so that the number of errors shows which slices count.
        let address = serve(|mut stream| {
            let wrong = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
            while read_request(&mut stream) && stream.write_all(wrong).is_ok() {}
        });
        let target = url(address);
        let mut load = Commanded::new(&with(&["-c", "2", "-t", "2"], engine, &target));
        let mut kept = vec![load.order("slice 0 20")];
        let dropped = load.order("slice 5 200");
        load.tell("drop");
        kept.push(load.order("slice 5 20"));
        load.order("warmup 20");
        let also_dropped = load.order("slice 0 200");
        load.tell("drop");
        assert_eq!((&dropped["index"], &kept[1]["index"], &also_dropped["index"]), (&1.into(), &2.into(), &3.into()));
        let result = load.end();
        assert_sums(&result, &kept);
        assert_eq!(result["errors"]["unexpected_status"], sum(&kept, "errors"));
        assert!((result["duration_s"].as_f64().unwrap() - 0.04).abs() < 1e-9);
        assert_eq!(result["config"]["duration_s"], result["duration_s"]);
    }
}

/// Checks that the server has answered all requests when a slice ends, and receives no others until the next command.
fn assert_silence(args: &[&str], target: &str, read: impl Fn() -> u64, answered: impl Fn() -> u64) {
    let mut load = Commanded::new(&[args, &[target]].concat());
    let mut slices = Vec::new();
    for _ in 0..5 {
        slices.push(load.order("slice 5 30"));
        let seen = read();
        assert_eq!(answered(), seen, "requests are in flight");
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(read(), seen, "a request without a command");
    }
    let result = load.end();
    assert_sums(&result, &slices);
    assert!(sum(&slices, "completed") > 0 && errors(&result) == 0, "{result}");
}

#[test]
fn nothing_is_in_flight_after_a_slice() {
    for engine in ENGINES {
        for args in [&["-c", "4"][..], &["-c", "4", "-t", "2", "--pipeline", "8"], &["-c", "4", "--think-time", "1ms"]] {
            let (target, served) = serve_all();
            let (read, answered) = (|| Served::of(&served.read), || Served::of(&served.answered));
            assert_silence(&with(args, engine, "--insecure"), &target, read, answered);
        }
        let (target, served) = serve_all();
        let open = with(&["-r", "2k", "-c", "4", "-t", "2"], engine, "--insecure");
        assert_silence(&open, &target, || Served::of(&served.read), || Served::of(&served.answered));
    }
}

#[test]
fn nothing_is_in_flight_after_a_slice_through_a_tunnel() {
    for engine in ENGINES {
        let (target, served) = serve_all();
        let proxy = format!("http://{}", serve_proxy("200 OK"));
        let args = with(&["-c", "2", "--proxy", &proxy], engine, "--insecure");
        assert_silence(&args, &target, || Served::of(&served.read), || Served::of(&served.answered));
    }
}

/// Starts an HTTP/2 server, which uses TLS if `tls` contains a configuration.
fn serve_http2(tls: Option<Arc<rustls::ServerConfig>>) -> (SocketAddr, Arc<Served>) {
    fn answer_all<S: Read + Write>(stream: S, served: &Served) {
        let Some(mut frames) = Frames::accept(stream) else { return };
        while let Some(frame) = frames.next() {
            Served::add(&served.read);
            Served::add(&served.answered);
            if !frames.answer(frame.stream) {
                return;
            }
        }
    }
    let served = Arc::new(Served::default());
    let shared = Arc::clone(&served);
    let address = serve(move |stream| {
        stream.set_nodelay(true).expect("a TCP socket");
        match &tls {
            Some(config) => {
                let connection = ServerConnection::new(Arc::clone(config)).expect("a valid configuration");
                answer_all(StreamOwned::new(connection, stream), &shared);
            }
            None => answer_all(stream, &shared),
        }
    });
    (address, served)
}

#[test]
fn nothing_is_in_flight_after_a_slice_of_http2() {
    let config = tls_config(b"h2", &certificate());
    for engine in ENGINES {
        for tls in [None, Some(Arc::clone(&config))] {
            let scheme = if tls.is_some() { "https" } else { "http" };
            let (address, served) = serve_http2(tls);
            let args = ["-c", "2", "--http2", "--pipeline", "5", "-k"];
            let target = format!("{scheme}://{address}/");
            assert_silence(&with(&args, engine, "-t2"), &target, || Served::of(&served.read), || Served::of(&served.answered));
        }
    }
}

/// The server answers all requests over TLS and never closes a connection itself.
#[test]
fn connections_over_tls_stay_open_and_are_counted() {
    let config = tls_config(b"http/1.1", &certificate());
    for engine in ENGINES {
        let config = Arc::clone(&config);
        let address = serve(move |stream| {
            stream.set_nodelay(true).expect("a TCP socket");
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a valid configuration");
            let mut tls = StreamOwned::new(connection, stream);
            let (mut seen, mut byte) = (Vec::new(), [0; 1]);
            while let Ok(1) = tls.read(&mut byte) {
                seen.push(byte[0]);
                if seen.ends_with(b"\r\n\r\n") {
                    seen.clear();
                    if tls.write_all(HELLO).and_then(|()| tls.flush()).is_err() {
                        return;
                    }
                }
            }
        });
        let target = format!("https://{address}/");
        let mut load = Commanded::new(&with(&["-c", "3", "-k"], engine, &target));
        let slices = load.slices(3, "slice 5 30");
        assert!(sum(&slices, "completed") > 0 && sum(&slices, "reopened") == 0);
        load.order("slice 0 10");
        load.tell("drop");
        let result = load.end();
        assert_sums(&result, &slices);
        assert_eq!((&result["tls_handshakes"]["full"], &result["connect_time_us"]["count"]), (&3.into(), &3.into()));
    }
}

#[test]
fn connections_closed_between_slices_are_opened_again() {
    for engine in ENGINES {
        let (target, served) = serve_all();
        let mut load = Commanded::new(&with(&["-c", "4", "-t", "2"], engine, &target));
        let first = load.order("slice 10 30");
        Served::add(&served.closings);
        let begin = Instant::now();
        while Served::of(&served.closed) < 4 {
            assert!(begin.elapsed() < PATIENCE, "the server closes its connections");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(Served::of(&served.connections), 4, "none is opened without a command");
        let second = load.order("slice 100 30");
        assert_eq!((&first["reopened"], &second["reopened"], &second["errors"]), (&0.into(), &4.into(), &0.into()), "{engine}");
        assert!(second["completed"].as_u64() > Some(0));
        let result = load.end();
        assert_eq!((&result["idle_closed"], &result["connect_time_us"]["count"]), (&4.into(), &8.into()));
        assert_sums(&result, &[first, second]);
    }
}

#[test]
fn each_request_may_have_its_own_connection() {
    for engine in ENGINES {
        let (target, served) = serve_all();
        let mut load = Commanded::new(&with(&["-c", "2", "--no-keepalive"], engine, &target));
        let slices = load.slices(3, "slice 5 50");
        let result = load.end();
        assert_eq!(errors(&result), 0, "{}", result["errors"]);
        assert_sums(&result, &slices);
        assert!(sum(&slices, "reopened") + 2 >= Served::of(&served.read), "{slices:?}");
    }
}

/// The server never answers the eleventh request.
#[test]
fn an_unanswered_request_is_an_error_and_its_connection_is_replaced() {
    for engine in ENGINES {
        let (target, _) = serve_requests(|number, _| number != 10);
        let mut load = Commanded::new(&with(&["-c", "2", "--timeout", "400ms"], engine, &target));
        let slices = load.slices(2, "slice 0 200");
        assert_eq!((&slices[0]["errors"], &slices[0]["reopened"]), (&1.into(), &0.into()), "{engine}: {slices:?}");
        assert!(slices[0]["max_us"].as_f64() >= Some(398e3), "the time waited counts: {slices:?}");
        assert!(slices[0]["drain_us"].as_f64() >= Some(100e3), "{slices:?}");
        assert_eq!((&slices[1]["errors"], &slices[1]["reopened"]), (&0.into(), &1.into()), "{engine}: {slices:?}");
        let result = load.end();
        assert_sums(&result, &slices);
        assert_eq!((&result["errors"]["timeout"], &result["censored"]), (&1.into(), &1.into()));
        assert_eq!(result["service_time_us"]["count"], result["requests"]["sent"]);
    }
}

/// The server never answers the sixteenth stream of a connection.
#[test]
fn an_unanswered_stream_is_an_error_and_its_connection_is_replaced() {
    for engine in ENGINES {
        let address = serve(|stream| {
            let Some(mut frames) = Frames::accept(stream) else { return };
            while let Some(frame) = frames.next() {
                if frame.stream != 31 && !frames.answer(frame.stream) {
                    return;
                }
            }
        });
        let target = url(address);
        let mut load = Commanded::new(&with(&["-c", "1", "--http2", "--pipeline", "4", "--timeout", "400ms"], engine, &target));
        let slices = load.slices(2, "slice 0 200");
        assert_eq!((sum(&slices, "errors"), &slices[1]["reopened"]), (2, &1.into()), "{engine}: {slices:?}");
        let result = load.end();
        assert_eq!(result["errors"]["timeout"], 2);
        assert_sums(&result, &slices);
    }
}

#[test]
fn a_mix_counts_each_kind() {
    for engine in ENGINES {
        let (target, _) = serve_all();
        let other = format!("{target}other");
        let mut load = Commanded::new(&with(&["-c", "3", "--weights", "3,1", &target], engine, &other));
        let slices = load.slices(5, "slice 3 20");
        let result = load.end();
        assert_sums(&result, &slices);
        let parts = result["parts"].as_array().unwrap();
        let all = |name: &str| parts.iter().filter_map(|part| part[name].as_u64()).sum::<u64>();
        assert_eq!((all("ok"), all("sent"), all("errors")), (sum(&slices, "completed"), result["requests"]["sent"].as_u64().unwrap(), 0));
        let times: u64 = parts.iter().filter_map(|part| part["time_us"]["count"].as_u64()).sum();
        assert_eq!(times, all("sent"));
    }
}

/// Each slice has its own schedule. The requests that are due from 50 to 175 ms after the start of a slice belong to its window.
#[test]
fn an_open_loop_accounts_for_each_due_request() {
    for engine in ENGINES {
        for count in [1, 5] {
            let (target, _) = serve_all();
            let mut load = Commanded::new(&with(&["-r", "992", "-c", "16", "-t", "2"], engine, &target));
            let slices = load.slices(count, "slice 50 125");
            let result = load.end();
            assert_sums(&result, &slices);
            let requests = &result["requests"];
            assert_eq!(requests["sent"].as_u64().unwrap() + requests["unsent"].as_u64().unwrap(), 124 * count as u64, "{requests}");
            assert_eq!(requests["offered"], 124 * count);
            assert_eq!(result["intervals"][0]["offered_rps"], 992.0);
            let times = result["response_time_us"]["count"].as_u64().unwrap();
            assert_eq!(times, requests["sent"].as_u64().unwrap() + result["censored"].as_u64().unwrap());
        }
    }
}

#[test]
fn the_seed_determines_the_arrivals_of_all_slices() {
    let sent = ENGINES.map(|engine| {
        let (target, _) = serve_all();
        let args = ["-r", "1k", "--arrivals", "poisson", "--seed", "5", "-c", "16"];
        let mut load = Commanded::new(&with(&args, engine, &target));
        let counts: Vec<_> = (0..4).map(|_| load.order("slice 20 200")).collect();
        let result = load.end();
        assert_sums(&result, &counts);
        result["requests"]["sent"].as_u64().unwrap() + result["requests"]["unsent"].as_u64().unwrap()
    });
    assert_eq!(sent[0], sent[1], "the same seed makes the same schedule");
    assert!(sent[0].abs_diff(800) < 150, "{sent:?}");
}

/// The server is too slow for the offered rate, so some requests are still unsent at the end of each window.
#[test]
fn an_open_loop_counts_unsent_requests_of_each_slice() {
    for engine in ENGINES {
        let (target, _) = serve_requests(|_, _| {
            std::thread::sleep(Duration::from_millis(20));
            true
        });
        let mut load = Commanded::new(&with(&["-r", "500", "-c", "2"], engine, &target));
        let slices = load.slices(3, "slice 100 200");
        let result = load.end();
        assert_sums(&result, &slices);
        let requests = &result["requests"];
        assert_eq!(requests["sent"].as_u64().unwrap() + requests["unsent"].as_u64().unwrap(), 300, "{requests}");
        assert!(requests["unsent"].as_u64() > Some(150) && requests["backlog"].as_u64() > Some(60), "{requests}");
        assert!(result["response_time_us"]["max"].as_f64() > Some(100e3), "their ages are lower bounds");
    }
}

/// Returns the CPU time of all threads of a process, in nanoseconds, and how many times the kernel scheduled them.
fn activity(pid: u32) -> (u64, u64) {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("a process has threads");
    let read = |path: std::path::PathBuf| fs::read_to_string(path).expect("the thread exists");
    let of_tasks = tasks.map(|task| read(task.expect("an entry").path().join("schedstat"))).map(|text| {
        let fields: Vec<u64> = text.split_whitespace().map(|field| field.parse().expect("a number")).collect();
        (fields[0], fields[2])
    });
    of_tasks.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[test]
fn waiting_takes_no_cpu_time() {
    for engine in ENGINES {
        let (target, _) = serve_all();
        let mut load = Commanded::new(&with(&["-c", "4", "-t", "2"], engine, &target));
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(300)); // let the last thread go to sleep
            let before = activity(load.child.id());
            std::thread::sleep(Duration::from_secs(1));
            assert_eq!(activity(load.child.id()), before, "{engine}: CPU time, and how often threads ran");
            load.order("slice 5 30");
        }
        load.end();
    }
}

/// Starts a load and runs one slice. The server answers all requests until the test increments `closings`.
fn with_one_slice(engine: &str) -> (Commanded, Value, Arc<Served>) {
    let (target, served) = serve_requests(|number, served| number < 1_000_000 && Served::of(&served.closings) == 0);
    let mut load = Commanded::new(&with(&["-c", "2", "-t", "2", "--timeout", "60s"], engine, &target));
    let kept = load.order("slice 5 30");
    (load, kept, served)
}

fn assert_interrupted(load: Commanded, kept: &Value) {
    let begin = Instant::now();
    let Ended { code, result, stderr } = load.ended();
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    assert_eq!((code, &result["interrupted"], &result["failure"]), (Some(130), &true.into(), &Value::Null), "{stderr}");
    assert_sums(&result, std::slice::from_ref(kept));
}

#[test]
fn a_signal_ends_the_run_in_any_state() {
    for engine in ENGINES {
        for (signal, command) in [
            (libc::SIGTERM, None),
            (libc::SIGINT, Some("warmup 60000")),
            (libc::SIGTERM, Some("slice 60000 10")),
            (libc::SIGTERM, Some("slice 5 60000")),
        ] {
            let (mut load, kept, _) = with_one_slice(engine);
            if let Some(command) = command {
                load.tell(command);
                std::thread::sleep(Duration::from_millis(100));
            }
            load.signal(signal);
            assert_interrupted(load, &kept);
        }
    }
}

#[test]
fn a_signal_ends_the_drain() {
    for engine in ENGINES {
        let (mut load, kept, served) = with_one_slice(engine);
        Served::add(&served.closings); // from now on, the server reads but doesn't answer
        let before = Served::of(&served.connections);
        load.tell("slice 0 50");
        std::thread::sleep(Duration::from_millis(300));
        load.signal(libc::SIGTERM);
        assert_interrupted(load, &kept);
        assert!(Served::of(&served.connections) <= before + 4);
    }
}

#[test]
fn the_end_of_stdin_ends_the_run() {
    for engine in ENGINES {
        for command in [None, Some("slice 60000 10")] {
            let (mut load, kept, _) = with_one_slice(engine);
            if let Some(command) = command {
                load.tell(command);
            }
            load.close_stdin();
            assert_interrupted(load, &kept);
        }
    }
}

#[test]
fn without_a_slice_there_is_no_result() {
    let (target, _) = serve_all();
    let start = || Commanded::new(&["-c", "2", &target]);
    for (commands, code, reason) in [
        (&["end"][..], Some(1), "no slice was measured"),
        (&["warmup 10", "end"], Some(1), "no slice was measured"),
        (&["slice 1 10", "drop", "end"], Some(1), "no slice was measured"),
        (&["drop"], Some(1), "there is no slice to drop"),
        (&["warmup 10", "drop"], Some(1), "there is no slice to drop"),
        (&["faster"], Some(1), "`faster`"),
    ] {
        let mut load = start();
        commands.iter().for_each(|command| load.tell(command));
        let ended = load.ended();
        let lines: Vec<_> = ended.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!((ended.code, ended.result, lines.len()), (code, Value::Null, 1), "{}", ended.stderr);
        assert!(lines[0].contains(reason), "{}", lines[0]);
    }
    let mut load = start();
    load.close_stdin();
    let ended = load.ended();
    assert_eq!((ended.code, ended.result), (Some(130), Value::Null), "{}", ended.stderr);
}

#[test]
fn a_wrong_command_ends_the_run_with_what_was_kept() {
    for (wrong, reason) in [("slice 5", "`slice 5`"), ("stop", "`stop`"), ("slice 0 -1", "`-1`")] {
        let (target, _) = serve_all();
        let mut load = Commanded::new(&["-c", "2", &target]);
        let kept = load.order("slice 1 20");
        load.tell(wrong);
        let ended = load.ended();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let failure = ended.result["failure"].as_str().expect("a reason");
        assert!(failure.contains(reason) && failure.contains("hint:"), "{failure}");
        assert_sums(&ended.result, &[kept]);
    }
}

#[test]
fn options_of_single_runs_are_refused() {
    for options in [
        &["-d", "1s"][..],
        &["--warmup", "1s"],
        &["--interval", "250ms"],
        &["--start-on-stdin"],
        &["-r", "1k..2k", "--step", "1k/1s"],
        &["-r", "1k..2k"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"));
        let output = command.arg("--slices-on-stdin").args(options).arg("http://127.0.0.1:1/").output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("--slices-on-stdin"), "{text}");
    }
}

#[test]
fn other_progress_prints_no_events() {
    let (target, _) = serve_all();
    let mut child = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"))
        .args(["--slices-on-stdin", "-c", "2", "--progress", "none", &target])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("stdin is piped").write_all(b"warmup 10\nslice 1 20\ndrop\nslice 1 20\nend\n").expect("the program reads");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "ready: 2 connections\n");
    assert!(String::from_utf8_lossy(&output.stdout).contains("closed loop"));
}
