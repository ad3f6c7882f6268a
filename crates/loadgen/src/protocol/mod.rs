//! Protocols without I/O: they turn requests into bytes, and bytes into completed requests.
//!
//! A protocol knows nothing about sockets, so every protocol works with every engine and can be tested with byte slices. All calls are
//! dispatched statically.

mod body;
pub mod http1;
pub mod http2;
pub mod tls;
pub mod tunnel;

use std::borrow::Cow;

use crate::figures::errors::ErrorKind;
pub use crate::figures::outcome::Outcome;
use crate::figures::sample::Sample;

/// The number that identifies a request among those in flight on the same connection.
pub type Slot = u16;

/// Whether a connection can carry further requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Open,
    /// The connection carries no further requests, but those in flight may still be answered.
    Drain,
    Close,
}

/// The reason why a connection is no longer usable. All requests in flight on it fail with `kind`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: ErrorKind,
    pub reason: Cow<'static, str>,
}

impl Fault {
    pub const fn invalid(reason: &'static str) -> Self {
        Self { kind: ErrorKind::InvalidResponse, reason: Cow::Borrowed(reason) }
    }

    pub const fn closed_early(reason: &'static str) -> Self {
        Self { kind: ErrorKind::ClosedEarly, reason: Cow::Borrowed(reason) }
    }
}

/// The number of response heads that the shortcut recognized, and the number of those that were parsed in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParserCounts {
    pub fast: u64,
    pub full: u64,
}

/// The number of full TLS handshakes, and the number of resumed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsHandshakes {
    pub full: u64,
    pub resumed: u64,
}

/// Receives the requests that have ended.
pub trait Sink {
    fn complete(&mut self, slot: Slot, outcome: Outcome);
}

/// Collects outcomes in order, for tests and fuzzing.
impl Sink for Vec<(Slot, Outcome)> {
    fn complete(&mut self, slot: Slot, outcome: Outcome) {
        self.push((slot, outcome));
    }
}

/// A protocol that one worker thread speaks on many connections.
pub trait Protocol {
    /// The state of one connection.
    type Session;

    /// Creates the session of a newly connected socket.
    fn open(&mut self) -> Self::Session;

    /// Returns whether the handshake is over, so that requests can be sent.
    fn ready(&self, session: &Self::Session) -> bool;

    /// Queues a request and returns its kind. The caller keeps at most `depth` requests in flight.
    fn request(&mut self, session: &mut Self::Session, slot: Slot) -> u16;

    /// Adds the output that queued and abandoned requests cause. Called once per batch, before `output`.
    #[inline]
    fn prepare_output(&mut self, _session: &mut Self::Session) {}

    /// Returns the bytes to send.
    fn output<'a>(&'a self, session: &'a Self::Session) -> &'a [u8];

    /// Removes the first `count` bytes from the output, after they have been sent.
    fn sent(&mut self, session: &mut Self::Session, count: usize);

    /// Returns whether the output never moves or changes during the protocol's lifetime, so that the kernel may read it after `sent`.
    fn stable_output(&self) -> bool;

    /// Returns the maximum number of bytes of the requests in flight on one connection, or `usize::MAX` if the output isn't stable.
    ///
    /// If an engine sends all output at once and the server reads each request before it responds, no more than this number of bytes is in
    /// flight.
    fn output_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Abandons a request in flight and tells the server. The end of the request will not be reported. Returns false if the protocol cannot
    /// abandon a single request; in that case, the connection must be closed.
    fn abandon(&mut self, _session: &mut Self::Session, _slot: Slot) -> bool {
        false
    }

    /// Processes received bytes, which may be split anywhere, and reports each completed request.
    fn receive(&mut self, session: &mut Self::Session, bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault>;

    /// Handles the end of the stream. The returned fault applies to any requests that are still in flight.
    fn end_of_stream(&mut self, session: &mut Self::Session, sink: &mut impl Sink) -> Fault;

    /// Handles a reset of the connection. The returned fault applies to any requests that are still in flight. Requests that were never
    /// sent are reported as `Unprocessed`.
    fn reset(&mut self, _session: &mut Self::Session, _sink: &mut impl Sink) -> Fault {
        Fault { kind: ErrorKind::Reset, reason: "the connection was reset".into() }
    }

    /// Returns how many of the next bytes may be discarded unread because only their number matters.
    fn skippable(&self, session: &Self::Session) -> usize;

    /// Records that `count` skippable bytes were discarded.
    fn skip(&mut self, session: &mut Self::Session, count: usize, sink: &mut impl Sink) -> Result<Flow, Fault>;

    fn parser_counts(&self) -> ParserCounts;

    /// Keeps one of the next responses. HTTP/2 doesn't support this.
    fn sample_next(&mut self) {}

    /// Takes the responses kept so far.
    fn take_samples(&mut self) -> Vec<Sample> {
        Vec::new()
    }

    /// Returns the number of handshakes so far; `None` without TLS.
    fn tls_handshakes(&self) -> Option<TlsHandshakes> {
        None
    }
}
