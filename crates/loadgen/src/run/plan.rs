//! What a run does, checked: made once from the command line, then only read.

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
    /// The options, as the result repeats them.
    pub config: Config,
    pub url: Url,
    /// What to connect to: the host's addresses, the proxy's, or a Unix socket.
    pub addresses: Addresses,
    /// The chosen congestion control; `None`: the default.
    pub congestion_control: Option<String>,
    pub requests: Requests,
    /// How TLS is spoken, if it is.
    pub tls: Option<TlsSetup>,
    /// Whether the peer is a proxy that opens a tunnel.
    pub proxied: bool,
    pub http2: bool,
    pub connections: u32,
    pub threads: u32,
    /// CPUs that the threads are pinned to, in turn; empty: not pinned.
    pub cpus: Vec<usize>,
    pub engine: EngineChoice,
    pub duration: Duration,
    pub warmup: Duration,
    pub timeout: Duration,
    pub interval: Duration,
    /// How often each thread keeps one response whole; `None`: never.
    pub sample_every: Option<Duration>,
    pub pipeline: u16,
    pub requests_per_connection: Option<u64>,
    /// Of all threads together; `Load::of_thread` gives the share of one.
    pub load: Load,
    pub seed: u64,
    /// What of the load this load generator makes. The connections are its own.
    pub part: Part,
    /// Whether the load begins when stdin says so.
    pub start_on_stdin: bool,
}

impl Plan {
    /// How many of the connections thread `thread` has.
    pub fn connections_of(&self, thread: u32) -> u32 {
        self.connections / self.threads + u32::from(thread < self.connections % self.threads)
    }

    /// The place of thread `thread` among the threads of all parts, and the number of places.
    pub fn place_of(&self, thread: u32) -> (u32, u32) {
        (self.part.thread(thread), self.part.threads(self.threads).unwrap_or(u32::MAX))
    }

    /// The CPU that thread `thread` is pinned to.
    pub fn cpu_of(&self, thread: u32) -> Option<usize> {
        (!self.cpus.is_empty()).then(|| self.cpus[thread as usize % self.cpus.len()])
    }
}
