//! Gates: limits that a run must keep, for CI. A breached gate is exit code 3.

use std::time::Duration;

use super::result::RunResult;

#[derive(Clone, Copy, Debug, Default)]
pub struct Gates {
    /// Of the response time in an open loop, of the service time in a closed one.
    pub p99_max: Option<Duration>,
    /// Failed requests as a share of all that ended or should have been sent, 0 to 1.
    pub error_share_max: Option<f64>,
}

impl Gates {
    /// One sentence for each gate that the result breaches.
    pub fn breaches(&self, result: &RunResult) -> Vec<String> {
        let mut breaches = Vec::new();
        let any = self.p99_max.is_some() || self.error_share_max.is_some();
        if any && result.requests.completed == 0 {
            breaches.push("no response".to_owned());
            return breaches;
        }
        if let Some(limit) = self.p99_max {
            let limit_us = limit.as_secs_f64() * 1e6;
            match result.response_time_us.as_ref().unwrap_or(&result.service_time_us).p99 {
                Some(p99_us) if p99_us <= limit_us => {}
                Some(p99_us) => breaches.push(format!("p99 is {p99_us:.1} us, limit {limit_us:.1} us")),
                None => breaches.push("p99 is unknown: fewer than ten samples beyond it; hint: measure longer (-d)".to_owned()),
            }
        }
        if let Some(limit) = self.error_share_max {
            let share = error_share(result);
            if share > limit {
                breaches.push(format!("{:.3}% of requests failed, limit {:.3}%", share * 100.0, limit * 100.0));
            }
        }
        breaches
    }
}

/// Failed requests as a share of all; one that was due and never sent has failed too.
fn error_share(result: &RunResult) -> f64 {
    let failed = result.errors.total() + result.requests.unsent;
    let all = result.requests.ok + failed;
    if all == 0 { 0.0 } else { failed as f64 / all as f64 }
}
