//! Test servers that respond correctly, late or incorrectly, and functions that put load on them.

#![allow(dead_code, reason = "each test program uses its own part of this module")]

pub mod frames;
pub mod record;
pub mod recording;
pub mod slices;
pub mod stalls;
pub mod tls;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use loadgen::cli::Args;
use loadgen::figures::result::RunResult;
use loadgen::run::observer::{Observer, Progress};
use loadgen::time::window::Phase;

pub const ENGINES: [&str; 2] = ["epoll", "io_uring"];

/// Calls a function with each engine at the same time, and returns what it returned.
pub fn each_engine<T: Send>(call: impl Fn(&'static str) -> T + Sync) -> [T; 2] {
    std::thread::scope(|scope| {
        let threads = ENGINES.map(|engine| scope.spawn(|| call(engine)));
        // Continue a panic instead of starting another one, so that its message is that of the assertion.
        threads.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// An observer that ignores everything.
pub struct Nobody;

impl Observer for Nobody {
    fn warn(&mut self, _message: &str) {}
    fn phase(&mut self, _phase: Phase) {}
    fn progress(&mut self, _progress: &Progress) {}
    fn done(&mut self) {}
}

/// Runs the load generator within this process.
pub fn load(args: &[&str]) -> anyhow::Result<RunResult> {
    let args = Args::try_parse_from(["httpbench-loadgen"].iter().chain(args))?;
    let result = loadgen::run::run(&args.plan()?, &mut Nobody)?;
    // If a load thread panics, the run returns a result that contains the failure. Tests must not accept that result.
    assert!(!result.failure.as_deref().is_some_and(|failure| failure.contains("panicked")), "{:?}", result.failure);
    Ok(result)
}

/// Starts a server on a free loopback port, with one thread per connection. The server runs until the test process ends.
pub fn serve(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let handle = Arc::new(handle);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = Arc::clone(&handle);
            std::thread::spawn(move || handle(stream));
        }
    });
    address
}

/// Returns the CPUs that this process may use.
pub fn allowed_cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).expect("a thread has an affinity");
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Returns the path of a file in cargo's folder for temporary files, with a name that no other process uses.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()))
}

/// Pins the calling thread to a CPU.
pub fn pin(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).expect("an allowed CPU");
}

pub fn url(address: SocketAddr) -> String {
    format!("http://{address}/")
}

/// Reads one request without a body. Returns false if the client has disconnected.
pub fn read_request(stream: &mut TcpStream) -> bool {
    let (mut seen, mut byte) = (Vec::new(), [0; 1]);
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => seen.push(byte[0]),
            _ => return false,
        }
    }
    true
}

/// Starts a server that answers each request with these bytes and keeps the connection open.
pub fn serve_bytes(response: &'static [u8]) -> SocketAddr {
    serve(move |mut stream| while read_request(&mut stream) && stream.write_all(response).is_ok() {})
}

/// Starts a server that answers one request with these bytes and closes the connection.
pub fn serve_bytes_once(response: &'static [u8]) -> SocketAddr {
    serve(move |mut stream| {
        if read_request(&mut stream) && stream.write_all(response).is_ok() {
            let _ = stream.shutdown(std::net::Shutdown::Write);
            // Wait for the client to disconnect, because closing the socket earlier could reset the connection.
            let _ = stream.read(&mut [0; 1]);
        }
    })
}

/// Runs a load for 300 ms, and again for 10 s if `enough` rejects the first result. With the second run, tests also pass on slow machines.
/// Returns the last result.
pub fn load_until(enough: impl Fn(&RunResult) -> bool, args: &[&str]) -> RunResult {
    let run = |duration| load(&[&["-d", duration], args].concat()).expect("the server accepts connections");
    let result = run("300ms");
    if enough(&result) { result } else { run("10s") }
}
