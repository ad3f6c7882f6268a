//! A connection of the server. It plays the script and keeps track of what it sends and reads.

pub mod http1;
mod http2;
mod socket;

use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustls::ServerConnection;
use socket2::Socket;

use super::Shared;
use crate::engines::frame::*;
use crate::engines::script::{After, Framing, Script, Step, Stream};
use http1::{INTERIM, WRONG_STATUS, correct_response};
use http2::{Exchange, INTERIM_BLOCK};
use socket::tls_config;

/// The error that ends a script early: the connection is unusable, or the script has closed it.
#[derive(Debug)]
pub struct Over;

impl From<io::Error> for Over {
    fn from(_: io::Error) -> Self {
        Self
    }
}

pub struct Connection<'a> {
    shared: &'a Shared,
    script: &'a Script,
    socket: Socket,
    tls: Option<ServerConnection>,
    /// Whether the socket can no longer be written to.
    shut: bool,
    notified: bool,
    /// For HTTP/1.1: number of bytes of the current response that were sent.
    at: usize,
    /// For HTTP/1.1: whether the output so far may be invalid.
    broken: bool,
    /// For HTTP/1.1: the last bytes written since `broken` was set. They may be the beginning of a status line.
    recent: Vec<u8>,
    /// For HTTP/1.1: the request head being read. For HTTP/2: the frames being read.
    input: Vec<u8>,
    /// For HTTP/1.1: number of bytes of the request body that haven't been read yet.
    body_left: usize,
    requests: u64,
    responded: u64,
    preface_left: usize,
    exchanges: BTreeMap<u32, Exchange>,
    stream_window: i64,
    window: i64,
}

impl<'a> Connection<'a> {
    pub fn new(socket: Socket, shared: &'a Shared) -> Self {
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
            responded: 0,
            preface_left: PREFACE_BYTES,
            exchanges: BTreeMap::new(),
            stream_window: 65_535,
            window: 65_535,
        }
    }

    /// Plays the script on this connection. `number` is the number of the connection within the run.
    pub fn play(&mut self, number: u32) -> Result<(), Over> {
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
        // SETTINGS must be the first frame, unless the script starts with a step whose bytes must precede the TLS handshake.
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
                    // Steps without I/O don't notice that the client has disconnected, so check whether the run has ended. The pause keeps
                    // such steps from occupying a core.
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
                    Some(id) => self.respond(id, STATUS_200, None)?,
                    None => self.read()?,
                }
            }
        }
        loop {
            while self.requests <= self.responded {
                self.read()?;
            }
            self.correct_response()?;
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
                // Unix sockets have no reset, so this is a normal close.
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
            Step::Correct(count) if self.script.http2 => {
                for _ in 0..*count {
                    let id = self.id_of(Stream::Waiting);
                    self.respond(id, STATUS_200, None)?;
                }
            }
            Step::Correct(count) => (0..*count).try_for_each(|_| self.correct_response())?,
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
                self.respond(id, STATUS_200, Some(&wrong))?;
            }
            Step::WrongBody => {
                let mut bytes = correct_response(Framing::Length, &self.shared.body).0;
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

    /// Handles the end of the stream. Without TLS, it completes a body without a length. With TLS, only a close_notify does so.
    fn note_close(&mut self) {
        if self.tls.is_none() && !self.shut && !self.notified {
            self.note_end_of_body();
        }
    }

    fn note_end_of_body(&mut self) {
        let until_close = !self.script.http2 && self.script.framing == Framing::UntilClose && !self.broken && !self.notified;
        let enough = if self.script.expects_body { self.shared.response.len() } else { self.shared.head_length };
        if until_close && self.at >= enough {
            self.count_correct(1);
        }
    }

    /// Counts correct responses. Call this before sending them, so that the count is never too low.
    fn count_correct(&self, count: u64) {
        self.shared.correct.fetch_add(count, Ordering::SeqCst);
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
}
