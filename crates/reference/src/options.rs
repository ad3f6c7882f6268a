//! Options of the server.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Options {
    /// The only path answered with status 200.
    pub path: String,
    pub body: Vec<u8>,
    /// Time between a request and its response.
    pub delay: Duration,
    /// Number of responses after which the server closes a connection; `None` for no limit.
    pub close_after: Option<u64>,
    pub threads: usize,
}
