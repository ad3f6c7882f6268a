//! One thread's share of the run, without I/O. A worker decides when each connection sends a request, which requests are counted, and which
//! requests have timed out.
//!
//! The engine passes events and the time to the worker. The worker tells the engine which connections to open, flush and close. The worker
//! allocates memory only when it is created and at the end of each span.

mod attention;
pub mod connection;
pub mod cost;
mod events;
mod orders;
mod pacing;
mod phases;
mod sending;
mod shortest;
mod silence;
mod tickets;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::SyncSender;

use crate::figures::pool::Pool;
use crate::figures::recorder::Recorder;
use crate::figures::result::TlsHandshakes;
use crate::figures::sample::Sample;
use crate::protocol::{Fault, ParserCounts, Protocol};
use crate::time::clock;
use crate::time::window::{Phase, Span, Window};
use attention::Attention;
use connection::Connection;
use cost::Cost;
pub use events::End;
pub use orders::{Alarm, Windows};
use pacing::Pacing;
pub use pacing::{Load, OpenLoop};
use shortest::Shortest;
use silence::Silence;
pub use silence::Stalls;
use tickets::Tickets;

/// State shared by the threads of a run.
#[derive(Debug, Default)]
pub struct Shared {
    /// Number of workers whose connections have all been set up or have failed.
    pub ready: AtomicU32,
    pub connected: AtomicU32,
    /// The windows in which to generate load. The coordinator sets the first one when all workers are ready.
    pub window: Windows,
    /// Whether there may be more than one window. If so, the workers wait for all responses after each window.
    pub in_slices: bool,
    /// Requests that may still be sent; `None` unless a closed loop ends after a number of requests. The schedule of an open loop ends by
    /// itself.
    tickets: Option<Tickets>,
    /// Whether a thread stopped the run because it couldn't connect any more.
    pub unreachable: AtomicBool,
    stop: AtomicBool,
    /// The last failure to set up a connection.
    pub connect_failure: std::sync::Mutex<Option<Fault>>,
}

impl Shared {
    /// `requests` is the number of requests after which a closed loop ends.
    pub fn new(in_slices: bool, requests: Option<u64>) -> Self {
        Self { in_slices, tickets: requests.map(Tickets::new), ..Self::default() }
    }

    /// Takes one of the requests that are left. Returns false if the run has sent all its requests.
    #[inline]
    fn may_send(&self) -> bool {
        self.tickets.as_ref().is_none_or(Tickets::take)
    }

    /// Tells the workers to stop. Workers that generate load notice this within 20 ms; sleeping workers wake up at once.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // If this fails, there is no other way to wake up a sleeping thread.
        let _ = self.window.wake_all();
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The report that a worker sends to the coordinator at the end of each span.
pub struct Report {
    pub thread: u32,
    pub span: Span,
    pub recorder: Recorder,
    /// The remaining results of the window, and the ages of the requests that were unfinished at the end of the window. Only the last
    /// report about a window contains them.
    pub last: Option<(Final, Option<Recorder>)>,
}

/// A worker's results for a whole window.
#[derive(Debug, Default)]
pub struct Final {
    /// Number of requests that were still in flight at the end of the window or, if there was a drain, at the end of the drain.
    pub in_flight: u64,
    pub unsent: u64,
    pub backlog: u64,
    pub completed: u64,
    pub cost: Cost,
    /// Stalls of the server. `None` unless the load is a closed loop without think time or event streams. With other loads, a connection
    /// may be silent without a stall.
    pub stalls: Option<Stalls>,
    pub parser: ParserCounts,
    /// Number of checks in which the server ran on the thread's CPU, and number of checks.
    pub shared_cpu: (u32, u32),
    /// Responses that were kept as samples.
    pub samples: Vec<Sample>,
}

impl Final {
    /// Adds the results of a later window.
    pub fn add(&mut self, other: Self) {
        self.in_flight += other.in_flight;
        self.unsent += other.unsent;
        self.backlog += other.backlog;
        self.completed += other.completed;
        self.cost.add(other.cost);
        self.stalls = self.stalls.into_iter().chain(other.stalls).reduce(Stalls::and);
        self.parser.fast += other.parser.fast;
        self.parser.full += other.parser.full;
        self.shared_cpu = (self.shared_cpu.0 + other.shared_cpu.0, self.shared_cpu.1 + other.shared_cpu.1);
        self.samples.extend(other.samples);
    }
}

/// Limits that apply to each connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub depth: u16,
    /// Whether responses are event streams. The timeout then applies only to their first events.
    pub event_streams: bool,
    pub requests_per_connection: u64,
    pub timeout_ns: u64,
    /// Whether the run ends after a number of requests. It then ends early if the server can't be reached any more.
    pub ends_with_requests: bool,
    /// Minimum time between two samples; `u64::MAX` if there are none.
    pub sample_every_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Keep,
    Close,
}

