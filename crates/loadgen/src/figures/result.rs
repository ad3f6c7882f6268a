//! The result of a run, serialized to JSON with the schema `httpbench-loadgen/1`. docs/load-generators.md describes every field.

use schemars::JsonSchema;
use serde::Serialize;

use super::distribution::Distribution;
use super::errors::Errors;
use super::events::Events;
use super::sample::Sample;

pub const SCHEMA: &str = "httpbench-loadgen/1";

/// The result of one run. Counts and times cover the measured window unless a field says otherwise.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunResult {
    /// Name of the schema: `httpbench-loadgen/1`. Later versions may add fields to this schema, but never rename or remove any.
    pub schema: &'static str,
    /// Version of the load generator.
    pub version: &'static str,
    /// The options of the run and the address it connected to.
    pub config: Config,
    /// Start of the load, warm-up included, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// Length of the measured window, or of all windows together, in seconds; shorter than `config.duration_s` if the run ended early.
    pub duration_s: f64,
    /// Whether SIGINT or SIGTERM ended the run early. If stdin controls the load, the end of stdin counts as an interruption too.
    pub interrupted: bool,
    /// The error because of which the load generator ended the run early; null if there was none.
    pub failure: Option<String>,
    /// The last failure to set up a connection, before or during the run; null if there was none.
    pub connect_failure: Option<String>,
    /// Counts of requests.
    pub requests: RequestCounts,
    /// Counts of errors by kind.
    pub errors: Errors,
    /// Bytes on the wire.
    pub bytes: Bytes,
    /// Correct responses per second. In an open loop, they include responses to requests from the warm-up or lead-in.
    pub throughput_rps: f64,
    /// Bytes received per second.
    pub throughput_bytes_per_s: f64,
    /// Times from the actual send of a request to its complete response, in microseconds. Covers only correct responses and censored
    /// requests.
    pub service_time_us: Distribution,
    /// Times from the intended send of a request to its complete response, in microseconds. Covers only correct responses and censored
    /// requests. Null in a closed loop.
    pub response_time_us: Option<Distribution>,
    /// Times to the first byte of the response, in microseconds, from the intended send in an open loop and from the actual send in a
    /// closed loop. Covers the same requests as the response times or, in a closed loop, the service times. Interim responses (1xx) count as
    /// a part of the response.
    pub first_byte_us: Distribution,
    /// Events of event streams; null without `--sse`.
    pub events: Option<Events>,
    /// Times from the intended to the actual send of a request, in microseconds. Null in a closed loop.
    pub schedule_lag_us: Option<Distribution>,
    /// The part of the schedule lag in which every connection was waiting for responses, in microseconds. Null in a closed loop.
    pub connection_wait_us: Option<Distribution>,
    /// The rest of the schedule lag, in microseconds: a connection was free, but the generator was late. Null in a closed loop.
    pub generator_lag_us: Option<Distribution>,
    /// Times to set up a connection, handshakes included, in microseconds. Covers all connections of the run, except those of dropped
    /// slices.
    pub connect_time_us: Distribution,
    /// Connections that were set up during the whole run, including dropped slices.
    pub connections_opened: u64,
    /// TLS handshakes by kind. Covers all connections of the run; null without TLS.
    pub tls_handshakes: Option<TlsHandshakes>,
    /// Requests whose time in the distributions is a lower bound. The lower bound is the time until the timeout or, for unfinished requests
    /// older than the p99 of finished requests, the age at the end.
    pub censored: u64,
    /// Sum of the ages of the unfinished requests in `service_time_us`, in seconds.
    pub unfinished_s: f64,
    /// Periods of 10 ms or more in which no connection of a thread received a response. Covers only the thread with the longest total stall
    /// time. The load generator's own pauses are subtracted. Null in an open loop, with think times and with event streams.
    pub stalls: Option<Stalls>,
    /// Connections that the server closed while no request was in flight on them, in windows and between slices. These are not errors.
    pub idle_closed: u64,
    /// Results per part of the load, if it has several (several URLs, or several names in the `--mix` file); otherwise empty.
    pub parts: Vec<Part>,
    /// Complete responses kept during the window (`--sample-bodies`).
    pub samples: Vec<Sample>,
    /// The measured window in intervals of `config.interval_s`; with slices, one interval per slice.
    pub intervals: Vec<Interval>,
    /// Counts of response heads by parsing method.
    pub parser: Parser,
    /// Resources that the load generator itself used.
    pub generator: Generator,
}

