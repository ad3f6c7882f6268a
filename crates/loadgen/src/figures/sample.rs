//! Complete responses kept during the load, for checks that need more than a byte comparison.

use schemars::JsonSchema;
use serde::Serialize;

/// Maximum length of a kept body. Longer bodies are truncated.
pub const SAMPLE_BYTES_MAX: usize = 64 * 1024;

/// One response kept during the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sample {
    /// Index of the request among the URLs or in the `--mix` file, from 0.
    pub request: u32,
    /// Status code.
    pub status: u16,
    /// Head, as received. With HTTP/2, it is written as in HTTP/1.1.
    pub head: String,
    /// Decoded body. Bytes that aren't valid UTF-8 are replaced.
    pub body: String,
    /// Whether the body was truncated to 64 KiB.
    pub truncated: bool,
}
