//! A server that responds in a configurable order and records when each request arrived and when its response was sent.
//!
//! The server uses one thread that never sleeps, so its timestamps are accurate to a few microseconds.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use loadgen::random::Random;
use loadgen::time::clock::now_ns;
use rustix::event::epoll::{self, EventData, EventFlags};

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LISTENER: u64 = u64::MAX;
/// Maximum duration of one iteration of the server's loop. If an iteration takes longer, another process probably used the CPU.
const DISTURBED_NS: u64 = 200_000;

/// The order of responses.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Oldest request first.
    Fifo,
    /// Two workers take turns, and each answers its oldest request. One worker serves only the first `fast` connections, so each of these
    /// gets more responses than the other connections.
    TwoWorkers { fast: usize },
    /// Newest request first.
    NewestFirst,
    /// Random order.
    Random,
    /// Oldest request first, but one in `one_in` responses is delayed by `for_ns`.
    Held { one_in: u64, for_ns: u64 },
    /// Oldest request first, but the first connection never gets a response.
    HeldForEver,
}

/// One request and its times, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// Index of the connection, in the order in which the server accepted connections.
    pub connection: usize,
    /// Estimated arrival time: halfway between the previous check for requests and the time at which the server read this request.
    pub came_ns: u64,
    /// Time at which the response was sent; `None` if it was never sent.
    pub responded_ns: Option<u64>,
}

/// The server's record, and the share of time in which other processes used the server's CPU.
pub struct Record {
    pub served: Vec<Served>,
    pub disturbed: f64,
}

pub struct Recording {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Record>,
}

/// Starts a server on a free loopback port. The server runs on the given CPU and spends `work_ns` on each response.
pub fn serve(order: Order, work_ns: u64, cpu: usize) -> Recording {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.set_nonblocking(true).expect("a socket can be made non-blocking");
    let address = listener.local_addr().expect("a bound socket has an address");
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        super::pin(cpu);
        Server::new(listener, order, work_ns).run(&stopped)
    });
    Recording { address, stop, thread }
}

impl Recording {
    pub fn stop(self) -> Record {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the server does not panic")
    }
}

struct Waiting {
    connection: usize,
    came_ns: u64,
    not_before_ns: u64,
}

struct Server {
    listener: TcpListener,
    epoll: rustix::fd::OwnedFd,
    order: Order,
    work_ns: u64,
    clients: Vec<TcpStream>,
    /// Requests without a response. The second queue contains the requests of the second worker, or those whose responses are held.
    queues: [VecDeque<Waiting>; 2],
    turn: usize,
    number: u64,
    random: Random,
    served: Vec<Served>,
    /// Whether a client has disconnected. If so, the load has ended and the server stops responding.
    over: bool,
}

impl Server {
    fn new(listener: TcpListener, order: Order, work_ns: u64) -> Self {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("an epoll instance");
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN).expect("a listener can be watched");
        let served = Vec::with_capacity(1 << 18);
        let queues = [VecDeque::new(), VecDeque::new()];
        Self {
            listener,
            epoll,
            order,
            work_ns,
            clients: Vec::new(),
            queues,
            turn: 0,
            number: 0,
            random: Random::new(1),
            served,
            over: false,
        }
    }

    fn run(mut self, stop: &AtomicBool) -> Record {
        let mut events = Vec::with_capacity(512);
        let start_ns = now_ns();
        let (mut looked_ns, mut disturbed_ns) = (start_ns, 0);
        while !stop.load(Ordering::Relaxed) {
            let before_ns = looked_ns;
            looked_ns = now_ns();
            disturbed_ns += if looked_ns - before_ns > DISTURBED_NS { looked_ns - before_ns } else { 0 };
            events.clear();
            let timeout = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
            epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)).expect("epoll waits");
            for event in &events {
                let data = event.data;
                self.take_in(data.u64(), before_ns);
            }
            if !self.over {
                self.respond_next();
            }
        }
        let left = self.queues.into_iter().flatten();
        self.served.extend(left.map(|one| Served { connection: one.connection, came_ns: one.came_ns, responded_ns: None }));
        Record { served: self.served, disturbed: disturbed_ns as f64 / (looked_ns - start_ns).max(1) as f64 }
    }

    fn take_in(&mut self, data: u64, before_ns: u64) {
        if data == LISTENER {
            while let Ok((client, _)) = self.listener.accept() {
                client.set_nodelay(true).expect("a TCP socket");
                epoll::add(&self.epoll, client.as_fd(), EventData::new_u64(self.clients.len() as u64), EventFlags::IN).expect("watched");
                self.clients.push(client);
            }
            return;
        }
        let connection = data as usize;
        match self.clients[connection].read(&mut [0; 1024]) {
            Ok(1..) => {}
            _ => {
                self.over = true;
                let _ = epoll::delete(&self.epoll, self.clients[connection].as_fd());
                return;
            }
        }
        self.number += 1;
        let now_ns = now_ns();
        let held_ns = match self.order {
            Order::Held { one_in, for_ns } if self.number.is_multiple_of(one_in) => for_ns,
            _ => 0,
        };
        let queue = match self.order {
            Order::TwoWorkers { fast } => usize::from(connection < fast),
            Order::HeldForEver => usize::from(connection == 0),
            Order::Held { .. } => usize::from(held_ns > 0),
            Order::Fifo | Order::NewestFirst | Order::Random => 0,
        };
        let came_ns = before_ns.midpoint(now_ns);
        self.queues[queue].push_back(Waiting { connection, came_ns, not_before_ns: now_ns + held_ns });
    }

    fn pick(&mut self) -> Option<Waiting> {
        let [main, other] = &mut self.queues;
        match self.order {
            Order::Fifo | Order::HeldForEver => main.pop_front(),
            Order::NewestFirst => main.pop_back(),
            Order::Random => {
                let at = self.random.next_u64() as usize % main.len().max(1);
                main.swap_remove_back(at)
            }
            Order::Held { .. } => {
                let now_ns = now_ns();
                other.pop_front_if(|held| held.not_before_ns <= now_ns).or_else(|| main.pop_front())
            }
            Order::TwoWorkers { .. } => {
                self.turn ^= 1;
                let turn = self.turn;
                self.queues[turn].pop_front().or_else(|| self.queues[turn ^ 1].pop_front())
            }
        }
    }

    fn respond_next(&mut self) {
        let Some(Waiting { connection, came_ns, .. }) = self.pick() else { return };
        let done_ns = now_ns() + self.work_ns;
        while now_ns() < done_ns {}
        // Ignore errors, because the client may have disconnected.
        let _ = self.clients[connection].write(RESPONSE);
        self.served.push(Served { connection, came_ns, responded_ns: Some(now_ns()) });
    }
}
