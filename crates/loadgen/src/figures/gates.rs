//! Gates: limits on the results of a run, for use in CI. If a run exceeds a limit, the program exits with code 3.

use std::time::Duration;

use super::result::RunResult;

#[derive(Clone, Copy, Debug, Default)]
pub struct Gates {
    /// Maximum p99 of the response time in an open loop, or of the service time in a closed loop.
    pub p99_max: Option<Duration>,
    /// Maximum share of failed requests, from 0 to 1.
    pub error_share_max: Option<f64>,
}

impl Gates {
    /// Returns a message for each breached gate.
    pub fn breaches(&self, result: &RunResult) -> Vec<String> {
        let mut breaches = Vec::new();
        let any = self.p99_max.is_some() || self.error_share_max.is_some();
        let has_events = result.events.as_ref().is_some_and(|events| events.count > 0);
        if any && result.requests.completed == 0 && !has_events {
            breaches.push("no response".to_owned());
            return breaches;
        }
        if let Some(limit) = self.p99_max {
            let limit_us = limit.as_secs_f64() * 1e6;
            match result.response_time_us.as_ref().unwrap_or(&result.service_time_us).p99 {
                Some(p99_us) if p99_us <= limit_us => {}
                Some(p99_us) => breaches.push(format!("p99 is {p99_us:.1} us; the limit is {limit_us:.1} us")),
                None => breaches.push("p99 is unknown, it needs at least ten slower samples; hint: measure longer (-d)".to_owned()),
            }
        }
        if let Some(limit) = self.error_share_max {
            let share = error_share(result);
            if share > limit {
                breaches.push(format!("{:.3}% of requests failed; the limit is {:.3}%", share * 100.0, limit * 100.0));
            }
        }
        breaches
    }
}

/// Returns the share of requests that failed. Requests that were due but never sent count as failed. Open event streams count as correct.
fn error_share(result: &RunResult) -> f64 {
    let failed = result.errors.total() + result.requests.unsent;
    let open = if result.config.sse { result.requests.in_flight } else { 0 };
    let all = result.requests.ok + open + failed;
    if all == 0 { 0.0 } else { failed as f64 / all as f64 }
}
