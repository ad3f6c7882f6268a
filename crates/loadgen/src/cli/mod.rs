//! The command-line options, and checks that involve more than one option.

mod foreign;
mod message;
mod rate;
mod request_file;
mod requests;
mod units;

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};

use crate::endpoint::addresses::Addresses;
use crate::endpoint::sources::{SourceRange, Sources};
use crate::endpoint::url::{Scheme, Url};
use crate::engine::{EngineChoice, Peer};
use crate::figures::gates::Gates;
use crate::figures::histogram::LONGEST;
use crate::figures::result::Config;
use crate::output::progress::ProgressChoice;
use crate::protocol::tls::{TlsSetup, Trust};
use crate::run::plan::Plan;
use crate::time::arrivals::{Arrivals, Schedule};
use crate::time::part::{Part, parse_part};
use crate::worker::{Load, OpenLoop};
use foreign::Foreign;
use rate::{RateRange, Step, parse_rate, parse_step};
use units::{parse_count, parse_duration, parse_positive_duration, parse_requests, parse_share};

const EXAMPLES: &str = "\
Examples:
  httpbench-loadgen -c 64 -d 10s http://127.0.0.1:8080/
  httpbench-loadgen -c 64 -t 2 --warmup 2s --expect-body 'Hello, World!' --json result.json http://127.0.0.1:8080/
  httpbench-loadgen -n 100k -c 64 http://127.0.0.1:8080/
  httpbench-loadgen -c 256 --pipeline 16 -H 'Accept: text/plain' http://127.0.0.1:8080/
  httpbench-loadgen --rate 25k --max-p99 5ms --max-errors 0.1% http://127.0.0.1:8080/
  httpbench-loadgen --rate 10k..25k --step 1k/10s -d 160s --arrivals poisson http://127.0.0.1:8080/
  httpbench-loadgen -c 100 -d 30s --sse http://127.0.0.1:8080/events
  httpbench-loadgen -X POST --body @order.json -H 'Content-Type: application/json' http://127.0.0.1:8080/orders
";

/// Options that conflict with `--mix`.
const REQUEST_OPTIONS: [&str; 8] =
    ["weights", "method", "headers", "body", "raw_request", "expect_status", "expect_body", "expect_body_sha256"];

/// Options that conflict with `--sse`: a stream has no complete response and may never end.
const SSE_CONFLICTS: [&str; 9] =
    ["slices_on_stdin", "first_response", "mix", "expect_status", "expect_body", "expect_body_sha256", "sample_bodies", "hdr", "max_p99"];

