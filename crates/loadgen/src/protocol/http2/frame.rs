//! Frames (RFC 9113, sections 4 and 6): frame headers, padding and priority.

use crate::protocol::Fault;

pub const HEAD_BYTES: usize = 9;
/// Default maximum size of a frame's payload. This client never raises the limit for the server.
pub const PAYLOAD_BYTES_MAX: usize = 16_384;
/// The connection preface of the client (RFC 9113, 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const ACK: u8 = 0x1;
pub const END_STREAM: u8 = 0x1;
pub const END_HEADERS: u8 = 0x4;
pub const PADDED: u8 = 0x8;
pub const WITH_PRIORITY: u8 = 0x20;

/// Error codes (RFC 9113, section 7).
pub const NO_ERROR: u32 = 0;
pub const PROTOCOL_ERROR: u32 = 1;
pub const FLOW_CONTROL_ERROR: u32 = 3;
pub const FRAME_SIZE_ERROR: u32 = 6;
pub const REFUSED_STREAM: u32 = 7;
pub const CANCEL: u32 = 8;

/// The highest stream ID. It is also the bit mask for stream IDs, because the highest bit of the field is reserved.
pub const STREAM_MAX: u32 = (1 << 31) - 1;

const PRIORITY_BYTES: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Head {
    #[inline]
    pub fn read(bytes: &[u8; HEAD_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self { length: u32::from_be_bytes([0, a, b, c]) as usize, kind, flags, stream: u32::from_be_bytes(stream) & STREAM_MAX }
    }

    #[inline]
    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind, self.flags, d, e, f, g]);
    }
}

pub fn write(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    Head { length: payload.len(), kind, flags, stream }.write(out);
    out.extend_from_slice(payload);
}

/// Returns the first four bytes of a payload as a number, or 0 if the payload is shorter.
pub fn number(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// Returns the content of a DATA frame, without padding.
#[inline]
pub fn content(head: Head, payload: &[u8]) -> Result<&[u8], Fault> {
    if head.has(PADDED) { unpadded(payload) } else { Ok(payload) }
}

/// Returns the fragment of a header block in a HEADERS frame, without padding or priority fields.
#[inline]
pub fn fragment(head: Head, payload: &[u8]) -> Result<&[u8], Fault> {
    let rest = content(head, payload)?;
    if !head.has(WITH_PRIORITY) {
        return Ok(rest);
    }
    rest.get(PRIORITY_BYTES..).ok_or(Fault::invalid("a HEADERS frame is too short for its priority"))
}

fn unpadded(payload: &[u8]) -> Result<&[u8], Fault> {
    let inner = payload.split_first().and_then(|(padding, rest)| rest.get(..rest.len().checked_sub(usize::from(*padding))?));
    inner.ok_or(Fault::invalid("a frame is shorter than its padding"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head(flags: u8) -> Head {
        Head { length: 0, kind: HEADERS, flags, stream: 1 }
    }

    #[test]
    fn padding_and_priority_are_removed() {
        assert_eq!(content(head(0), b"abc"), Ok(&b"abc"[..]));
        assert_eq!(content(head(PADDED), b"\x02abc"), Ok(&b"a"[..]));
        assert_eq!(content(head(PADDED), b"\x03abc"), Ok(&b""[..]));
        assert!(content(head(PADDED), b"\x04abc").is_err());
        assert!(content(head(PADDED), b"").is_err());
        assert_eq!(fragment(head(WITH_PRIORITY), b"12345abc"), Ok(&b"abc"[..]));
        assert_eq!(fragment(head(PADDED | WITH_PRIORITY), b"\x0112345ab"), Ok(&b"a"[..]));
        assert!(fragment(head(WITH_PRIORITY), b"1234").is_err());
        assert!(fragment(head(PADDED | WITH_PRIORITY), b"\x0112345").is_err());
    }

    proptest! {
        #[test]
        fn frame_heads_round_trip(length in 0..1usize << 24, kind: u8, flags: u8, stream in 0..=STREAM_MAX, reserved: bool) {
            let (written, mut bytes) = (Head { length, kind, flags, stream }, Vec::new());
            written.write(&mut bytes);
            bytes[5] |= u8::from(reserved) << 7;
            prop_assert_eq!(Head::read(bytes[..].try_into().expect("nine bytes")), written);
        }
    }
}
