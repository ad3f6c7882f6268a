//! The server that HTTP clients are measured against.
//!
//! It serves one path with one body, as fast as it can. It counts requests, connections, how many requests waited for their response at
//! once, and how many came before the response to the previous one. These counts prove whether a client did exactly the work that it was
//! told to do.
//!
//! One thread for each core, each with an epoll of its own over one shared listener. A connection stays with the thread that accepted
//! it. Counters are shared atomics: at the rates that sequential clients reach, their cost is too small to measure.

pub mod connection;
pub mod counts;
pub mod epoll;
pub mod options;
pub mod request;
pub mod response;
pub mod server;

pub use counts::Counts;
pub use options::Options;
pub use server::Server;
