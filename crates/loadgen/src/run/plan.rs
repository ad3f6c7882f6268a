//! A validated description of a run, created from the command line.

use std::time::Duration;

use anyhow::Result;
use socket2::SockAddr;

use crate::endpoint::addresses::Addresses;
use crate::endpoint::sources::{SourceRange, Sources};
use crate::endpoint::url::Url;
use crate::engine::{EngineChoice, Peer};
use crate::figures::result::Config;
use crate::protocol::Protocol;
use crate::protocol::http1::Http1;
use crate::protocol::http2::Http2;
use crate::protocol::tls::{Tls, TlsSetup};
use crate::protocol::tunnel::Tunnel;
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
    /// The selected local addresses of the connections; empty if the user selected none.
    pub source_addresses: Vec<SourceRange>,
    pub requests: Requests,
    /// TLS settings; `None` for plain HTTP.
    pub tls: Option<TlsSetup>,
    /// Whether each connection first opens a tunnel through a proxy.
    pub proxied: bool,
    pub http2: bool,
    /// Whether responses are event streams.
    pub sse: bool,
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

/// Code that works with every protocol. The compiler generates it separately for each protocol.
pub trait Speaker {
    type Output;

    fn speak<P: Protocol>(self, protocol: P) -> Self::Output;
}

impl Plan {
    /// Runs `speaker` with the plan's protocol and the requests of a thread.
    pub fn speak<S: Speaker>(&self, thread: u32, speaker: S) -> S::Output {
        let (place, places) = self.place_of(thread);
        let requests = self.requests.clone().of_thread(place, places, self.seed);
        let authority = self.url.authority();
        match (self.http2, self.tls.clone(), self.proxied) {
            (true, None, _) => speaker.speak(Http2::new(requests)),
            (true, Some(tls), _) => speaker.speak(Tls::new(Http2::new(requests), tls)),
            (false, None, false) => speaker.speak(Http1::new(requests)),
            (false, Some(tls), false) => speaker.speak(Tls::new(Http1::new(requests), tls)),
            (false, None, true) => speaker.speak(Tunnel::new(Http1::new(requests), &authority)),
            (false, Some(tls), true) => speaker.speak(Tunnel::new(Tls::new(Http1::new(requests), tls), &authority)),
        }
    }

    /// Returns the peer of all connections at one of the addresses. Fails if there are too few source addresses.
    pub fn peer(&self, address: SockAddr) -> Result<Peer> {
        let sources = Sources::select(&self.source_addresses, self.connections, address.as_socket())?;
        Ok(Peer { address, congestion_control: self.congestion_control.clone(), sources })
    }

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
