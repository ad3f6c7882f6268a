//! Engines move bytes between the kernel and a worker. Each owns its loop, so that nothing is dispatched dynamically in it.

mod epoll;
mod socket;

use anyhow::Result;
use socket2::SockAddr;

pub use epoll::Epoll;

use crate::protocol::Protocol;
use crate::worker::Worker;

/// Which engine to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineChoice {
    /// The fastest that the kernel allows.
    Auto,
    Epoll,
}

/// A way to wait for many sockets.
pub trait Engine: Sized {
    const NAME: &'static str;

    /// Prepares to talk to `peer` over `connections` connections.
    fn new(peer: SockAddr, connections: u32) -> Result<Self>;

    /// Drives the worker until its window is over.
    fn run<P: Protocol>(self, worker: &mut Worker<P>) -> Result<()>;
}
