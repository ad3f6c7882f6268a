//! The result of a run, as it is written to JSON: schema `httpbench-loadgen/1`. docs/load-generators.md describes every field.

use schemars::JsonSchema;
use serde::Serialize;

use super::distribution::Distribution;
use super::errors::Errors;
use super::sample::Sample;

pub const SCHEMA: &str = "httpbench-loadgen/1";

/// The result of one run. Counts and times cover the measured window, unless a field says otherwise.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunResult {
    /// `httpbench-loadgen/1`. Fields may be added under this name; none is renamed or dropped.
    pub schema: &'static str,
    /// Version of the load generator.
    pub version: &'static str,
    /// The options of the run, and what it connected to.
    pub config: Config,
    /// When the load began, warm-up included, in nanoseconds of this machine's monotonic clock.
    pub start_ns: u64,
    /// Length of the measured window, in seconds; shorter than `config.duration_s` if the run ended early.
    pub duration_s: f64,
    /// Whether SIGINT or SIGTERM ended the run early.
    pub interrupted: bool,
    /// Why the load generator itself ended the run early; null if it did not.
    pub failure: Option<String>,
    /// Why a connection could not be set up: the last such failure, before or during the run. Null if there was none.
    pub connect_failure: Option<String>,
    /// Counts of requests.
    pub requests: RequestCounts,
    /// Counts of errors by kind.
    pub errors: Errors,
    /// Bytes on the sockets.
    pub bytes: Bytes,
    /// Correct responses per second.
    pub throughput_rps: f64,
    /// Bytes received per second.
    pub throughput_bytes_per_s: f64,
    /// Times from the actual send of a request to its complete response, in microseconds. Correct responses and censored requests only.
    pub service_time_us: Distribution,
    /// Times from the intended send of a request to its complete response, in microseconds. Correct responses and censored requests only. Null
    /// in a closed loop.
    pub response_time_us: Option<Distribution>,
    /// Times from the intended to the actual send of a request, in microseconds. Null in a closed loop.
    pub schedule_lag_us: Option<Distribution>,
    /// The part of the schedule lag in which no connection was free, because responses were awaited on all of them, in microseconds. Null in a
    /// closed loop.
    pub connection_wait_us: Option<Distribution>,
    /// The rest of the schedule lag, in microseconds: a connection was free, and the generator was late. Null in a closed loop.
    pub generator_lag_us: Option<Distribution>,
    /// Times to set up a connection, handshakes included, until requests can be sent, in microseconds. All connections of the run.
    pub connect_time_us: Distribution,
    /// TLS handshakes by kind, of all connections of the run; null without TLS.
    pub tls_handshakes: Option<TlsHandshakes>,
    /// Requests in the distributions with a lower bound. A request that timed out counts with the time waited. A request that was unfinished at
    /// the end, and older than the p99 of the finished ones, counts with its age.
    pub censored: u64,
    /// Sum of the ages of unfinished requests in `service_time_us`, in seconds.
    pub unfinished_s: f64,
    /// Connections that the server closed while they carried no request. Not errors.
    pub idle_closed: u64,
    /// What came of each kind of request, if several take turns: several URLs, or a file of `--requests`. Otherwise empty.
    pub parts: Vec<Part>,
    /// Whole responses that came during the window (`--sample-bodies`).
    pub samples: Vec<Sample>,
    /// The measured window in slices of `config.interval_s`.
    pub intervals: Vec<Interval>,
    /// How responses were parsed.
    pub parser: Parser,
    /// What the load generator itself cost.
    pub generator: Generator,
}

/// The options of the run, and what it connected to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Config {
    /// The requested URLs.
    pub urls: Vec<String>,
    /// What the sockets connected to: `127.0.0.1:8080`, or `unix:/path`.
    pub address: String,
    /// TCP congestion control of the sockets; null for Unix sockets.
    pub congestion_control: Option<String>,
    /// Request method.
    pub method: String,
    /// `HTTP/1.1` or `HTTP/2`.
    pub protocol: &'static str,
    /// Connections, over all threads.
    pub connections: u32,
    /// Threads of the load generator.
    pub threads: u32,
    /// Largest number of requests in flight per connection.
    pub pipeline: u16,
    /// Chosen length of the measured window, in seconds.
    pub duration_s: f64,
    /// Length of the load before the window, in seconds.
    pub warmup_s: f64,
    /// Request timeout, in seconds.
    pub timeout_s: f64,
    /// Length of the intervals, in seconds.
    pub interval_s: f64,
    /// Whether connections are kept alive after a response.
    pub keep_alive: bool,
    /// Requests per connection before reconnecting (`--requests-per-connection`); null if not limited by this option.
    pub requests_per_connection: Option<u64>,
    /// `closed` or `open`.
    pub r#loop: &'static str,
    /// Offered rate at the start of the window, in requests per second; null in a closed loop.
    pub rate_from_rps: Option<f64>,
    /// Offered rate at the end of the window, in requests per second; null in a closed loop.
    pub rate_to_rps: Option<f64>,
    /// `constant` or `poisson`; null in a closed loop.
    pub arrivals: Option<&'static str>,
    /// Which part of the rate this load generator made: `3/8` is the third of eight, `1/1` the whole. The rates above are those of the whole.
    pub part: String,
    /// Lateness from which requests are dropped, in seconds; null without a deadline.
    pub deadline_s: Option<f64>,
    /// Pause between a response and the next request on its connection, in seconds; null without one.
    pub think_time_s: Option<f64>,
    /// Whether connections may resume the TLS sessions of earlier ones; null without TLS.
    pub tls_resumption: Option<bool>,
}