/// A fast HTTP load generator that reports true latencies.
#[derive(Debug, Parser)]
#[command(name = "httpbench-loadgen", version, about, before_help = EXAMPLES, max_term_width = 110)]
pub struct Args {
    /// URL to request, such as http://host:port/path. Requests alternate between several URLs of the same server.
    #[arg(required_unless_present_any = ["completions", "json_schema"], value_name = "URL")]
    pub urls: Vec<String>,
    /// Weights of the URLs, such as 3,1; one integer per URL [default: equal]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub weights: Vec<u32>,
    /// Open loop: requests per second; 10k..25k rises linearly [default: closed loop]
    #[arg(short = 'r', long, short_alias = 'R', value_parser = parse_rate, conflicts_with = "think_time")]
    pub rate: Option<RateRange>,
    /// Open loop: change the rate of --rate 10k..25k in steps, such as 1k/10s.
    #[arg(long, value_parser = parse_step, requires = "rate")]
    pub step: Option<Step>,
    /// Open loop: spacing of the requests.
    #[arg(long, value_enum, default_value_t = Arrivals::Constant, requires = "rate")]
    pub arrivals: Arrivals,
    /// Open loop: drop requests that are more than this late, and count them as not sent [default: none]
    #[arg(long, value_parser = parse_positive_duration, requires = "rate")]
    pub deadline: Option<Duration>,
    /// Seed for Poisson arrivals and placeholders.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Send only this part of --rate, such as 3/8 for the third of eight load generators.
    #[arg(long, value_name = "K/N", default_value_t = Part::WHOLE, value_parser = parse_part)]
    pub part: Part,
    /// After connecting, print `ready` and wait for a line on stdin: the start time in nanoseconds of the monotonic clock, or `now`. The
    /// run ends when stdin is closed.
    #[arg(long)]
    pub start_on_stdin: bool,
    /// After connecting, print `ready` and obey lines on stdin: `warmup MS`, `slice LEAD_IN_MS WINDOW_MS`, `drop` (the last slice) and
    /// `end`. If a load is to start at a time of the monotonic clock, its line ends in `at NANOSECONDS`. The result covers all windows.
    /// Between windows, no request is in flight.
    #[arg(long, conflicts_with_all = ["start_on_stdin", "duration", "warmup", "interval", "step"])]
    pub slices_on_stdin: bool,
    /// Wait until the server listens, send one request, and print when it was sent and when the first correct response was complete, as
    /// JSON. Times are in nanoseconds of the monotonic clock.
    #[arg(long, conflicts_with_all = ["rate", "requests", "start_on_stdin", "slices_on_stdin", "json", "hdr", "max_p99", "max_errors"])]
    pub first_response: bool,
    /// Number of connections, over all threads.
    #[arg(short = 'c', long, default_value = "64", value_parser = parse_count)]
    pub connections: u32,
    /// Number of threads, which share the connections.
    #[arg(short = 't', long, default_value = "1", value_parser = parse_count)]
    pub threads: u32,
    /// Duration of the measured window.
    #[arg(short = 'd', long, short_alias = 'z', default_value = "10s", value_parser = parse_positive_duration)]
    pub duration: Duration,
    /// Send this number of requests, however long it takes. The measured window ends with the last response.
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_requests)]
    #[arg(conflicts_with_all = ["duration", "warmup", "step", "part", "slices_on_stdin"])]
    pub requests: Option<u64>,
    /// Duration of the warm-up before the measured window. It uses the same connections.
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub warmup: Duration,
    /// Request timeout; also the timeout for setting up a connection.
    #[arg(long, default_value = "2s", value_parser = parse_positive_duration)]
    pub timeout: Duration,
    /// Requests in flight per connection; streams with --http2.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub pipeline: u16,
    /// Requests per connection before reconnecting [default: unlimited]
    #[arg(long, value_parser = parse_count)]
    pub requests_per_connection: Option<u32>,
    /// Open a new connection for each request and send `Connection: close`.
    #[arg(long, conflicts_with_all = ["requests_per_connection", "pipeline"])]
    pub no_keepalive: bool,
    /// Closed loop: pause between a response and the next request on its connection.
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub think_time: Duration,
    /// Request method.
    #[arg(short = 'X', long, short_alias = 'm', default_value = "GET")]
    pub method: String,
    /// Header field, as 'Name: value'; can be repeated. A Host field replaces the default one.
    #[arg(short = 'H', long = "header")]
    pub headers: Vec<String>,
    /// Request body, or @FILE.
    #[arg(long)]
    pub body: Option<String>,
    /// Complete request, byte for byte, or @FILE. {{seq}} expands to a ten-digit counter, {{random}} to 16 random hexadecimal digits.
    #[arg(long, conflicts_with_all = ["headers", "body", "no_keepalive"])]
    pub raw_request: Option<String>,
    /// JSON file of several requests with weights and correct responses. Only the scheme, host and port of the URL are used.
    #[arg(long, value_name = "FILE", conflicts_with_all = REQUEST_OPTIONS)]
    pub mix: Option<PathBuf>,
    /// Use HTTP/2: with prior knowledge over http, with ALPN over https.
    #[arg(long, conflicts_with_all = ["raw_request", "no_keepalive", "proxy"])]
    pub http2: bool,
    /// Accept any certificate [default: verify with the system's roots, or those in SSL_CERT_FILE]
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Accept only certificates that chain to a root in this PEM file.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca_file: Option<PathBuf>,
    /// Server name for TLS; the certificate must match it [default: the URL's host]
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Resume TLS sessions of earlier connections. If off, each connection performs a full handshake.
    #[arg(long, value_enum, default_value_t = Switch::Off)]
    pub tls_resumption: Switch,
    /// HTTP proxy to connect through with CONNECT, as http://host:port.
    #[arg(long, value_name = "URL", conflicts_with = "unix_socket")]
    pub proxy: Option<String>,
    /// Unix socket to connect to instead of the URL's host.
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<PathBuf>,
    /// TCP congestion control of the connections [default: the system's, but Reno instead of BBR]
    #[arg(long, value_name = "NAME", conflicts_with = "unix_socket")]
    pub congestion_control: Option<String>,
    /// Local addresses of the connections, in turn, such as 10.0.0.2-10.0.0.9 [default: the system's, on loopback as many as needed]
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',', value_parser = SourceRange::from_str)]
    pub source_addresses: Vec<SourceRange>,
    /// Expect event streams (text/event-stream), and measure their events. Sends `Accept: text/event-stream`. The timeout applies to the
    /// first event of a stream. At the end, open streams are closed and aren't errors.
    #[arg(long, conflicts_with_all = SSE_CONFLICTS)]
    pub sse: bool,
    /// Expected status [default: any from 200 to 299]
    #[arg(long, value_parser = clap::value_parser!(u16).range(200..=999))]
    pub expect_status: Option<u16>,
    /// Expected body, or @FILE [default: any]
    #[arg(long)]
    pub expect_body: Option<String>,
    /// SHA-256 of the expected body, in hexadecimal.
    #[arg(long, conflicts_with = "expect_body")]
    pub expect_body_sha256: Option<String>,
    /// Interval at which each thread keeps a complete response, preferably to a request without an expected body [default: never]
    #[arg(long, value_name = "INTERVAL", value_parser = parse_sampling)]
    pub sample_bodies: Option<Duration>,
    /// CPUs to pin the threads to, in turn, such as 2,3 [default: not pinned]
    #[arg(long, value_delimiter = ',')]
    pub cpus: Vec<usize>,
    /// System interface for sockets.
    #[arg(long, value_enum, default_value_t = EngineChoice::Auto)]
    pub engine: EngineChoice,
    /// Length of the intervals in the result, from 100ms to 1s.
    #[arg(long, default_value = "250ms", value_parser = parse_interval)]
    pub interval: Duration,
    /// Write the result as JSON to FILE, or - for stdout.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write percentiles in microseconds for the HdrHistogram plotter to FILE, or - for stdout.
    #[arg(long, value_name = "FILE")]
    pub hdr: Option<PathBuf>,
    /// Exit with code 3 if p99 exceeds this. Applies to response times in an open loop and to service times in a closed loop.
    #[arg(long, value_parser = parse_positive_duration)]
    pub max_p99: Option<Duration>,
    /// Exit with code 3 if a larger share of requests fails or is never sent, such as 0.1%.
    #[arg(long, value_parser = parse_share)]
    pub max_errors: Option<f64>,
    /// Print the JSON schema of the result and exit.
    #[arg(long, exclusive = true)]
    pub json_schema: bool,
    /// Print completions for this shell and exit.
    #[arg(long, value_enum, value_name = "SHELL", exclusive = true)]
    pub completions: Option<clap_complete::Shell>,
    /// Progress on stderr.
    #[arg(long, value_enum, default_value_t = ProgressChoice::Auto)]
    pub progress: ProgressChoice,
    #[command(flatten)]
    foreign: Foreign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = parse_duration(text)?;
    if !(Duration::from_millis(100)..=Duration::from_secs(1)).contains(&interval) {
        return Err("must be from 100ms to 1s".to_owned());
    }
    Ok(interval)
}

