//! The command line: what can be asked for, and the checks that need more than one argument.

mod rate;
mod requests;
mod units;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};

use crate::endpoint::addresses::Addresses;
use crate::endpoint::url::{Scheme, Url};
use crate::engine::{EngineChoice, Peer};
use crate::figures::gates::Gates;
use crate::figures::histogram::LONGEST;
use crate::figures::result::Config;
use crate::output::progress::ProgressChoice;
use crate::protocol::tls::{TlsSetup, Trust};
use crate::run::plan::Plan;
use crate::time::schedule::{Arrivals, Schedule};
use crate::worker::{Load, OpenLoop};
use rate::{RateRange, Step, parse_rate, parse_step};
use units::{parse_count, parse_duration, parse_positive_duration, parse_share};

const EXAMPLES: &str = "\
Examples:
  httpbench-loadgen -c 64 -d 10s http://127.0.0.1:8080/
  httpbench-loadgen -c 64 -t 2 --warmup 2s --expect-body 'Hello, World!' --json result.json http://127.0.0.1:8080/
  httpbench-loadgen -c 256 --pipeline 16 -H 'Accept: text/plain' http://127.0.0.1:8080/
  httpbench-loadgen --rate 25k --max-p99 5ms --max-errors 0.1% http://127.0.0.1:8080/
  httpbench-loadgen --rate 10k..25k --step 1k/10s -d 160s --arrivals poisson http://127.0.0.1:8080/
  httpbench-loadgen -X POST --body @order.json -H 'Content-Type: application/json' http://127.0.0.1:8080/orders
";

