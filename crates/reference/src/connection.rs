//! A client's connection: its requests and its pending responses.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::counts::Counters;
use crate::epoll::{Epoll, READ};
use crate::options::Options;
use crate::request::{Next, Wanted, next};
use crate::response::{Response, Responses};

const READ_BYTES: usize = 16 * 1024;

pub struct Connection {
    pub socket: TcpStream,
    input: Vec<u8>,
    /// Pending responses in order, each with the earliest time at which it may be sent.
    owed: VecDeque<(Instant, Response)>,
    /// Number of bytes of the first pending response that have been sent.
    sent_bytes: usize,
    requests: u64,
    state: State,
    /// The events that epoll watches for.
    interest: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Sends the remaining responses and then shuts down the sending side.
    Closing,
    /// Waits for the client to close the connection. If the server closed it first, the connection might be reset before the client has
    /// read the last response.
    Draining,
}

/// The event that a connection is waiting for.
#[derive(Debug, PartialEq, Eq)]
pub enum Waits {
    ForInput,
    /// The send buffer is full.
    ForRoom,
    /// The next response is delayed until this time.
    Until(Instant),
    /// The connection has ended.
    Ended,
}

impl Connection {
    pub fn new(socket: TcpStream) -> Self {
        Self { socket, input: Vec::new(), owed: VecDeque::new(), sent_bytes: 0, requests: 0, state: State::Open, interest: READ }
    }

    /// Reads all available data. Returns whether the connection continues.
    pub fn read(&mut self, options: &Options, counters: &Counters, responses: &mut Responses) -> bool {
        let mut chunk = [0; READ_BYTES];
        loop {
            match self.socket.read(&mut chunk) {
                Ok(0) => return false,
                Ok(bytes) if self.state == State::Open => self.input.extend_from_slice(&chunk[..bytes]),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        self.parse(options, counters, responses);
        true
    }

    fn parse(&mut self, options: &Options, counters: &Counters, responses: &mut Responses) {
        let mut read = 0;
        while self.state == State::Open {
            match next(&self.input[read..], &options.path) {
                Next::Incomplete => break,
                Next::Garbage => {
                    counters.wrong_requests.fetch_add(1, Relaxed);
                    counters.came(b"");
                    self.owe(responses.to_garbage(), Duration::ZERO);
                    self.state = State::Closing;
                }
                Next::Request { head_bytes, wanted, close } => {
                    counters.pipelined.fetch_add(u64::from(!self.owed.is_empty()), Relaxed);
                    counters.wrong_requests.fetch_add(u64::from(wanted != Wanted::Get), Relaxed);
                    counters.came(&self.input[read..read + head_bytes]);
                    read += head_bytes;
                    self.requests += 1;
                    let last = close || options.close_after.is_some_and(|limit| self.requests >= limit);
                    self.owe(responses.to(wanted, last), options.delay);
                    if last {
                        self.state = State::Closing;
                    }
                }
            }
        }
        self.input.drain(..read);
    }

    fn owe(&mut self, response: Response, delay: Duration) {
        self.owed.push_back((Instant::now() + delay, response));
    }

    /// Sends the responses that are due.
    pub fn write(&mut self, now: Instant, counters: &Counters) -> Waits {
        while let Some((due, response)) = self.owed.front() {
            if *due > now {
                return Waits::Until(*due);
            }
            counters.sent(response);
            match self.socket.write(&response.bytes[self.sent_bytes..]) {
                Ok(bytes) => self.sent_bytes += bytes,
                Err(error) if is_transient(&error) => {}
                Err(_) => {
                    counters.unsent(response);
                    return Waits::Ended;
                }
            }
            if self.sent_bytes < response.bytes.len() {
                counters.unsent(response);
                return Waits::ForRoom;
            }
            self.sent_bytes = 0;
            self.owed.pop_front();
        }
        if self.state == State::Closing {
            self.state = State::Draining;
            if self.socket.shutdown(Shutdown::Write).is_err() {
                return Waits::Ended;
            }
        }
        Waits::ForInput
    }

    /// Updates the events that epoll watches for, if they changed.
    pub fn watch(&mut self, epoll: &Epoll, interest: u32, token: u64) -> io::Result<()> {
        if interest != self.interest {
            epoll.change(self.socket.as_raw_fd(), interest, token)?;
            self.interest = interest;
        }
        Ok(())
    }

    /// Ends the connection and discards its pending responses.
    pub fn end(self, counters: &Counters) {
        for _ in self.owed {
            counters.discarded();
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
