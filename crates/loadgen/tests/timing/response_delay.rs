//! Tests that both engines notice responses promptly, whatever the order in which the server responds. The reported times must match the
//! server's own record.
//!
//! The test requires two CPUs that are otherwise idle, one for the server and one for the generator. Each case is tried several times, and
//! each percentile must be accurate in at least one attempt. Other programs disturb only some attempts, but an engine that notices certain
//! responses late does so in every attempt. If the server or the generator had to wait for its CPU, the attempt counts as disturbed, and
//! can't make the case fail. A case with too few undisturbed attempts is reported as undecided.
//!
//! The tolerance is below what unoptimized code needs, so the test runs the program that `HTTPBENCH_LOADGEN` names, or else its own build.

use std::ops::RangeInclusive;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::recording::{self, Order, Served};
use crate::common::{ENGINES, allowed_cpus, url};

const ATTEMPTS: usize = 12;
/// After this time, each remaining case is tried only once.
const PATIENCE: Duration = Duration::from_secs(120);
/// Minimum number of undisturbed attempts for a case to fail. With fewer, the case is undecided.
const CLEAR_MIN: usize = 3;
/// Maximum share of the time that the server or the generator may wait for its CPU. If one of them waits longer, the attempt counts as
/// disturbed.
const DISTURBED: f64 = 0.01;
/// The maximum difference between a percentile and the server's record is the larger of these two tolerances.
const TOLERANCE_US: f64 = 20.0;
const TOLERANCE: f64 = 0.05;
/// Maximum relative difference between the two engines in the share of responses that a group of connections gets.
const SHARE_TOLERANCE: f64 = 0.05;
/// Distance from a percentile to its two neighbors, as a share of the samples beyond the percentile. For example, the neighbors of p50 are
/// p49.5 and p50.5.
const NEXT_TO: f64 = 0.01;
/// Warm-up before the measured window. The first requests are all sent at the start, which takes each engine up to a millisecond. If the
/// window included the start, its percentiles would depend on the speed of the machine.
const WARMUP: Duration = Duration::from_millis(50);
const CONNECTIONS: [usize; 3] = [8, 64, 256];
const SHARES: [f64; 4] = [0.25, 0.5, 0.9, 0.99];
const BODY: &[f64] = &[0.25, 0.5, 0.9];

#[derive(Clone, Copy, Debug)]
struct Case {
    order: Order,
    work_us: u64,
    connections: usize,
}

fn cases() -> Vec<Case> {
    let orders = [Order::Fifo, Order::NewestFirst, Order::Random, Order::Held { one_in: 20, for_ns: 2_000_000 }, Order::HeldForEver];
    let mut cases = Vec::new();
    for connections in CONNECTIONS {
        cases.extend(orders.map(|order| Case { order, work_us: 5, connections }));
        for fast in [2, 4, 10].into_iter().filter(|fast| *fast < connections) {
            cases.extend([2, 5, 10].map(|work_us| Case { order: Order::TwoWorkers { fast }, work_us, connections }));
        }
    }
    cases
}

/// The outcome of one attempt.
struct Seen {
    /// Each reported percentile, and the neighbors of the same percentile in the server's record, in microseconds.
    percentiles: Vec<(f64, [f64; 2])>,
    /// Share of responses that went to one group of connections: those that the server treats differently, or half of all connections.
    /// `None` if chance determines the share.
    share: Option<f64>,
    disturbed: bool,
}

fn attempt(case: Case, engine: &str, cpus: (usize, usize)) -> Seen {
    let server = recording::serve(case.order, case.work_us * 1000, cpus.1);
    let (connections, cpu, address) = (case.connections.to_string(), cpus.0.to_string(), url(server.address));
    let warmup = format!("{}ms", WARMUP.as_millis());
    let result = run(&["-c", &connections, "--warmup", &warmup, "-d", "300ms", "--cpus", &cpu, "--engine", engine, &address]);
    let record = server.stop();
    let errors = result["errors"].as_object().expect("counts by kind");
    assert!(errors.values().all(|count| count == 0), "{case:?} {engine}: {errors:?}");
    let from_ns = result["start_ns"].as_u64().expect("a clock reading") + WARMUP.as_nanos() as u64;
    let duration_s = result["duration_s"].as_f64().expect("a duration");
    let served = in_window(&record.served, from_ns..=from_ns + (duration_s * 1e9) as u64);
    let recorded_us = recorded_us(&served);
    let recorded =
        |share: f64| [share - NEXT_TO * (1.0 - share), share + NEXT_TO * (1.0 - share)].map(|share| quantile(&recorded_us, share));
    let percentiles: Vec<_> = SHARES.iter().map(|share| (reported_us(&result, *share), recorded(*share))).collect();
    let disturbed = record.disturbed > DISTURBED || result["generator"]["waiting"].as_f64().is_some_and(|waiting| waiting > DISTURBED);
    Seen { percentiles, share: share_of_group(&served, case.order), disturbed }
}

/// Runs the program and returns its result.
fn run(args: &[&str]) -> Value {
    let program = std::env::var("HTTPBENCH_LOADGEN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_httpbench-loadgen").into());
    let output = Command::new(program).args(["--json", "-", "--progress", "none"]).args(args).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the result is JSON")
}

/// Returns whether a percentile matches the recorded range within the tolerance. A single recorded value wouldn't be enough, because a few
/// more responses can move a percentile from one group of connections to another.
fn is_true((reported, [from, to]): (f64, [f64; 2])) -> bool {
    let tolerance = |us: f64| TOLERANCE_US.max(TOLERANCE * us);
    (from - tolerance(from)..=to + tolerance(to)).contains(&reported)
}

