//! Tests of the program as users and the harness run it: its output, exit codes and reaction to signals.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

use crate::common::{ENGINES, allowed_cpus, pin, scratch, serve, serve_bytes, url};
use serde_json::Value;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"));
    command.args(args);
    command
}

fn run(args: &[&str]) -> Output {
    command(args).output().expect("the program starts")
}

fn code(args: &[&str]) -> Option<i32> {
    run(args).status.code()
}

#[test]
fn exit_codes_tell_outcomes_apart() {
    let target = url(serve_bytes(HELLO));
    let missing = url(serve_bytes(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
    assert_eq!(code(&["-d", "100ms", "-c", "2", &target]), Some(0));
    assert_eq!(code(&["-d", "100ms", "-c", "2", &missing]), Some(0), "errors of requests don't fail the run");
    assert_eq!(code(&["-d", "100ms", "http://127.0.0.1:1/"]), Some(1));
    assert_eq!(code(&["-d", "100ms", "-c", "1M", &target]), Some(1), "more connections than files");
    for usage in [
        &["--no-such-flag"][..],
        &["nonsense"],
        &["-d", "0s", &target],
        &["-c", "1", "-t", "2", &target],
        &["--step", "1/1s", &target],
        &[],
    ] {
        assert_eq!(code(usage), Some(2), "{usage:?}");
    }
    assert_eq!(code(&["-d", "100ms", "-c", "2", "--max-errors", "1%", &missing]), Some(3));
    assert_eq!(code(&["-d", "100ms", "-c", "2", "--max-p99", "1ns", &target]), Some(3));
    assert_eq!(code(&["-d", "1s", "-c", "2", "--max-p99", "10s", "--max-errors", "0", &target]), Some(0));
}

#[test]
fn too_many_connections_fail_with_a_hint() {
    let output = run(&["-c", "1M", "http://127.0.0.1:1/"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("ulimit -n") && text.lines().count() == 1, "{text}");
}

/// Load threads reuse the histograms of finished intervals. If three of the four threads allocated new histograms instead, the program
/// would use 90 MB more memory.
#[test]
fn memory_does_not_grow_with_the_number_of_intervals() {
    let target = url(serve_bytes(HELLO));
    let output = run(&["-r", "2k", "-d", "3s", "-c", "4", "-t", "4", "--interval", "100ms", "--json", "-", &target]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON alone");
    assert!(result["intervals"].as_array().map(Vec::len) >= Some(30));
    assert!(result["generator"]["rss_bytes_peak"].as_u64() < Some(96 << 20), "{}", result["generator"]["rss_bytes_peak"]);
}

#[test]
fn memory_does_not_include_that_of_the_process_that_started_the_program() {
    let mut large = vec![0_u8; 256 << 20];
    large.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    let target = url(serve_bytes(HELLO));
    let output = run(&["-d", "100ms", "-c", "4", "-t", "1", "--json", "-", &target]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON alone");
    assert!(large.contains(&1));
    let peak = result["generator"]["rss_bytes_peak"].as_u64().unwrap();
    assert!(1 << 20 < peak && peak < 128 << 20, "{peak}");
}

#[test]
fn json_goes_to_stdout_and_progress_to_stderr() {
    let target = url(serve_bytes(HELLO));
    let output = run(&["-d", "600ms", "--warmup", "300ms", "-c", "2", "--json", "-", "--progress", "json", &target]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON alone");
    assert_eq!(result["schema"], "httpbench-loadgen/1");
    assert_eq!(result["response_time_us"], Value::Null);
    assert_eq!(result["interrupted"], false);
    assert!(result["throughput_rps"].as_f64() > Some(0.0));
    let events: Vec<Value> =
        output.stderr.lines().map(|line| serde_json::from_str(&line.expect("text")).expect("each line is JSON")).collect();
    let mut phases: Vec<_> = events.iter().filter_map(|event| event["phase"].as_str()).collect();
    phases.dedup();
    assert_eq!(phases, ["connect", "warmup", "measure", "done"]);
    let measured: Vec<_> = events.iter().filter(|event| event["phase"] == "measure").collect();
    assert!(measured.len() >= 3 && measured[0]["elapsed_s"] == 0.0, "{measured:?}");
}

#[test]
fn an_interrupted_run_reports_its_results() {
    for (signal, open_loop) in [(libc::SIGINT, false), (libc::SIGTERM, true)] {
        let target = url(serve_bytes(HELLO));
        let load: &[&str] = if open_loop { &["-r", "500"] } else { &[] };
        let mut child = command(&[&["-d", "60s", "-c", "2", "-t", "2", "--json", "-", "--progress", "json", &target], load].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut progress = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        assert!(progress.by_ref().take(20).flatten().filter(|line| line.contains("measure")).nth(2).is_some());
        // SAFETY: the process is our child and has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let output = child.wait_with_output().expect("the program exits");
        assert_eq!(output.status.code(), Some(130));
        let result: Value = serde_json::from_slice(&output.stdout).expect("the result is complete");
        assert_eq!(result["interrupted"], true);
        assert!(result["requests"]["ok"].as_u64() > Some(0));
        assert!(result["duration_s"].as_f64() < Some(30.0));
    }
}

#[test]
fn the_report_and_the_percentile_file_are_written() {
    let file = scratch("percentiles.hdr");
    let output = run(&["-d", "200ms", "-c", "2", "--hdr", &file.to_string_lossy(), &url(serve_bytes(HELLO))]);
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(["requests/s", "service time", "p99", "errors: none"].iter().all(|part| report.contains(part)), "{report}");
    assert!(output.stderr.is_empty(), "stderr isn't a terminal");
    let percentiles = std::fs::read_to_string(&file).expect("the file was written");
    assert!(percentiles.contains("1/(1-Percentile)") && percentiles.contains("#[Max"));
    std::fs::remove_file(&file).expect("the file exists");
}

#[test]
fn prints_version_help_and_completions() {
    assert_eq!(String::from_utf8_lossy(&run(&["--version"]).stdout), format!("httpbench-loadgen {}\n", env!("CARGO_PKG_VERSION")));
    assert!(String::from_utf8_lossy(&run(&["--help"]).stdout).starts_with("Examples:"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(String::from_utf8_lossy(&run(&["--completions", shell]).stdout).contains("pipeline"));
    }
}

#[test]
fn templates_expand_placeholders() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(std::collections::HashSet::new()));
    let shared = std::sync::Arc::clone(&seen);
    let address = serve(move |mut stream| {
        use std::io::Read;
        let mut request = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut request) {
            let first_line = String::from_utf8_lossy(&request[..length]).lines().next().unwrap_or_default().to_owned();
            shared.lock().expect("the lock isn't poisoned").insert(first_line);
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    });
    let output =
        run(&["-d", "200ms", "-c", "2", "--raw-request", "GET /{{seq}} HTTP/1.1\r\nHost: x\r\n\r\n", "--json", "-", &url(address)]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let different = seen.lock().expect("the lock isn't poisoned").len() as u64;
    assert!(different >= result["requests"]["ok"].as_u64().expect("a count") && different > 10);
}

/// Gates must treat a server that never responds as the worst case.
#[test]
fn no_response_breaches_every_gate() {
    let silent = url(serve(|mut stream| while crate::common::read_request(&mut stream) {}));
    for engine in ENGINES {
        for load in [&["-c", "2"][..], &["-c", "2", "--rate", "1k"]] {
            for gate in [["--max-errors", "0.1%"], ["--max-errors", "100%"], ["--max-p99", "24h"]] {
                let output = run(&[&["-d", "200ms", "--engine", engine, &silent], load, &gate].concat());
                let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!(output.status.code(), Some(3), "{engine} {load:?} {gate:?}: {stderr}");
                assert_eq!(stderr, "gate breached: no response\n");
            }
        }
        let report = run(&["-d", "200ms", "-c", "2", "--engine", engine, &silent]);
        assert_eq!(report.status.code(), Some(0), "without a gate the run succeeds");
        assert!(String::from_utf8_lossy(&report.stdout).contains("no response"));
    }
}

/// The server answers only the first of a hundred due requests. The second request then occupies the only connection, so the others can't
/// be sent.
#[test]
fn unsent_requests_count_as_failed() {
    for engine in ENGINES {
        let first = std::sync::atomic::AtomicBool::new(true);
        let target = url(serve(move |mut stream| {
            while crate::common::read_request(&mut stream) {
                if first.swap(false, std::sync::atomic::Ordering::Relaxed) && stream.write_all(HELLO).is_err() {
                    return;
                }
            }
        }));
        let args = ["-d", "500ms", "-c", "1", "--rate", "200", "--engine", engine];
        let output = run(&[&args[..], &["--max-errors", "50%", &target]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{engine}: {stderr}");
        assert!(stderr.contains("% of requests failed"), "{stderr}");
    }
}

#[test]
fn the_report_fits_a_terminal() {
    let target = url(serve_bytes(HELLO));
    for load in [&[][..], &["--rate", "1k"]] {
        let output = run(&[&["-d", "300ms", "-c", "2", &target], load].concat());
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(report.lines().all(|line| line.chars().count() <= 79), "{report}");
        assert!(report.contains("correct") && !report.contains("right"), "{report}");
        assert!(report.contains(&format!("to {}", target.trim_start_matches("http://").trim_end_matches('/'))), "{report}");
    }
}

/// A server on the generator's CPU limits the throughput of both, although neither of them is busy all the time.
#[test]
fn a_cpu_shared_with_the_server_is_reported() {
    let cpus = allowed_cpus();
    let Some((own, other)) = cpus.first().zip(cpus.get(1)) else { return };
    for engine in ENGINES {
        for (server_cpu, is_shared) in [(own, true), (other, false)] {
            let cpu = *server_cpu;
            let starting = std::thread::spawn(move || {
                pin(cpu); // the threads of the server inherit this CPU
                serve_bytes(HELLO)
            });
            let target = url(starting.join().expect("the server starts"));
            let args = ["-d", "300ms", "-c", "4", "--engine", engine, "--cpus", &own.to_string(), &target];
            let result: Value = serde_json::from_slice(&run(&[&args[..], &["--json", "-"]].concat()).stdout).expect("JSON");
            let share = result["generator"]["shared_cpu"].as_f64().expect("the server is on this machine");
            assert!(if is_shared { share > 0.9 } else { share < 0.1 }, "{engine}, shared: {is_shared}: {share}");
            let report = String::from_utf8_lossy(&run(&args).stdout).into_owned();
            assert_eq!(report.contains("generator and server shared a CPU"), is_shared, "{engine}: {report}");
        }
    }
}

/// Redirects are incorrect by default, as in `httpbench run`.
#[test]
fn a_redirect_is_incorrect_and_the_report_names_the_option() {
    let target = url(serve_bytes(b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n"));
    let report = |more: &[&str]| String::from_utf8_lossy(&run(&[&["-n", "20", "-c", "2", &target], more].concat()).stdout).into_owned();
    let wrong = report(&[]);
    assert!(wrong.contains("errors: 20 unexpected status") && wrong.contains("set --expect-status"), "{wrong}");
    assert!(report(&["--expect-status", "302"]).contains("errors: none"));
}
