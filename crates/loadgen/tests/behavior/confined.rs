//! Tests that the program falls back to older system calls if newer ones are blocked, for example by a container's seccomp(2) filter.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::common::{serve_bytes, url};
use serde_json::Value;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Makes the given system calls fail with EPERM, in this process and in all programs that it executes.
fn forbid(calls: &[libc::c_long]) -> io::Result<()> {
    let statement = |code, jump_if_true, k| libc::sock_filter { code: code as u16, jt: jump_if_true, jf: 0, k };
    // The filter's input starts with the number of the system call (seccomp(2)).
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (at, call) in calls.iter().enumerate() {
        filter.push(statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, (calls.len() - at) as u8, *call as u32));
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW));
    filter.push(statement(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: `program` and the filter that it points to are alive during both calls.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn run(forbidden: &'static [libc::c_long], args: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"));
    command.args(["-c", "4", "-d", "300ms"]).args(args);
    // SAFETY: the child only allocates, which glibc supports after fork, and makes two system calls.
    unsafe { command.pre_exec(move || forbid(forbidden)) };
    command.output().expect("the program starts")
}

#[test]
fn falls_back_to_epoll_without_io_uring_and_epoll_pwait2() {
    let target = url(serve_bytes(HELLO));
    let output = run(&[libc::SYS_io_uring_setup, libc::SYS_epoll_pwait2], &["--json", "-", "--rate", "1k", &target]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["generator"]["engine"], "epoll");
    let reason = result["generator"]["engine_fallback"].as_str().expect("a reason");
    assert!(reason.contains("io_uring") && reason.contains("Operation not permitted"), "{reason}");
    assert!(
        result["requests"]["ok"].as_u64() > Some(100) && result["errors"]["timeout"] == 0,
        "{} {}",
        result["requests"],
        result["errors"]
    );
}

#[test]
fn the_report_explains_the_fallback_to_epoll() {
    let target = url(serve_bytes(HELLO));
    let output = run(&[libc::SYS_io_uring_setup], &[&target]);
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("\n  epoll instead of io_uring: cannot create an io_uring: Operation not permitted"), "{report}");
}

#[test]
fn a_selected_engine_reports_no_fallback() {
    let target = url(serve_bytes(HELLO));
    let output = run(&[], &["--json", "-", "--engine", "epoll", &target]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&result["generator"]["engine"], &result["generator"]["engine_fallback"]), (&Value::from("epoll"), &Value::Null));
}

#[test]
fn a_selected_engine_is_never_replaced() {
    let target = url(serve_bytes(HELLO));
    let output = run(&[libc::SYS_io_uring_setup], &["--engine", "io_uring", &target]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("io_uring"), "{stderr}");
}
