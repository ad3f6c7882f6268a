//! Protocols without input or output: bytes in, bytes out, completed requests reported.
//!
//! A protocol knows nothing of sockets, so each one runs on each engine, and can be tested with slices. All calls are resolved when the
//! program is compiled; the loop pays for no dispatch.

mod body;
pub mod http1;
pub mod http2;
pub mod tls;
pub mod tunnel;

use std::borrow::Cow;

use crate::figures::errors::ErrorKind;
pub use crate::figures::outcome::Outcome;
use crate::figures::sample::Sample;

/// The place of a request among those that are in flight on its connection.
pub type Slot = u16;

/// Whether the connection may carry further requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Open,
    /// No further requests; those in flight may still get responses.
    Drain,
    Close,
}

/// Why a connection is of no more use. All requests in flight on it fail with `kind`.
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

/// How many responses were recognised by the verified short cut, and how many took the full parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParserCounts {
    pub fast: u64,
    pub full: u64,
}

/// How many TLS handshakes were full ones, and how many resumed an earlier session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsHandshakes {
    pub full: u64,
    pub resumed: u64,
}

/// Takes note of requests that are over.
pub trait Sink {
    fn complete(&mut self, slot: Slot, outcome: Outcome);
}

/// For tests and fuzzing: the order of the completions is the result.
impl Sink for Vec<(Slot, Outcome)> {
    fn complete(&mut self, slot: Slot, outcome: Outcome) {
        self.push((slot, outcome));
    }
}

/// One protocol, as spoken by one worker thread over many connections.
pub trait Protocol {
    /// What is kept per connection.
    type Session;

    /// A session on a connection that has just been set up.
    fn open(&mut self) -> Self::Session;

    /// Whether requests can be sent: false during a handshake.
    fn ready(&self, session: &Self::Session) -> bool;

    /// Puts one request into the output, and returns its kind. The caller keeps at most its pipeline depth in flight.
    fn request(&mut self, session: &mut Self::Session, slot: Slot) -> u16;

    /// Turns what was requested, or given up, into output. Called once for a batch of requests, before `output`.
    #[inline]
    fn prepare_output(&mut self, _session: &mut Self::Session) {}

    /// The bytes that wait to be sent.
    fn output<'a>(&'a self, session: &'a Self::Session) -> &'a [u8];

    /// Says that the first `count` bytes of the output are on their way.
    fn sent(&mut self, session: &mut Self::Session, count: usize);

    /// Whether output stays where it is, unchanged, for the life of the protocol, so that the kernel may read it after `sent`.
    fn stable_output(&self) -> bool;

    /// How many bytes the requests in flight on one connection have at most, where the output is stable; `usize::MAX` where that is unknown. An
    /// engine that hands over all output at once has no more than that on the way, if the server reads a request before it responds.
    fn output_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Gives up one request in flight, of which nothing more will be reported; what tells the server of it joins the output. False where the
    /// protocol cannot give up one request without the others: then the connection has to be closed.
    fn abandon(&mut self, _session: &mut Self::Session, _slot: Slot) -> bool {
        false
    }

    /// Takes bytes as they came, split anywhere, and reports each request that is complete.
    fn receive(&mut self, session: &mut Self::Session, bytes: &[u8], sink: &mut impl Sink) -> Result<Flow, Fault>;

    /// The other end will send no more. The fault is that of the requests that are still in flight; there may be none.
    fn end_of_stream(&mut self, session: &mut Self::Session, sink: &mut impl Sink) -> Fault;

    /// The connection was reset. The fault is that of the requests that are still in flight; a request that was never sent is `Unprocessed`.
    fn reset(&mut self, _session: &mut Self::Session, _sink: &mut impl Sink) -> Fault {
        Fault { kind: ErrorKind::Reset, reason: "the connection was reset".into() }
    }

    /// How many of the next bytes may be dropped unread because only their number matters.
    fn skippable(&self, session: &Self::Session) -> usize;

    /// Takes note that `count` of the skippable bytes were dropped.
    fn skip(&mut self, session: &mut Self::Session, count: usize, sink: &mut impl Sink) -> Result<Flow, Fault>;

    fn parser_counts(&self) -> ParserCounts;

    /// Keeps one of the next responses whole. HTTP/2 keeps none.
    fn sample_next(&mut self) {}

    /// Takes the responses that were kept.
    fn take_samples(&mut self) -> Vec<Sample> {
        Vec::new()
    }

    /// Those since the protocol was made; `None` without TLS.
    fn tls_handshakes(&self) -> Option<TlsHandshakes> {
        None
    }
}
