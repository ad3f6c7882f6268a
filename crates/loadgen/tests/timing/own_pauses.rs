//! Tests that the load generator reports its own pauses and doesn't attribute them to the server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{allowed_cpus, each_engine, load, pin, serve_bytes, url};
use serde_json::Value;

/// Time for which the load generator is stopped: twice its timeout.
const PAUSE: Duration = Duration::from_millis(600);
const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn start(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"));
    command.args(args).args(["--json", "-", "--progress", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

fn signal(child: &Child, signal: libc::c_int) {
    // SAFETY: kill takes no pointers, and the process is our child and has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
}

#[test]
fn responses_during_a_pause_of_the_generator_do_not_time_out() {
    each_engine(|engine| {
        let address = url(serve_bytes(HELLO));
        let mut child = start(&["-c", "16", "-d", "60s", "--timeout", "300ms", "--engine", engine, &address]);
        let mut progress = BufReader::new(child.stderr.take().expect("stderr is piped")).lines().map_while(Result::ok);
        let mut await_progress = || assert!(progress.any(|line| line.contains("\"measure\"")), "the load goes on");
        (0..2).for_each(|_| await_progress()); // the first is printed before the load begins
        signal(&child, libc::SIGSTOP);
        std::thread::sleep(PAUSE);
        signal(&child, libc::SIGCONT);
        (0..4).for_each(|_| await_progress()); // up to two were due during the pause
        signal(&child, libc::SIGINT);
        let output = child.wait_with_output().expect("the program ends");
        let result: Value = serde_json::from_slice(&output.stdout).expect("the result is JSON");
        assert_eq!(result["errors"]["timeout"], 0, "{engine}: {}", result["errors"]);
        let stalled_us = result["generator"]["stalled_us"].as_f64().expect("a number");
        assert!((0.9 * PAUSE.as_micros() as f64..60e6).contains(&stalled_us), "{engine}: {stalled_us}");
    });
}

#[test]
fn sharing_a_cpu_is_reported() {
    let cpu = allowed_cpus()[0];
    each_engine(|engine| {
        let over = AtomicBool::new(false);
        let result = std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    pin(cpu);
                    while !over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let address = url(serve_bytes(HELLO));
            let result = load(&["-c", "16", "-d", "400ms", "--cpus", &cpu.to_string(), "--engine", engine, &address]);
            over.store(true, Ordering::Relaxed);
            result.expect("the server responds")
        });
        let waiting = result.generator.waiting;
        assert!(waiting.is_none_or(|share| share > 0.1), "{engine}: {waiting:?} although three other threads used the CPU");
    });
}
