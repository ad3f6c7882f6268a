//! Encodes HTTP/2 frames (RFC 9113), valid or not. The server of the fuzzer and the test servers share this module.

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;

pub const PREFACE_BYTES: usize = 24;
/// `:status: 200` and `:status: 404` in the static table of HPACK.
pub const STATUS_200: u8 = 0x88;
pub const STATUS_404: u8 = 0x8d;

/// Encodes one frame.
pub fn frame_bytes(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}
