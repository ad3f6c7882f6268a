//! A server that plays a script and tracks an upper bound on the number of correct responses that it has sent.

mod connection;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use super::script::Script;
use connection::Connection;
use connection::http1::correct_response;

/// Maximum time that the client may take after the run to close its end of each connection.
const LEAVING: Duration = Duration::from_secs(10);

/// Returns the body of a correct response.
pub fn body(length: usize) -> Vec<u8> {
    let mut body = b"hello".repeat(length / 5 + 1);
    body.truncate(length);
    body
}

/// State shared by all connections of a run.
struct Shared {
    script: Script,
    /// A correct HTTP/1.1 response, and the length of its head.
    response: Vec<u8>,
    head_length: usize,
    body: Vec<u8>,
    /// An upper bound on the number of correct responses sent.
    correct: AtomicU64,
    /// Whether the server has sent HTTP/2 bytes that it doesn't track. They may contain any number of correct responses.
    unknown: AtomicBool,
    open: AtomicU32,
    accepted: AtomicU32,
    stop: AtomicBool,
}

pub struct Server {
    shared: Arc<Shared>,
    address: SockAddr,
    pub path: Option<PathBuf>,
    pub port: u16,
}

impl Server {
    pub fn start(script: &Script) -> io::Result<Self> {
        let (address, path) = if script.unix {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let name = format!("hostile-{}-{}.sock", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::remove_file(&path);
            (SockAddr::unix(&path)?, Some(path))
        } else {
            (SockAddr::from(std::net::SocketAddr::from(([127, 0, 0, 1], 0))), None)
        };
        let listener = Socket::new(Domain::from(i32::from(address.family())), Type::STREAM.cloexec(), None)?;
        listener.bind(&address)?;
        listener.listen(1024)?;
        let address = if script.unix { address } else { listener.local_addr()? };
        let port = address.as_socket().map_or(80, |address| address.port());
        let body = body(script.response_body);
        let (response, head_length) = correct_response(script.framing, &body);
        let shared = Arc::new(Shared {
            script: script.clone(),
            response,
            head_length,
            body,
            correct: AtomicU64::new(0),
            unknown: AtomicBool::new(false),
            open: AtomicU32::new(0),
            accepted: AtomicU32::new(0),
            stop: AtomicBool::new(false),
        });
        let server = Self { shared: Arc::clone(&shared), address, path, port };
        std::thread::spawn(move || accept(&listener, &shared));
        Ok(server)
    }

    /// Returns the upper bound on the number of correct responses, or `None` if there is no bound.
    pub fn correct(&self) -> Option<u64> {
        let unknown = self.shared.unknown.load(Ordering::SeqCst);
        (!unknown).then(|| self.shared.correct.load(Ordering::SeqCst))
    }

    pub fn accepted(&self) -> u64 {
        u64::from(self.shared.accepted.load(Ordering::SeqCst))
    }

    /// Stops the server. Returns false if the client still has a connection open.
    pub fn stop(self) -> bool {
        self.shared.stop.store(true, Ordering::SeqCst);
        if let Ok(knock) = Socket::new(Domain::from(i32::from(self.address.family())), Type::STREAM.cloexec(), None) {
            let _ = knock.connect(&self.address);
        }
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
        let until = Instant::now() + LEAVING;
        while self.shared.open.load(Ordering::SeqCst) > 0 {
            if Instant::now() > until {
                return false;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        true
    }
}

fn accept(listener: &Socket, shared: &Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept() {
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        let number = shared.accepted.fetch_add(1, Ordering::SeqCst);
        shared.open.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            let _ = Connection::new(socket, &shared).play(number);
            shared.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}
