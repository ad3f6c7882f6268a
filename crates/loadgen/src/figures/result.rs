//! The result of a run, as it is written to JSON: schema `httpbench-loadgen/1`. docs/loadgen.md describes every field.

use schemars::JsonSchema;
use serde::Serialize;

use super::distribution::Distribution;
use super::errors::Errors;

pub const SCHEMA: &str = "httpbench-loadgen/1";

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunResult {
    /// `httpbench-loadgen/1`: fields may be added under this name, none renamed or dropped.
    pub schema: &'static str,
    pub version: &'static str,
    pub config: Config,
    /// Length of the measured window, in seconds: shorter than asked for when the run ended early.
    pub duration_s: f64,
    /// Whether a signal ended the run early.
    pub interrupted: bool,
    /// Why the load generator itself ended the run early; null if it did not.
    pub failure: Option<String>,
    /// Why a connection could last not be set up, in the run or before it: refused, no free local port, no answer. Null if all could.
    pub connect_failure: Option<String>,
    pub requests: RequestCounts,
    pub errors: Errors,
    pub bytes: Bytes,
    /// Correct responses per second.
    pub throughput_rps: f64,
    /// Bytes received per second.
    pub throughput_bytes_per_s: f64,
    /// From the actual sending of a request to its complete response; correct responses and timed-out requests.
    pub service_time_us: Distribution,
    /// From the intended sending of a request to its complete response; null in a closed loop, where nothing is intended.
    pub response_time_us: Option<Distribution>,
    /// From the intended to the actual sending of a request, whatever delayed it; null in a closed loop.
    pub schedule_lag_us: Option<Distribution>,
    /// The part of the schedule lag in which no connection was free, because responses were awaited on all of them; null in a closed loop.
    pub connection_wait_us: Option<Distribution>,
    /// The part of the schedule lag that is the generator's own: a connection was free, and the request was late all the same; null in a
    /// closed loop.
    pub generator_lag_us: Option<Distribution>,
    /// From the first step of the set-up of a connection until requests could be sent, handshakes included; all of the run.
    pub connect_time_us: Distribution,
    /// All of the run; null without TLS.
    pub tls_handshakes: Option<TlsHandshakes>,
    /// Requests that are in the distributions with a lower bound: those that timed out, with the time that they were waited for, and those that
    /// were not over at the end of the window and older than the p99 of all that were, with their age.
    pub censored: u64,
    /// How long the requests had been in flight that were not over at the end and are in `service_time_us` with their age: the sum of these ages.
    pub unfinished_s: f64,
    /// Connections that the server closed while they carried no request. No errors; set up anew, with pauses if they had served nothing.
    pub idle_closed: u64,
    pub intervals: Vec<Interval>,
    pub parser: Parser,
    pub generator: Generator,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Config {
    pub urls: Vec<String>,
    /// What the sockets connected to: `127.0.0.1:8080`, or `unix:/path`.
    pub address: String,
    /// TCP congestion control that the sockets used; null for Unix sockets.
    pub congestion_control: Option<String>,
    pub method: String,
    /// `HTTP/1.1` or `HTTP/2`.
    pub protocol: &'static str,
    pub connections: u32,
    pub threads: u32,
    pub pipeline: u16,
    pub duration_s: f64,
    pub warmup_s: f64,
    pub timeout_s: f64,
    pub interval_s: f64,
    pub keep_alive: bool,
    pub requests_per_connection: Option<u64>,
    /// `closed` or `open`.
    pub r#loop: &'static str,
    /// The offered rate at the start of the window and where it leads, in an open loop.
    pub rate_from_rps: Option<f64>,
    pub rate_to_rps: Option<f64>,
    /// `constant` or `poisson`, in an open loop.
    pub arrivals: Option<&'static str>,
    pub deadline_s: Option<f64>,
    pub think_time_s: Option<f64>,
    /// Whether connections may resume the TLS sessions of earlier ones; null without TLS.
    pub tls_resumption: Option<bool>,
}

/// Counts of the measured window. In a closed loop an event counts when it happens within the window; in an open loop requests count that were
/// due within it, and no others.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct RequestCounts {
    /// Handed to the kernel.
    pub sent: u64,
    /// Complete responses, correct or not.
    pub completed: u64,
    /// Complete responses with the expected status and body.
    pub ok: u64,
    /// Due by the schedule before the end of the window, but never sent because no connection was free.
    pub unsent: u64,
    /// Sent, and without a complete response when the window ended. No errors.
    pub in_flight: u64,
    /// Sent or due before the window, and not over when it began. Part of the other counts in a closed loop, of none in an open one.
    pub backlog: u64,
    /// Sent, and not processed, as the server said (HTTP/2: GOAWAY without an error, or REFUSED_STREAM). No errors; in an open loop each is due again
    /// at its intended time.
    pub unprocessed: u64,
    /// Due within the window by the schedule: the integral of the offered rate. Null in a closed loop.
    pub offered: Option<u64>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Bytes {
    pub received: u64,
    pub sent: u64,
}

/// One stretch of the measured window.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Interval {
    /// Since the start of the window.
    pub start_s: f64,
    pub duration_s: f64,
    pub completed: u64,
    pub errors: u64,
    /// Null in a closed loop.
    pub offered_rps: Option<f64>,
    /// Of the response time in an open loop, of the service time in a closed one; as is the histogram.
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    /// HdrHistogram V2, compressed, in base64; its values are nanoseconds.
    pub histogram: String,
}

/// How responses were recognised.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Parser {
    /// By the verified short cut.
    pub fast: u64,
    /// By the full parser.
    pub full: u64,
}

/// How TLS sessions were set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TlsHandshakes {
    /// With a certificate, as a new client does.
    pub full: u64,
    /// From what an earlier session left.
    pub resumed: u64,
}

/// What the load generator itself cost within the measured window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Generator {
    /// `epoll` or `io_uring`.
    pub engine: &'static str,
    pub threads: Vec<Thread>,
    /// CPU seconds of the threads together.
    pub cpu_s: f64,
    /// Useful work of the busiest thread as a share of the window, 0 to 1: its CPU time, but for what it spent polling.
    pub busy: f64,
    /// Share of the window in which a thread was ready to run and waited for a CPU, the largest of all threads: 0 to 1. Null where the kernel
    /// does not tell.
    pub waiting: Option<f64>,
    /// How long a thread stood still in the window when it should have run, the largest of all threads, in microseconds: stopped, throttled,
    /// or without a CPU for at least 10 ms. The times of requests in flight include it, and it is none of the server's.
    pub stalled_us: f64,
    /// Largest resident memory of the process so far.
    pub rss_bytes_peak: u64,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Thread {
    /// The CPU that the thread is pinned to.
    pub cpu: Option<usize>,
    pub cpu_s: f64,
    /// CPU time spent looking for events when there was nothing else to do.
    pub polled_s: f64,
    pub busy: f64,
    pub waiting: Option<f64>,
    pub stalled_us: f64,
    pub connections: u32,
    pub completed: u64,
}

/// The JSON schema of a result, generated from the types above.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(RunResult);
    serde_json::to_string_pretty(&schema).unwrap_or_else(|error| unreachable!("a schema is plain JSON: {error}"))
}
