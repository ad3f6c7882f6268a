//! Sends HTTP/1.1 responses and counts those that may be correct. This count is an upper bound on the client's count.

use std::sync::atomic::Ordering;

use super::{Connection, Over};
use crate::engines::script::Framing;

pub const INTERIM: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
pub const WRONG_STATUS: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
const STATUS_LINE: &[u8] = b"HTTP/1.";

/// Returns a correct response and the length of its head.
pub fn correct_response(framing: Framing, body: &[u8]) -> (Vec<u8>, usize) {
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

impl Connection<'_> {
    /// Writes bytes that may be invalid. From then on, each `HTTP/1.` counts as a correct response, because it may be the beginning of one.
    pub(super) fn untold(&mut self, bytes: &[u8]) -> Result<(), Over> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.script.http2 {
            self.shared.unknown.store(true, Ordering::SeqCst);
            return self.send(bytes);
        }
        if !std::mem::replace(&mut self.broken, true) && self.at > 0 {
            self.count_correct(1);
        }
        self.write_broken(bytes)
    }

    pub(super) fn write_broken(&mut self, bytes: &[u8]) -> Result<(), Over> {
        self.recent.extend_from_slice(bytes);
        let starts = memchr::memmem::find_iter(&self.recent, STATUS_LINE).count();
        self.count_correct(starts as u64);
        let kept = self.recent.len().saturating_sub(STATUS_LINE.len() - 1);
        self.recent.drain(..kept);
        self.send(bytes)
    }

    /// Writes a complete response and adds `correct` to the number of correct responses.
    pub(super) fn whole(&mut self, bytes: &[u8], correct: u64) -> Result<(), Over> {
        self.responded += u64::from(bytes != INTERIM);
        if self.broken || self.at > 0 {
            return self.untold(bytes);
        }
        self.count_correct(correct);
        self.send(bytes)
    }

    pub(super) fn correct_response(&mut self) -> Result<(), Over> {
        self.responded += 1;
        let rest = self.shared.response.len() - self.at;
        if rest == 0 || self.broken {
            let response = &self.shared.response;
            return self.untold(response);
        }
        self.piece(rest)
    }

    pub(super) fn piece(&mut self, length: usize) -> Result<(), Over> {
        let response = &self.shared.response;
        let end = (self.at + length).min(response.len());
        let bytes = &response[self.at.min(end)..end];
        if self.broken || self.script.http2 {
            return self.untold(bytes);
        }
        self.at = end;
        if end == response.len() && self.script.framing != Framing::UntilClose {
            self.count_correct(1);
            self.at = 0;
        }
        self.send(bytes)
    }
}
