//! Settings of the server and of this client (RFC 9113, section 6.5).

use super::flow::{WINDOW_DEFAULT, WINDOW_MAX};
use super::frame;
use super::hpack::{LIST_BYTES_MAX, TABLE_BYTES_DEFAULT};
use crate::protocol::Fault;

pub const STREAM_WINDOW_BYTES: u32 = 1 << 20;
pub const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Number of concurrent streams to use before the server's settings arrive. RFC 9113 recommends that servers allow at least this number.
const STREAMS_AT_FIRST: u32 = 100;
const SETTING_BYTES: usize = 6;

const HEADER_TABLE_SIZE: u16 = 1;
const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;
const MAX_HEADER_LIST_SIZE: u16 = 6;

/// The server's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether the server's first SETTINGS frame has arrived.
    pub known: bool,
    pub header_table_bytes: u32,
    pub streams_max: u32,
    pub stream_window: u32,
    pub payload_bytes_max: usize,
}

impl Settings {
    pub const fn at_first() -> Self {
        Self {
            known: false,
            header_table_bytes: TABLE_BYTES_DEFAULT,
            streams_max: STREAMS_AT_FIRST,
            stream_window: WINDOW_DEFAULT,
            payload_bytes_max: frame::PAYLOAD_BYTES_MAX,
        }
    }

    /// Applies the payload of a SETTINGS frame that isn't an acknowledgment.
    pub fn take(&mut self, payload: &[u8]) -> Result<(), Fault> {
        let (settings, []) = payload.as_chunks::<SETTING_BYTES>() else {
            return Err(Fault::invalid("a SETTINGS frame has an incomplete setting"));
        };
        if !self.known {
            (self.known, self.streams_max) = (true, u32::MAX);
        }
        for [a, b, value @ ..] in settings {
            self.take_one(u16::from_be_bytes([*a, *b]), u32::from_be_bytes(*value))?;
        }
        Ok(())
    }

    fn take_one(&mut self, name: u16, value: u32) -> Result<(), Fault> {
        match name {
            HEADER_TABLE_SIZE => self.header_table_bytes = value,
            ENABLE_PUSH if value != 0 => return Err(Fault::invalid("the server's settings enable push, which servers must not")),
            MAX_CONCURRENT_STREAMS => self.streams_max = value,
            INITIAL_WINDOW_SIZE if i64::from(value) > WINDOW_MAX => {
                return Err(Fault::invalid("the server's initial window is too large"));
            }
            INITIAL_WINDOW_SIZE => self.stream_window = value,
            MAX_FRAME_SIZE if !(1 << 14..1 << 24).contains(&value) => {
                return Err(Fault::invalid("the server's maximum frame size is out of range"));
            }
            MAX_FRAME_SIZE => self.payload_bytes_max = value as usize,
            // Advisory and unknown settings are ignored.
            _ => {}
        }
        Ok(())
    }
}

/// Writes the first bytes that a client sends: the preface, the client's settings and an update of the connection's window.
pub fn write_first(out: &mut Vec<u8>) {
    out.extend_from_slice(frame::PREFACE);
    let settings = [(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES), (MAX_HEADER_LIST_SIZE, LIST_BYTES_MAX as u32)];
    let mut payload = Vec::new();
    for (name, value) in settings {
        payload.extend_from_slice(&name.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    frame::write(out, frame::SETTINGS, 0, 0, &payload);
    frame::write(out, frame::WINDOW_UPDATE, 0, 0, &(CONNECTION_WINDOW_BYTES - WINDOW_DEFAULT).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(settings: &[(u16, u32)]) -> Vec<u8> {
        settings.iter().flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect()
    }

    #[test]
    fn applies_the_settings_of_the_server() {
        let mut settings = Settings::at_first();
        assert_eq!(settings.streams_max, 100);
        settings.take(&[]).unwrap();
        assert_eq!((settings.known, settings.streams_max, settings.stream_window), (true, u32::MAX, 65_535));
        settings.take(&payload(&[(1, 7), (2, 0), (3, 5), (4, 9), (5, 20_000), (6, 1), (99, 99), (4, 10)])).unwrap();
        let expected = Settings { known: true, header_table_bytes: 7, streams_max: 5, stream_window: 10, payload_bytes_max: 20_000 };
        assert_eq!(settings, expected, "the last of two values applies");
    }

    #[test]
    fn rejects_invalid_settings() {
        for bad in [(2, 1), (2, 2), (4, 1 << 31), (4, u32::MAX), (5, 16_383), (5, 1 << 24), (5, 0)] {
            assert!(Settings::at_first().take(&payload(&[bad])).is_err(), "{bad:?}");
        }
        for length in [1, 5, 7] {
            assert!(Settings::at_first().take(&vec![0; length]).is_err(), "{length} bytes");
        }
        for good in [(4, (1 << 31) - 1), (5, 1 << 14), (5, (1 << 24) - 1), (1, u32::MAX)] {
            Settings::at_first().take(&payload(&[good])).unwrap();
        }
    }
}
