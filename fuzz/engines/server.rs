//! A server that plays a script, and knows how many right responses it has sent at most.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};
use socket2::{Domain, SockAddr, Socket, Type};

use super::script::{After, Framing, Script, Step, Stream};

const INTERIM: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
const WRONG_STATUS: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
const STATUS_LINE: &[u8] = b"HTTP/1.";
const PREFACE_BYTES: usize = 24;
const READ_BYTES: usize = 64 * 1024;
const FRAME_BYTES_MAX: usize = 16_384;
const IDLE_STREAM: u32 = (1 << 31) - 1;
/// After the run, how long the client's end of a connection may take to go away.
const LEAVING: Duration = Duration::from_secs(10);

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200` and `:status: 404` of the static table of HPACK.
const STATUS_200: u8 = 0x88;
const STATUS_404: u8 = 0x8d;
/// A literal `:status: 103` that joins no table.
const INTERIM_BLOCK: [u8; 5] = [0x08, 3, b'1', b'0', b'3'];

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

pub fn body(length: usize) -> Vec<u8> {
    let mut body = b"hello".repeat(length / 5 + 1);
    body.truncate(length);
    body
}

/// What all connections of one run have in common.
struct Shared {
    script: Script,
    /// A right response of HTTP/1.1, and where its body begins.
    response: Vec<u8>,
    head_length: usize,
    body: Vec<u8>,
    /// No more than so many right responses were sent.
    right: AtomicU64,
    /// Bytes were sent that the model does not follow: they may be any number of right responses.
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
        let (response, head_length) = right_response(script.framing, &body);
        let shared = Arc::new(Shared {
            script: script.clone(),
            response,
            head_length,
            body,
            right: AtomicU64::new(0),
            unknown: AtomicBool::new(false),
            open: AtomicU32::new(0),
            accepted: AtomicU32::new(0),
            stop: AtomicBool::new(false),
        });
        let server = Self { shared: Arc::clone(&shared), address, path, port };
        std::thread::spawn(move || accept(&listener, &shared));
        Ok(server)
    }

    /// No more than so many responses can be right; `None` when the model cannot tell.
    pub fn right(&self) -> Option<u64> {
        let unknown = self.shared.unknown.load(Ordering::SeqCst);
        (!unknown).then(|| self.shared.right.load(Ordering::SeqCst))
    }

    pub fn accepted(&self) -> u64 {
        u64::from(self.shared.accepted.load(Ordering::SeqCst))
    }

    /// Ends the server; false when the client still holds a connection open.
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

/// A right response, and the length of its head.
fn right_response(framing: Framing, body: &[u8]) -> (Vec<u8>, usize) {
    let length = body.len();
    let mut bytes = match framing {
        Framing::Length => format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"),
        Framing::LengthAndDate => {
            format!("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: {length}\r\n\r\n")
        }
        Framing::Chunked => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
        Framing::UntilClose => "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_owned(),
    }
    .into_bytes();
    let head_length = bytes.len();
    if framing == Framing::Chunked {
        for piece in body.chunks(70_000) {
            bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            bytes.extend_from_slice(piece);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
    } else {
        bytes.extend_from_slice(body);
    }
    (bytes, head_length)
}

fn tls_config(http2: bool) -> Arc<ServerConfig> {
    static CONFIGS: LazyLock<[Arc<ServerConfig>; 2]> = LazyLock::new(|| {
        let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        [&b"http/1.1"[..], b"h2"].map(|alpn| {
            let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("default versions");
            let config = builder.with_no_client_auth().with_single_cert(vec![certified.cert.der().clone()], key);
            let mut config = config.expect("a matching pair");
            config.alpn_protocols = vec![alpn.to_vec()];
            Arc::new(config)
        })
    });
    Arc::clone(&CONFIGS[usize::from(http2)])
}

/// The connection is of no more use, or the script has ended it.
#[derive(Debug)]
struct Over;

impl From<io::Error> for Over {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// What the server knows of one stream of HTTP/2.
#[derive(Debug)]
struct Exchange {
    requested: bool,
    headers_sent: bool,
    /// Nothing that was sent so far is wrong.
    right: bool,
    /// Bytes of the body that were sent.
    at: usize,
    over: bool,
    window: i64,
}

impl Exchange {
    fn new(window: i64) -> Self {
        Self { requested: false, headers_sent: false, right: true, at: 0, over: false, window }
    }
}

struct Connection<'a> {
    shared: &'a Shared,
    script: &'a Script,
    socket: Socket,
    tls: Option<ServerConnection>,
    /// No more can be written.
    shut: bool,
    notified: bool,
    /// HTTP/1.1: what was sent of the current response; whether the bytes ever left the grammar; what was left of the last write then.
    at: usize,
    broken: bool,
    recent: Vec<u8>,
    /// HTTP/1.1: the head that is being read, and what is missing of the body behind it. HTTP/2: the frames that are being read.
    input: Vec<u8>,
    body_left: usize,
    requests: u64,
    answered: u64,
    preface_left: usize,
    exchanges: BTreeMap<u32, Exchange>,
    stream_window: i64,
    window: i64,
}

impl<'a> Connection<'a> {
    fn new(socket: Socket, shared: &'a Shared) -> Self {
        let script = &shared.script;
        let tls = script.tls.then(|| {
            let mut tls = ServerConnection::new(tls_config(script.http2)).expect("a valid configuration");
            tls.set_buffer_limit(None);
            tls
        });
        if !script.unix {
            let _ = socket.set_tcp_nodelay(true);
        }
        Self {
            shared,
            script,
            socket,
            tls,
            shut: false,
            notified: false,
            at: 0,
            broken: false,
            recent: Vec::new(),
            input: Vec::new(),
            body_left: 0,
            requests: 0,
            answered: 0,
            preface_left: PREFACE_BYTES,
            exchanges: BTreeMap::new(),
            stream_window: 65_535,
            window: 65_535,
        }
    }

    fn play(&mut self, number: u32) -> Result<(), Over> {
        let played = self.play_script(number);
        self.note_close();
        played
    }

    fn play_script(&mut self, number: u32) -> Result<(), Over> {
        if self.script.second_is_good && number % 2 == 1 {
            if self.script.http2 {
                self.frame(SETTINGS, 0, 0, &[])?;
            }
            return self.serve_well();
        }
        let polite = self.script.http2 && self.script.manners;
        // Settings come first, unless the script has something to say before the handshake.
        if polite && !matches!(self.script.steps.first(), Some(Step::Raw(_) | Step::Alert { .. } | Step::Record { .. })) {
            self.frame(SETTINGS, 0, 0, &[])?;
        }
        loop {
            let before = Instant::now();
            for step in &self.script.steps {
                self.step(step)?;
            }
            match self.script.after {
                After::ServeWell => return self.serve_well(),
                After::Close => return Ok(()),
                After::Repeat if !self.shut && !self.script.steps.is_empty() => {
                    // Steps that neither read nor write do not see the client leave, and must not keep a core busy.
                    if self.shared.stop.load(Ordering::SeqCst) {
                        return Ok(());
                    }
                    if before.elapsed() < Duration::from_micros(50) {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                }
                After::Repeat | After::Hold => loop {
                    self.read()?;
                },
            }
        }
    }

    fn serve_well(&mut self) -> Result<(), Over> {
        if self.script.http2 {
            loop {
                match self.waiting(true) {
                    Some(id) => self.answer_stream(id, STATUS_200, None)?,
                    None => self.read()?,
                }
            }
        }
        loop {
            while self.requests <= self.answered {
                self.read()?;
            }
            self.right_response()?;
            if self.script.framing == Framing::UntilClose {
                self.close_notify()?;
                self.half_close();
                loop {
                    self.read()?;
                }
            }
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), Over> {
        match step {
            Step::AckSettings => self.frame(SETTINGS, ACK, 0, &[])?,
            Step::Close => return Err(Over),
            Step::DelayMs(ms) => std::thread::sleep(Duration::from_millis(u64::from(*ms))),
            Step::EndReading => drop(self.socket.shutdown(Shutdown::Read)),
            Step::HalfClose => self.half_close(),
            Step::Reset => {
                let _ = self.socket.set_linger(Some(Duration::ZERO));
                // A Unix socket knows no reset: its end is an ordinary one.
                self.notified = !self.script.unix;
                self.broken |= !self.script.unix;
                return Err(Over);
            }
            Step::ReadSome(bytes) => {
                let mut left = *bytes;
                while left > 0 {
                    left = left.saturating_sub(self.read_at_most(left)?);
                }
            }
            Step::ReadRequests(count) => {
                let until = self.requests + u64::from(*count);
                while self.requests < until {
                    self.read()?;
                }
            }
            Step::Garbage(bytes) => self.untold(bytes)?,
            Step::Trailing(bytes) => self.untold(bytes)?,
            Step::CloseNotify => self.close_notify()?,
            Step::Raw(bytes) if self.tls.is_some() => self.raw(bytes)?,
            Step::Raw(bytes) => self.untold(bytes)?,
            Step::Alert { level, code } if self.tls.is_some() => self.raw(&[21, 3, 3, 0, 2, *level, *code])?,
            Step::Alert { level, code } => self.untold(&[*level, *code])?,
            Step::TruncatedRecord(length) => self.truncated_record(usize::from(*length))?,
            Step::Record { kind, length, payload } if self.tls.is_some() => {
                self.raw(&[&[*kind, 3, 3, 0, *length][..], payload].concat())?;
            }
            Step::Record { payload, .. } => self.untold(payload)?,
            Step::Settings { id, value } => {
                self.frame(SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat())?;
            }
            Step::Pings(count) => (0..*count).try_for_each(|_| self.frame(PING, 0, 0, b"pingpong"))?,
            Step::PushPromise => {
                let stream = self.id_of(Stream::Waiting);
                self.frame(PUSH_PROMISE, END_HEADERS, stream, &[0, 0, 0, 2, 0x82, 0x84, 0x86])?;
            }
            Step::ResetStream(stream, code) => self.frame(RST_STREAM, 0, self.id_of(*stream), &code.to_be_bytes())?,
            Step::WindowUpdate(stream, by) => self.frame(WINDOW_UPDATE, 0, self.id_of(*stream), &by.to_be_bytes())?,
            Step::GoAway { last, code } => {
                self.frame(GOAWAY, 0, 0, &[&last.to_be_bytes()[..], &code.to_be_bytes()].concat())?;
            }
            Step::Frame { kind, flags, stream, payload } => self.frame(*kind, *flags, self.id_of(*stream), payload)?,
            Step::Data { stream, length, end } => {
                let id = self.id_of(*stream);
                self.data(id, *length, *end)?;
            }
            Step::Continuations(count) => {
                let stream = self.id_of(Stream::Waiting);
                self.frame(HEADERS, 0, stream, &[STATUS_200])?;
                (0..*count).try_for_each(|_| self.frame(CONTINUATION, 0, stream, &[0x40, 1, b'x', 1, b'y']))?;
                self.frame(CONTINUATION, END_HEADERS, stream, &[])?;
            }
            Step::Right(count) if self.script.http2 => {
                for _ in 0..*count {
                    let id = self.id_of(Stream::Waiting);
                    self.answer_stream(id, STATUS_200, None)?;
                }
            }
            Step::Right(count) => (0..*count).try_for_each(|_| self.right_response())?,
            Step::Piece(length) if self.script.http2 => {
                let id = self.id_of(Stream::Waiting);
                let begun = self.exchanges.get(&id).is_some_and(|exchange| exchange.headers_sent);
                if begun { self.data(id, *length, false)? } else { self.frame(HEADERS, END_HEADERS, id, &[STATUS_200])? }
            }
            Step::Piece(length) => self.piece(*length)?,
            Step::WrongStatus if self.script.http2 => {
                let id = self.id_of(Stream::Waiting);
                self.frame(HEADERS, END_HEADERS | END_STREAM, id, &[STATUS_404])?;
            }
            Step::WrongStatus => self.whole(WRONG_STATUS, 0)?,
            Step::WrongBody if self.script.http2 => {
                let id = self.id_of(Stream::Waiting);
                let wrong = vec![b'-'; self.shared.body.len()];
                self.answer_stream(id, STATUS_200, Some(&wrong))?;
            }
            Step::WrongBody => {
                let mut bytes = right_response(Framing::Length, &self.shared.body).0;
                let last = bytes.len() - 1;
                bytes[last] = b'-';
                self.whole(&bytes, u64::from(!self.script.expects_body))?;
            }
            Step::Interim(count) if self.script.http2 => {
                let id = self.id_of(Stream::Waiting);
                (0..*count).try_for_each(|_| self.frame(HEADERS, END_HEADERS, id, &INTERIM_BLOCK))?;
            }
            Step::Interim(count) => (0..*count).try_for_each(|_| self.whole(INTERIM, 0))?,
            Step::Mutated { at, byte } => {
                let mut bytes = if self.script.http2 {
                    frame_bytes(HEADERS, END_HEADERS | END_STREAM, self.id_of(Stream::Waiting), &[STATUS_200])
                } else {
                    self.shared.response.clone()
                };
                let at = usize::from(*at) % bytes.len();
                bytes[at] = *byte;
                self.untold(&bytes)?;
            }
            Step::Part { from, to } => {
                let bytes = if self.script.http2 {
                    let id = self.id_of(Stream::Waiting);
                    [frame_bytes(HEADERS, END_HEADERS, id, &[STATUS_200]), frame_bytes(DATA, END_STREAM, id, b"hello")].concat()
                } else {
                    self.shared.response.clone()
                };
                let place = |part: u8| usize::from(part) * bytes.len() / 255;
                self.untold(&bytes[place(*from.min(to))..place(*from.max(to))])?;
            }
        }
        Ok(())
    }

    // What is written.

    fn half_close(&mut self) {
        self.note_close();
        self.shut = true;
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Writes bytes to the socket, beneath TLS.
    fn raw(&mut self, mut bytes: &[u8]) -> Result<(), Over> {
        while !bytes.is_empty() && !self.shut {
            match self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Over),
            }
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Over> {
        if self.tls.is_none() {
            return self.raw(bytes);
        }
        self.shake_hands()?;
        for piece in bytes.chunks(FRAME_BYTES_MAX) {
            let records = self.records_of(piece)?;
            self.raw(&records)?;
        }
        // What came with the end of the handshake. No reply to it may go out before the settings.
        self.take(&[])
    }

    fn records_of(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Over> {
        let mut records = Vec::new();
        if let Some(tls) = &mut self.tls {
            tls.writer().write_all(bytes)?;
            while tls.wants_write() {
                tls.write_tls(&mut records)?;
            }
        }
        Ok(records)
    }

    fn shake_hands(&mut self) -> Result<(), Over> {
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            let answer = self.records_of(&[])?;
            self.raw(&answer)?;
            if self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
                let (_, plain) = self.read_records(READ_BYTES)?;
                if self.script.http2 { self.input.extend_from_slice(&plain) } else { self.take(&plain)? }
            }
        }
        let rest = self.records_of(&[])?;
        self.raw(&rest)
    }

    fn close_notify(&mut self) -> Result<(), Over> {
        if self.tls.is_none() {
            return Ok(());
        }
        self.shake_hands()?;
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        self.note_end_of_body();
        self.notified = true;
        let records = self.records_of(&[])?;
        self.raw(&records)
    }

    fn truncated_record(&mut self, length: usize) -> Result<(), Over> {
        if self.tls.is_none() {
            return self.piece(length);
        }
        self.shake_hands()?;
        let response = self.shared.response[..self.shared.response.len().min(FRAME_BYTES_MAX)].to_vec();
        let records = self.records_of(&response)?;
        // A record that is cut off by others is garbage, one that is whole is not: the last byte never goes out.
        self.raw(&records[..length.min(records.len() - 1)])
    }

    /// The end of the stream, which completes a body without a length. With TLS it only counts if it was announced.
    fn note_close(&mut self) {
        if self.tls.is_none() && !self.shut && !self.notified {
            self.note_end_of_body();
        }
    }

    fn note_end_of_body(&mut self) {
        let until_close = !self.script.http2 && self.script.framing == Framing::UntilClose && !self.broken && !self.notified;
        let enough = if self.script.expects_body { self.shared.response.len() } else { self.shared.head_length };
        if until_close && self.at >= enough {
            self.count_right(1);
        }
    }

    /// Before they are sent: who reads the count later must not find it too low.
    fn count_right(&self, count: u64) {
        self.shared.right.fetch_add(count, Ordering::SeqCst);
    }

    // HTTP/1.1.

    /// Bytes that leave the grammar, or may do so: from here on each start of a response may be a right one.
    fn untold(&mut self, bytes: &[u8]) -> Result<(), Over> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.script.http2 {
            self.shared.unknown.store(true, Ordering::SeqCst);
            return self.send(bytes);
        }
        if !std::mem::replace(&mut self.broken, true) && self.at > 0 {
            self.count_right(1);
        }
        self.write_broken(bytes)
    }

    fn write_broken(&mut self, bytes: &[u8]) -> Result<(), Over> {
        self.recent.extend_from_slice(bytes);
        let starts = memchr::memmem::find_iter(&self.recent, STATUS_LINE).count();
        self.count_right(starts as u64);
        let kept = self.recent.len().saturating_sub(STATUS_LINE.len() - 1);
        self.recent.drain(..kept);
        self.send(bytes)
    }

    /// A complete response, which adds so many to those that are right.
    fn whole(&mut self, bytes: &[u8], right: u64) -> Result<(), Over> {
        self.answered += u64::from(bytes != INTERIM);
        if self.broken || self.at > 0 {
            return self.untold(bytes);
        }
        self.count_right(right);
        self.send(bytes)
    }

    fn right_response(&mut self) -> Result<(), Over> {
        self.answered += 1;
        let rest = self.shared.response.len() - self.at;
        if rest == 0 || self.broken {
            let response = &self.shared.response;
            return self.untold(response);
        }
        self.piece(rest)
    }

    fn piece(&mut self, length: usize) -> Result<(), Over> {
        let response = &self.shared.response;
        let end = (self.at + length).min(response.len());
        let bytes = &response[self.at.min(end)..end];
        if self.broken || self.script.http2 {
            return self.untold(bytes);
        }
        self.at = end;
        if end == response.len() && self.script.framing != Framing::UntilClose {
            self.count_right(1);
            self.at = 0;
        }
        self.send(bytes)
    }

    // HTTP/2.

    fn id_of(&self, stream: Stream) -> u32 {
        match stream {
            Stream::Connection => 0,
            Stream::Waiting => self.waiting(false).unwrap_or(1),
            Stream::Answered => self.exchanges.iter().rev().find(|(_, exchange)| exchange.over).map_or(1, |(id, _)| *id),
            Stream::Idle => IDLE_STREAM,
            Stream::Pushed => 2,
        }
    }

    /// The oldest stream without a whole response; `requested`: of those whose request was read to its end.
    fn waiting(&self, requested: bool) -> Option<u32> {
        let mut open = self.exchanges.iter().filter(|(_, exchange)| !exchange.over && (exchange.requested || !requested));
        open.next().map(|(id, _)| *id)
    }

    fn answer_stream(&mut self, id: u32, status: u8, wrong: Option<&[u8]>) -> Result<(), Over> {
        let begun = self.exchanges.get(&id).is_some_and(|exchange| exchange.headers_sent);
        if !begun {
            self.frame(HEADERS, END_HEADERS, id, &[status])?;
        }
        let body = wrong.unwrap_or(&self.shared.body);
        let mut at = self.exchanges.get(&id).map_or(0, |exchange| exchange.at).min(body.len());
        loop {
            let length = (body.len() - at).min(FRAME_BYTES_MAX);
            while self.exchanges.get(&id).is_some_and(|exchange| !exchange.over && self.window.min(exchange.window) < length as i64) {
                self.read()?;
            }
            let piece = &body[at..at + length];
            at += length;
            let end = at == body.len();
            self.frame(DATA, if end { END_STREAM } else { 0 }, id, piece)?;
            if end {
                return Ok(());
            }
        }
    }

    /// So many bytes of the body, or what is left of it, with no regard to any window.
    fn data(&mut self, id: u32, length: usize, end: bool) -> Result<(), Over> {
        let at = self.exchanges.get(&id).map_or(0, |exchange| exchange.at);
        let body = &self.shared.body;
        let bytes: Vec<u8> = body.iter().cycle().skip(at % body.len()).take(length).copied().collect();
        let mut pieces = bytes.chunks(FRAME_BYTES_MAX).peekable();
        while let Some(piece) = pieces.next() {
            let last = end && pieces.peek().is_none();
            self.frame(DATA, if last { END_STREAM } else { 0 }, id, piece)?;
        }
        if end && bytes.is_empty() {
            self.frame(DATA, END_STREAM, id, &[])?;
        }
        Ok(())
    }

    /// Sends a frame, after the model has taken note of it.
    fn frame(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) -> Result<(), Over> {
        let bytes = frame_bytes(kind, flags, id, payload);
        if !self.script.http2 {
            return self.untold(&bytes);
        }
        let (body, expects_body) = (&self.shared.body, self.script.expects_body);
        let mut right = 0;
        // A response may come before its request was read.
        if matches!(kind, HEADERS | DATA) && id % 2 == 1 {
            self.exchanges.entry(id).or_insert(Exchange::new(self.stream_window));
        }
        if let Some(exchange) = self.exchanges.get_mut(&id).filter(|exchange| !exchange.over) {
            match kind {
                HEADERS => {
                    let has_status = payload == [STATUS_200] || payload == [STATUS_404] || payload == INTERIM_BLOCK;
                    // Trailers have no status.
                    exchange.right &= if exchange.headers_sent { !has_status } else { payload != [STATUS_404] };
                    exchange.headers_sent |= payload != INTERIM_BLOCK;
                }
                DATA => {
                    self.window -= payload.len() as i64;
                    exchange.window -= payload.len() as i64;
                    let same = body.get(exchange.at..exchange.at + payload.len()) == Some(payload);
                    // Padding is not followed.
                    exchange.right &= same || flags & 8 == 8 || !expects_body;
                    exchange.at += payload.len();
                }
                RST_STREAM => exchange.over = true,
                _ => {}
            }
            if matches!(kind, HEADERS | DATA) && flags & END_STREAM == END_STREAM {
                exchange.over = true;
                let whole = exchange.at == body.len() || flags & 8 == 8 || !expects_body;
                right = u64::from(exchange.right && exchange.headers_sent && whole);
            }
        }
        self.count_right(right);
        self.send(&bytes)
    }

    // What is read.

    fn read(&mut self) -> Result<(), Over> {
        self.read_at_most(READ_BYTES).map(drop)
    }

    fn read_at_most(&mut self, most: usize) -> Result<usize, Over> {
        if self.tls.is_none() {
            let bytes = self.receive(most)?;
            self.take(&bytes)?;
            return Ok(bytes.len());
        }
        if self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            self.shake_hands()?;
            return self.take(&[]).map(|()| 0);
        }
        let (count, plain) = self.read_records(most)?;
        self.take(&plain)?;
        Ok(count)
    }

    /// So many bytes of records, and what was in them.
    fn read_records(&mut self, most: usize) -> Result<(usize, Vec<u8>), Over> {
        let bytes = self.receive(most)?;
        let (mut rest, mut plain, mut failed) = (&bytes[..], Vec::new(), false);
        while let Some(tls) = self.tls.as_mut().filter(|_| !rest.is_empty() && !failed) {
            failed = !matches!(tls.read_tls(&mut rest), Ok(1..)) || tls.process_new_packets().is_err();
            // Until the end of the stream, reading ends with `WouldBlock`.
            let _ = tls.reader().read_to_end(&mut plain);
        }
        if failed {
            let alert = self.records_of(&[])?;
            self.raw(&alert)?;
            return Err(Over);
        }
        Ok((bytes.len(), plain))
    }

    fn receive(&mut self, most: usize) -> Result<Vec<u8>, Over> {
        let mut room = vec![0; most.clamp(1, READ_BYTES)];
        loop {
            match (&self.socket).read(&mut room) {
                Ok(0) => return Err(Over),
                Ok(count) => {
                    room.truncate(count);
                    return Ok(room);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Over),
            }
        }
    }

    fn take(&mut self, mut bytes: &[u8]) -> Result<(), Over> {
        if self.script.http2 {
            self.input.extend_from_slice(bytes);
            return self.take_frames();
        }
        while !bytes.is_empty() {
            if self.body_left > 0 {
                let count = self.body_left.min(bytes.len());
                bytes = &bytes[count..];
                self.body_left -= count;
                self.requests += u64::from(self.body_left == 0);
                continue;
            }
            let before = self.input.len();
            self.input.extend_from_slice(bytes);
            let Some(end) = memchr::memmem::find(&self.input, b"\r\n\r\n") else { return Ok(()) };
            bytes = &bytes[end + 4 - before..];
            self.input.clear();
            self.body_left = self.script.request_body;
            self.requests += u64::from(self.body_left == 0);
        }
        Ok(())
    }

    fn take_frames(&mut self) -> Result<(), Over> {
        let mut input = std::mem::take(&mut self.input);
        let mut at = self.preface_left.min(input.len());
        self.preface_left -= at;
        while let Some(head) = input.get(at..at + 9) {
            let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
            let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let (kind, flags) = (head[3], head[4]);
            let Some(payload) = input.get(at + 9..at + 9 + length) else { break };
            self.take_frame(kind, flags, id, payload)?;
            at += 9 + length;
        }
        input.drain(..at);
        self.input = input;
        Ok(())
    }

    fn take_frame(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) -> Result<(), Over> {
        let polite = self.script.manners;
        let number = |at: usize| payload.get(at..at + 4).map_or(0, |bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        match kind {
            HEADERS => {
                let window = self.stream_window;
                self.exchanges.entry(id).or_insert(Exchange::new(window));
                // What was answered long ago need not be known any more.
                while self.exchanges.len() > 200 {
                    self.exchanges.pop_first();
                }
            }
            RST_STREAM => {
                self.exchanges.entry(id).and_modify(|exchange| exchange.over = true);
            }
            SETTINGS if flags & ACK == 0 => {
                for at in (0..payload.len()).step_by(6) {
                    if payload.get(at..at + 2) == Some(&[0, 4]) {
                        self.stream_window = i64::from(number(at + 2));
                    }
                }
                if polite {
                    self.frame(SETTINGS, ACK, 0, &[])?;
                }
            }
            PING if flags & ACK == 0 && polite => self.frame(PING, ACK, 0, payload)?,
            WINDOW_UPDATE if id == 0 => self.window += i64::from(number(0)),
            WINDOW_UPDATE => {
                self.exchanges.entry(id).and_modify(|exchange| exchange.window += i64::from(number(0)));
            }
            DATA if polite && !payload.is_empty() => {
                let by = (payload.len() as u32).to_be_bytes();
                self.frame(WINDOW_UPDATE, 0, 0, &by)?;
                if flags & END_STREAM == 0 {
                    self.frame(WINDOW_UPDATE, 0, id, &by)?;
                }
            }
            _ => {}
        }
        if matches!(kind, HEADERS | DATA) && flags & END_STREAM == END_STREAM {
            self.requests += 1;
            self.exchanges.entry(id).and_modify(|exchange| exchange.requested = true);
        }
        Ok(())
    }
}

fn frame_bytes(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &id.to_be_bytes(), payload].concat()
}
