//! Measures the first response of a starting server: connects as soon as the server listens, and sends one request.
//!
//! The kernel notifies no other program when a server begins to listen, so this module tries to connect again and again. An attempt on
//! loopback takes about 10 µs and doesn't reach the server's CPU. Between attempts, the thread yields its CPU but doesn't sleep, because
//! waking up an idle CPU can take longer than the pause.

use std::io::{self, ErrorKind};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use socket2::Socket;

use super::crew::pin;
use super::plan::{Plan, Speaker};
use crate::engine::{Peer, close, stream_to};
use crate::figures::histogram::LONGEST;
use crate::protocol::{Outcome, Protocol, Slot};
use crate::time::clock::now_ns;

/// Shortest and longest pause between two attempts to connect. The pause is a thousandth of the time waited so far, within these limits.
const PAUSE_NS: (u64, u64) = (20_000, 100_000);
/// Pause after a response that isn't correct, so that a server that responds with errors while it starts isn't flooded with requests.
const AFTER_FAILURE: Duration = Duration::from_micros(100);
const READ_BYTES: usize = 128 * 1024;

/// The first correct response. All times are in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FirstResponse {
    /// The time of the first attempt to connect.
    pub waiting_ns: u64,
    /// The time just before the request was sent.
    pub sent_ns: u64,
    /// The time when the response was complete.
    pub received_ns: u64,
}

/// Waits until the server listens, and sends requests, each on a new connection, until a response is correct.
///
/// The time limit of the first request is the plan's timeout, and that of each further request is twice as long as that of the previous
/// one.
pub fn first_response(plan: &Plan) -> Result<FirstResponse> {
    pin(&plan.cpus)?;
    let peer = plan.peer(plan.addresses.preferred().clone())?;
    plan.speak(0, Attempts { peer, timeout: plan.timeout })
}

struct Attempts {
    peer: Peer,
    /// Time limit of the next request.
    timeout: Duration,
}

impl Speaker for Attempts {
    type Output = Result<FirstResponse>;

    fn speak<P: Protocol>(mut self, mut protocol: P) -> Result<FirstResponse> {
        let begin_ns = now_ns();
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let socket = self.connect(begin_ns)?;
            let exchanged = exchange(&mut protocol, &socket, self.timeout, &mut buffer);
            close(socket);
            if let Some((sent_ns, received_ns)) = exchanged {
                return Ok(FirstResponse { waiting_ns: begin_ns, sent_ns, received_ns });
            }
            thread::sleep(AFTER_FAILURE);
            self.timeout = (self.timeout * 2).min(LONGEST);
        }
    }
}

impl Attempts {
    /// Connects as soon as the server listens.
    fn connect(&self, begin_ns: u64) -> Result<Socket> {
        loop {
            let socket = stream_to(&self.peer).context("cannot create a socket")?;
            socket.set_nonblocking(false)?;
            if socket.connect(&self.peer).is_ok() && !is_connected_to_itself(&socket) {
                return Ok(socket);
            }
            let now = now_ns();
            let next_ns = now + ((now - begin_ns) / 1000).clamp(PAUSE_NS.0, PAUSE_NS.1);
            while now_ns() < next_ns {
                thread::yield_now();
            }
        }
    }
}

/// Returns whether a socket is connected to itself. This happens if nothing listens on a port and the kernel assigns that port to the
/// socket.
fn is_connected_to_itself(socket: &Socket) -> bool {
    matches!((socket.local_addr(), socket.peer_addr()), (Ok(own), Ok(peer)) if own == peer && own.as_socket().is_some())
}

/// Sends a request and receives the response. Returns the times of both, or `None` if no correct response arrives within the time limit.
fn exchange<P: Protocol>(protocol: &mut P, socket: &Socket, timeout: Duration, buffer: &mut [u8]) -> Option<(u64, u64)> {
    let deadline_ns = now_ns() + timeout.as_nanos() as u64;
    let mut session = protocol.open();
    let mut outcomes: Vec<(Slot, Outcome)> = Vec::new();
    let mut sent_ns = None;
    loop {
        if sent_ns.is_none() && protocol.ready(&session) {
            protocol.request(&mut session, 0);
            sent_ns = Some(now_ns());
        }
        protocol.prepare_output(&mut session);
        send(protocol, &mut session, socket).ok()?;
        let left_ns = deadline_ns.checked_sub(now_ns()).filter(|left_ns| *left_ns > 0)?;
        socket.set_read_timeout(Some(Duration::from_nanos(left_ns))).ok()?;
        let count = receive(socket, buffer).ok()?;
        let received_ns = now_ns();
        let received = match count {
            0 => Err(protocol.end_of_stream(&mut session, &mut outcomes)),
            _ => protocol.receive(&mut session, &buffer[..count], &mut outcomes),
        };
        match outcomes.first() {
            Some((_, Outcome::Ok)) => return Some((sent_ns?, received_ns)),
            None if received.is_ok() => {}
            _ => return None,
        }
    }
}

fn send<P: Protocol>(protocol: &mut P, session: &mut P::Session, socket: &Socket) -> io::Result<()> {
    while !protocol.output(session).is_empty() {
        let count = socket.send(protocol.output(session))?;
        protocol.sent(session, count);
    }
    Ok(())
}

fn receive(mut socket: &Socket, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match io::Read::read(&mut socket, buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