/// An HTTP load generator that is fast and whose latencies are true.
#[derive(Debug, Parser)]
#[command(name = "httpbench-loadgen", version, about, before_help = EXAMPLES, max_term_width = 110)]
pub struct Args {
    /// Where to send requests, as http://host:port/path. Several URLs of one host and port take turns.
    #[arg(required_unless_present_any = ["completions", "json_schema"], value_name = "URL")]
    pub urls: Vec<String>,
    /// How often each URL gets its turn, such as 3,1; one whole number per URL.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub weights: Vec<u32>,
    /// Open loop: requests per second, whatever the responses do; 25k, or 10k..25k for a rising rate.
    #[arg(short = 'r', long, value_parser = parse_rate, conflicts_with = "think_time")]
    pub rate: Option<RateRange>,
    /// Change the rate in steps instead of gradually, such as 1k/10s.
    #[arg(long, value_parser = parse_step, requires = "rate")]
    pub step: Option<Step>,
    /// How requests of an open loop are spaced.
    #[arg(long, value_enum, default_value_t = Arrivals::Constant, requires = "rate")]
    pub arrivals: Arrivals,
    /// Open loop: drop requests that are later than this; they are counted as not sent.
    #[arg(long, value_parser = parse_positive_duration, requires = "rate")]
    pub deadline: Option<Duration>,
    /// Seed of everything random: Poisson arrivals and placeholders.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Connections, over all threads.
    #[arg(short = 'c', long, default_value = "64", value_parser = parse_count)]
    pub connections: u32,
    /// Threads; each has its share of the connections.
    #[arg(short = 't', long, default_value = "1", value_parser = parse_count)]
    pub threads: u32,
    /// Length of the measured window.
    #[arg(short = 'd', long, default_value = "10s", value_parser = parse_positive_duration)]
    pub duration: Duration,
    /// Load before the measured window, on the same connections.
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub warmup: Duration,
    /// Request timeout, also for setting up a connection.
    #[arg(long, default_value = "2s", value_parser = parse_positive_duration)]
    pub timeout: Duration,
    /// Requests in flight on one connection.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub pipeline: u16,
    /// Close each connection after this many requests, and set up a new one.
    #[arg(long, value_parser = parse_count)]
    pub requests_per_connection: Option<u32>,
    /// A new connection for each request, announced with `Connection: close`.
    #[arg(long, conflicts_with_all = ["requests_per_connection", "pipeline"])]
    pub no_keepalive: bool,
    /// Pause between a response and the next request on its connection.
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub think_time: Duration,
    #[arg(short = 'X', long, default_value = "GET")]
    pub method: String,
    /// A header field, as 'Name: value'; may be repeated. Host may be replaced.
    #[arg(short = 'H', long = "header")]
    pub headers: Vec<String>,
    /// The body of the request, or @FILE.
    #[arg(long)]
    pub body: Option<String>,
    /// Send this, or @FILE, as it is, instead of a request made of the options above. {{seq}} becomes a number of ten digits that counts up,
    /// {{random}} sixteen random hexadecimal digits.
    #[arg(long, conflicts_with_all = ["headers", "body", "no_keepalive"])]
    pub raw_request: Option<String>,
    /// Speak HTTP/2: with prior knowledge over http, by ALPN over https. --pipeline is the number of streams per connection.
    #[arg(long, conflicts_with_all = ["raw_request", "no_keepalive", "proxy"])]
    pub http2: bool,
    /// Believe any certificate. Without it, the system's roots decide; SSL_CERT_FILE names others.
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Believe certificates that lead to a root in this PEM file, and no others.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca_file: Option<PathBuf>,
    /// The name that TLS asks for and the certificate must have, instead of the URL's host.
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Let connections resume the TLS sessions of earlier ones; off: each makes a full handshake, as a new client does.
    #[arg(long, value_enum, default_value_t = Switch::Off)]
    pub tls_resumption: Switch,
    /// Reach the host through this HTTP proxy, as http://host:port, with CONNECT.
    #[arg(long, value_name = "URL", conflicts_with = "unix_socket")]
    pub proxy: Option<String>,
    /// Connect to this Unix socket instead of the URL's host.
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<PathBuf>,
    /// TCP congestion control of the connections [default: the system's, but Reno where that is BBR].
    #[arg(long, value_name = "NAME", conflicts_with = "unix_socket")]
    pub congestion_control: Option<String>,
    /// The only correct status; without it, 200 to 399 are correct.
    #[arg(long, value_parser = clap::value_parser!(u16).range(200..=999))]
    pub expect_status: Option<u16>,
    /// The only correct body, or @FILE.
    #[arg(long)]
    pub expect_body: Option<String>,
    /// The SHA-256 of the only correct body, in hexadecimal.
    #[arg(long, conflicts_with = "expect_body")]
    pub expect_body_sha256: Option<String>,
    /// CPUs to pin the threads to, in turn, such as 2,3.
    #[arg(long, value_delimiter = ',')]
    pub cpus: Vec<usize>,
    #[arg(long, value_enum, default_value_t = EngineChoice::Auto)]
    pub engine: EngineChoice,
    /// Length of the intervals in the result, from 100ms to 1s.
    #[arg(long, default_value = "250ms", value_parser = parse_interval)]
    pub interval: Duration,
    /// Write the result as JSON to this file, or `-` for stdout.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the percentiles in the format that the HdrHistogram plotter reads to this file, or `-` for stdout.
    #[arg(long, value_name = "FILE")]
    pub hdr: Option<PathBuf>,
    /// Exit with 3 if p99 is above this (of the response time in an open loop, of the service time in a closed one).
    #[arg(long, value_parser = parse_positive_duration)]
    pub max_p99: Option<Duration>,
    /// Exit with 3 if a larger share of the requests failed or was never sent, such as 0.1%.
    #[arg(long, value_parser = parse_share)]
    pub max_errors: Option<f64>,
    /// Print the JSON schema of the result, and do nothing else.
    #[arg(long, exclusive = true)]
    pub json_schema: bool,
    /// Print the completions for this shell, and do nothing else.
    #[arg(long, value_enum, value_name = "SHELL", exclusive = true)]
    pub completions: Option<clap_complete::Shell>,
    /// How progress is shown on stderr; auto: a live line on a terminal, otherwise nothing.
    #[arg(long, value_enum, default_value_t = ProgressChoice::Auto)]
    pub progress: ProgressChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = parse_duration(text)?;
    if !(Duration::from_millis(100)..=Duration::from_secs(1)).contains(&interval) {
        return Err("must lie between 100ms and 1s".to_owned());
    }
    Ok(interval)
}

