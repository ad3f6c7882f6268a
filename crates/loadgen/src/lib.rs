//! `httpbench-loadgen`: a fast HTTP load generator with true latencies.
//!
//! From the bottom up: `time` (when), `figures` (what is counted), `endpoint` (where to) and `request` (what is sent), `protocol` (bytes to
//! responses), `worker` (what one thread sends when), `engine` (sockets), `run` (threads to one result), `output` and `cli`. A module uses
//! those before it.

pub mod cli;
pub mod endpoint;
pub mod engine;
pub mod figures;
pub mod output;
pub mod protocol;
pub mod random;
pub mod request;
pub mod run;
pub mod time;
pub mod worker;
