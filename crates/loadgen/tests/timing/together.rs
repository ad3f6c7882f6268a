//! Tests of several load generators that start at the same time. Each sends a part of the same offered rate.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{read_request, serve, url};
use loadgen::time::clock::now_ns;
use serde_json::Value;

/// Time limit for the program to end after its stdin was closed.
const PATIENCE: Duration = Duration::from_secs(20);
const AHEAD_NS: u64 = 300_000_000;

/// Starts a server that counts its requests.
fn counting() -> (String, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let address = serve(move |mut stream| {
        while read_request(&mut stream) {
            counted.fetch_add(1, Ordering::Relaxed);
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                return;
            }
        }
    });
    (url(address), count)
}

/// A load generator that is connected and waits for its start signal.
struct Waiting {
    child: Child,
    stdin: ChildStdin,
}

impl Waiting {
    fn new(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"))
            .args(["--start-on-stdin", "--json", "-", "--progress", "json"])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stdin = child.stdin.take().expect("the stream is piped");
        let mut events = BufReader::new(child.stderr.take().expect("the stream is piped")).lines().map_while(Result::ok);
        let ready = events.find(|line| line.contains("\"ready\"")).expect("the program reports that it is ready");
        let event: Value = serde_json::from_str(&ready).expect("each line is JSON");
        assert!(event["connected"].as_u64() > Some(0), "{event}");
        std::thread::spawn(move || events.for_each(drop)); // keep reading, so that the pipe never fills up
        Self { child, stdin }
    }

    fn start(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").expect("the program reads stdin");
    }

    /// Waits for the program to exit while stdin is still open. Returns its exit code and the result.
    fn end(mut self) -> (Option<i32>, Value) {
        let mut text = String::new();
        self.child.stdout.take().expect("the stream is piped").read_to_string(&mut text).expect("the output is text");
        (self.child.wait().expect("the program exits").code(), serde_json::from_str(&text).unwrap_or_default())
    }
}

#[test]
fn parts_start_together_and_add_up_to_the_whole() {
    let (target, _) = counting();
    let load = ["-r", "997", "-d", "500ms", "-c", "3"];
    let mut all: Vec<_> =
        ["1/3", "2/3", "3/3"].iter().map(|part| Waiting::new(&[&load[..], &["--part", part, &target]].concat())).collect();
    let start_ns = now_ns() + AHEAD_NS;
    all.iter_mut().for_each(|waiting| waiting.start(&start_ns.to_string()));
    let results: Vec<_> = all.into_iter().map(Waiting::end).collect();
    let mut offered = 0;
    for (index, (code, result)) in results.iter().enumerate() {
        assert_eq!(*code, Some(0));
        assert!(result["start_ns"].as_u64() >= Some(start_ns), "{result}");
        assert_eq!(result["config"]["part"], format!("{}/3", index + 1));
        assert_eq!(result["config"]["rate_to_rps"], 997.0);
        let due = result["requests"]["offered"].as_u64().unwrap();
        let sent = result["requests"]["sent"].as_u64().unwrap() + result["requests"]["unsent"].as_u64().unwrap();
        assert!(due.abs_diff(sent) <= 1, "{due} {sent}");
        let interval_rps = result["intervals"][0]["offered_rps"].as_f64().unwrap();
        assert!((interval_rps - 997.0 / 3.0).abs() < 0.01, "{interval_rps}");
        offered += due;
    }
    assert_eq!(offered, 499, "997 requests/s for half a second");
}

#[test]
fn nothing_is_sent_before_the_start() {
    let (target, count) = counting();
    let mut waiting = Waiting::new(&["-c", "2", "-d", "200ms", &target]);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(count.load(Ordering::Relaxed), 0);
    waiting.start("now");
    let (code, result) = waiting.end();
    assert_eq!(code, Some(0));
    assert!(result["requests"]["ok"].as_u64() > Some(0) && count.load(Ordering::Relaxed) > 0);
}

#[test]
fn the_end_of_stdin_ends_the_run() {
    let (target, _) = counting();
    for is_started in [false, true] {
        let Waiting { mut child, mut stdin } = Waiting::new(&["-c", "2", "-d", "60s", &target]);
        if is_started {
            writeln!(stdin, "now").expect("the program reads stdin");
        }
        drop(stdin);
        let begin = Instant::now();
        let mut text = String::new();
        child.stdout.take().expect("the stream is piped").read_to_string(&mut text).expect("the output is text");
        assert_eq!(child.wait().expect("the program exits").code(), Some(130));
        assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    }
}

#[test]
fn an_invalid_start_time_is_an_error() {
    let (target, count) = counting();
    for line in ["soon", "99000000000000000"] {
        let mut waiting = Waiting::new(&["-c", "2", "-d", "200ms", &target]);
        waiting.start(line);
        assert_eq!(waiting.end().0, Some(1), "{line}");
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
}
