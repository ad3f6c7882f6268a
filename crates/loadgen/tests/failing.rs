//! A load thread that fails: the run ends at once, and what was measured is reported.

mod common;

use std::fs;
use std::os::fd::{AsRawFd, RawFd};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use common::{ENGINES, load, serve, serve_bytes, url};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
/// Far longer than a run that ends at once, and far shorter than those that would not.
const AT_ONCE: Duration = Duration::from_secs(20);
/// The tests look through the descriptors of this process, so only one of them may run an engine.
static ALONE: Mutex<()> = Mutex::new(());

/// Descriptors of this process that engines wait on.
fn engine_descriptors(engine: &str) -> Vec<RawFd> {
    let name = if engine == "epoll" { "anon_inode:[eventpoll]" } else { "anon_inode:[io_uring]" };
    let entries = fs::read_dir("/proc/self/fd").expect("proc is mounted").flatten();
    let found = entries.filter(|entry| fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == name));
    found.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Takes away what one of two threads waits on, when both have worked for a while.
fn break_one_of_two(engine: &str) {
    let started = Instant::now();
    while engine_descriptors(engine).len() < 2 {
        assert!(started.elapsed() < AT_ONCE, "the threads have started");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(700));
    let null = fs::File::open("/dev/null").expect("it is there");
    let broken = engine_descriptors(engine)[1];
    // SAFETY: both descriptors are open. The one that is replaced stays a valid one for its owner to close.
    assert!(unsafe { libc::dup2(null.as_raw_fd(), broken) } >= 0);
}

#[test]
fn a_failure_in_the_window_ends_the_run_and_keeps_the_figures() {
    let _alone = ALONE.lock();
    for engine in ENGINES {
        let target = url(serve_bytes(HELLO));
        let saboteur = std::thread::spawn(move || break_one_of_two(engine));
        let started = Instant::now();
        let result = load(&["-d", "60s", "-c", "4", "-t", "2", "--engine", engine, &target]).expect("there is a result");
        saboteur.join().expect("both threads had something to wait on");
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
fn a_thread_that_cannot_start_is_named_and_the_others_do_not_wait() {
    let target = url(serve_bytes(HELLO));
    for engine in ENGINES {
        let output = Command::new(env!("CARGO_BIN_EXE_httpbench-loadgen"))
            .args(["-d", "60s", "-c", "4", "-t", "2", "--cpus", "0,1000", "--engine", engine, &target])
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("error: load thread 1 failed: cannot pin a thread to CPU 1000") && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_failure_while_others_still_connect_ends_the_wait() {
    let _alone = ALONE.lock();
    // It accepts, and says nothing: TLS handshakes take until the timeout.
    let silent = serve(|stream| {
        std::thread::sleep(Duration::from_secs(60));
        drop(stream);
    });
    for engine in ENGINES {
        let saboteur = std::thread::spawn(move || break_one_of_two(engine));
        let started = Instant::now();
        let target = format!("https://{silent}/");
        let error =
            load(&["-k", "-d", "60s", "--timeout", "50s", "-c", "4", "-t", "2", "--engine", engine, &target]).expect_err("it fails");
        saboteur.join().expect("both threads had something to wait on");
        assert!(started.elapsed() < AT_ONCE);
        let text = format!("{error:#}");
        assert!(text.starts_with("load thread ") && text.contains("failed: "), "{engine}: {text}");
    }
}
