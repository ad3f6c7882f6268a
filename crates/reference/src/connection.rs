//! One client's connection: what came in, what is owed, what is on its way out.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::answer::{Answer, Answers};
use crate::counts::Counters;
use crate::epoll::{Epoll, READ};
use crate::request::{Next, Wanted, next};
use crate::server::Options;

const READ_BYTES: usize = 16 * 1024;

pub struct Connection {
    pub socket: TcpStream,
    input: Vec<u8>,
    /// Answers in order, each with when it may be sent.
    owed: VecDeque<(Instant, Answer)>,
    /// Of the first of them: so much was sent.
    sent_bytes: usize,
    requests: u64,
    state: State,
    /// What epoll was asked to tell.
    interest: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Answers what it owes, then says that it is done.
    Closing,
    /// Said so; waits for the client to close. To close at once could reset the connection before the last answer was read.
    Draining,
}

/// What a connection waits for.
#[derive(Debug, PartialEq, Eq)]
pub enum Waits {
    ForInput,
    /// The socket took no more.
    ForRoom,
    /// The next answer is held back until then.
    Until(Instant),
    /// It is over.
    Ended,
}

impl Connection {
    pub fn new(socket: TcpStream) -> Self {
        Self { socket, input: Vec::new(), owed: VecDeque::new(), sent_bytes: 0, requests: 0, state: State::Open, interest: READ }
    }

    /// Reads all that is there. Whether the connection goes on.
    pub fn read(&mut self, options: &Options, counters: &Counters, answers: &mut Answers) -> bool {
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
        self.parse(options, counters, answers);
        true
    }

    fn parse(&mut self, options: &Options, counters: &Counters, answers: &mut Answers) {
        let mut read = 0;
        while self.state == State::Open {
            match next(&self.input[read..], &options.path) {
                Next::Incomplete => break,
                Next::Garbage => {
                    counters.wrong_requests.fetch_add(1, Relaxed);
                    counters.came(b"");
                    self.owe(answers.to_garbage(), Duration::ZERO);
                    self.state = State::Closing;
                }
                Next::Request { head_bytes, wanted, close } => {
                    counters.pipelined.fetch_add(u64::from(!self.owed.is_empty()), Relaxed);
                    counters.wrong_requests.fetch_add(u64::from(wanted != Wanted::Get), Relaxed);
                    counters.came(&self.input[read..read + head_bytes]);
                    read += head_bytes;
                    self.requests += 1;
                    let last = close || options.close_after.is_some_and(|limit| self.requests >= limit);
                    self.owe(answers.to(wanted, last), options.delay);
                    if last {
                        self.state = State::Closing;
                    }
                }
            }
        }
        self.input.drain(..read);
    }

    fn owe(&mut self, answer: Answer, delay: Duration) {
        self.owed.push_back((Instant::now() + delay, answer));
    }

    /// Sends what is due.
    pub fn write(&mut self, now: Instant, counters: &Counters) -> Waits {
        while let Some((due, answer)) = self.owed.front() {
            if *due > now {
                return Waits::Until(*due);
            }
            counters.settled();
            match self.socket.write(&answer.bytes[self.sent_bytes..]) {
                Ok(bytes) => self.sent_bytes += bytes,
                Err(error) if is_transient(&error) => {}
                Err(_) => {
                    counters.owed();
                    return Waits::Ended;
                }
            }
            if self.sent_bytes < answer.bytes.len() {
                counters.owed();
                return Waits::ForRoom;
            }
            counters.bytes_sent.fetch_add(answer.bytes.len() as u64, Relaxed);
            counters.body_bytes_sent.fetch_add(answer.body_bytes as u64, Relaxed);
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

    /// Asks epoll for what is waited for, where that changed.
    pub fn watch(&mut self, epoll: &Epoll, interest: u32, token: u64) -> io::Result<()> {
        if interest != self.interest {
            epoll.change(self.socket.as_raw_fd(), interest, token)?;
            self.interest = interest;
        }
        Ok(())
    }

    /// It is over: nobody waits for what was owed.
    pub fn end(self, counters: &Counters) {
        for _ in self.owed {
            counters.settled();
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