impl Args {
    /// Checks what clap cannot, and resolves the host.
    pub fn plan(&self) -> Result<Plan> {
        let urls = self.urls.iter().map(|url| Url::parse(url)).collect::<Result<Vec<_>>>()?;
        let url = urls[0].clone();
        if let Some(other) = urls.iter().find(|other| (other.scheme, &other.host, other.port) != (url.scheme, &url.host, url.port)) {
            bail!("all URLs must have one scheme, host and port: {} is not {}", other.authority(), url.authority());
        }
        if self.warmup + self.duration > LONGEST {
            bail!("--warmup and --duration together are longer than 24 hours");
        }
        if self.threads > self.connections {
            bail!("{} threads need at least as many connections: -c is {}", self.threads, self.connections);
        }
        Ok(Plan {
            config: self.config(),
            addresses: self.addresses(&url)?,
            congestion_control: self.congestion_control.clone(),
            requests: self.requests(&urls)?,
            tls: self.tls(&url)?,
            proxied: self.proxy.is_some(),
            http2: self.http2,
            url,
            connections: self.connections,
            threads: self.threads,
            cpus: self.cpus.clone(),
            engine: self.engine,
            duration: self.duration,
            warmup: self.warmup,
            timeout: self.timeout,
            interval: self.interval,
            pipeline: self.pipeline,
            requests_per_connection: if self.no_keepalive { Some(1) } else { self.requests_per_connection.map(u64::from) },
            load: self.load()?,
            seed: self.seed,
        })
    }

    pub fn gates(&self) -> Gates {
        Gates { p99_max: self.max_p99, error_share_max: self.max_errors }
    }

    /// What the sockets may connect to; that the congestion control can be used there.
    fn addresses(&self, url: &Url) -> Result<Addresses> {
        let addresses = self.resolve(url)?;
        if let Some(name) = &self.congestion_control {
            let peer = Peer { address: addresses.preferred().clone(), congestion_control: Some(name.clone()) };
            peer.effective_congestion_control().with_context(|| {
                let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").unwrap_or_default();
                format!("cannot use the congestion control `{name}` (everyone may use: {})", known.trim().replace(' ', ", "))
            })?;
        }
        Ok(addresses)
    }

    fn resolve(&self, url: &Url) -> Result<Addresses> {
        match (&self.unix_socket, &self.proxy) {
            (Some(path), _) => Addresses::unix(path),
            (None, Some(proxy)) => match Url::parse(proxy)? {
                Url { scheme: Scheme::Https, .. } => bail!("a proxy is spoken to with http, not https"),
                proxy => proxy.resolve(),
            },
            (None, None) => url.resolve(),
        }
    }

    fn tls(&self, url: &Url) -> Result<Option<TlsSetup>> {
        if url.scheme == Scheme::Http {
            if self.sni.is_some() || self.ca_file.is_some() || self.tls_resumption == Switch::On {
                bail!("--sni, --ca-file and --tls-resumption are for https, and {} is http", url.authority());
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
        let schedule = Schedule::new(profile, self.arrivals, 0, 1, self.seed);
        Ok(Load::Open(OpenLoop { schedule, deadline_ns: self.deadline.map(|deadline| deadline.as_nanos() as u64) }))
    }

    fn config(&self) -> Config {
        Config {
            urls: self.urls.clone(),
            address: String::new(),
            congestion_control: None,
            method: self.method.clone(),
            connections: self.connections,
            threads: self.threads,
            pipeline: self.pipeline,
            duration_s: self.duration.as_secs_f64(),
            warmup_s: self.warmup.as_secs_f64(),
            timeout_s: self.timeout.as_secs_f64(),
            interval_s: self.interval.as_secs_f64(),
            protocol: if self.http2 { "HTTP/2" } else { "HTTP/1.1" },
            keep_alive: !self.no_keepalive,
            requests_per_connection: self.requests_per_connection.map(u64::from),
            r#loop: if self.rate.is_some() { "open" } else { "closed" },
            rate_from_rps: self.rate.map(|range| range.from_rps),
            rate_to_rps: self.rate.map(|range| range.to_rps),
            arrivals: self.rate.map(|_| self.arrivals.name()),
            deadline_s: self.deadline.map(|deadline| deadline.as_secs_f64()),
            think_time_s: (!self.think_time.is_zero()).then_some(self.think_time.as_secs_f64()),
            tls_resumption: self.urls.iter().any(|url| url.starts_with("https:")).then_some(self.tls_resumption == Switch::On),
        }
    }
}
