//! The command line: what can be asked for, and the checks that need more than one argument.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};

use crate::endpoint::{Scheme, Url};
use crate::engine::EngineChoice;
use crate::plan::{Pace, Plan};
use crate::protocol::http1::MethodKind;
use crate::protocol::http1::body::{BodyExpectation, Expectation};
use crate::request::{RequestKind, Requests};
use crate::result::Config;
use crate::units::{parse_count, parse_duration, parse_positive_duration};

const EXAMPLES: &str = "\
Examples:
  httpbench-loadgen -c 64 -d 10s http://127.0.0.1:8080/
  httpbench-loadgen -c 64 -t 2 --warmup 2s --expect-body 'Hello, World!' --json result.json http://127.0.0.1:8080/
  httpbench-loadgen -c 256 --pipeline 16 -H 'Accept: text/plain' http://127.0.0.1:8080/
  httpbench-loadgen -X POST --body @order.json -H 'Content-Type: application/json' http://127.0.0.1:8080/orders
";

/// An HTTP load generator that is fast and whose latencies are true.
#[derive(Debug, Parser)]
#[command(name = "httpbench-loadgen", version, about, before_help = EXAMPLES, max_term_width = 110)]
pub struct Args {
    /// Where to send requests, as http://host:port/path.
    pub url: String,
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
    /// How long a response, or the set-up of a connection, is waited for.
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
    /// The only right status; without it, 200 to 399 are right.
    #[arg(long, value_parser = clap::value_parser!(u16).range(200..=999))]
    pub expect_status: Option<u16>,
    /// The only right body, or @FILE.
    #[arg(long)]
    pub expect_body: Option<String>,
    /// The SHA-256 of the only right body, in hexadecimal.
    #[arg(long, conflicts_with = "expect_body")]
    pub expect_body_sha256: Option<String>,
    /// CPUs to pin the threads to, in turn.
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
    /// Write the percentiles in the format that the HdrHistogram plotter reads.
    #[arg(long, value_name = "FILE")]
    pub hdr: Option<PathBuf>,
    /// How progress is shown on stderr; auto: a live line on a terminal, otherwise nothing.
    #[arg(long, value_enum, default_value_t = ProgressChoice::Auto)]
    pub progress: ProgressChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressChoice {
    Auto,
    Line,
    Json,
    None,
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
        let url = Url::parse(&self.url)?;
        if url.scheme == Scheme::Https {
            bail!("https is not spoken");
        }
        if self.threads > self.connections {
            bail!("{} threads need at least as many connections: -c is {}", self.threads, self.connections);
        }
        let peer = url.resolve()?;
        let requests = Requests::new(self.request_kind(&url)?, self.pipeline);
        Ok(Plan {
            config: self.config(),
            url,
            peer,
            requests,
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
            pace: Pace::Closed { think: self.think_time },
        })
    }

    fn config(&self) -> Config {
        Config {
            url: self.url.clone(),
            method: self.method.clone(),
            connections: self.connections,
            threads: self.threads,
            pipeline: self.pipeline,
            duration_s: self.duration.as_secs_f64(),
            warmup_s: self.warmup.as_secs_f64(),
            timeout_s: self.timeout.as_secs_f64(),
            interval_s: self.interval.as_secs_f64(),
            keep_alive: !self.no_keepalive,
            requests_per_connection: self.requests_per_connection.map(u64::from),
            r#loop: "closed",
            rate: None,
            arrivals: None,
            think_time_s: (!self.think_time.is_zero()).then_some(self.think_time.as_secs_f64()),
        }
    }

    fn request_kind(&self, url: &Url) -> Result<RequestKind> {
        if self.method.is_empty() || !self.method.bytes().all(is_token_byte) {
            bail!("`{}` is no method", self.method);
        }
        let method_kind = if self.method == "HEAD" { MethodKind::Head } else { MethodKind::Other };
        let expectation = Expectation { status: self.expect_status, body: self.body_expectation()? };
        Ok(RequestKind { method_kind, bytes: self.request_bytes(url)?.into(), expectation })
    }

    fn body_expectation(&self) -> Result<BodyExpectation> {
        if let Some(hex) = &self.expect_body_sha256 {
            let digest = parse_sha256(hex).with_context(|| format!("`{hex}` is no SHA-256: it has 64 hexadecimal digits"))?;
            return Ok(BodyExpectation::Sha256(digest));
        }
        Ok(match &self.expect_body {
            Some(text) => BodyExpectation::Exact(text_or_file(text)?.into()),
            None => BodyExpectation::Any,
        })
    }

    fn request_bytes(&self, url: &Url) -> Result<Vec<u8>> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, url.path);
        let mut has_host = false;
        for header in &self.headers {
            let (name, value) = header.split_once(':').with_context(|| format!("`{header}` is no header: write 'Name: value'"))?;
            let value = value.trim();
            if name.is_empty() || !name.bytes().all(is_token_byte) || value.bytes().any(|byte| byte < b' ' && byte != b'\t') {
                bail!("`{header}` is no header: write 'Name: value'");
            }
            has_host |= name.eq_ignore_ascii_case("host");
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !has_host {
            head.push_str(&format!("Host: {}\r\n", url.host_header()));
        }
        if self.no_keepalive {
            head.push_str("Connection: close\r\n");
        }
        let body = self.body.as_deref().map(text_or_file).transpose()?.unwrap_or_default();
        if self.body.is_some() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }
}

fn text_or_file(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix('@') {
        Some(path) => std::fs::read(path).with_context(|| format!("cannot read `{path}`")),
        None => Ok(text.as_bytes().to_vec()),
    }
}

fn parse_sha256(hex: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(digest)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