/// Parses the interval between samples. The minimum is 20 ms, because the threads check only every 20 ms whether a sample is due.
fn parse_sampling(text: &str) -> Result<Duration, String> {
    let interval = parse_duration(text)?;
    if interval < Duration::from_millis(20) { Err("must be at least 20ms".to_owned()) } else { Ok(interval) }
}

impl Args {
    /// Validates the arguments, resolves the host, and returns the plan for the run.
    pub fn plan(&self) -> Result<Plan> {
        self.foreign.check()?;
        let urls = self.urls.iter().map(|url| Url::parse(url)).collect::<Result<Vec<_>>>()?;
        let url = urls[0].clone();
        if let Some(other) = urls.iter().find(|other| (other.scheme, &other.host, other.port) != (url.scheme, &url.host, url.port)) {
            bail!("URLs differ in scheme, host or port: {} and {}; all URLs must use the same server", other.authority(), url.authority());
        }
        if self.warmup + self.duration > LONGEST {
            bail!("--warmup and --duration together exceed 24 hours");
        }
        if self.threads > self.connections {
            bail!("{} threads, but {} connections; hint: use at least one connection per thread (-c)", self.threads, self.connections);
        }
        if self.slices_on_stdin && self.rate.is_some_and(|rate| rate.from_rps != rate.to_rps) {
            bail!("--slices-on-stdin requires a constant --rate, because each slice starts at the beginning of the schedule");
        }
        if self.requests.is_some() && self.rate.is_some_and(|rate| rate.from_rps != rate.to_rps) {
            bail!("--requests requires a constant --rate, because a change of the rate requires a duration; hint: use -d");
        }
        if self.sse && self.pipeline > 1 && !self.http2 {
            bail!(
                "--sse with --pipeline requires --http2, because a stream occupies its HTTP/1.1 connection; hint: use more connections (-c)"
            );
        }
        if self.part.threads(self.threads).is_none() {
            bail!("{} threads in each of {} parts are too many", self.threads, self.part.count());
        }
        Ok(Plan {
            config: self.config(),
            addresses: self.addresses(&url)?,
            congestion_control: self.congestion_control.clone(),
            source_addresses: self.source_addresses.clone(),
            requests: self.requests(&urls)?,
            tls: self.tls(&url)?,
            proxied: self.proxy.is_some(),
            http2: self.http2,
            sse: self.sse,
            url,
            connections: self.connections,
            threads: self.threads,
            cpus: self.cpus.clone(),
            engine: self.engine,
            duration: if self.requests.is_some() { LONGEST } else { self.duration },
            requests_total: self.requests,
            warmup: self.warmup,
            timeout: self.timeout,
            interval: self.interval,
            sample_every: self.sample_bodies,
            pipeline: self.pipeline,
            requests_per_connection: if self.no_keepalive { Some(1) } else { self.requests_per_connection.map(u64::from) },
            load: self.load()?,
            seed: self.seed,
            part: self.part,
            start_on_stdin: self.start_on_stdin,
            slices_on_stdin: self.slices_on_stdin,
        })
    }