/// The options of the run and the address it connected to.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Config {
    /// The requested URLs.
    pub urls: Vec<String>,
    /// Address that the sockets connected to: `127.0.0.1:8080` or `unix:/path`.
    pub address: String,
    /// TCP congestion control of the sockets; null for Unix sockets.
    pub congestion_control: Option<String>,
    /// Local addresses of the connections, which they used in turn; empty if the system selected the address.
    pub source_addresses: Vec<String>,
    /// Request method.
    pub method: String,
    /// `HTTP/1.1` or `HTTP/2`.
    pub protocol: &'static str,
    /// Connections of all threads.
    pub connections: u32,
    /// Threads of the load generator.
    pub threads: u32,
    /// Maximum number of requests in flight per connection.
    pub pipeline: u16,
    /// Requested length of the measured window, in seconds; with slices or a number of requests, the total length.
    pub duration_s: f64,
    /// Number of requests after which the run ends (`--requests`); null if it ends after a duration.
    pub requests: Option<u64>,
    /// Length of the warm-up before the window, in seconds.
    pub warmup_s: f64,
    /// Request timeout, in seconds.
    pub timeout_s: f64,
    /// Length of the intervals, in seconds; 0 with slices, because each slice is one interval.
    pub interval_s: f64,
    /// Whether connections are kept alive after a response.
    pub keep_alive: bool,
    /// Requests per connection before reconnecting (`--requests-per-connection`); null if unlimited.
    pub requests_per_connection: Option<u64>,
    /// `closed` or `open`.
    pub r#loop: &'static str,
    /// Offered rate at the start of the window, in requests per second; null in a closed loop.
    pub rate_from_rps: Option<f64>,
    /// Offered rate at the end of the window, in requests per second; null in a closed loop.
    pub rate_to_rps: Option<f64>,
    /// `constant` or `poisson`; null in a closed loop.
    pub arrivals: Option<&'static str>,
    /// Part of the load that this load generator sent: `3/8` is the third of eight, `1/1` is the whole load. The rates above are those of
    /// the whole load.
    pub part: String,
    /// Maximum delay of a request, in seconds; requests with a longer delay are dropped. Null without a deadline.
    pub deadline_s: Option<f64>,
    /// Whether responses are event streams (`--sse`).
    pub sse: bool,
    /// Pause between a response and the next request on its connection, in seconds; null without one.
    pub think_time_s: Option<f64>,
    /// Whether connections may resume earlier TLS sessions; null without TLS.
    pub tls_resumption: Option<bool>,
}

/// Request counts. In a closed loop, an event counts if it happened within the window. In an open loop, a request and its outcome count if
/// the request was due within the window. With slices, errors after the window count too.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct RequestCounts {
    /// Requests sent.
    pub sent: u64,
    /// Complete responses, correct or not.
    pub completed: u64,
    /// Correct responses: complete, with the expected status and body.
    pub ok: u64,
    /// Correct responses received before the window, during the warm-up; with slices, in warm-ups and lead-ins.
    pub before_window: u64,
    /// Correct responses received during the whole run: before, in and after the window, and in dropped slices.
    pub ok_in_all: u64,
    /// Requests that were due before the end of the window, but never sent because no connection was free. 0 in a closed loop.
    pub unsent: u64,
    /// Requests without a complete response at the end of the window. These are not errors. In an open loop and after a slice, the load
    /// generator waits up to the timeout for their responses. A request that gets no response or a wrong one in this time is an error and
    /// doesn't count as in flight.
    pub in_flight: u64,
    /// Requests from before the window that were unfinished when the window began. The other counts include them only in a closed loop.
    pub backlog: u64,
    /// Requests that the server reported as not processed (HTTP/2 GOAWAY without an error, or REFUSED_STREAM). These are not errors. An
    /// open loop sends them again, with their original intended send time.
    pub unprocessed: u64,
    /// Requests due within the window: the integral of the offered rate. Null in a closed loop.
    pub offered: Option<u64>,
}

/// Bytes on the wire.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Bytes {
    /// Bytes received, including heads, bodies and TLS.
    pub received: u64,
    /// Bytes sent, including heads, bodies and TLS.
    pub sent: u64,
}

/// An interval of the measured window. Its times are response times in an open loop, service times in a closed loop; with `--sse`, times
/// between the events of a stream.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Interval {
    /// Start, in seconds since the start of the window; with slices, the total length of the earlier windows.
    pub start_s: f64,
    /// Length, in seconds.
    pub duration_s: f64,
    /// Complete responses, correct or not. With slices, an open loop includes correct responses to requests from the lead-in.
    pub completed: u64,
    /// Errors of all kinds.
    pub errors: u64,
    /// Events of event streams; 0 without `--sse`.
    pub events: u64,
    /// Mean offered rate, in requests per second; null in a closed loop.
    pub offered_rps: Option<f64>,
    /// p50, in microseconds; null with fewer than ten samples beyond it.
    pub p50_us: Option<f64>,
    /// p99, in microseconds; null with fewer than ten samples beyond it.
    pub p99_us: Option<f64>,
    /// p99.9, in microseconds; null with fewer than ten samples beyond it.
    pub p99_9_us: Option<f64>,
    /// Bytes received, including heads, bodies and TLS.
    pub bytes_received: u64,
    /// Histogram in nanoseconds: HdrHistogram V2, compressed, in base64.
    pub histogram: String,
}