/// Counts of requests. In a closed loop an event counts if it happens within the window; in an open loop a request and its outcome count if it
/// was due within the window.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct RequestCounts {
    /// Requests sent: handed to the engine.
    pub sent: u64,
    /// Complete responses, correct or not.
    pub completed: u64,
    /// Correct responses: complete, with the expected status and body.
    pub ok: u64,
    /// Requests due before the end of the window, but not sent because no connection was free. 0 in a closed loop.
    pub unsent: u64,
    /// Requests without a complete response when the window ended. Not errors.
    pub in_flight: u64,
    /// Requests left over from before the window when it began. They are part of the other counts in a closed loop only.
    pub backlog: u64,
    /// Requests that the server says it did not process (HTTP/2: GOAWAY without an error, or REFUSED_STREAM). Not errors; in an open loop each is
    /// due again at its intended time.
    pub unprocessed: u64,
    /// Requests due within the window: the integral of the offered rate. Null in a closed loop.
    pub offered: Option<u64>,
}

/// Bytes on the sockets.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Bytes {
    /// Bytes received from the sockets: heads, bodies and TLS.
    pub received: u64,
    /// Bytes sent to the sockets: heads, bodies and TLS.
    pub sent: u64,
}

/// A slice of the measured window. Its times are response times in an open loop, otherwise service times.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Interval {
    /// Start, in seconds since the start of the window.
    pub start_s: f64,
    /// Length, in seconds.
    pub duration_s: f64,
    /// Complete responses, correct or not.
    pub completed: u64,
    /// Errors of all kinds.
    pub errors: u64,
    /// Mean offered rate, in requests per second; null in a closed loop.
    pub offered_rps: Option<f64>,
    /// p50, in microseconds; null with fewer than ten samples beyond it.
    pub p50_us: Option<f64>,
    /// p99, in microseconds; null with fewer than ten samples beyond it.
    pub p99_us: Option<f64>,
    /// p99.9, in microseconds; null with fewer than ten samples beyond it.
    pub p99_9_us: Option<f64>,
    /// Bytes received from the sockets: heads, bodies and TLS.
    pub bytes_received: u64,
    /// HdrHistogram V2, compressed, in base64; its values are nanoseconds.
    pub histogram: String,
}

/// What came of one kind of request. Requests that were never sent have no kind, and those that were unfinished at the end count in the whole
/// alone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Part {
    /// Its name in the file of `--requests`, or its URL.
    pub name: String,
    /// Its weight: requests for each turn of all kinds.
    pub weight: u32,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub ok: u64,
    /// Requests without a correct response.
    pub errors: u64,
    /// Correct responses per second.
    pub throughput_rps: f64,
    /// Response times in an open loop, otherwise service times, in microseconds. Correct responses and timed-out requests only.
    pub time_us: Distribution,
}

/// How responses were parsed.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Parser {
    /// Responses whose head was recognised by comparison with the previous one.
    pub fast: u64,
    /// Responses whose head was parsed.
    pub full: u64,
}

/// TLS handshakes by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TlsHandshakes {
    /// Full handshakes, as a new client makes.
    pub full: u64,
    /// Handshakes that resumed an earlier session.
    pub resumed: u64,
}

/// What the load generator itself cost within the measured window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Generator {
    /// `epoll` or `io_uring`.
    pub engine: &'static str,
    /// Why `auto` chose `epoll`: what kept it from io_uring. Null if it did not, or if the engine was chosen by name.
    pub engine_fallback: Option<String>,
    /// The load threads.
    pub threads: Vec<Thread>,
    /// CPU time of all load threads, in seconds.
    pub cpu_s: f64,
    /// Useful work of the busiest thread: CPU time without polling, as a share of the window, 0 to 1.
    pub busy: f64,
    /// Share of the window in which a thread was ready to run and had no CPU, 0 to 1: that of the worst thread. Null if the kernel does not
    /// count it.
    pub waiting: Option<f64>,
    /// Time for which a thread stood still for 10 ms or more at once, in microseconds: that of the worst thread. The times of requests in flight
    /// include it.
    pub stalled_us: f64,
    /// Peak resident memory of the process, in bytes.
    pub rss_bytes_peak: u64,
}

/// What one load thread cost within the measured window.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Thread {
    /// CPU that the thread is pinned to; null if it is not.
    pub cpu: Option<usize>,
    /// CPU time, in seconds.
    pub cpu_s: f64,
    /// CPU time spent polling for events, in seconds.
    pub polled_s: f64,
    /// CPU time without polling, as a share of the window, 0 to 1.
    pub busy: f64,
    /// Share of the window in which the thread was ready to run and had no CPU, 0 to 1. Null if the kernel does not count it.
    pub waiting: Option<f64>,
    /// Time for which the thread stood still for 10 ms or more at once, in microseconds.
    pub stalled_us: f64,
    /// Connections of the thread.
    pub connections: u32,
    /// Complete responses, correct or not.
    pub completed: u64,
}

/// The JSON schema of a result, generated from the types above.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(RunResult);
    serde_json::to_string_pretty(&schema).unwrap_or_else(|error| unreachable!("a schema is plain JSON: {error}"))
}
