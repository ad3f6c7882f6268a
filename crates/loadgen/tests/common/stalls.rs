//! A server that responds at scheduled times. It has only one thread, so its own overhead hardly delays the responses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::record::Times;

/// A function that returns when a response is due, given the arrival time and the client's number. Both times are in nanoseconds since the
/// server's start.
pub type Due = Box<dyn Fn(u64, usize) -> u64 + Send>;

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Times that the server has recorded, in nanoseconds since its start.
#[derive(Debug, Default)]
pub struct Log {
    pub first_arrival_ns: Option<u64>,
    /// Time at which each response was sent.
    pub responded_ns: Vec<u64>,
    /// By how much each response was late.
    pub late: Times,
}

/// Starts a server on a free loopback port, which runs for `lifetime`. Requests must be short, and each connection must send one request at
/// a time.
pub fn serve(due: Due, lifetime: Duration) -> (SocketAddr, Arc<Mutex<Log>>) {
    serve_in_pieces(due, lifetime, RESPONSE.len())
}

/// Like `serve`, but sends responses in pieces of `piece_bytes` bytes.
pub fn serve_in_pieces(due: Due, lifetime: Duration, piece_bytes: usize) -> (SocketAddr, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.set_nonblocking(true).expect("a socket can be made non-blocking");
    let address = listener.local_addr().expect("a bound socket has an address");
    let shared = Arc::clone(&log);
    std::thread::spawn(move || {
        Server { listener, due, piece_bytes, log: shared, start: Instant::now(), clients: Vec::new(), waiting: BinaryHeap::new() }
            .run(lifetime);
    });
    (address, log)
}

struct Server {
    listener: TcpListener,
    due: Due,
    piece_bytes: usize,
    log: Arc<Mutex<Log>>,
    start: Instant,
    clients: Vec<TcpStream>,
    /// Pending responses. Each entry contains the due time, the arrival time of the request, and the client's number.
    waiting: BinaryHeap<Reverse<(u64, u64, usize)>>,
}

impl Server {
    fn run(&mut self, lifetime: Duration) {
        while self.start.elapsed() < lifetime {
            let ready = self.wait();
            let now_ns = self.now_ns();
            let log = Arc::clone(&self.log);
            let mut log = log.lock().expect("the lock isn't poisoned");
            for index in ready {
                if let Ok(1..) = self.clients[index].read(&mut [0; 1024]) {
                    log.first_arrival_ns.get_or_insert(now_ns);
                    self.waiting.push(Reverse(((self.due)(now_ns, index), now_ns, index)));
                }
            }
            while let Ok((client, _)) = self.listener.accept() {
                client.set_nodelay(true).expect("a TCP socket");
                self.clients.push(client);
            }
            while let Some((index, due_ns)) = self.pop_due() {
                for piece in RESPONSE.chunks(self.piece_bytes) {
                    let _ = self.clients[index].write_all(piece);
                }
                let responded_ns = self.now_ns();
                log.late.push(responded_ns - due_ns);
                log.responded_ns.push(responded_ns);
            }
        }
    }

    /// Returns the client whose response is due first and when it was due, or `None` if no response is due yet.
    fn pop_due(&mut self) -> Option<(usize, u64)> {
        let Reverse((due_ns, ..)) = *self.waiting.peek()?;
        (due_ns <= self.now_ns()).then_some(())?;
        self.waiting.pop().map(|Reverse((due_ns, _, index))| (index, due_ns))
    }

    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Waits for at most 10 ms until a request arrives or a response is due. Returns the clients that have sent data.
    fn wait(&self) -> Vec<usize> {
        let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds: Vec<_> = self.clients.iter().map(|client| poll(client.as_raw_fd())).collect();
        fds.push(poll(self.listener.as_raw_fd()));
        let wait_ns = self.waiting.peek().map_or(10_000_000, |Reverse((due_ns, ..))| due_ns.saturating_sub(self.now_ns()).min(10_000_000));
        let timeout = libc::timespec { tv_sec: 0, tv_nsec: wait_ns as i64 };
        // SAFETY: descriptors and timeout are valid during the call.
        unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, &timeout, std::ptr::null()) };
        (0..self.clients.len()).filter(|index| fds[*index].revents != 0).collect()
    }
}