/// Results of one part of a mix: all requests with the same name. Requests that were never sent or were unfinished at the end count only in the totals.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Part {
    /// Name of the request in the `--mix` file, or its URL.
    pub name: String,
    /// Weight of the request in the mix.
    pub weight: u32,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub ok: u64,
    /// Requests without a correct response.
    pub errors: u64,
    /// Correct responses per second.
    pub throughput_rps: f64,
    /// Response times in an open loop, service times in a closed loop, in microseconds. Covers only correct responses and timed-out
    /// requests.
    pub time_us: Distribution,
}

/// Counts of response heads by parsing method.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Parser {
    /// Responses whose head was recognized because it matched the previous one.
    pub fast: u64,
    /// Responses whose head was parsed.
    pub full: u64,
}

/// Stalls of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Stalls {
    /// Number of stalls.
    pub count: u64,
    /// Length of the longest stall, in microseconds.
    pub longest_us: f64,
    /// Total length of all stalls, in microseconds.
    pub total_us: f64,
}

/// TLS handshakes by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TlsHandshakes {
    /// Full handshakes.
    pub full: u64,
    /// Handshakes that resumed an earlier session.
    pub resumed: u64,
    /// Cipher suite of the first handshake, such as `TLS13_AES_256_GCM_SHA384`; null if there was none.
    pub cipher: Option<&'static str>,
}

impl TlsHandshakes {
    /// Adds two counts. Either of them may be missing.
    pub fn sum(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).reduce(|one, other| Self {
            full: one.full + other.full,
            resumed: one.resumed + other.resumed,
            cipher: one.cipher.or(other.cipher),
        })
    }
}

/// Resources that the load generator itself used within the measured window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Generator {
    /// `epoll` or `io_uring`.
    pub engine: &'static str,
    /// Why `auto` chose `epoll` instead of io_uring; null if `auto` chose io_uring, or if the engine was selected by name.
    pub engine_fallback: Option<String>,
    /// The load threads.
    pub threads: Vec<Thread>,
    /// CPU time of all load threads, in seconds.
    pub cpu_s: f64,
    /// CPU time of the busiest thread, excluding polling, as a share of the window, 0 to 1.
    pub busy: f64,
    /// Share of the window in which a thread was ready to run but had no CPU, 0 to 1, for the thread with the largest share. Null if the
    /// kernel doesn't report it.
    pub waiting: Option<f64>,
    /// Share of the measured window in which the server ran on the CPU of a thread, 0 to 1, for the thread with the largest share. Null if
    /// it is unknown, as for a server on another machine.
    pub shared_cpu: Option<f64>,
    /// Time lost to pauses of 10 ms or more, in microseconds, for the thread that lost the most. The times of requests in flight include
    /// the pauses.
    pub stalled_us: f64,
    /// Peak resident memory of the process, in bytes.
    pub rss_bytes_peak: u64,
}

/// Resources that one load thread used within the measured window.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Thread {
    /// CPU that the thread is pinned to; null if it isn't pinned.
    pub cpu: Option<usize>,
    /// CPU time, in seconds.
    pub cpu_s: f64,
    /// CPU time spent polling for events, in seconds.
    pub polled_s: f64,
    /// CPU time, excluding polling, as a share of the window, 0 to 1.
    pub busy: f64,
    /// Share of the window in which the thread was ready to run but had no CPU, 0 to 1. Null if the kernel doesn't report it.
    pub waiting: Option<f64>,
    /// Share of the measured window in which the server ran on the thread's CPU, estimated from the CPU that sent each of several
    /// responses, 0 to 1. Null if it is unknown.
    pub shared_cpu: Option<f64>,
    /// Time lost to pauses of 10 ms or more, in microseconds.
    pub stalled_us: f64,
    /// Connections of the thread.
    pub connections: u32,
    /// Complete responses, correct or not.
    pub completed: u64,
}

/// Returns the JSON schema of a result, generated from the types above.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(RunResult);
    serde_json::to_string_pretty(&schema).unwrap_or_else(|error| unreachable!("a schema cannot fail to serialize: {error}"))
}
