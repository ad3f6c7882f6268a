//! Tests that the reported response times match those computed from the known stalls of a server.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::common::stalls::Log;
use crate::common::{load, stalls, url};
use loadgen::figures::distribution::Distribution;

const CONNECTIONS: usize = 200;
const WARMUP_PERIODS: u64 = 2;
const PERIODS: u64 = 4;
const REQUESTS_PER_PERIOD: u64 = 2000;
/// Period lengths to try one after another, in seconds. Delays by other programs on the same CPUs don't grow with the period, so they cause
/// smaller relative errors in longer periods. Relative errors of the load generator itself don't shrink.
const PERIODS_S: [u64; 3] = [1, 2, 4];

/// A server that stalls at the beginning of each period and otherwise takes a fixed time for each request.
#[derive(Clone, Copy)]
struct Schedule {
    period_s: u64,
}

impl Schedule {
    fn period_ns(self) -> u64 {
        self.period_s * 1_000_000_000
    }

    /// Returns the time at which the server should respond to a request. A stall lasts for a fifth of each period, and the work on a
    /// request takes a twentieth of a period.
    fn due_ns(self, arrival_ns: u64) -> u64 {
        let period_ns = self.period_ns();
        let stall_end_ns = arrival_ns / period_ns * period_ns + period_ns / 5;
        arrival_ns.max(stall_end_ns) + period_ns / 20
    }

    /// Returns the intended send time of a request, relative to the first request.
    fn intended_ns(self, number: u64) -> u64 {
        number * self.period_ns() / REQUESTS_PER_PERIOD
    }
}

/// Returns the sorted response times in a steady state, in microseconds. The model is a first-come, first-served queue with one server per
/// connection.
fn true_response_times_us(schedule: Schedule) -> Vec<f64> {
    let mut free_ns: BinaryHeap<Reverse<u64>> = (0..CONNECTIONS).map(|_| Reverse(0)).collect();
    let warmup = REQUESTS_PER_PERIOD * WARMUP_PERIODS;
    let mut times: Vec<f64> = Vec::new();
    for number in 0..warmup + REQUESTS_PER_PERIOD * PERIODS {
        let intended_ns = schedule.intended_ns(number);
        let Some(Reverse(free)) = free_ns.pop() else { unreachable!("there are connections") };
        let done_ns = schedule.due_ns(intended_ns.max(free));
        free_ns.push(Reverse(done_ns));
        if number >= warmup {
            times.push((done_ns - intended_ns) as f64 / 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

/// Returns the largest relative error among p50, p90, p99 and p99.9.
fn worst_error(measured: &Distribution, truth_us: &[f64]) -> f64 {
    let at = |share: f64| truth_us[((truth_us.len() as f64 * share).ceil() as usize).saturating_sub(1)];
    let figures = [(0.5, measured.p50), (0.9, measured.p90), (0.99, measured.p99)];
    // Fewer than ten of the 8,000 requests are beyond p99.9, so the result omits this percentile. Compute it from the histogram.
    let p99_9 = measured.histogram().map(|histogram| histogram.value_at_percentile(99.9) as f64 / 1e3).ok();
    figures.into_iter().chain([(0.999, p99_9)]).map(|(share, us)| us.map_or(1.0, |us| (us / at(share) - 1.0).abs())).fold(0.0, f64::max)
}

/// Returns the sorted response times according to the server's log, in microseconds. The k-th response in the log belongs to the k-th
/// request, which was due k / rate after the first one. Only responses that were sent within the measured window count.
fn logged_response_times_us(log: &Log, schedule: Schedule) -> Vec<f64> {
    let start_ns = log.first_arrival_ns.expect("requests arrived");
    let period_ns = schedule.period_ns();
    let window = start_ns + WARMUP_PERIODS * period_ns..start_ns + (WARMUP_PERIODS + PERIODS) * period_ns;
    let intended_ns = |number: usize| start_ns + schedule.intended_ns(number as u64);
    let in_window = log.responded_ns.iter().enumerate().filter(|(_, at)| window.contains(at));
    let mut times: Vec<f64> = in_window.map(|(number, at)| at.saturating_sub(intended_ns(number)) as f64 / 1e3).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Runs one attempt. Returns the largest relative errors in comparison with the server's log and with the schedule.
fn attempt(engine: &str, schedule: Schedule) -> (f64, f64) {
    let Schedule { period_s } = schedule;
    let lifetime = Duration::from_secs((WARMUP_PERIODS + PERIODS) * period_s + 3);
    let (address, log) = stalls::serve(Box::new(move |arrival_ns, _| schedule.due_ns(arrival_ns)), lifetime);
    let (rate, connections) = ((REQUESTS_PER_PERIOD / period_s).to_string(), CONNECTIONS.to_string());
    let (duration, warmup) = (format!("{}s", PERIODS * period_s), format!("{}s", WARMUP_PERIODS * period_s));
    let args = ["-r", &rate, "-c", &connections, "-d", &duration, "--warmup", &warmup, "--engine", engine, &url(address)];
    let result = load(&args).expect("the server responds");
    assert_eq!(result.requests.offered, Some(REQUESTS_PER_PERIOD * PERIODS));
    assert_eq!(result.errors.total(), 0, "{:?}", result.errors);
    let truth_us = true_response_times_us(schedule);
    let hidden = worst_error(&result.service_time_us, &truth_us);
    assert!(hidden > 0.1, "service time must not look like response time here: {hidden}");
    let response = result.response_time_us.as_ref().expect("an open loop has response times");
    let log = log.lock().expect("the server does not panic");
    (worst_error(response, &logged_response_times_us(&log, schedule)), worst_error(response, &truth_us))
}

/// Checks that the load generator's times match the server's log within 2%, and the schedule as closely as a busy machine allows.
fn response_times_are_true(engine: &str) {
    let mut attempts = Vec::new();
    for period_s in PERIODS_S {
        let (log, schedule) = attempt(engine, Schedule { period_s });
        if log < 0.02 && schedule < 0.1 {
            return;
        }
        attempts.push((period_s, log, schedule));
    }
    panic!("{engine} is off by (period in s, from the server's log, from the schedule): {attempts:?}");
}

/// The engines run one after another, because parallel runs would disturb each other.
#[test]
fn response_times_are_accurate_with_each_engine() {
    crate::common::ENGINES.into_iter().for_each(response_times_are_true);
}
