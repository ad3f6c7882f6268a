//! Outcomes of requests.

use super::errors::ErrorKind;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    UnexpectedStatus,
    UnexpectedBody,
    /// No complete response will arrive, but the connection stays usable: only this HTTP/2 stream has failed.
    Failed(ErrorKind),
    /// The server reported that it did not and will not process this request (RFC 9113, 6.8 and 8.7), or the request was never sent. The
    /// request may be sent again. This is not an error.
    Unprocessed,
}

impl Outcome {
    /// Returns whether a complete response arrived, correct or not.
    pub fn is_complete(self) -> bool {
        !matches!(self, Self::Failed(_) | Self::Unprocessed)
    }
}