    pub fn gates(&self) -> Gates {
        Gates { p99_max: self.max_p99, error_share_max: self.max_errors }
    }

    /// Returns the addresses to connect to. Fails if the selected congestion control isn't available.
    fn addresses(&self, url: &Url) -> Result<Addresses> {
        let addresses = self.resolve(url)?;
        if let Some(name) = &self.congestion_control {
            let peer = Peer { address: addresses.preferred().clone(), congestion_control: Some(name.clone()), sources: Sources::default() };
            peer.effective_congestion_control().with_context(|| {
                let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").unwrap_or_default();
                format!("cannot use congestion control `{name}` (available to all users: {})", known.trim().replace(' ', ", "))
            })?;
        }
        Ok(addresses)
    }

    fn resolve(&self, url: &Url) -> Result<Addresses> {
        match (&self.unix_socket, &self.proxy) {
            (Some(path), _) => Addresses::unix(path),
            (None, Some(proxy)) => match Url::parse(proxy)? {
                Url { scheme: Scheme::Https, .. } => bail!("--proxy requires an http URL, not https"),
                proxy => proxy.resolve(),
            },
            (None, None) => url.resolve(),
        }
    }

    fn tls(&self, url: &Url) -> Result<Option<TlsSetup>> {
        if url.scheme == Scheme::Http {
            if self.sni.is_some() || self.ca_file.is_some() || self.tls_resumption == Switch::On {
                bail!("--sni, --ca-file and --tls-resumption require https, but {} is http", url.authority());
            }
            return Ok(None);
        }
        let alpn: &[u8] = if self.http2 { b"h2" } else { b"http/1.1" };
        let trust = match &self.ca_file {
            _ if self.insecure => Trust::Anything,
            Some(path) => Trust::File(path),
            None => Trust::System,
        };
        TlsSetup::new(self.sni.as_deref().unwrap_or(&url.host), alpn, trust, self.tls_resumption == Switch::On).map(Some)
    }

    fn load(&self) -> Result<Load> {
        let Some(range) = self.rate else { return Ok(Load::Closed { think_ns: self.think_time.as_nanos() as u64 }) };
        let profile = rate::profile(range, self.step, self.duration)?.after_warmup(self.warmup);
        let schedule = Schedule::new(profile, self.arrivals, 0, 1, self.seed).limited_to(self.requests);
        Ok(Load::Open(OpenLoop { schedule, deadline_ns: self.deadline.map(|deadline| deadline.as_nanos() as u64) }))
    }

    fn config(&self) -> Config {
        Config {
            urls: self.urls.clone(),
            address: String::new(),
            congestion_control: None,
            source_addresses: Vec::new(),
            method: self.method.clone(),
            connections: self.connections,
            threads: self.threads,
            pipeline: self.pipeline,
            duration_s: if self.slices_on_stdin { 0.0 } else { self.duration.as_secs_f64() },
            requests: self.requests,
            warmup_s: self.warmup.as_secs_f64(),
            timeout_s: self.timeout.as_secs_f64(),
            interval_s: if self.slices_on_stdin { 0.0 } else { self.interval.as_secs_f64() },
            protocol: if self.http2 { "HTTP/2" } else { "HTTP/1.1" },
            keep_alive: !self.no_keepalive,
            requests_per_connection: self.requests_per_connection.map(u64::from),
            r#loop: if self.rate.is_some() { "open" } else { "closed" },
            rate_from_rps: self.rate.map(|range| range.from_rps),
            rate_to_rps: self.rate.map(|range| range.to_rps),
            arrivals: self.rate.map(|_| self.arrivals.name()),
            part: self.part.to_string(),
            deadline_s: self.deadline.map(|deadline| deadline.as_secs_f64()),
            think_time_s: (!self.think_time.is_zero()).then_some(self.think_time.as_secs_f64()),
            sse: self.sse,
            tls_resumption: self.urls.iter().any(|url| url.starts_with("https:")).then_some(self.tls_resumption == Switch::On),
        }
    }
}
