//! `httpbench-loadgen`: a fast HTTP load generator that reports true latencies.
//!
//! The modules, from the lowest layer to the highest. Each module uses only modules above it in this list:
//!
//! - `time`: clocks, arrival schedules and the measured window
//! - `figures`: counters, histograms and the result
//! - `endpoint`: URLs and addresses
//! - `request`: the requests to send and the responses to expect
//! - `protocol`: HTTP/1.1, HTTP/2, TLS and proxy tunnels, without I/O
//! - `worker`: decides what each thread sends and when, without I/O
//! - `engine`: sockets, through epoll or io_uring
//! - `run`: starts the threads and merges what they recorded into one result
//! - `output` and `cli`: the reports and the command line

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
