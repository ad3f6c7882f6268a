//! Checks properties of the engines that hold for any server, however hostile. The fuzz target shares this module with the tests that
//! replay the corpus and try random scripts.
//!
//! The module `script` decodes arbitrary bytes into a script, and the module `server` contains a server that plays the script. The engines
//! run against that server as they would from the command line. This file checks the properties, which are called laws.

mod frame;
mod script;
mod server;

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use clap::Parser;
use loadgen::cli::Args;
use loadgen::figures::result::RunResult;
use loadgen::run::NotStarted;
use loadgen::run::observer::{Observer, Progress};
use loadgen::time::window::Phase;
pub use script::Script;
use script::{Pace, Reuse};
use server::Server;

const ENGINES: [&str; 2] = ["epoll", "io_uring"];
const DURATION_MS: u64 = 60;
const TIMEOUT_MS: u64 = 50;
/// Request timeout for good servers. Even on a busy machine, only a run that hangs reaches it.
const TIMEOUT_GOOD_MS: u64 = 10_000;
/// Maximum time that a run may take in addition to its duration and the timeout.
const GRACE: Duration = Duration::from_secs(1);
/// Maximum number of attempts if a run ends late. On a busy machine, even a run of a correct engine may end late.
const TRIES: u32 = 3;
/// Additional time after which a run that exceeds its maximum time counts as hung.
const HANGS: Duration = Duration::from_secs(10);
/// Durations to try one after another with good servers. On a busy machine, a server may get no CPU time within a short window.
const DURATIONS_GOOD_MS: [u64; 3] = [DURATION_MS, 1_000, 5_000];

/// Runs both engines against the server described by the bytes. If an engine breaks a law, panics with the bytes and the script.
pub fn check(input: &[u8]) {
    let script = Script::read(input);
    let broken: Vec<String> = std::thread::scope(|scope| {
        let script = &script;
        let running = ENGINES.map(|engine| scope.spawn(move || judge(script, engine).err().map(|law| format!("{engine}: {law}"))));
        let broken = running.map(|thread| thread.join().unwrap_or_else(|_| Some("the harness panicked".to_owned())));
        broken.into_iter().flatten().collect()
    });
    assert!(broken.is_empty(), "{}\nbytes: b\"{}\"\n{script:?}", broken.join("\n"), input.escape_ascii());
}

/// Runs one engine against a server that plays the script. If the engine breaks a law, returns an error that describes the law.
fn judge(script: &Script, engine: &'static str) -> Result<(), String> {
    if script.is_good() {
        for duration_ms in DURATIONS_GOOD_MS {
            if attempt(script, engine, duration_ms, TIMEOUT_GOOD_MS)?.is_some_and(|result| result.requests.ok > 0) {
                return Ok(());
            }
        }
        return Err("no response of a good server counted as correct".to_owned());
    }
    attempt(script, engine, DURATION_MS, TIMEOUT_MS).map(drop)
}

/// Performs a run, and repeats it if it ended late. Returns the result, or `None` if the client could not connect.
fn attempt(script: &Script, engine: &'static str, duration_ms: u64, timeout_ms: u64) -> Result<Option<RunResult>, String> {
    let bound = Duration::from_millis(duration_ms + timeout_ms) + GRACE;
    let mut took = Duration::ZERO;
    for _ in 0..TRIES {
        let server = Server::start(script).map_err(|error| format!("the server cannot start: {error}"))?;
        let args = arguments(script, &server, engine, duration_ms, timeout_ms);
        let started = Instant::now();
        let result = watched(args, bound + HANGS)?;
        took = started.elapsed();
        if result.is_none() && script.is_good() {
            return Err("a good server refused all connections".to_owned());
        }
        let (correct, accepted) = (server.correct(), server.accepted());
        if !server.stop() {
            return Err("a connection stays open after the run".to_owned());
        }
        if let Some(failure) = result.as_ref().and_then(|result| result.failure.as_ref()) {
            return Err(format!("a load thread failed: {failure}"));
        }
        if let Some(result) = &result {
            let describe = |law: String| format!("{law}: {:?} {:?}", result.requests, result.errors);
            sum_of_requests(script, result, accepted).map_err(describe)?;
            correct_responses(script, result, correct).map_err(describe)?;
        }
        if took <= bound {
            return Ok(result);
        }
    }
    Err(format!("the run took {took:?}, more than {bound:?}"))
}

