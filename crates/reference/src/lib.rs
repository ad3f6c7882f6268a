//! A server to measure HTTP clients against.
//!
//! It serves one path with one body, as fast as it can. It counts requests, connections, the maximum number of simultaneous requests, and
//! pipelined requests. The counts show whether a client did exactly the work it was supposed to do.
//!
//! By default, the server has one thread per core. Each thread has its own epoll instance, which watches the shared listener. A connection
//! stays with the thread that accepted it. The counters are shared atomics. Their cost is negligible at the request rates of sequential
//! clients.

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
