//! The server that HTTP clients are measured against.
//!
//! It answers one path with one body, as fast as it can, and counts what came: requests, connections, how many requests waited for
//! their answer at once, how many came before the one before them was answered. From these counts it can be told whether a client did
//! the work that it was told to do, and no other.
//!
//! One thread for each core, each with an epoll of its own over one shared listener. A connection stays with the thread that accepted
//! it. Counters are shared atomics: at the rates that sequential clients reach they cost nothing that could be measured.

pub mod answer;
pub mod connection;
pub mod counts;
pub mod epoll;
pub mod request;
pub mod server;

pub use counts::Counts;
pub use server::{Options, Server};
