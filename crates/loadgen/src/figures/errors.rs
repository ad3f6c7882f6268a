//! Kinds of errors and their counts. The names of the kinds match the fields of `errors` in the JSON result.

use schemars::JsonSchema;
use serde::Serialize;

/// The reason why a request has no correct response.
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
    UnexpectedContentType,
    UnexpectedBody,
    NotSent,
}

pub const ERROR_KINDS: usize = 12;

/// The number of errors of each kind.
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

/// Error counts by kind, including kinds with the count 0. The kinds about connection setup count attempts; all other kinds count requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Errors {
    /// Attempts to connect that were refused.
    pub connect_refused: u64,
    /// Attempts to connect, handshakes included, that did not finish within the timeout.
    pub connect_timeout: u64,
    /// Attempts to connect that failed for another reason, such as no route, no free local port or a refusal by the proxy.
    pub connect_other: u64,
    /// TLS handshakes and records that either side rejected.
    pub tls: u64,
    /// Requests whose connection or HTTP/2 stream was reset before the response was complete.
    pub reset: u64,
    /// Requests whose connection was closed before the response was complete.
    pub closed_early: u64,
    /// Requests without a complete response within the timeout. With HTTP/1.1, this includes requests queued behind such a request on the
    /// same connection.
    pub timeout: u64,
    /// Requests whose response is not valid HTTP. This includes data that arrives while no request is in flight.
    pub invalid_response: u64,
    /// Complete responses with an unexpected status; with `--sse`, response heads.
    pub unexpected_status: u64,
    /// Responses that are no event stream, although `--sse` expects one.
    pub unexpected_content_type: u64,
    /// Complete responses with an unexpected body.
    pub unexpected_body: u64,
    /// Requests that were dropped because they exceeded the deadline.
    pub not_sent: u64,
}

impl Errors {
    /// Returns the sum over all kinds.
    pub fn total(&self) -> u64 {
        let Self { connect_refused, connect_timeout, connect_other, tls, reset, closed_early, timeout, .. } = *self;
        let Self { invalid_response, unexpected_status, unexpected_content_type, unexpected_body, not_sent, .. } = *self;
        let before_a_response = connect_refused + connect_timeout + connect_other + tls + reset + closed_early + timeout + not_sent;
        before_a_response + invalid_response + unexpected_status + unexpected_content_type + unexpected_body
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
            unexpected_content_type: counts.get(K::UnexpectedContentType),
            unexpected_body: counts.get(K::UnexpectedBody),
            not_sent: counts.get(K::NotSent),
        }
    }
}
