//! Sockets as a load generator wants them.

use std::io;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::errors::ErrorKind;

/// A non-blocking stream socket for `peer`. Closing it sends a reset and leaves no TIME_WAIT behind: a run with a new connection for each
/// request would otherwise use up all local ports within seconds. By then the response has been read to its end.
pub fn stream_to(peer: &SockAddr) -> io::Result<Socket> {
    let domain = Domain::from(i32::from(peer.family()));
    let socket = Socket::new(domain, Type::STREAM.nonblocking().cloexec(), None)?;
    if domain != Domain::UNIX {
        socket.set_tcp_nodelay(true)?;
        socket.set_linger(Some(Duration::ZERO))?;
    }
    Ok(socket)
}

/// What a failure to connect is counted as.
pub fn connect_error_kind(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => ErrorKind::ConnectRefused,
        io::ErrorKind::TimedOut => ErrorKind::ConnectTimeout,
        _ => ErrorKind::ConnectOther,
    }
}
