//! How one request ended.

use super::errors::ErrorKind;

/// What became of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    UnexpectedStatus,
    UnexpectedBody,
    /// No complete response will come, but the connection goes on: its server gave this one stream up.
    Failed(ErrorKind),
    /// The server said that it has not processed this request and never will, so it may be sent again (RFC 9113, 6.8 and 8.7). No error.
    Unprocessed,
}

impl Outcome {
    /// Whether a whole response came, correct or not.
    pub fn is_complete(self) -> bool {
        !matches!(self, Self::Failed(_) | Self::Unprocessed)
    }
}
