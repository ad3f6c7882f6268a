//! Tests of requests that cross an edge of the window: a backlog from the warm-up doesn't count, and a stall at the end isn't hidden.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::record::waiting_us;
use crate::common::stalls::{self, Due};
use crate::common::{each_engine, load, url};
use loadgen::figures::encoding::decode;
use loadgen::figures::result::RunResult;

const MS: u64 = 1_000_000;
const LIFETIME: Duration = Duration::from_secs(20);
const FOREVER_NS: u64 = 3_600_000 * MS;

fn run(due: Due, args: &[&str], engine: &str) -> RunResult {
    let (address, _) = stalls::serve(due, LIFETIME);
    load(&[args, &["--engine", engine, &url(address)]].concat()).expect("the server accepts connections")
}

/// Returns a schedule with immediate responses for 300 ms after the first request, and then no more responses.
fn freezes() -> Due {
    let first_ns = std::cell::OnceCell::new();
    Box::new(move |arrival_ns, _| {
        let start_ns = *first_ns.get_or_init(|| arrival_ns);
        if arrival_ns < start_ns + 300 * MS { arrival_ns } else { FOREVER_NS }
    })
}

#[test]
fn a_stall_at_the_end_of_an_open_loop_is_in_the_percentiles_and_intervals() {
    each_engine(|engine| {
        let result = run(freezes(), &["-r", "2k", "-c", "8", "-d", "600ms", "--timeout", "900ms"], engine);
        assert_eq!(
            (result.requests.in_flight, result.errors.timeout),
            (0, 8),
            "unanswered although the window was shorter than the timeout"
        );
        assert_eq!(result.errors.total(), 8, "{:?}", result.errors);
        assert!((0.59..0.61).contains(&result.duration_s), "waiting for responses isn't part of the window: {}", result.duration_s);
        assert!(result.requests.unsent > 100, "{:?}", result.requests);
        assert!(result.censored > 100, "{}", result.censored);
        let times = result.response_time_us.expect("an open loop has response times");
        assert!(times.p95 > Some(100_000.0), "{:?}", times.p95);
        assert_eq!(times.count, result.requests.ok + result.censored);
        let last = decode(&result.intervals.last().expect("there are intervals").histogram).expect("a histogram");
        assert!(last.max() > 200_000_000, "{} ns", last.max());
        let whole = times.histogram().expect("a histogram");
        let mut merged = whole.clone();
        merged.reset();
        for interval in &result.intervals {
            merged.add(decode(&interval.histogram).expect("a histogram")).expect("the bounds are equal");
        }
        assert_eq!(merged, whole);
    });
}

/// Each response takes 300 ms, so the responses to the last 300 requests arrive after the window. These responses are not errors, and they
/// don't count toward throughput.
#[test]
fn an_open_loop_awaits_the_last_responses() {
    each_engine(|engine| {
        let (address, log) = stalls::serve(Box::new(|arrival_ns, _| arrival_ns + 300 * MS), LIFETIME);
        let args = ["-r", "1k", "-c", "512", "-t", "2", "-d", "1s", "--engine", engine, &url(address)];
        let result = load(&args).expect("the server accepts connections");
        let requests = result.requests;
        assert_eq!(result.errors.total(), 0, "{:?}", result.errors);
        let log = log.lock().expect("the server does not panic");
        let end_ns = log.first_arrival_ns.expect("requests arrived") + 1000 * MS;
        let after = log.responded_ns.iter().filter(|at| **at > end_ns).count() as f64;
        // One request is due in each millisecond, so responses that the load generator receives late are as many as the milliseconds.
        let late_max = log.late.error_max_us(waiting_us(&result)) / 1e3 + 10.0;
        assert!(after > 100.0 && (after - late_max..after + late_max).contains(&(requests.in_flight as f64)), "{after} {requests:?}");
        assert_eq!(requests.sent, requests.completed + requests.in_flight, "{requests:?}");
        assert!((result.throughput_rps - requests.ok as f64).abs() < 2.0, "{}", result.throughput_rps);
        let times = result.response_time_us.expect("an open loop has response times");
        assert_eq!((times.count, result.censored), (requests.sent, 0), "late responses have their whole time");
        assert!(times.min >= Some(299_000.0), "{:?}", times.min);
    });
}

