//! Where the result is written, and what happens when it cannot be.

mod common;

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{read_request, serve, serve_bytes, url};
use serde_json::Value;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen")).args(args).output().expect("the program starts")
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("loadgen-test-{}-{name}", std::process::id()))
}

#[test]
fn a_path_that_cannot_be_written_is_found_before_the_run() {
    for option in ["--json", "--hdr"] {
        let requested = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&requested);
        let target = url(serve(move |mut stream| {
            seen.store(read_request(&mut stream), Ordering::Relaxed);
        }));
        let output = run(&["-d", "60s", option, "/nonexistent/result", &target]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("/nonexistent/result") && said.lines().count() == 1, "{said}");
        assert!(output.stdout.is_empty() && !requested.load(Ordering::Relaxed), "nothing was measured");
    }
}

#[test]
fn names_do_not_drive_the_terminal() {
    let target = url(serve_bytes(HELLO));
    let output = run(&["-d", "100ms", "--json", "/nonexistent/\x1b[2J\u{202e}", &target]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("/nonexistent/\\u001b[2J\\u202e") && !said.contains('\x1b'), "{said}");
}

#[test]
fn a_full_disk_does_not_cost_the_report() {
    let target = url(serve_bytes(HELLO));
    for option in ["--json", "--hdr"] {
        let output = run(&["-d", "100ms", "-c", "2", option, "/dev/full", &target]);
        assert_eq!(output.status.code(), Some(1), "{option}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("cannot write `/dev/full`") && said.lines().count() == 1, "{said}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("errors: none"));
    }
}

#[test]
fn one_place_that_fails_does_not_keep_the_other_from_being_written() {
    let target = url(serve_bytes(HELLO));
    let file = temporary("other.hdr");
    let output = run(&["-d", "100ms", "-c", "2", "--json", "/dev/full", "--hdr", &file.to_string_lossy(), &target]);
    assert_eq!(output.status.code(), Some(1));
    assert!(std::fs::read_to_string(&file).expect("it was written").contains("#[Max"));
    std::fs::remove_file(&file).expect("it was there");
}

#[test]
fn a_longer_result_of_before_is_replaced_whole_and_kept_when_there_is_no_new_one() {
    let file = temporary("old.json");
    let path = file.to_string_lossy();
    let old = "x".repeat(1 << 20);
    std::fs::write(&file, &old).expect("a temporary file");
    assert_eq!(run(&["-d", "100ms", "--json", &path, "http://127.0.0.1:1/"]).status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), old);
    assert_eq!(run(&["-d", "100ms", "-c", "2", "--json", &path, &url(serve_bytes(HELLO))]).status.code(), Some(0));
    let result: Value = serde_json::from_slice(&std::fs::read(&file).expect("it is there")).expect("JSON alone");
    assert_eq!(result["schema"], "httpbench-loadgen/1");
    std::fs::remove_file(&file).expect("it was there");
}

#[test]
fn a_dash_is_stdout_for_one_of_them() {
    let target = url(serve_bytes(HELLO));
    let output = run(&["-d", "100ms", "-c", "2", "--hdr", "-", &target]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.trim_start().starts_with("Value") && text.trim_end().lines().last().is_some_and(|line| line.starts_with("#[Buckets")),
        "{text}"
    );
    assert_eq!(run(&["-d", "100ms", "--json", "-", "--hdr", "-", &target]).status.code(), Some(2));
}
