//! What a server is told to do.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Options {
    /// The only path whose response has status 200.
    pub path: String,
    pub body: Vec<u8>,
    /// From a request to its response.
    pub delay: Duration,
    /// Responses per connection before the server closes it; `None`: unlimited.
    pub close_after: Option<u64>,
    pub threads: usize,
}
