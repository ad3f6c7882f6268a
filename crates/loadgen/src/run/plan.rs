//! A validated description of a run, created from the command line.

use std::time::Duration;

use crate::endpoint::addresses::Addresses;
use crate::endpoint::url::Url;
use crate::engine::EngineChoice;
use crate::figures::result::Config;
use crate::protocol::tls::TlsSetup;
use crate::request::Requests;
use crate::time::part::Part;
use crate::worker::Load;

#[derive(Clone, Debug)]
pub struct Plan {
    /// The options that the result reports.
    pub config: Config,
    pub url: Url,
    /// The addresses to connect to: the addresses of the host or of the proxy, or a Unix socket.
    pub addresses: Addresses,
    /// The selected congestion control. `None` means the system's default, or Reno if the default paces packets.
    pub congestion_control: Option<String>,
    pub requests: Requests,
    /// TLS settings; `None` for plain HTTP.
    pub tls: Option<TlsSetup>,
    /// Whether each connection first opens a tunnel through a proxy.
    pub proxied: bool,
    pub http2: bool,
    pub connections: u32,
    pub threads: u32,
    /// CPUs to which the threads are assigned in turn; empty if the threads aren't pinned.
    pub cpus: Vec<usize>,
    pub engine: EngineChoice,
    pub duration: Duration,
    /// Number of requests after which the run ends; `None` if it ends after `duration`.
    pub requests_total: Option<u64>,
    pub warmup: Duration,
    pub timeout: Duration,
    pub interval: Duration,
    /// Interval at which each thread keeps a complete response; `None` if it keeps none.
    pub sample_every: Option<Duration>,
    pub pipeline: u16,
    pub requests_per_connection: Option<u64>,
    /// The load of all threads together. `Load::of_thread` returns the share of one thread.
    pub load: Load,
    pub seed: u64,
    /// The part of the load that this load generator sends. The number of connections isn't divided among the parts.
    pub part: Part,
    /// Whether the load waits for a start signal on stdin.
    pub start_on_stdin: bool,
    /// Whether commands on stdin start and end the load.
    pub slices_on_stdin: bool,
}

impl Plan {
    /// Returns the number of connections of a thread.
    pub fn connections_of(&self, thread: u32) -> u32 {
        self.connections / self.threads + u32::from(thread < self.connections % self.threads)
    }

    /// Returns the index of a thread among the threads of all parts, and the total number of threads.
    pub fn place_of(&self, thread: u32) -> (u32, u32) {
        (self.part.thread(thread), self.part.threads(self.threads).unwrap_or(u32::MAX))
    }

    /// Returns the CPU that a thread is pinned to, or `None` if the threads aren't pinned.
    pub fn cpu_of(&self, thread: u32) -> Option<usize> {
        (!self.cpus.is_empty()).then(|| self.cpus[thread as usize % self.cpus.len()])
    }
}
