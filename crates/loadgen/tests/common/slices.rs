//! Runs the program with `--slices-on-stdin` and reads its reports.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};

use serde_json::Value;

/// A load generator that is connected and waits for commands.
pub struct Commanded {
    pub child: Child,
    stdin: Option<ChildStdin>,
    stderr: Lines<BufReader<ChildStderr>>,
}

/// The exit code and the output of a program that has ended.
pub struct Ended {
    pub code: Option<i32>,
    /// The result; null if there is none.
    pub result: Value,
    pub stderr: String,
}

impl Commanded {
    pub fn new(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"))
            .args(["--slices-on-stdin", "--json", "-", "--progress", "json"])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stdin = child.stdin.take();
        let stderr = BufReader::new(child.stderr.take().expect("the stream is piped")).lines();
        let mut commanded = Self { child, stdin, stderr };
        commanded.await_event("ready");
        commanded
    }

    pub fn tell(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().expect("stdin is open"), "{line}").expect("the program reads stdin");
    }

    /// Returns the next event with this name, skipping other events.
    pub fn await_event(&mut self, name: &str) -> Value {
        loop {
            let line = self.stderr.next().expect("the program goes on").expect("stderr is text");
            let event: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("each line is JSON, but not `{line}`"));
            if event["event"] == name {
                return event;
            }
        }
    }

    /// Sends a command that generates load, and returns the program's report after the drain.
    pub fn order(&mut self, line: &str) -> Value {
        self.tell(line);
        self.await_event("slice")
    }

    pub fn slices(&mut self, count: usize, line: &str) -> Vec<Value> {
        (0..count).map(|_| self.order(line)).collect()
    }

    /// Ends the run and returns its result.
    pub fn end(mut self) -> Value {
        self.tell("end");
        let Ended { code, result, stderr } = self.ended();
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(result["failure"], Value::Null);
        assert_eq!(result["interrupted"], false);
        result
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: kill takes no pointers, and the process is our child and has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as libc::pid_t, signal) }, 0);
    }

    /// Waits until the program exits. Doesn't close its stdin.
    pub fn ended(mut self) -> Ended {
        // Read both streams at the same time, because the result of many slices doesn't fit into a pipe.
        let mut stdout = self.child.stdout.take().expect("the stream is piped");
        let reader = std::thread::spawn(move || std::io::read_to_string(&mut stdout).expect("the output is text"));
        let stderr = self.stderr.map_while(Result::ok).collect::<Vec<_>>().join("\n");
        let text = reader.join().expect("the reader ends");
        Ended {
            code: self.child.wait().expect("the program exits").code(),
            result: serde_json::from_str(&text).unwrap_or_default(),
            stderr,
        }
    }
}

/// Returns the sum of one field over all events.
pub fn sum(events: &[Value], name: &str) -> u64 {
    events.iter().map(|event| event[name].as_u64().unwrap_or_else(|| panic!("{name} is a number in {event}"))).sum()
}

/// Returns the total number of errors in a result.
pub fn errors(result: &Value) -> u64 {
    result["errors"].as_object().expect("errors by kind").values().filter_map(Value::as_u64).sum()
}

/// Checks that the result is the sum of its kept slices, and that each request is counted exactly once, either as ended or as in flight.
pub fn assert_sums(result: &Value, kept: &[Value]) {
    let requests = &result["requests"];
    let count = |name: &str| requests[name].as_u64().expect("a count");
    assert_eq!(count("ok"), sum(kept, "completed"), "{requests}");
    assert_eq!(errors(result), sum(kept, "errors"), "{}", result["errors"]);
    let duration_s: f64 = kept.iter().filter_map(|event| event["duration_s"].as_f64()).sum();
    assert!((result["duration_s"].as_f64().expect("a number") - duration_s).abs() < 1e-9);
    let intervals = result["intervals"].as_array().expect("a list");
    assert_eq!(intervals.len(), kept.len());
    let mut start_s = 0.0;
    for (interval, event) in intervals.iter().zip(kept) {
        for name in ["duration_s", "errors", "p50_us", "p99_us"] {
            assert_eq!(interval[name], event[name], "{name}");
        }
        assert!((interval["start_s"].as_f64().expect("a number") - start_s).abs() < 1e-9, "{interval}");
        start_s += interval["duration_s"].as_f64().expect("a number");
    }
    // Subtract complete but incorrect responses once, because they count both as completed and as errors. Subtract errors of requests that
    // were never sent, because only sent requests can end.
    let others = ["unexpected_status", "unexpected_body", "not_sent"].map(|kind| result["errors"][kind].as_u64().expect("a count"));
    let ended = count("completed") + errors(result) - others.iter().sum::<u64>();
    let sent = count("sent") + if result["config"]["loop"] == "closed" { count("backlog") } else { 0 };
    assert_eq!(sent, ended + count("in_flight") + count("unprocessed"), "{requests} {}", result["errors"]);
}
