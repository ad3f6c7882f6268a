//! Resources that the load generator itself used.

use std::fs;

use super::plan::Plan;
use crate::figures::result::{Generator, Thread};
use crate::time::clock::seconds;
use crate::worker::Final;

/// Minimum number of checks for an estimate of how long the server ran on a thread's CPU.
const CHECKS_MIN: u32 = 10;

/// Returns the resources that all threads used within the measured window.
pub fn generator(plan: &Plan, engine: &'static str, finals: &[Final], duration_s: f64) -> Generator {
    let threads: Vec<_> = finals.iter().enumerate().map(|(number, last)| thread(plan, number as u32, last, duration_s)).collect();
    let largest = |figure: fn(&Thread) -> f64| threads.iter().map(figure).fold(0.0, f64::max);
    Generator {
        engine,
        engine_fallback: None,
        cpu_s: threads.iter().map(|thread| thread.cpu_s).sum(),
        busy: largest(|thread| thread.busy),
        waiting: threads.iter().filter_map(|thread| thread.waiting).reduce(f64::max),
        shared_cpu: threads.iter().filter_map(|thread| thread.shared_cpu).reduce(f64::max),
        stalled_us: largest(|thread| thread.stalled_us),
        threads,
        rss_bytes_peak: rss_bytes_peak(),
    }
}

fn thread(plan: &Plan, number: u32, last: &Final, duration_s: f64) -> Thread {
    let share = |time_s: f64| if duration_s > 0.0 { (time_s / duration_s).min(1.0) } else { 0.0 };
    let cost = last.cost;
    Thread {
        cpu: plan.cpu_of(number),
        cpu_s: seconds(cost.cpu_ns),
        polled_s: seconds(cost.polled_ns),
        busy: share(seconds(cost.cpu_ns.saturating_sub(cost.polled_ns))),
        waiting: cost.waited_ns.map(|waited_ns| share(seconds(waited_ns))),
        shared_cpu: shared_cpu(last.shared_cpu),
        stalled_us: cost.stalled_ns as f64 / 1e3,
        connections: plan.connections_of(number),
        completed: last.completed,
    }
}

/// Returns the share of checks in which the server ran on the thread's CPU, or `None` if there were too few checks.
fn shared_cpu((shared, checks): (u32, u32)) -> Option<f64> {
    (checks >= CHECKS_MIN).then(|| f64::from(shared) / f64::from(checks))
}

/// Returns the peak memory of this program, or 0 if /proc is missing. `getrusage` would include the memory of the process that started it,
/// because `exec` keeps that maximum.
fn rss_bytes_peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<u64> = line.and_then(|text| text.split_whitespace().next()?.parse().ok());
    kilobytes.unwrap_or(0) * 1024
}