/// Runs the engine in a separate thread, so that a hang is reported. Returns `None` if the client could not connect.
fn watched(args: Vec<String>, limit: Duration) -> Result<Option<RunResult>, String> {
    let (done, ended) = sync_channel(1);
    let run = move || {
        let plan = Args::try_parse_from(args).map_err(|error| error.to_string())?.plan().map_err(|error| format!("{error:#}"))?;
        match loadgen::run::run(&plan, &mut Nobody) {
            Ok(result) => Ok(Some(result)),
            Err(error) if matches!(error.downcast_ref(), Some(NotStarted::CannotConnect { .. })) => Ok(None),
            Err(error) => Err(format!("the run failed: {error:#}")),
        }
    };
    std::thread::spawn(move || drop(done.send(run())));
    ended.recv_timeout(limit).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => Err(format!("the run hangs: it did not end within {limit:?}")),
        RecvTimeoutError::Disconnected => Err("the run panicked".to_owned()),
    })
}

/// Checks that the number of sent requests equals the sum of the completed, unprocessed, failed and in-flight requests. Failures to connect
/// are left out, because they are counted per attempt rather than per request.
fn sum_of_requests(script: &Script, result: &RunResult, connections: u64) -> Result<(), String> {
    let (requests, errors) = (&result.requests, &result.errors);
    let failed = errors.reset + errors.closed_early + errors.timeout + errors.invalid_response;
    let most = requests.completed + requests.unprocessed + failed + requests.in_flight + errors.tls;
    // Each connection can fail once without a request: in its handshake, or because data arrived without a request.
    let by_handshakes = if script.tls { errors.tls + errors.reset } else { 0 };
    let without_request = (errors.invalid_response + by_handshakes).min(connections);
    if most < requests.sent || most - without_request.min(most) > requests.sent {
        return Err("sent does not equal completed + unprocessed + failed + in flight".to_owned());
    }
    if requests.ok + errors.unexpected_status + errors.unexpected_body != requests.completed {
        return Err("completed does not equal ok + unexpected".to_owned());
    }
    Ok(())
}

/// Checks that the client counts no more correct responses than the server sent, and that a good server causes no errors.
fn correct_responses(script: &Script, result: &RunResult, correct: Option<u64>) -> Result<(), String> {
    if let Some(correct) = correct.filter(|correct| result.requests.ok > *correct) {
        return Err(format!("{} responses counted as correct, but only {correct} were", result.requests.ok));
    }
    if script.is_good() && result.errors.total() > 0 {
        return Err("a good server caused errors".to_owned());
    }
    Ok(())
}

fn arguments(script: &Script, server: &Server, engine: &str, duration_ms: u64, timeout_ms: u64) -> Vec<String> {
    let mut args: Vec<String> = ["httpbench-loadgen", "--interval", "100ms", "--engine", engine].map(str::to_owned).into();
    let mut add = |name: &str, value: String| args.extend([name.to_owned(), value]);
    add("-d", format!("{duration_ms}ms"));
    add("--timeout", format!("{timeout_ms}ms"));
    add("-c", script.connections.to_string());
    if let Some(path) = &server.path {
        add("--unix-socket", path.display().to_string());
    }
    match script.reuse {
        Reuse::KeepAlive => add("--pipeline", script.pipeline.to_string()),
        Reuse::Requests(count) => {
            add("--pipeline", script.pipeline.to_string());
            add("--requests-per-connection", count.to_string());
        }
        Reuse::Announced => {}
    }
    match script.pace {
        Pace::Closed => {}
        Pace::Thinking => add("--think-time", "1ms".to_owned()),
        Pace::Open => add("--rate", "1k".to_owned()),
        Pace::OpenWithDeadline => {
            add("--rate", "20k".to_owned());
            // With a deadline, delayed requests are dropped and count as errors. A good server must not cause errors, so its client gets no
            // deadline.
            if !script.is_good() {
                add("--deadline", "10ms".to_owned());
            }
        }
    }
    if script.request_body > 0 {
        add("-X", "POST".to_owned());
        add("--body", "z".repeat(script.request_body));
    }
    if script.expects_body {
        add("--expect-body", String::from_utf8(server::body(script.response_body)).expect("the body is text"));
    }
    args.extend(
        [(script.reuse == Reuse::Announced, "--no-keepalive"), (script.http2, "--http2"), (script.tls, "--insecure")]
            .iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, name)| (*name).to_owned()),
    );
    args.push(format!("{}://127.0.0.1:{}/", if script.tls { "https" } else { "http" }, server.port));
    args
}

struct Nobody;

impl Observer for Nobody {
    fn warn(&mut self, _message: &str) {}
    fn phase(&mut self, _phase: Phase) {}
    fn progress(&mut self, _progress: &Progress) {}
    fn done(&mut self) {}
}
