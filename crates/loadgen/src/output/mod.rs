//! Output of a run: progress on stderr, the report on stdout, and files.

pub mod destinations;
pub mod hdr;
pub mod printable;
pub mod progress;
pub mod report;
pub mod stderr;
