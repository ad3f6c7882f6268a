//! What can go wrong with one request or one connection, told apart. The names are those of `errors` in the JSON result.

use schemars::JsonSchema;
use serde::Serialize;

/// Why a request did not end in a complete and right response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum ErrorKind {
    ConnectRefused,
    ConnectTimeout,
    ConnectOther,
    Tls,
    Reset,
    ClosedEarly,
    Timeout,
    InvalidResponse,
    UnexpectedStatus,
    UnexpectedBody,
    NotSent,
}

pub const ERROR_KINDS: usize = 11;

/// How often each kind of error happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts([u64; ERROR_KINDS]);

impl ErrorCounts {
    pub fn add(&mut self, kind: ErrorKind, count: u64) {
        self.0[kind as usize] += count;
    }

    pub fn get(&self, kind: ErrorKind) -> u64 {
        self.0[kind as usize]
    }

    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Errors by kind: every kind is always present. Failed attempts to connect are counted by attempt, all other kinds by request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Errors {
    /// The other end answered the attempt to connect with a reset.
    pub connect_refused: u64,
    /// The connection was not set up within the timeout.
    pub connect_timeout: u64,
    /// Any other reason why a connection could not be set up: no route, no free local port, a proxy that said no.
    pub connect_other: u64,
    /// The TLS handshake or a TLS record was refused, by either side.
    pub tls: u64,
    /// The connection was reset while the response was awaited.
    pub reset: u64,
    /// The connection was closed before the response was complete.
    pub closed_early: u64,
    /// The response was not complete within the timeout, or waited on the same HTTP/1.1 connection as one that was not.
    pub timeout: u64,
    /// What came is no response of the protocol.
    pub invalid_response: u64,
    /// A complete response with another status than the expected one.
    pub unexpected_status: u64,
    /// A complete response with another body than the expected one.
    pub unexpected_body: u64,
    /// A request of the schedule that was dropped because it was later than the deadline.
    pub not_sent: u64,
}

impl Errors {
    /// All of them, over all kinds.
    pub fn total(&self) -> u64 {
        let Self { connect_refused, connect_timeout, connect_other, tls, reset, closed_early, timeout, .. } = *self;
        let Self { invalid_response, unexpected_status, unexpected_body, not_sent, .. } = *self;
        let before_a_response = connect_refused + connect_timeout + connect_other + tls + reset + closed_early + timeout + not_sent;
        before_a_response + invalid_response + unexpected_status + unexpected_body
    }
}

impl From<&ErrorCounts> for Errors {
    fn from(counts: &ErrorCounts) -> Self {
        use ErrorKind as K;
        Self {
            connect_refused: counts.get(K::ConnectRefused),
            connect_timeout: counts.get(K::ConnectTimeout),
            connect_other: counts.get(K::ConnectOther),
            tls: counts.get(K::Tls),
            reset: counts.get(K::Reset),
            closed_early: counts.get(K::ClosedEarly),
            timeout: counts.get(K::Timeout),
            invalid_response: counts.get(K::InvalidResponse),
            unexpected_status: counts.get(K::UnexpectedStatus),
            unexpected_body: counts.get(K::UnexpectedBody),
            not_sent: counts.get(K::NotSent),
        }
    }
}
