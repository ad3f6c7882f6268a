//! All measurements of a run, and the result computed from them.

use super::generator_cost::generator;
use super::plan::Plan;
use super::signal;
use crate::figures::distribution::Distribution;
use crate::figures::events::Events;
use crate::figures::recorder::Recorder;
use crate::figures::result::{Bytes, Interval, Parser, Part, RequestCounts, RunResult, SCHEMA, Stalls, TlsHandshakes};
use crate::time::clock::seconds;
use crate::worker::{Final, Load};

/// The measurements of one or more windows.
pub struct Measured {
    /// Start of the load.
    pub start_ns: u64,
    /// Total length of the windows.
    pub duration_ns: u64,
    pub total: Recorder,
    /// Counts and times recorded while connecting and warming up, before the windows.
    pub before: Recorder,
    /// Number of correct responses that arrived after the end of a window.
    pub late_ok: u64,
    pub in_all: InAll,
    /// The results of each thread.
    pub finals: Vec<Final>,
    /// Number of requests that were due within the windows, summed over all parts of the load; `None` in a closed loop.
    pub offered: Option<f64>,
    pub intervals: Vec<Interval>,
}

/// Counts of the whole run, including everything that the result leaves out, such as dropped slices. They can be compared with the counts
/// of the server.
#[derive(Clone, Copy, Default)]
pub struct InAll {
    pub ok: u64,
    pub connections: u64,
}

impl InAll {
    /// Adds a thread's report, which must not have been added before.
    pub fn add(&mut self, recorder: &Recorder) {
        self.ok += recorder.ok + recorder.early_ok;
        self.connections += recorder.connect.len();
    }
}

impl Measured {
    pub fn result(mut self, plan: &Plan, engine: &'static str) -> RunResult {
        let duration_s = seconds(self.duration_ns);
        let events = plan.sse.then(|| Events::new(self.total.events(), duration_s));
        let Self { total, finals, before, .. } = &self;
        let open = plan.load.is_open();
        let mut connect = before.connect.clone();
        connect.add(&total.connect).unwrap_or_else(|error| unreachable!("histograms with equal bounds cannot be merged: {error}"));
        RunResult {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            config: plan.config.clone(),
            start_ns: self.start_ns,
            duration_s,
            interrupted: signal::caught(),
            failure: None,
            connect_failure: None,
            requests: RequestCounts {
                sent: total.sent,
                completed: total.completed,
                ok: total.ok,
                before_window: before.ok,
                ok_in_all: self.in_all.ok,
                unsent: finals.iter().map(|last| last.unsent).sum(),
                in_flight: finals.iter().map(|last| last.in_flight).sum::<u64>() + self.late_ok,
                backlog: finals.iter().map(|last| last.backlog).sum(),
                unprocessed: total.unprocessed,
                offered: self.offered.map(|offered| plan.part.share(offered.round() as u64)),
            },
            errors: (&total.errors).into(),
            bytes: Bytes { received: total.bytes_received, sent: total.bytes_sent },
            // Responses after the end of a window don't count. To compensate, responses to requests that were sent before the window are
            // included. If the target holds the rate, there are as many of these on average.
            throughput_rps: rate(total.ok + total.early_ok, duration_s),
            throughput_bytes_per_s: rate(total.bytes_received, duration_s),
            service_time_us: (&total.service).into(),
            response_time_us: open.then(|| (&total.response).into()),
            first_byte_us: (&total.first_byte()).into(),
            events,
            schedule_lag_us: open.then(|| (&total.lag).into()),
            connection_wait_us: open.then(|| (&total.connection_wait).into()),
            generator_lag_us: open.then(|| (&total.generator_lag).into()),
            connect_time_us: Distribution::from(&connect),
            connections_opened: self.in_all.connections,
            tls_handshakes: TlsHandshakes::sum(before.tls_handshakes, total.tls_handshakes),
            censored: total.censored,
            unfinished_s: seconds(total.unfinished_ns),
            stalls: stalls(finals),
            idle_closed: total.idle_closed,
            parser: Parser {
                fast: finals.iter().map(|last| last.parser.fast).sum(),
                full: finals.iter().map(|last| last.parser.full).sum(),
            },
            generator: generator(plan, engine, finals, duration_s),
            parts: parts(plan, total, duration_s),
            samples: finals.iter().flat_map(|last| last.samples.clone()).collect(),
            intervals: self.intervals,
        }
    }
}

/// Returns the results per part of the load. The list is empty unless the load is a mix.
fn parts(plan: &Plan, total: &Recorder, duration_s: f64) -> Vec<Part> {
    let parts = plan.requests.parts().iter().zip(total.parts.iter());
    parts
        .map(|(named, part)| Part {
            name: named.name.clone(),
            weight: named.weight,
            sent: part.sent,
            ok: part.ok(),
            errors: part.errors,
            throughput_rps: rate(part.ok(), duration_s),
            time_us: (&part.times).into(),
        })
        .collect()
}

/// Returns the stalls of the thread with the longest total stall time.
fn stalls(finals: &[Final]) -> Option<Stalls> {
    let worst = finals.iter().filter_map(|last| last.stalls).max_by_key(|stalls| stalls.total_ns)?;
    Some(Stalls { count: worst.count, longest_us: worst.longest_ns as f64 / 1e3, total_us: worst.total_ns as f64 / 1e3 })
}

/// Returns the number of requests that are due between two times, summed over all parts of the load. The times are relative to the start of
/// the load.
pub fn offered(plan: &Plan, from_s: f64, to_s: f64) -> Option<f64> {
    let Load::Open(open) = &plan.load else { return None };
    let profile = open.schedule.profile();
    let due = |seconds| plan.requests_total.map_or(f64::INFINITY, |total| total as f64).min(profile.requests_until(seconds));
    Some(due(to_s) - due(from_s))
}

pub fn rate(count: u64, duration_s: f64) -> f64 {
    if duration_s > 0.0 { count as f64 / duration_s } else { 0.0 }
}
