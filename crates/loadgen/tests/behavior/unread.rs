//! Tests that unread output never delays a run and never prevents the result from being written.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{ENGINES, serve_bytes, url};
use serde_json::Value;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
/// Time limit for a run. Only a program that hangs reaches it.
const HANGS: Duration = Duration::from_secs(60);

fn spawn(args: &[&str], stdout: Stdio, stderr: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"));
    command.args(args).stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn().expect("the program starts")
}

/// Waits for the program to exit, and returns its stdout and exit status. Panics if the program hangs.
fn ending(mut child: Child) -> Output {
    let mut stdout = child.stdout.take().expect("stdout is piped");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).map(|_| text)
    });
    let started = Instant::now();
    while child.try_wait().expect("the process is our child").is_none() {
        if started.elapsed() > HANGS {
            child.kill().expect("the process is our child");
            panic!("the program hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = child.wait().expect("the process is our child");
    let stdout = reader.join().expect("no panic").expect("a pipe can be read");
    Output { status, stdout, stderr: Vec::new() }
}

/// Creates a pipe and fills it. Returns its read end and its write end.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: the call fills in both descriptors, which have no other owner.
    let (read, write) = unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK), 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    let mut file = File::from(write.try_clone().expect("a descriptor is free"));
    while file.write(&[b'.'; 4096]).is_ok() {}
    while file.write(b".").is_ok() {}
    // SAFETY: the call takes no pointers. It makes the pipe blocking again, so that a write to it would block the program.
    unsafe { assert_eq!(libc::fcntl(write.as_raw_fd(), libc::F_SETFL, 0), 0) };
    (read, write)
}

/// Creates a pseudoterminal. Returns our end and the program's end.
fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    // SAFETY: the call fills in both descriptors, which have no other owner; the other arguments may be null.
    unsafe {
        let null = std::ptr::null_mut();
        assert_eq!(libc::openpty(&mut ours, &mut theirs, null, null.cast(), null.cast()), 0);
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

#[test]
fn an_unread_pipe_does_not_delay_the_run() {
    let target = url(serve_bytes(HELLO));
    for engine in ENGINES {
        for progress in ["json", "line"] {
            let (_unread, stderr) = full_pipe();
            let args =
                ["-d", "500ms", "-c", "2", "--engine", engine, "--interval", "100ms", "--progress", progress, "--json", "-", &target];
            let output = ending(spawn(&args, Stdio::piped(), stderr.into()));
            assert_eq!(output.status.code(), Some(0), "{engine}, {progress}");
            let result: Value = serde_json::from_slice(&output.stdout).expect("the result is complete");
            assert_eq!(result["intervals"].as_array().map(Vec::len), Some(5));
            assert!(result["requests"]["ok"].as_u64() > Some(10));
        }
    }
}

#[test]
fn a_stopped_terminal_does_not_delay_the_run() {
    let target = url(serve_bytes(HELLO));
    for engine in ENGINES {
        let (mut ours, theirs) = terminal();
        ours.write_all(b"\x13").expect("the terminal accepts Ctrl-S");
        let args = ["-d", "500ms", "-c", "2", "--engine", engine, "--interval", "100ms", "--json", "-", &target];
        let output = ending(spawn(&args, Stdio::piped(), theirs.into()));
        assert_eq!(output.status.code(), Some(0), "{engine}");
        let result: Value = serde_json::from_slice(&output.stdout).expect("the result is complete");
        assert!(result["requests"]["ok"].as_u64() > Some(10));
    }
}

#[test]
fn a_terminal_shows_progress() {
    let target = url(serve_bytes(HELLO));
    let (mut ours, theirs) = terminal();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = ours.read_to_end(&mut text); // reading fails when the other end is closed
        text
    });
    let output = ending(spawn(&["-d", "600ms", "-c", "2", "--json", "-", &target], Stdio::piped(), theirs.into()));
    assert_eq!(output.status.code(), Some(0));
    let shown = String::from_utf8_lossy(&reader.join().expect("no panic")).into_owned();
    assert!(shown.contains("measure") && shown.contains("requests/s"), "{shown}");
}

#[test]
fn gates_and_results_do_not_wait_for_a_reader() {
    let missing = url(serve_bytes(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
    let (_unread, stderr) = full_pipe();
    let output = ending(spawn(&["-d", "200ms", "-c", "2", "--max-errors", "1%", &missing], Stdio::piped(), stderr.into()));
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).contains("unexpected status"));
    let (_unread, stderr) = full_pipe();
    let output = ending(spawn(&["-d", "200ms", "http://127.0.0.1:1/"], Stdio::piped(), stderr.into()));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_reader_that_leaves_is_not_an_error() {
    let target = url(serve_bytes(HELLO));
    for args in [
        &["--json-schema"][..],
        &["--completions", "bash"],
        &["--help"],
        &["-d", "100ms", &target],
        &["-d", "100ms", "--json", "-", &target],
    ] {
        let (read, write) = full_pipe();
        drop(read);
        let output = spawn(args, write.into(), Stdio::piped()).wait_with_output().expect("the program exits");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(output.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
