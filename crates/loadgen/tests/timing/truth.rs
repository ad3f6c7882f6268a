//! Tests that the reported response times match those computed from the known stalls of a server.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::common::record::waiting_us;
use crate::common::stalls::Log;
use crate::common::{each_engine, load, stalls, url};
use loadgen::figures::distribution::Distribution;

const CONNECTIONS: usize = 70;
const WARMUP_PERIODS: u64 = 1;
const PERIODS: u64 = 11;
const REQUESTS_PER_PERIOD: u64 = 1000;
const PERIOD_NS: u64 = 500_000_000;

/// Returns when the server responds to a request. It stalls at the beginning of each period, for a fifth of it. It otherwise takes a
/// twentieth of a period for each request.
fn due_ns(arrival_ns: u64) -> u64 {
    let stall_end_ns = arrival_ns / PERIOD_NS * PERIOD_NS + PERIOD_NS / 5;
    arrival_ns.max(stall_end_ns) + PERIOD_NS / 20
}

/// Returns the intended send time of a request, relative to the first request.
fn intended_ns(number: u64) -> u64 {
    number * PERIOD_NS / REQUESTS_PER_PERIOD
}

/// Returns the sorted response times in a steady state, in microseconds. The model is a first-come, first-served queue with one server per
/// connection.
fn true_response_times_us() -> Vec<f64> {
    let mut free_ns: BinaryHeap<Reverse<u64>> = (0..CONNECTIONS).map(|_| Reverse(0)).collect();
    let warmup = REQUESTS_PER_PERIOD * WARMUP_PERIODS;
    let mut times: Vec<f64> = Vec::new();
    for number in 0..warmup + REQUESTS_PER_PERIOD * PERIODS {
        let intended_ns = intended_ns(number);
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

/// Highest percentile that may not be too long either. Above it, a busy machine can delay more responses than there are.
const BOUNDED_SHARE: f64 = 0.95;

/// Returns several shares of responses, the errors of their percentiles in microseconds, and the true percentiles. On a busy machine, so
/// many requests can end after the window that the highest percentiles don't exist.
fn errors_us(measured: &Distribution, truth_us: &[f64]) -> Vec<(f64, f64, f64)> {
    let at = |share: f64| truth_us[((truth_us.len() as f64 * share).ceil() as usize).saturating_sub(1)];
    let bounded =
        [(0.5, measured.p50), (0.9, measured.p90), (BOUNDED_SHARE, measured.p95)].map(|(share, us)| (share, us.expect("enough requests")));
    let higher = [(0.99, measured.p99), (0.999, measured.p99_9)].into_iter().filter_map(|(share, us)| Some((share, us?)));
    bounded.into_iter().chain(higher).map(|(share, us)| (share, us - at(share), at(share))).collect()
}

/// Returns the sorted response times according to the server's log, in microseconds. The k-th response in the log belongs to the k-th
/// request, which was due k / rate after the first one. Only responses that were sent within the measured window count.
fn logged_response_times_us(log: &Log) -> Vec<f64> {
    let start_ns = log.first_arrival_ns.expect("requests arrived");
    let window = start_ns + WARMUP_PERIODS * PERIOD_NS..start_ns + (WARMUP_PERIODS + PERIODS) * PERIOD_NS;
    let in_window = (0..).zip(&log.responded_ns).filter(|(_, at)| window.contains(at));
    let mut times: Vec<f64> = in_window.map(|(number, at)| at.saturating_sub(start_ns + intended_ns(number)) as f64 / 1e3).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// The times must match the server's log within 2%. A busy machine delays the server's thread as well as the load generator, so more is
/// permitted if the server's own responses are late. Lateness only makes times longer than those of the schedule.
#[test]
fn response_times_are_accurate_with_each_engine() {
    each_engine(|engine| {
        let lifetime = Duration::from_nanos((WARMUP_PERIODS + PERIODS) * PERIOD_NS + 3_000_000_000);
        let (address, log) = stalls::serve(Box::new(|arrival_ns, _| due_ns(arrival_ns)), lifetime);
        let (rate, connections) = ((REQUESTS_PER_PERIOD * 1_000_000_000 / PERIOD_NS).to_string(), CONNECTIONS.to_string());
        let [warmup, duration] = [WARMUP_PERIODS, PERIODS].map(|periods| format!("{}ms", periods * PERIOD_NS / 1_000_000));
        let args = ["-r", &rate, "-c", &connections, "-d", &duration, "--warmup", &warmup, "--engine", engine, &url(address)];
        let result = load(&args).expect("the server responds");
        assert_eq!(result.requests.offered, Some(REQUESTS_PER_PERIOD * PERIODS));
        assert_eq!(result.errors.total(), 0, "{:?}", result.errors);
        let response = result.response_time_us.as_ref().expect("an open loop has response times");
        let service = &result.service_time_us;
        let hidden = [(service.p50, response.p50), (service.p90, response.p90)];
        assert!(hidden.iter().any(|(service_us, us)| *service_us < us.map(|us| 0.9 * us)), "requests wait for a connection: {hidden:?}");
        let log = log.lock().expect("the server does not panic");
        for (share, error_us, us) in errors_us(response, &logged_response_times_us(&log)) {
            let error_max_us = log.late.error_max_us(waiting_us(&result)) + 0.02 * us;
            assert!(error_us >= -error_max_us, "{engine}: {error_us} us less than {us} us in the log, {error_max_us} permitted");
            let is_short = error_us <= error_max_us || share > BOUNDED_SHARE;
            assert!(is_short, "{engine}: off by {error_us} us from {us} us in the log, {error_max_us} permitted");
        }
        for (_, error_us, us) in errors_us(response, &true_response_times_us()) {
            assert!(error_us >= -0.1 * us, "{engine}: off by {error_us} us from {us} us in the schedule");
        }
    });
}
