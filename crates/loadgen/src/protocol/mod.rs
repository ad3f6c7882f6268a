//! Protocols without I/O. They convert requests into bytes, and received bytes into completed requests.
//!
//! Protocols don't use sockets, so every protocol works with every engine and can be tested with byte slices. Engines and workers are
//! generic over the protocol, so there is no dynamic dispatch.

mod body;
mod events;
pub mod http1;
pub mod http2;
mod sampler;
pub mod tls;
pub mod tunnel;

use std::borrow::Cow;

use crate::figures::errors::ErrorKind;
use crate::figures::events::Block;
pub use crate::figures::outcome::Outcome;
use crate::figures::sample::Sample;

/// A number that identifies one of the requests in flight on a connection.
pub type Slot = u16;

/// Whether a connection can carry further requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Open,
    /// The connection accepts no further requests, but the server may still respond to those in flight.
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

/// Counts of response heads that the shortcut recognized, and of response heads that were parsed in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParserCounts {
    pub fast: u64,
    pub full: u64,
}

/// Counts of full and of resumed TLS handshakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsHandshakes {
    pub full: u64,
    pub resumed: u64,
    /// Cipher suite of the first handshake.
    pub cipher: Option<&'static str>,
}

/// A receiver for the progress and the outcomes of requests.
pub trait Sink {
    /// Records that a part of a response has arrived. Protocols call this at least for the first part of each response that is incomplete
    /// at the end of a call of `receive`.
    fn begin(&mut self, _slot: Slot) {}

    /// Records a block of an event stream.
    fn event(&mut self, _slot: Slot, _block: Block) {}

    fn complete(&mut self, slot: Slot, outcome: Outcome);
}

/// Collects outcomes in order, for tests and fuzzing.
impl Sink for Vec<(Slot, Outcome)> {
    fn complete(&mut self, slot: Slot, outcome: Outcome) {
        self.push((slot, outcome));
    }
}

/// A protocol that one worker thread uses on many connections.
pub trait Protocol {
    /// The state of one connection.
    type Session;

    /// Creates the session for a newly connected socket.
    fn open(&mut self) -> Self::Session;

    /// Returns whether the handshake is complete, so that requests can be sent.
    fn ready(&self, session: &Self::Session) -> bool;

    /// Queues a request and returns its part of the load. The caller must keep at most `depth` requests in flight.
    fn request(&mut self, session: &mut Self::Session, slot: Slot) -> u16;

    /// Writes the output for queued and abandoned requests. Must be called before `output`.
    #[inline]
    fn prepare_output(&mut self, _session: &mut Self::Session) {}

    /// Returns the bytes to send.
    fn output<'a>(&'a self, session: &'a Self::Session) -> &'a [u8];

    /// Removes the first `count` bytes from the output. The caller has sent them.
    fn sent(&mut self, session: &mut Self::Session, count: usize);

    /// Returns whether the output never moves or changes during the protocol's lifetime, so that the kernel may still read it after `sent`.
    fn stable_output(&self) -> bool;

    /// Returns the maximum total size of the requests in flight on one connection, in bytes. Returns `usize::MAX` if the output isn't
    /// stable.
    ///
    /// No more than this number of bytes is in flight, provided that the engine sends all output at once and that the server reads each
    /// request before it responds.
    fn output_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Abandons a request in flight and informs the server. The outcome of the request won't be reported. Returns false if the protocol
    /// cannot abandon a single request; in that case, the connection must be closed.
    fn abandon(&mut self, _session: &mut Self::Session, _slot: Slot) -> bool {
        false
    }

    /// Processes received bytes and reports each completed request. The bytes may be split at any position.
    fn receive(&mut self, session: &mut Self::Session, bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault>;

    /// Handles the end of the stream. The returned fault applies to any requests that are still in flight.
    fn end_of_stream(&mut self, session: &mut Self::Session, sink: &mut impl Sink) -> Fault;

    /// Handles a reset of the connection. The returned fault applies to any requests that are still in flight. HTTP/2 reports requests that
    /// were never sent as `Unprocessed`.
    fn reset(&mut self, _session: &mut Self::Session, _sink: &mut impl Sink) -> Fault {
        Fault { kind: ErrorKind::Reset, reason: "the connection was reset".into() }
    }

    /// Returns the number of upcoming bytes that may be discarded unread because only their number matters.
    fn skippable(&self, session: &Self::Session) -> usize;

    /// Records that `count` skippable bytes were discarded.
    fn skip(&mut self, session: &mut Self::Session, count: usize, sink: &mut impl Sink) -> Result<Flow, Fault>;

    fn parser_counts(&self) -> ParserCounts;

    /// Keeps one of the upcoming responses as a sample.
    fn sample_next(&mut self) {}

    /// Removes and returns the responses kept so far.
    fn take_samples(&mut self) -> Vec<Sample> {
        Vec::new()
    }

    /// Returns the numbers of handshakes so far; `None` without TLS.
    fn tls_handshakes(&self) -> Option<TlsHandshakes> {
        None
    }
}
