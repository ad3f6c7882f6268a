//! Tests of the files and streams to which results are written, and of failures to write them.

use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{read_request, scratch, serve, serve_bytes, url};
use serde_json::Value;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen")).args(args).output().expect("the program starts")
}

#[test]
fn an_unwritable_path_is_an_error_before_the_run() {
    for option in ["--json", "--hdr"] {
        let requested = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&requested);
        let target = url(serve(move |mut stream| {
            seen.store(read_request(&mut stream), Ordering::Relaxed);
        }));
        let output = run(&["-d", "60s", option, "/nonexistent/result", &target]);
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("/nonexistent/result") && stderr.lines().count() == 1, "{stderr}");
        assert!(output.stdout.is_empty() && !requested.load(Ordering::Relaxed), "nothing was measured");
    }
}

#[test]
fn control_characters_in_file_names_are_escaped() {
    let target = url(serve_bytes(HELLO));
    let output = run(&["-d", "100ms", "--json", "/nonexistent/\x1b[2J\u{202e}", &target]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("/nonexistent/\\u001b[2J\\u202e") && !stderr.contains('\x1b'), "{stderr}");
}

#[test]
fn the_report_survives_a_full_disk() {
    let target = url(serve_bytes(HELLO));
    for option in ["--json", "--hdr"] {
        let output = run(&["-d", "100ms", "-c", "2", option, "/dev/full", &target]);
        assert_eq!(output.status.code(), Some(1), "{option}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("cannot write `/dev/full`") && stderr.lines().count() == 1, "{stderr}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("errors: none"));
    }
}

#[test]
fn one_failed_destination_does_not_affect_the_other() {
    let target = url(serve_bytes(HELLO));
    let file = scratch("other.hdr");
    let output = run(&["-d", "100ms", "-c", "2", "--json", "/dev/full", "--hdr", &file.to_string_lossy(), &target]);
    assert_eq!(output.status.code(), Some(1));
    assert!(std::fs::read_to_string(&file).expect("the file was written").contains("#[Max"));
    std::fs::remove_file(&file).expect("the file exists");
}

#[test]
fn an_old_result_is_kept_until_a_new_one_replaces_it_completely() {
    let file = scratch("old.json");
    let path = file.to_string_lossy();
    let old = "x".repeat(1 << 20);
    std::fs::write(&file, &old).expect("a temporary file");
    assert_eq!(run(&["-d", "100ms", "--json", &path, "http://127.0.0.1:1/"]).status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&file).expect("the file exists"), old);
    assert_eq!(run(&["-d", "100ms", "-c", "2", "--json", &path, &url(serve_bytes(HELLO))]).status.code(), Some(0));
    let result: Value = serde_json::from_slice(&std::fs::read(&file).expect("the file exists")).expect("JSON alone");
    assert_eq!(result["schema"], "httpbench-loadgen/1");
    std::fs::remove_file(&file).expect("the file exists");
}

#[test]
fn only_one_destination_can_be_stdout() {
    let target = url(serve_bytes(HELLO));
    let output = run(&["-d", "100ms", "-c", "2", "--hdr", "-", &target]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.trim_start().starts_with("Value") && text.trim_end().lines().last().is_some_and(|line| line.starts_with("#[Buckets")),
        "{text}"
    );
    assert_eq!(run(&["-d", "100ms", "--json", "-", "--hdr", "-", &target]).status.code(), Some(2));
}
