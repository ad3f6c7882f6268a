//! The output buffer of one connection.

use super::frame::{self, Head};

/// Maximum size of pending replies to the server. A server exceeds this limit only if it requests replies but doesn't read them.
const REPLY_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Default)]
pub struct Output {
    bytes: Vec<u8>,
    sent: usize,
    /// An upper bound on the number of unsent bytes that belong to replies.
    replies: usize,
}

impl Output {
    #[inline]
    pub fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    #[inline]
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
        let left = self.unsent().len();
        if left == 0 {
            self.bytes.clear();
            self.sent = 0;
        } else if self.sent >= left {
            // This moves no more bytes than were sent since the last move, so the average cost per byte is constant.
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        self.replies = self.replies.min(left);
    }

    /// Returns the buffer to which frames are appended.
    #[inline]
    pub fn end(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Writes a frame that replies to the server. Returns false if too many replies are pending.
    #[must_use]
    pub fn reply(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        frame::write(&mut self.bytes, kind, flags, stream, payload);
        self.replies += frame::HEAD_BYTES + payload.len();
        self.replies <= REPLY_BYTES_MAX
    }

    pub fn reset_stream(&mut self, stream: u32, code: u32) {
        frame::write(&mut self.bytes, frame::RST_STREAM, 0, stream, &code.to_be_bytes());
    }

    /// Writes a header block, which `write` appends to the buffer. If the block is longer than `payload_bytes_max`, splits it into several
    /// frames.
    #[inline]
    pub fn headers(&mut self, stream: u32, end_stream: bool, payload_bytes_max: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        let flags = frame::END_HEADERS | if end_stream { frame::END_STREAM } else { 0 };
        Head { length: 0, kind: frame::HEADERS, flags, stream }.write(&mut self.bytes);
        write(&mut self.bytes);
        let length = self.bytes.len() - start - frame::HEAD_BYTES;
        if length > payload_bytes_max {
            return self.split_headers(start, flags, stream, payload_bytes_max);
        }
        self.bytes[start..start + 3].copy_from_slice(&(length as u32).to_be_bytes()[1..]);
    }

    #[cold]
    fn split_headers(&mut self, start: usize, flags: u8, stream: u32, payload_bytes_max: usize) {
        let block = self.bytes.split_off(start);
        let mut pieces = block[frame::HEAD_BYTES..].chunks(payload_bytes_max).peekable();
        let (mut kind, mut flags) = (frame::HEADERS, flags & !frame::END_HEADERS);
        while let Some(piece) = pieces.next() {
            flags |= if pieces.peek().is_none() { frame::END_HEADERS } else { 0 };
            frame::write(&mut self.bytes, kind, flags, stream, piece);
            (kind, flags) = (frame::CONTINUATION, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_header_blocks_are_split_into_frames() {
        for (length, pieces) in [(0, vec![0]), (10, vec![10]), (11, vec![10, 1]), (30, vec![10, 10, 10])] {
            let mut output = Output::default();
            output.headers(3, true, 10, |out| out.resize(out.len() + length, b'x'));
            let (mut rest, mut lengths) = (output.unsent(), Vec::new());
            while let Some((head, behind)) = rest.split_first_chunk() {
                let head = Head::read(head);
                let (first, last) = (lengths.is_empty(), lengths.len() + 1 == pieces.len());
                assert_eq!(head.kind, if first { frame::HEADERS } else { frame::CONTINUATION });
                assert_eq!((head.stream, head.has(frame::END_HEADERS), first && head.has(frame::END_STREAM)), (3, last, first));
                lengths.push(head.length);
                rest = &behind[head.length..];
            }
            assert_eq!(lengths, pieces);
        }
    }

    #[test]
    fn only_unsent_replies_count() {
        let mut output = Output::default();
        let ping = |output: &mut Output| output.reply(frame::PING, frame::ACK, 0, &[0; 8]);
        for _ in 0..REPLY_BYTES_MAX / 17 {
            assert!(ping(&mut output));
        }
        assert!(!ping(&mut output));
        let waiting = output.unsent().len();
        output.sent(waiting - 17);
        assert!(ping(&mut output));
        assert_eq!(output.unsent().len(), 34);
        output.sent(34);
        assert!(output.unsent().is_empty() && output.bytes.is_empty());
    }
}
