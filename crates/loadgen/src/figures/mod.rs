//! Counters, histograms and the results computed from them.

pub mod distribution;
pub mod encoding;
pub mod errors;
pub mod events;
pub mod gates;
pub mod histogram;
pub mod outcome;
pub mod part;
pub mod percentiles;
pub mod pool;
pub mod recorder;
pub mod result;
pub mod sample;
