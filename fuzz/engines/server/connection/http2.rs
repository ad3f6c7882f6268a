//! Sends HTTP/2 frames and counts the responses that may be correct. This count is an upper bound on the client's count.

use super::socket::FRAME_BYTES_MAX;
use super::{Connection, Over};
use crate::engines::frame::*;
use crate::engines::script::Stream;

const IDLE_STREAM: u32 = (1 << 31) - 1;
/// `:status: 103`, encoded as a literal that isn't added to the dynamic table of HPACK.
pub const INTERIM_BLOCK: [u8; 5] = [0x08, 3, b'1', b'0', b'3'];

/// The state of an HTTP/2 stream on the server.
#[derive(Debug)]
pub struct Exchange {
    pub requested: bool,
    pub headers_sent: bool,
    /// Whether everything sent so far is correct.
    correct: bool,
    /// Number of body bytes sent.
    at: usize,
    over: bool,
    window: i64,
}

impl Exchange {
    pub fn new(window: i64) -> Self {
        Self { requested: false, headers_sent: false, correct: true, at: 0, over: false, window }
    }
}

impl Connection<'_> {
    pub(super) fn id_of(&self, stream: Stream) -> u32 {
        match stream {
            Stream::Connection => 0,
            Stream::Waiting => self.waiting(false).unwrap_or(1),
            Stream::Responded => self.exchanges.iter().rev().find(|(_, exchange)| exchange.over).map_or(1, |(id, _)| *id),
            Stream::Idle => IDLE_STREAM,
            Stream::Pushed => 2,
        }
    }

    /// Returns the oldest stream without a complete response. If `requested` is true, skips streams with an incomplete request.
    pub(super) fn waiting(&self, requested: bool) -> Option<u32> {
        let mut open = self.exchanges.iter().filter(|(_, exchange)| !exchange.over && (exchange.requested || !requested));
        open.next().map(|(id, _)| *id)
    }

    pub(super) fn respond(&mut self, id: u32, status: u8, wrong: Option<&[u8]>) -> Result<(), Over> {
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

    /// Sends `length` bytes of the body, which is repeated if necessary. Ignores flow control.
    pub(super) fn data(&mut self, id: u32, length: usize, end: bool) -> Result<(), Over> {
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

    /// Sends a frame and updates the state of its stream.
    pub(super) fn frame(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) -> Result<(), Over> {
        let bytes = frame_bytes(kind, flags, id, payload);
        if !self.script.http2 {
            return self.untold(&bytes);
        }
        let (body, expects_body) = (&self.shared.body, self.script.expects_body);
        let mut correct = 0;
        // The server may respond before it has read the request.
        if matches!(kind, HEADERS | DATA) && id % 2 == 1 {
            self.exchanges.entry(id).or_insert(Exchange::new(self.stream_window));
        }
        if let Some(exchange) = self.exchanges.get_mut(&id).filter(|exchange| !exchange.over) {
            match kind {
                HEADERS => {
                    let has_status = payload == [STATUS_200] || payload == [STATUS_404] || payload == INTERIM_BLOCK;
                    // Trailers must not contain a status.
                    exchange.correct &= if exchange.headers_sent { !has_status } else { payload != [STATUS_404] };
                    exchange.headers_sent |= payload != INTERIM_BLOCK;
                }
                DATA => {
                    self.window -= payload.len() as i64;
                    exchange.window -= payload.len() as i64;
                    let same = body.get(exchange.at..exchange.at + payload.len()) == Some(payload);
                    // This code doesn't parse padding, so a padded frame may be correct.
                    exchange.correct &= same || flags & 8 == 8 || !expects_body;
                    exchange.at += payload.len();
                }
                RST_STREAM => exchange.over = true,
                _ => {}
            }
            if matches!(kind, HEADERS | DATA) && flags & END_STREAM == END_STREAM {
                exchange.over = true;
                let whole = exchange.at == body.len() || flags & 8 == 8 || !expects_body;
                correct = u64::from(exchange.correct && exchange.headers_sent && whole);
            }
        }
        self.count_correct(correct);
        self.send(&bytes)
    }

    pub(super) fn take_frames(&mut self) -> Result<(), Over> {
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

    pub(super) fn take_frame(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) -> Result<(), Over> {
        let polite = self.script.manners;
        let number = |at: usize| payload.get(at..at + 4).map_or(0, |bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        match kind {
            HEADERS => {
                let window = self.stream_window;
                self.exchanges.entry(id).or_insert(Exchange::new(window));
                // Forget the oldest streams to limit memory.
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
