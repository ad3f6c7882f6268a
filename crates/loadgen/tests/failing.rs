//! Tests that the failure of a load thread ends the run at once, and that the program reports the results so far.

mod common;

use std::fs;
use std::os::fd::{AsRawFd, RawFd};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use common::{ENGINES, load, serve, serve_bytes, url};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
/// Time limit for a run that should end at once. It is far shorter than the planned duration of the run.
const AT_ONCE: Duration = Duration::from_secs(20);
/// A lock that lets only one test run an engine at a time, because the tests look for engines in the descriptors of the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns the epoll or io_uring descriptors of this process.
fn engine_descriptors(engine: &str) -> Vec<RawFd> {
    let name = if engine == "epoll" { "anon_inode:[eventpoll]" } else { "anon_inode:[io_uring]" };
    let entries = fs::read_dir("/proc/self/fd").expect("proc is mounted").flatten();
    let found = entries.filter(|entry| fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == name));
    found.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Waits until two load threads have run for a while, and then breaks one of them by replacing the descriptor that it waits on.
fn break_one_of_two(engine: &str) {
    let started = Instant::now();
    while engine_descriptors(engine).len() < 2 {
        assert!(started.elapsed() < AT_ONCE, "the threads did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(700));
    let null = fs::File::open("/dev/null").expect("the file exists");
    let broken = engine_descriptors(engine)[1];
    // SAFETY: both descriptors are open, and the replaced one remains valid for its owner to close.
    assert!(unsafe { libc::dup2(null.as_raw_fd(), broken) } >= 0);
}

#[test]
fn a_failure_in_the_window_ends_the_run_and_keeps_the_results() {
    let _alone = ALONE.lock();
    for engine in ENGINES {
        let target = url(serve_bytes(HELLO));
        let saboteur = std::thread::spawn(move || break_one_of_two(engine));
        let started = Instant::now();
        let result = load(&["-d", "60s", "-c", "4", "-t", "2", "--engine", engine, &target]).expect("the run returns a result");
        saboteur.join().expect("the descriptor was replaced");
        assert!(started.elapsed() < AT_ONCE, "{engine}: it went on for {:?}", started.elapsed());
        let failure = result.failure.as_deref().unwrap_or_default();
        assert!(failure.starts_with("load thread ") && failure.contains("failed: ") && !failure.contains('\n'), "{engine}: {failure}");
        assert!(result.requests.ok > 10 && result.duration_s > 0.1 && !result.interrupted, "{engine}: {:?}", result.requests);
        let sum: u64 = result.intervals.iter().map(|interval| interval.completed).sum();
        assert_eq!(result.requests.completed, sum, "{engine}");
        let accounted = result.requests.completed + result.errors.total() + result.requests.in_flight;
        assert_eq!(result.requests.sent, accounted, "{engine}: {:?} {:?}", result.requests, result.errors);
    }
}

#[test]
fn a_thread_that_cannot_start_ends_the_run_and_is_reported() {
    let target = url(serve_bytes(HELLO));
    for engine in ENGINES {
        let output = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"))
            .args(["-d", "60s", "-c", "4", "-t", "2", "--cpus", "0,1000", "--engine", engine, &target])
            .output()
            .expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.starts_with("error: load thread 1 failed: cannot pin a thread to CPU 1000") && stderr.lines().count() == 1,
            "{stderr}"
        );
    }
}

#[test]
fn a_failure_while_other_threads_connect_ends_the_run() {
    let _alone = ALONE.lock();
    // The server accepts connections but sends nothing, so TLS handshakes last until the timeout.
    let silent = serve(|stream| {
        std::thread::sleep(Duration::from_secs(60));
        drop(stream);
    });
    for engine in ENGINES {
        let saboteur = std::thread::spawn(move || break_one_of_two(engine));
        let started = Instant::now();
        let target = format!("https://{silent}/");
        let error =
            load(&["-k", "-d", "60s", "--timeout", "50s", "-c", "4", "-t", "2", "--engine", engine, &target]).expect_err("the run fails");
        saboteur.join().expect("the descriptor was replaced");
        assert!(started.elapsed() < AT_ONCE);
        let text = format!("{error:#}");
        assert!(text.starts_with("load thread ") && text.contains("failed: "), "{engine}: {text}");
    }
}
