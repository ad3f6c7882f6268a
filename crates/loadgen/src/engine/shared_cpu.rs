//! Detects whether the server runs on the CPU of a load thread.

use socket2::Socket;

/// Interval between checks.
const CHECK_NS: u64 = 5_000_000;

/// Checks, every few milliseconds, on which CPU the server sent a response.
///
/// If both ends of a connection are on this machine, the sender's CPU also delivers the data to the receiver, and the receiver's socket
/// stores the number of this CPU (SO_INCOMING_CPU in socket(7)).
#[derive(Debug, Default)]
pub struct SharedCpu {
    next_ns: u64,
}

impl SharedCpu {
    #[inline]
    pub fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_ns
    }

    /// Returns whether the last data on a socket was sent by the CPU that this thread is running on, or `None` if the server isn't known
    /// to be on this machine. Call this function just after a response has arrived, because later packets replace the stored number.
    pub fn check(&mut self, socket: &Socket, now_ns: u64) -> Option<bool> {
        self.next_ns = now_ns + CHECK_NS;
        let ends = (socket.local_addr().ok()?.as_socket()?.ip(), socket.peer_addr().ok()?.as_socket()?.ip());
        let own = u32::try_from(rustix::thread::sched_getcpu()).ok()?;
        (ends.0 == ends.1).then(|| socket.cpu_affinity().ok().map(|cpu| cpu as u32 == own))?
    }
}
