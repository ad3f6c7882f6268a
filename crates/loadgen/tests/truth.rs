//! Against a server with a known schedule of stalls, the reported response times must be those that can be computed.

mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use common::stalls::Log;
use common::{load, stalls, url};
use loadgen::result::Distribution;

const RATE_RPS: u64 = 2000;
const CONNECTIONS: usize = 200;
const WORK_NS: u64 = 50_000_000;
const STALL_NS: u64 = 200_000_000;
const PERIOD_NS: u64 = 1_000_000_000;
const WARMUP_S: u64 = 2;
const SECONDS: u64 = 4;
/// Another program on our CPUs disturbs a run; it cannot make a wrong figure right three times.
const ATTEMPTS: usize = 3;

/// When the server begins to work on a request that arrives at this time: it stalls at the beginning of each period.
fn released_ns(arrival_ns: u64) -> u64 {
    let stall_end_ns = arrival_ns / PERIOD_NS * PERIOD_NS + STALL_NS;
    arrival_ns.max(stall_end_ns)
}

fn due_ns(arrival_ns: u64) -> u64 {
    released_ns(arrival_ns) + WORK_NS
}

/// The response times of a steady state, in microseconds, sorted: a queue with one server per connection, first come first served.
fn true_response_times_us() -> Vec<f64> {
    let mut free_ns: BinaryHeap<Reverse<u64>> = (0..CONNECTIONS).map(|_| Reverse(0)).collect();
    let warmup = RATE_RPS * WARMUP_S;
    let mut times: Vec<f64> = Vec::new();
    for number in 0..warmup + RATE_RPS * SECONDS {
        let intended_ns = number * 1_000_000_000 / RATE_RPS;
        let Some(Reverse(free)) = free_ns.pop() else { unreachable!("there are connections") };
        let done_ns = due_ns(intended_ns.max(free));
        free_ns.push(Reverse(done_ns));
        if number >= warmup {
            times.push((done_ns - intended_ns) as f64 / 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

/// The largest relative error over the percentiles that we promise.
fn worst_error(measured: &Distribution, truth_us: &[f64]) -> f64 {
    let at = |share: f64| truth_us[((truth_us.len() as f64 * share).ceil() as usize).saturating_sub(1)];
    let figures = [(0.5, measured.p50), (0.9, measured.p90), (0.99, measured.p99)];
    // With 8,000 requests fewer than ten lie beyond p99.9, which is therefore not shown: the histogram still has it.
    let p99_9 = measured.histogram().map(|histogram| histogram.value_at_percentile(99.9) as f64 / 1e3).ok();
    figures.into_iter().chain([(0.999, p99_9)]).map(|(share, us)| us.map_or(1.0, |us| (us / at(share) - 1.0).abs())).fold(0.0, f64::max)
}

/// What the server itself saw: the k-th request was meant for k / rate after the first, and was answered when the log says. Sorted, in
/// microseconds, for the responses that left within the measured window.
fn logged_response_times_us(log: &Log) -> Vec<f64> {
    let start_ns = log.first_arrival_ns.expect("requests arrived");
    let window = start_ns + WARMUP_S * PERIOD_NS..start_ns + (WARMUP_S + SECONDS) * PERIOD_NS;
    let intended_ns = |number: usize| start_ns + number as u64 * 1_000_000_000 / RATE_RPS;
    let in_window = log.answered_ns.iter().enumerate().filter(|(_, at)| window.contains(at));
    let mut times: Vec<f64> = in_window.map(|(number, at)| at.saturating_sub(intended_ns(number)) as f64 / 1e3).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// One attempt: the worst errors against the log of the server, and against the schedule.
fn attempt(engine: &str, schedule_us: &[f64]) -> (f64, f64) {
    let (address, log) = stalls::serve(due_ns, Duration::from_secs(WARMUP_S + SECONDS + 3));
    let (rate, connections) = (RATE_RPS.to_string(), CONNECTIONS.to_string());
    let (duration, warmup) = (format!("{SECONDS}s"), format!("{WARMUP_S}s"));
    let args = ["-r", &rate, "-c", &connections, "-d", &duration, "--warmup", &warmup, "--engine", engine, &url(address)];
    let result = load(&args).expect("the server answers");
    assert_eq!(result.requests.offered, Some(RATE_RPS * SECONDS));
    assert_eq!(result.errors.total(), 0, "{:?}", result.errors);
    let hidden = worst_error(&result.service_time_us, schedule_us);
    assert!(hidden > 0.1, "service time must not look like response time here: {hidden}");
    let response = result.response_time_us.as_ref().expect("an open loop has response times");
    let log = log.lock().expect("the server does not panic");
    (worst_error(response, &logged_response_times_us(&log)), worst_error(response, schedule_us))
}

/// Our reading of the clock must agree with the server's within 2 %, and with the schedule as far as a busy machine can keep to it.
fn response_times_are_true(engine: &str) {
    let schedule_us = true_response_times_us();
    let mut attempts = Vec::new();
    while attempts.len() < ATTEMPTS {
        let (log, schedule) = attempt(engine, &schedule_us);
        if log < 0.02 && schedule < 0.1 {
            return;
        }
        attempts.push((log, schedule));
    }
    panic!("{engine} is off by {attempts:?}");
}

/// One after the other: side by side they would disturb each other.
#[test]
fn response_times_are_true_with_each_engine() {
    common::ENGINES.into_iter().for_each(response_times_are_true);
}
