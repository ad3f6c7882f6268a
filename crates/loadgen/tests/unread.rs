//! Output that nobody reads: it never holds up a run, and never keeps a result from being written.

mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{ENGINES, serve_bytes, url};
use serde_json::Value;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
/// Far longer than any of these runs: only what hangs takes it.
const HANGS: Duration = Duration::from_secs(60);

fn spawn(args: &[&str], stdout: Stdio, stderr: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"));
    command.args(args).stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn().expect("the program starts")
}

/// What the program wrote to stdout and how it ended, if it ended at all.
fn ending(mut child: Child) -> Output {
    let mut stdout = child.stdout.take().expect("stdout is piped");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).map(|_| text)
    });
    let started = Instant::now();
    while child.try_wait().expect("it is our child").is_none() {
        if started.elapsed() > HANGS {
            child.kill().expect("it is our child");
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = child.wait().expect("it is our child");
    let stdout = reader.join().expect("no panic").expect("a pipe can be read");
    Output { status, stdout, stderr: Vec::new() }
}

/// A pipe without room: what reads, and what writes.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: the call fills both descriptors, which nobody else owns.
    let (read, write) = unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK), 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    let mut file = File::from(write.try_clone().expect("a descriptor is free"));
    while file.write(&[b'.'; 4096]).is_ok() {}
    while file.write(b".").is_ok() {}
    // SAFETY: the call takes no pointers. The program must meet a pipe that blocks.
    unsafe { assert_eq!(libc::fcntl(write.as_raw_fd(), libc::F_SETFL, 0), 0) };
    (read, write)
}

/// A terminal: our side, and the program's.
fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    // SAFETY: the call fills both descriptors, which nobody else owns; the other arguments may be null.
    unsafe {
        let null = std::ptr::null_mut();
        assert_eq!(libc::openpty(&mut ours, &mut theirs, null, null.cast(), null.cast()), 0);
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

#[test]
fn a_pipe_that_nobody_reads_holds_up_nothing() {
    let target = url(serve_bytes(HELLO));
    for engine in ENGINES {
        for progress in ["json", "line"] {
            let (_unread, stderr) = full_pipe();
            let args = ["-d", "1s", "-c", "2", "--engine", engine, "--interval", "100ms", "--progress", progress, "--json", "-", &target];
            let output = ending(spawn(&args, Stdio::piped(), stderr.into()));
            assert_eq!(output.status.code(), Some(0), "{engine}, {progress}");
            let result: Value = serde_json::from_slice(&output.stdout).expect("the result is complete");
            assert_eq!(result["intervals"].as_array().map(Vec::len), Some(10));
            assert!(result["requests"]["ok"].as_u64() > Some(10));
        }
    }
}

#[test]
fn a_stopped_terminal_holds_up_nothing() {
    let target = url(serve_bytes(HELLO));
    for engine in ENGINES {
        let (mut ours, theirs) = terminal();
        ours.write_all(b"\x13").expect("a terminal takes Ctrl-S");
        let args = ["-d", "1s", "-c", "2", "--engine", engine, "--interval", "100ms", "--json", "-", &target];
        let output = ending(spawn(&args, Stdio::piped(), theirs.into()));
        assert_eq!(output.status.code(), Some(0), "{engine}");
        let result: Value = serde_json::from_slice(&output.stdout).expect("the result is complete");
        assert!(result["requests"]["ok"].as_u64() > Some(10));
    }
}

#[test]
fn a_terminal_that_is_read_shows_progress() {
    let target = url(serve_bytes(HELLO));
    let (mut ours, theirs) = terminal();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = ours.read_to_end(&mut text); // ends with an error when the other side is closed
        text
    });
    let output = ending(spawn(&["-d", "600ms", "-c", "2", "--json", "-", &target], Stdio::piped(), theirs.into()));
    assert_eq!(output.status.code(), Some(0));
    let shown = String::from_utf8_lossy(&reader.join().expect("no panic")).into_owned();
    assert!(shown.contains("measure") && shown.contains("requests/s"), "{shown}");
}

#[test]
fn the_verdict_and_the_result_do_not_wait_for_a_reader() {
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
fn a_reader_that_leaves_is_no_error() {
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
        let output = spawn(args, write.into(), Stdio::piped()).wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(output.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