pub struct Worker<P: Protocol> {
    protocol: P,
    connections: Vec<Connection<P::Session>>,
    limits: Limits,
    pacing: Pacing,
    shared: Arc<Shared>,
    reports: SyncSender<Report>,
    pool: Arc<Pool>,
    recorder: Recorder,
    /// The most recent window that has begun.
    window: Window,
    /// Number of windows that have started.
    windows: u64,
    span: Span,
    /// Index of this thread. The worker's reports contain this index.
    pub thread: u32,
    /// Indices of the connections that the engine must open. The engine empties this list and the two lists below.
    pub to_open: Vec<u32>,
    /// Indices of the connections whose output the engine must send.
    pub to_flush: Vec<u32>,
    /// Indices of the connections that the engine must close.
    pub to_close: Vec<u32>,
    /// CPU time that the engine has spent polling. The engine updates this value.
    pub polled_ns: u64,
    connecting: u32,
    attempted: usize,
    said_ready: bool,
    next_sweep_ns: u64,
    next_sample_ns: u64,
    wake_ns: u64,
    attention: Attention,
    shortest: Shortest,
    silence: Silence,
    cost_at_measure: Cost,
    backlog: u64,
    parser_at_measure: ParserCounts,
    completed: u64,
    /// The results at the end of the window, and the time at which it ended. `None` unless the worker is waiting for the last responses.
    ended: Option<(Final, u64)>,
    /// The last time at which a connection was known to be open.
    last_open_ns: u64,
    /// Number of checks in which the server ran on this thread's CPU, and number of checks.
    shared_cpu: (u32, u32),
    handshakes_reported: TlsHandshakes,
    done: bool,
}

impl<P: Protocol> Worker<P> {
    pub fn new(
        mut protocol: P,
        connections: u32,
        limits: Limits,
        load: Load,
        shared: Arc<Shared>,
        reports: SyncSender<Report>,
        pool: Arc<Pool>,
    ) -> Self {
        let connections: Vec<_> = (0..connections).map(|_| Connection::new(protocol.open(), limits.depth, limits.event_streams)).collect();
        Self {
            pacing: Pacing::new(load, connections.len() * usize::from(limits.depth)),
            protocol,
            limits,
            shared,
            reports,
            recorder: pool.take(),
            pool,
            window: Window::default(),
            windows: 0,
            thread: 0,
            span: Span { phase: Phase::Connect, start_ns: clock::now_ns(), end_ns: u64::MAX },
            to_open: Vec::with_capacity(connections.len()),
            to_flush: Vec::with_capacity(connections.len()),
            to_close: Vec::with_capacity(connections.len()),
            polled_ns: 0,
            connections,
            connecting: 0,
            attempted: 0,
            said_ready: false,
            next_sweep_ns: 0,
            next_sample_ns: 0,
            wake_ns: 0,
            attention: Attention::default(),
            shortest: Shortest::default(),
            silence: Silence::default(),
            cost_at_measure: Cost::default(),
            backlog: 0,
            parser_at_measure: ParserCounts::default(),
            completed: 0,
            ended: None,
            last_open_ns: 0,
            shared_cpu: (0, 0),
            handshakes_reported: TlsHandshakes::default(),
            done: false,
        }
    }

    /// Returns whether the worker has reported everything.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Makes the engine call `tick` soon, because the coordinator has new orders.
    pub fn wake(&mut self) {
        self.wake_ns = 0;
    }

    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Returns the time by which `tick` must be called.
    #[inline]
    pub fn wake_ns(&self) -> u64 {
        self.wake_ns
    }

    /// Records that the engine entered the kernel at `entered_ns` and has handled `events` events since then. `all` is true if no events
    /// are left.
    #[inline]
    pub fn note_read(&mut self, entered_ns: u64, events: usize, all: bool) {
        self.attention.note_read(entered_ns, events, all, self.connections.len());
    }

    /// Returns the shortest recent service time in nanoseconds, or `u64::MAX` if there were no responses.
    #[inline]
    pub fn shortest_service_ns(&self) -> u64 {
        self.shortest.ns()
    }

    /// Records whether the server ran on this thread's CPU when it sent a response.
    pub fn note_shared_cpu(&mut self, is_shared: bool) {
        if self.span.phase == Phase::Measure {
            self.shared_cpu.0 += u32::from(is_shared);
            self.shared_cpu.1 += 1;
        }
    }

    pub fn stable_output(&self) -> bool {
        self.protocol.stable_output()
    }

    pub fn output_bytes_max(&self) -> usize {
        self.protocol.output_bytes_max()
    }

    #[inline]
    pub fn output(&mut self, index: u32) -> &[u8] {
        let session = &mut self.connections[index as usize].session;
        self.protocol.prepare_output(session);
        self.protocol.output(session)
    }

    #[inline]
    pub fn sent(&mut self, index: u32, count: usize) {
        self.recorder.bytes_sent += count as u64;
        self.protocol.sent(&mut self.connections[index as usize].session, count);
    }

    #[inline]
    pub fn skippable(&self, index: u32) -> usize {
        self.protocol.skippable(&self.connections[index as usize].session)
    }
}
