//! Whole responses that came during the load, for checks that take more than a comparison of bytes.

use schemars::JsonSchema;
use serde::Serialize;

/// Longer bodies are cut.
pub const SAMPLE_BYTES_MAX: usize = 64 * 1024;

/// One response that came during the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sample {
    /// Which request it responds to: its place among the URLs, or in the file of `--requests`, from 0.
    pub request: u16,
    /// Status.
    pub status: u16,
    /// Head, as it came.
    pub head: String,
    /// Body without its transfer coding. Bytes that are not UTF-8 are replaced.
    pub body: String,
    /// Whether the body was longer than 64 KiB and was cut.
    pub truncated: bool,
}