/// The server leaves one in a hundred requests unanswered. These are so few that the server still holds the offered rate.
#[test]
fn unanswered_requests_are_errors_however_short_the_window_is() {
    each_engine(|engine| {
        let seen = Arc::new(AtomicU64::new(0));
        let requests = Arc::clone(&seen);
        let due: Due =
            Box::new(move |arrival_ns, _| if requests.fetch_add(1, Ordering::Relaxed) % 100 == 49 { FOREVER_NS } else { arrival_ns });
        let result = run(due, &["-r", "1k", "-c", "64", "-d", "500ms", "--timeout", "600ms"], engine);
        let unanswered = (seen.load(Ordering::Relaxed) + 50) / 100;
        assert!((1..=5).contains(&unanswered), "a hundred requests per error, and at most 500: {unanswered}");
        let errors = (result.errors.timeout, result.errors.total());
        assert_eq!(errors, (unanswered, unanswered), "{:?} {:?}", result.errors, result.requests);
        assert_eq!(result.requests.sent, result.requests.completed + result.requests.in_flight + unanswered, "{:?}", result.requests);
    });
}

/// The server stalls for 100 ms in every 250 ms, which delays fewer than 5% of the requests of a closed loop.
#[test]
fn stalls_that_percentiles_hide_are_counted() {
    each_engine(|engine| {
        let due: Due = Box::new(|arrival_ns, _| {
            let phase_ns = arrival_ns % (250 * MS);
            if phase_ns < 100 * MS { arrival_ns - phase_ns + 100 * MS } else { arrival_ns }
        });
        let result = run(due, &["-c", "8", "--warmup", "250ms", "-d", "1s"], engine);
        let stalls = result.stalls.expect("a closed loop knows its stalls");
        // A busy machine may cause additional stalls.
        assert!(stalls.count >= 3 && stalls.longest_us >= 50e3 && stalls.total_us >= 180e3, "{stalls:?}");
        assert!(result.service_time_us.p95 < Some(stalls.longest_us), "{:?}", result.service_time_us.p95);
        let open = run(Box::new(|arrival_ns, _| arrival_ns), &["-c", "8", "-r", "1k", "-d", "300ms"], engine);
        assert_eq!(open.stalls, None, "its response times show stalls");
    });
}

#[test]
fn a_stall_at_the_end_of_a_closed_loop_is_in_the_maximum() {
    each_engine(|engine| {
        let result = run(freezes(), &["-c", "8", "-d", "600ms"], engine);
        assert_eq!((result.requests.in_flight, result.censored), (8, 8));
        assert!(result.service_time_us.max > Some(200_000.0), "{:?}", result.service_time_us.max);
    });
}

/// Each response takes 300 ms, so all connections are waiting for a response at the end.
#[test]
fn requests_of_normal_age_at_the_end_are_not_censored() {
    each_engine(|engine| {
        let result = run(Box::new(|arrival_ns, _| arrival_ns + 300 * MS), &["-c", "8", "-d", "750ms"], engine);
        assert_eq!((result.requests.in_flight, result.censored), (8, 0));
        assert!(result.service_time_us.min >= Some(299_000.0), "{:?}", result.service_time_us.min);
    });
}

/// The server sends no response during a warm-up of 500 ms and in the first 100 ms of the window.
#[test]
fn the_backlog_of_the_warm_up_is_counted_separately() {
    each_engine(|engine| {
        let first_ns = std::cell::OnceCell::new();
        let due: Due = Box::new(move |arrival_ns, _| arrival_ns.max(*first_ns.get_or_init(|| arrival_ns) + 600 * MS));
        let (address, log) = stalls::serve(due, LIFETIME);
        let args = ["-r", "1k", "-c", "64", "--warmup", "500ms", "-d", "600ms", "--engine", engine, &url(address)];
        let result = load(&args).expect("the server accepts connections");
        let requests = result.requests;
        assert!((490..=500).contains(&requests.backlog), "{requests:?}");
        assert_eq!(requests.sent + requests.unsent, 600, "only requests due in the window count: {requests:?}");
        assert_eq!(requests.sent, requests.completed + requests.in_flight, "{requests:?}");
        // Requests that were due at the start of the warm-up took 600 ms, but they must not count. Those due in the window took at most 100
        // ms, and longer if the machine is too busy to work off the backlog. The k-th response belongs to the k-th request.
        let times = result.response_time_us.as_ref().expect("an open loop has response times");
        assert_eq!(times.count, requests.sent + result.censored, "{requests:?}");
        let log = log.lock().expect("the server does not panic");
        let start_ns = log.first_arrival_ns.expect("requests arrived");
        let of_window = (0..).zip(&log.responded_ns).skip(500).map(|(number, at)| at.saturating_sub(start_ns + number * MS));
        let max_us = of_window.max().unwrap_or(600 * MS) as f64 / 1e3 + log.late.error_max_us(waiting_us(&result)) + 50e3;
        assert!(times.max < Some(max_us.max(400e3)), "{:?}, {max_us}", times.max);
    });
}
