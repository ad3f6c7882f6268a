//! `httpbench-loadgen`: an HTTP load generator that is fast and whose latencies are true.
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
