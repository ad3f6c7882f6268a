//! What a run shows: progress on stderr, the report on stdout, files.

pub mod destinations;
pub mod hdr;
pub mod printable;
pub mod progress;
pub mod report;
pub mod stderr;
