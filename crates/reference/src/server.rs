//! The listener and its threads.

use std::collections::{HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Instant;

use socket2::{Domain, Protocol, Socket, Type};

use crate::connection::{Connection, Waits};
use crate::counts::{Counters, Counts};
use crate::epoll::{EXCLUSIVE, Epoll, READ, WRITE};
use crate::options::Options;
use crate::response::Responses;

const BACKLOG: i32 = 4096;
const LISTENER: u64 = u64::MAX;

/// A server that runs until the process ends.
pub struct Server {
    pub address: SocketAddr,
    counters: Arc<Counters>,
}

impl Server {
    pub fn start(address: SocketAddr, options: Options) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let listener = Arc::new(TcpListener::from(socket));
        let (counters, options) = (Arc::new(Counters::default()), Arc::new(options));
        for _ in 0..options.threads.max(1) {
            let mut worker = Worker::new(listener.clone(), options.clone(), counters.clone())?;
            thread::spawn(move || worker.run());
        }
        Ok(Self { address: listener.local_addr()?, counters })
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> Counts {
        self.counters.read()
    }
}

struct Worker {
    listener: Arc<TcpListener>,
    options: Arc<Options>,
    counters: Arc<Counters>,
    epoll: Epoll,
    responses: Responses,
    connections: HashMap<u64, Connection>,
    next_token: u64,
    /// Connections whose next response is delayed, with the time at which it is due.
    held: HashMap<u64, Instant>,
}

impl Worker {
    fn new(listener: Arc<TcpListener>, options: Arc<Options>, counters: Arc<Counters>) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        epoll.add(listener.as_raw_fd(), READ | EXCLUSIVE, LISTENER)?;
        let responses = Responses::new(&options.body);
        Ok(Self { listener, options, counters, epoll, responses, connections: HashMap::new(), next_token: 0, held: HashMap::new() })
    }

    /// Serves connections. Reads all pending data before responding, so that simultaneous requests on several connections are counted as
    /// simultaneous.
    fn run(&mut self) {
        let (mut ready, mut touched) = (Vec::new(), HashSet::new());
        loop {
            let first_due = self.held.values().min().map(|due| due.saturating_duration_since(Instant::now()));
            self.epoll.wait(&mut ready, first_due).expect("epoll_wait fails only with invalid arguments");
            for &token in &ready {
                if token == LISTENER {
                    self.accept(&mut touched);
                } else {
                    self.read(token, &mut touched);
                }
            }
            let now = Instant::now();
            touched.extend(self.held.iter().filter(|(_, due)| **due <= now).map(|(token, _)| *token));
            for token in touched.drain() {
                self.write(token, now);
            }
        }
    }

    /// Accepts connections. The worker reads from each connection immediately, because the first request often arrives with the connection.
    fn accept(&mut self, touched: &mut HashSet<u64>) {
        loop {
            let socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => continue,
                Err(_) => return, // no connection is waiting, or no descriptor is free and the connection stays in the accept queue
            };
            self.counters.connections.fetch_add(1, Relaxed);
            let token = self.next_token;
            self.next_token += 1;
            let is_set_up = socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true));
            if is_set_up.and_then(|()| self.epoll.add(socket.as_raw_fd(), READ, token)).is_ok() {
                self.connections.insert(token, Connection::new(socket));
                self.read(token, touched);
            }
        }
    }

    fn read(&mut self, token: u64, touched: &mut HashSet<u64>) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        if connection.read(&self.options, &self.counters, &mut self.responses) {
            touched.insert(token);
        } else {
            self.end(token);
            touched.remove(&token);
        }
    }

    fn write(&mut self, token: u64, now: Instant) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        self.held.remove(&token);
        let waits = connection.write(now, &self.counters);
        let interest = if waits == Waits::ForRoom { READ | WRITE } else { READ };
        let is_watched = connection.watch(&self.epoll, interest, token);
        match waits {
            Waits::Until(due) => drop(self.held.insert(token, due)),
            Waits::Ended => self.end(token),
            _ if is_watched.is_err() => self.end(token),
            Waits::ForInput | Waits::ForRoom => {}
        }
    }

    fn end(&mut self, token: u64) {
        self.held.remove(&token);
        if let Some(connection) = self.connections.remove(&token) {
            connection.end(&self.counters);
        }
    }
}
