//! Creates and closes sockets with the options that a load generator needs.

use std::io;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::LazyLock;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::endpoint::sources::Sources;
use crate::figures::errors::ErrorKind;

/// Whether the system's default congestion control paces packets with timers, as BBR does. The load generator's requests fit into the
/// initial window, so pacing would only cost CPU time. The result contains the congestion control that was used.
static PACED: LazyLock<bool> =
    LazyLock::new(|| std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").is_ok_and(|name| name.starts_with("bbr")));

/// The address that all sockets of a run connect to, and the options of the sockets.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SockAddr,
    /// The selected congestion control. `None` means the system's default, or Reno if the default paces packets.
    pub congestion_control: Option<String>,
    pub sources: Sources,
}

impl Deref for Peer {
    type Target = SockAddr;

    fn deref(&self) -> &SockAddr {
        &self.address
    }
}

impl Peer {
    /// Returns the congestion control that the sockets actually use, or `None` for Unix sockets. Fails if the selected one isn't available.
    pub fn effective_congestion_control(&self) -> io::Result<Option<String>> {
        let socket = stream_to(self)?;
        if self.is_unix() {
            return Ok(None);
        }
        let name = socket.tcp_congestion()?;
        let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        Ok(Some(String::from_utf8_lossy(&name[..length]).into_owned()))
    }
}

/// Creates a non-blocking stream socket for `peer`.
pub fn stream_to(peer: &Peer) -> io::Result<Socket> {
    let domain = Domain::from(i32::from(peer.family()));
    let socket = Socket::new(domain, Type::STREAM.nonblocking().cloexec(), None)?;
    if domain != Domain::UNIX {
        socket.set_tcp_nodelay(true)?;
        if let Some(name) = &peer.congestion_control {
            socket.set_tcp_congestion(name.as_bytes())?;
        } else if *PACED {
            // This may not be permitted, but the default also works.
            let _ = socket.set_tcp_congestion(b"reno");
        }
        socket.set_linger(Some(Duration::ZERO))?;
        if let Some(source) = peer.sources.next() {
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
    }
    Ok(socket)
}

/// Closes a connection: normally if the server has already closed it, otherwise with a reset (SO_LINGER with zero timeout).
///
/// A reset avoids the TIME_WAIT state. With short-lived connections, sockets in this state would use up all local ports within seconds.
pub fn close(socket: Socket) {
    // If this fails, the connection is already gone. Shutting down also ends the kernel's pending operations on the socket.
    let _ = socket.shutdown(std::net::Shutdown::Both);
}

/// Returns the kind of error that a failed connect counts as.
pub fn connect_error_kind(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => ErrorKind::ConnectRefused,
        io::ErrorKind::TimedOut => ErrorKind::ConnectTimeout,
        _ => ErrorKind::ConnectOther,
    }
}
