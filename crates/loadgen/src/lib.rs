//! `httpbench-loadgen`: an HTTP load generator that is fast and whose latencies are true.
//!
//! From the bottom up: `clock`, `units`, `errors`, `recorder`, `summary` (time and figures); `schedule`, `window` (when); `protocol` (bytes
//! to responses); `worker` (what one thread sends when); `engine` (sockets); `run` and `gather` (threads to one result); `cli`, `output`.

pub mod cli;
pub mod clock;
pub mod cost;
pub mod endpoint;
pub mod engine;
pub mod errors;
pub mod files;
pub mod gates;
mod gather;
pub mod output;
pub mod pauses;
pub mod plan;
pub mod protocol;
pub mod rate;
pub mod recorder;
pub mod request;
pub mod result;
pub mod run;
pub mod schedule;
pub mod signal;
pub mod summary;
pub mod units;
pub mod window;
pub mod worker;
