//! Sockets as a load generator wants them.

use std::io;
use std::ops::Deref;
use std::sync::LazyLock;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::figures::errors::ErrorKind;

/// Whether the system's congestion control holds packets back by timers, as BBR does. What a load generator sends fits into the first
/// window, so the timers would cost CPU time for each request and protect nobody. Results declare what is used.
static PACED: LazyLock<bool> =
    LazyLock::new(|| std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").is_ok_and(|name| name.starts_with("bbr")));

/// What all sockets of a run connect to, and how.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SockAddr,
    /// The chosen congestion control; `None`: the default.
    pub congestion_control: Option<String>,
}

impl Deref for Peer {
    type Target = SockAddr;

    fn deref(&self) -> &SockAddr {
        &self.address
    }
}

impl Peer {
    /// The congestion control that the sockets really use; none for Unix sockets. Fails if the chosen one cannot be used.
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

/// A non-blocking stream socket for `peer`.
pub fn stream_to(peer: &Peer) -> io::Result<Socket> {
    let domain = Domain::from(i32::from(peer.family()));
    let socket = Socket::new(domain, Type::STREAM.nonblocking().cloexec(), None)?;
    if domain != Domain::UNIX {
        socket.set_tcp_nodelay(true)?;
        if let Some(name) = &peer.congestion_control {
            socket.set_tcp_congestion(name.as_bytes())?;
        } else if *PACED {
            // Where it is not allowed, the default does as well.
            let _ = socket.set_tcp_congestion(b"reno");
        }
        socket.set_linger(Some(Duration::ZERO))?;
    }
    Ok(socket)
}

/// Ends a connection as other clients do where the server has ended it before. Where it has not, the server gets a reset (SO_LINGER of no time),
/// so that no TIME_WAIT is left behind here: a new connection for each few requests would otherwise use up all local ports within seconds.
pub fn close(socket: Socket) {
    // Fails where the connection is gone already, which is just as well. What the kernel still does for this socket ends with it.
    let _ = socket.shutdown(std::net::Shutdown::Both);
}

/// What a failure to connect is counted as.
pub fn connect_error_kind(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => ErrorKind::ConnectRefused,
        io::ErrorKind::TimedOut => ErrorKind::ConnectTimeout,
        _ => ErrorKind::ConnectOther,
    }
}
