//! Against a server with a known schedule of stalls, the reported response times must be those that can be computed.

mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use common::{load, read_request, serve, sleep_until, url};
use loadgen::result::{Distribution, RunResult};

const RATE_RPS: u64 = 2000;
const CONNECTIONS: usize = 160;
const WORK_NS: u64 = 20_000_000;
const STALL_NS: u64 = 200_000_000;
const PERIOD_NS: u64 = 1_000_000_000;
const SECONDS: u64 = 4;
/// Another program on our CPUs disturbs a run; it cannot make a wrong figure right three times.
const ATTEMPTS: usize = 3;

/// When the server begins to work on a request that arrives at this time: it stalls at the beginning of each period.
fn released_ns(arrival_ns: u64) -> u64 {
    let stall_end_ns = arrival_ns / PERIOD_NS * PERIOD_NS + STALL_NS;
    arrival_ns.max(stall_end_ns)
}

fn serve_with_stalls() -> SocketAddr {
    let start = Instant::now();
    serve(move |mut stream| {
        let _ = stream.set_nodelay(true);
        while read_request(&mut stream) {
            let arrival_ns = start.elapsed().as_nanos() as u64;
            sleep_until(start + Duration::from_nanos(released_ns(arrival_ns) + WORK_NS));
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    })
}

/// The response times of a steady state, in microseconds, sorted: a queue with one server per connection, first come first served.
fn true_response_times_us() -> Vec<f64> {
    let mut free_ns: BinaryHeap<Reverse<u64>> = (0..CONNECTIONS).map(|_| Reverse(0)).collect();
    let warmup = RATE_RPS * 2;
    let mut times: Vec<f64> = Vec::new();
    for number in 0..warmup + RATE_RPS * SECONDS {
        let intended_ns = number * 1_000_000_000 / RATE_RPS;
        let Some(Reverse(free)) = free_ns.pop() else { unreachable!("there are connections") };
        let done_ns = released_ns(intended_ns.max(free)) + WORK_NS;
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

fn run(engine: &str) -> RunResult {
    let address = serve_with_stalls();
    let (rate, connections, duration) = (RATE_RPS.to_string(), CONNECTIONS.to_string(), format!("{SECONDS}s"));
    let args = ["-r", &rate, "-c", &connections, "-d", &duration, "--warmup", "2s", "--engine", engine, &url(address)];
    load(&args).expect("the server answers")
}

fn response_times_are_true(engine: &str) {
    let truth = true_response_times_us();
    let mut errors = Vec::new();
    for _ in 0..ATTEMPTS {
        let result = run(engine);
        let response = result.response_time_us.as_ref().expect("an open loop has response times");
        errors.push(worst_error(response, &truth));
        if errors.last() < Some(&0.02) {
            let hidden = worst_error(&result.service_time_us, &truth);
            assert!(hidden > 0.3, "service time must not look like response time here: {hidden}");
            let offered = result.requests.offered.expect("an open loop offers");
            assert_eq!(offered, RATE_RPS * SECONDS);
            assert_eq!(result.errors.total(), 0, "{:?}", result.errors);
            return;
        }
    }
    panic!("the worst percentile is off by {errors:?} of the truth");
}

#[test]
fn response_times_are_true_with_epoll() {
    response_times_are_true("epoll");
}

#[test]
fn response_times_are_true_with_io_uring() {
    response_times_are_true("io_uring");
}
