//! Each response is noticed in time, in whatever order a server responds: what the generator reports is what follows from the record that the
//! server keeps itself, with both engines.
//!
//! Requires two CPUs to itself, one for the server and one for the generator. Each case is tried several times, and each percentile has to be true
//! in one of them: what disturbs the machine comes and goes, and a response that is noticed late because of its order is late every time.
//! Attempts in which the server or the generator was kept from its CPU prove nothing, neither way; a case that has too few others is
//! named as undecided.

mod common;

use std::time::{Duration, Instant};

use common::recording::{self, Order, Served};
use common::{ENGINES, allowed_cpus, load, url};
use loadgen::figures::distribution::Distribution;
use loadgen::figures::result::RunResult;

const ATTEMPTS: usize = 12;
/// Where the machine is busy for so long, cases are tried no more than once.
const PATIENCE: Duration = Duration::from_secs(120);
/// So many attempts that nothing disturbed have to agree before a case fails.
const CLEAR_MIN: usize = 3;
/// From this share of the time on in which the server or the generator was kept from its CPU, an attempt is disturbed.
const DISTURBED: f64 = 0.01;
/// How far a percentile may lie from that of the server's record: the larger of the two.
const TOLERANCE_US: f64 = 20.0;
const TOLERANCE: f64 = 0.05;
/// How far the share of a group of connections with one engine may lie from that with the other.
const SHARE_TOLERANCE: f64 = 0.05;
/// Percentiles are next to one if they are as close to it as this share of what lies beyond it: p49.5 and p50.5 to p50.
const NEXT_TO: f64 = 0.01;
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

/// What one attempt showed.
struct Seen {
    /// Reported and recorded percentiles, in microseconds; the recorded ones as the span of those next to it.
    percentiles: Vec<(f64, [f64; 2])>,
    /// The share of responses that went to the group of connections that the server treats in a way of its own, if there is one.
    share: Option<f64>,
    disturbed: bool,
}

fn attempt(case: Case, engine: &str, cpus: (usize, usize)) -> Seen {
    let server = recording::serve(case.order, case.work_us * 1000, cpus.1);
    let (connections, cpu, address) = (case.connections.to_string(), cpus.0.to_string(), url(server.address));
    let result = load(&["-c", &connections, "-d", "300ms", "--cpus", &cpu, "--engine", engine, &address]).expect("the server responds");
    let record = server.stop();
    assert_eq!(result.errors.total(), 0, "{case:?} {engine}: {:?}", result.errors);
    let recorded_us = recorded_us(&record.served);
    let recorded =
        |share: f64| [share - NEXT_TO * (1.0 - share), share + NEXT_TO * (1.0 - share)].map(|share| quantile(&recorded_us, share));
    let percentiles: Vec<_> = SHARES.iter().map(|share| (reported_us(&result, *share), recorded(*share))).collect();
    let disturbed = record.disturbed > DISTURBED || result.generator.waiting.is_some_and(|waiting| waiting > DISTURBED);
    Seen { percentiles, share: share_of_group(&record.served, case.order), disturbed }
}

/// Whether a percentile lies within the tolerance of the recorded one: of the span, where a few responses more or less move it from one group of
/// connections to the other.
fn is_true((reported, [from, to]): (f64, [f64; 2])) -> bool {
    let tolerance = |us: f64| TOLERANCE_US.max(TOLERANCE * us);
    (from - tolerance(from)..=to + tolerance(to)).contains(&reported)
}

/// What the generator must have seen, sorted: the time from each request to its response, and the age of those without one that are older than the
/// p99 of all others, as it counts them.
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

/// Not a number without responses: such an attempt agrees with nothing.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted.get(((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn reported_us(result: &RunResult, share: f64) -> f64 {
    let Distribution { p25, p50, p90, p99, .. } = &result.service_time_us;
    let figure = [(0.25, p25), (0.5, p50), (0.9, p90), (0.99, p99)].into_iter().find(|(at, _)| *at == share);
    // Too few responses for a percentile: such an attempt shows nothing.
    figure.and_then(|(_, us)| *us).unwrap_or(f64::INFINITY)
}

fn share_of_group(record: &[Served], order: Order) -> Option<f64> {
    let in_group: Box<dyn Fn(usize) -> bool> = match order {
        Order::TwoWorkers { fast } => Box::new(move |connection| connection < fast),
        Order::HeldForEver => Box::new(|connection| connection == 0),
        // All connections are served alike: every second one has half of the responses.
        Order::Fifo | Order::Random | Order::Held { .. } => Box::new(|connection| connection % 2 == 0),
        // Whoever came last first stays in front: which ones these are is chance.
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

/// Attempts until each percentile of both engines, and the share, was true in one.
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

/// Whether the machine shows a true p99 of the plainest server now, each time: a hypervisor that stops one core for milliseconds moves it, and
/// nothing here can see that.
fn tails_are_true(connections: usize, cpus: (usize, usize)) -> bool {
    let plain = Case { order: Order::Fifo, work_us: 5, connections };
    (0..CLEAR_MIN).all(|_| is_proved(&[ENGINES.map(|engine| attempt(plain, engine, cpus))], &SHARES))
}

/// Whether the first of the percentiles, as many as are given, and the share were each true in some attempt.
fn is_proved(attempts: &[[Seen; 2]], shares: &[f64]) -> bool {
    let percentiles = (0..shares.len()).all(|at| (0..2).all(|engine| attempts.iter().any(|pair| is_true(pair[engine].percentiles[at]))));
    let share = attempts.iter().any(|[epoll, io_uring]| {
        epoll.share.zip(io_uring.share).is_none_or(|(one, other)| (one - other).abs() <= SHARE_TOLERANCE * one.max(0.01))
    });
    percentiles && share
}

/// One after the other: side by side they would disturb each other.
#[test]
#[ignore = "takes half a minute; make test-all runs it"]
fn responses_are_noticed_in_time_in_whatever_order_a_server_responds() {
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
            Verdict::Undecided => println!("undecided, because the machine was busy with other things: {case:?}"),
        }
    }
    assert!(late.is_empty(), "{} cases:\n{}", late.len(), late.join("\n"));
}
