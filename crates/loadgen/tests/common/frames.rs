//! The server side of an HTTP/2 connection. Tests send each frame individually, so they control exactly what the server sends and when.

#[path = "../../../../fuzz/engines/frame.rs"]
mod frame;

use std::io::{Read, Write};

use frame::{ACK, DATA, END_HEADERS, END_STREAM, GOAWAY, PING, PREFACE_BYTES, SETTINGS, STATUS_200, frame_bytes};
pub use frame::{HEADERS, RST_STREAM};

pub const REFUSED_STREAM: u32 = 7;
pub const CANCEL: u32 = 8;

pub struct Frame {
    pub kind: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// Returns the error code of a RST_STREAM frame.
    pub fn code(&self) -> u32 {
        u32::from_be_bytes(self.payload[..4].try_into().expect("four bytes"))
    }
}

pub struct Frames<S>(S);

impl<S: Read + Write> Frames<S> {
    /// Reads the client's preface and sends the server's preface.
    pub fn accept(mut stream: S) -> Option<Self> {
        stream.read_exact(&mut [0; PREFACE_BYTES]).ok()?;
        let mut frames = Self(stream);
        frames.send(SETTINGS, 0, 0, &[]).then_some(frames)
    }

    /// Returns the next HEADERS or RST_STREAM frame, or `None` if the client has disconnected. Acknowledges SETTINGS and PING frames.
    pub fn next(&mut self) -> Option<Frame> {
        loop {
            let mut head = [0; 9];
            self.0.read_exact(&mut head).ok()?;
            let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
            self.0.read_exact(&mut payload).ok()?;
            let (kind, flags) = (head[3], head[4]);
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            match kind {
                HEADERS | RST_STREAM => return Some(Frame { kind, stream, payload }),
                SETTINGS if flags & ACK == 0 => self.send(SETTINGS, ACK, 0, &[]).then_some(())?,
                PING if flags & ACK == 0 => self.send(PING, ACK, 0, &payload).then_some(())?,
                _ => {}
            }
        }
    }

    /// Answers a request with status 200 and the body `hello`. Like all methods that send, returns false if the client has disconnected.
    pub fn answer(&mut self, stream: u32) -> bool {
        self.send(HEADERS, END_HEADERS, stream, &[STATUS_200]) && self.send(DATA, END_STREAM, stream, b"hello")
    }

    /// Sends the first part of an answer.
    pub fn begin_answer(&mut self, stream: u32) -> bool {
        self.send(HEADERS, END_HEADERS, stream, &[STATUS_200]) && self.send(DATA, 0, stream, b"he")
    }

    pub fn end_answer(&mut self, stream: u32) -> bool {
        self.send(DATA, END_STREAM, stream, b"llo")
    }

    /// Sends the head of an event stream.
    pub fn begin_events(&mut self, stream: u32) -> bool {
        self.begin_content(stream, "text/event-stream")
    }

    /// Sends the head of a response with this media type.
    pub fn begin_content(&mut self, stream: u32, media_type: &str) -> bool {
        let text = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
        let literal = [&[STATUS_200, 0][..], &text("content-type"), &text(media_type)].concat();
        self.send(HEADERS, END_HEADERS, stream, &literal)
    }

    pub fn data(&mut self, stream: u32, content: &[u8]) -> bool {
        self.send(DATA, 0, stream, content)
    }

    pub fn end(&mut self, stream: u32) -> bool {
        self.send(DATA, END_STREAM, stream, b"")
    }

    pub fn reset(&mut self, stream: u32, code: u32) -> bool {
        self.send(RST_STREAM, 0, stream, &code.to_be_bytes())
    }

    /// Announces that the server hasn't processed any stream above `last` and won't do so.
    pub fn go_away(&mut self, last: u32) -> bool {
        self.send(GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat())
    }

    /// Reads until the client disconnects.
    pub fn drain(mut self) {
        while self.next().is_some() {}
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        self.0.write_all(&frame_bytes(kind, flags, stream, payload)).and_then(|()| self.0.flush()).is_ok()
    }
}