/// Returns the requests that were not answered before the measured window. A response that was sent after the window counts as missing.
fn in_window(record: &[Served], window_ns: RangeInclusive<u64>) -> Vec<Served> {
    let seen = record.iter().filter(|one| one.responded_ns.is_none_or(|responded_ns| responded_ns >= *window_ns.start()));
    seen.map(|one| Served { responded_ns: one.responded_ns.filter(|responded_ns| window_ns.contains(responded_ns)), ..*one }).collect()
}

/// Returns the times that the generator should report, sorted. These are the response times of answered requests, and the age of each unanswered request whose age exceeds the p99 of the answered ones.
fn recorded_us(record: &[Served]) -> Vec<f64> {
    let end_ns = record.iter().filter_map(|one| one.responded_ns).max().unwrap_or(0);
    let us = |ns: u64| ns as f64 / 1e3;
    let mut times: Vec<_> =
        record.iter().filter_map(|one| one.responded_ns.map(|responded_ns| us(responded_ns.saturating_sub(one.came_ns)))).collect();
    times.sort_by(f64::total_cmp);
    let p99 = quantile(&times, 0.99);
    let pending = record.iter().filter(|one| one.responded_ns.is_none());
    times.extend(pending.map(|one| us(end_ns.saturating_sub(one.came_ns))).filter(|age| *age > p99));
    times.sort_by(f64::total_cmp);
    times
}

/// Returns a quantile of a sorted list. Returns NaN, which matches nothing, if the list is empty.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted.get(((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn reported_us(result: &Value, share: f64) -> f64 {
    // The percentile is missing if there were too few responses. Infinity matches no record, so such an attempt proves nothing.
    result["service_time_us"][format!("p{}", share * 100.0)].as_f64().unwrap_or(f64::INFINITY)
}

fn share_of_group(record: &[Served], order: Order) -> Option<f64> {
    let in_group: Box<dyn Fn(usize) -> bool> = match order {
        Order::TwoWorkers { fast } => Box::new(move |connection| connection < fast),
        Order::HeldForEver => Box::new(|connection| connection == 0),
        // The server treats all connections alike, so those with even numbers get half of the responses.
        Order::Fifo | Order::Random | Order::Held { .. } => Box::new(|connection| connection % 2 == 0),
        // The server always serves the newest request first, so chance determines which connections get more responses.
        Order::NewestFirst => return None,
    };
    let responded = || record.iter().filter(|one| one.responded_ns.is_some());
    Some(responded().filter(|one| in_group(one.connection)).count() as f64 / responded().count() as f64)
}

enum Verdict {
    True,
    False(String),
    Undecided,
}

/// Repeats a case until each percentile of both engines and the share of the group have been accurate in at least one attempt. Gives up
/// after `ATTEMPTS` attempts, or at `patience_ends`.
fn judge(case: Case, cpus: (usize, usize), patience_ends: Instant) -> Verdict {
    let mut attempts: Vec<[Seen; 2]> = Vec::new();
    while attempts.is_empty() || (attempts.len() < ATTEMPTS && Instant::now() < patience_ends) {
        attempts.push(ENGINES.map(|engine| attempt(case, engine, cpus)));
        if is_proved(&attempts, &SHARES) {
            return Verdict::True;
        }
    }
    if is_proved(&attempts, BODY) && !tails_are_true(case.connections, cpus) {
        return Verdict::Undecided;
    }
    attempts.retain(|pair| pair.iter().all(|seen| !seen.disturbed));
    if attempts.len() < CLEAR_MIN {
        return Verdict::Undecided;
    }
    let accounts = attempts.iter().map(|[epoll, io_uring]| {
        format!("  epoll {:.1?} {:.3?}\n  io_uring {:.1?} {:.3?}", epoll.percentiles, epoll.share, io_uring.percentiles, io_uring.share)
    });
    Verdict::False(format!("{case:?}: (reported, recorded) in us, share of the group\n{}", accounts.collect::<Vec<_>>().join("\n")))
}

/// Returns whether the percentiles of the simplest server are currently accurate in every attempt. If a hypervisor stops a core for
/// milliseconds, p99 changes, and this program can't detect the cause.
fn tails_are_true(connections: usize, cpus: (usize, usize)) -> bool {
    let plain = Case { order: Order::Fifo, work_us: 5, connections };
    (0..CLEAR_MIN).all(|_| is_proved(&[ENGINES.map(|engine| attempt(plain, engine, cpus))], &SHARES))
}

/// Returns whether the percentiles given by `shares`, and the share of the group, were each accurate in at least one attempt.
fn is_proved(attempts: &[[Seen; 2]], shares: &[f64]) -> bool {
    let percentiles = (0..shares.len()).all(|at| (0..2).all(|engine| attempts.iter().any(|pair| is_true(pair[engine].percentiles[at]))));
    let share = attempts.iter().any(|[epoll, io_uring]| {
        epoll.share.zip(io_uring.share).is_none_or(|(one, other)| (one - other).abs() <= SHARE_TOLERANCE * one.max(0.01))
    });
    percentiles && share
}

/// The cases run one after another, because parallel cases would disturb each other.
#[test]
#[ignore = "takes half a minute and needs an optimized program; make test-all runs it"]
fn responses_are_noticed_in_time_in_any_order() {
    let [generator, .., server] = allowed_cpus()[..] else {
        println!("skipped: requires two CPUs, one for the server and one for the generator");
        return;
    };
    let patience_ends = Instant::now() + PATIENCE;
    let mut late = Vec::new();
    for case in cases() {
        match judge(case, (generator, server), patience_ends) {
            Verdict::True => {}
            Verdict::False(account) => late.push(account),
            Verdict::Undecided => println!("undecided, because the machine was busy: {case:?}"),
        }
    }
    assert!(late.is_empty(), "{} cases:\n{}", late.len(), late.join("\n"));
}
