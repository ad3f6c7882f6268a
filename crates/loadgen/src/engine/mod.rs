//! Engines move bytes between the kernel and a worker. Each engine has its own event loop, so no dynamic dispatch is needed.

mod epoll;
mod polling;
mod shared_cpu;
mod socket;
mod uring;

use std::sync::Arc;

use anyhow::Result;

pub use epoll::Epoll;
pub use socket::{Peer, close, stream_to};
pub use uring::Uring;

use crate::protocol::Protocol;
use crate::worker::{Alarm, Worker};

/// Maximum time that an engine sleeps in one system call. The kernel may mishandle longer timeouts.
const SLEEP_NS_MAX: u64 = 3_600_000_000_000;

/// The engine to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineChoice {
    /// io_uring if the kernel allows it, otherwise epoll.
    Auto,
    Epoll,
    #[value(name = "io_uring")]
    IoUring,
}

/// The arguments for creating an engine.
#[derive(Clone, Debug)]
pub struct Setup {
    pub peer: Peer,
    pub connections: u32,
    /// The alarm that wakes up the thread between slices. `None` if the run has no slices.
    pub alarm: Option<Arc<Alarm>>,
}

/// An implementation of socket I/O for many connections.
pub trait Engine: Sized {
    const NAME: &'static str;

    /// Creates an engine. The thread that calls this function must also call `run`.
    fn new(setup: Setup) -> Result<Self>;

    /// Runs the worker until it is done.
    fn run<P: Protocol>(self, worker: &mut Worker<P>) -> Result<()>;
}
