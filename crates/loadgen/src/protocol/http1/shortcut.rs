//! The verified short cut: a response whose head repeats a known one, byte by byte but for the value of `Date`, needs no parsing.
//!
//! Servers repeat themselves, so this is what nearly every response of a benchmark takes; it costs two comparisons of memory. The value of
//! `Date` may differ, but only within the bytes that an HTTP date consists of: no line break can hide in it. Anything else is left to the
//! full parser, whose answer is then the known one.

use std::ops::Range;

use super::head::{Framing, Head};

/// Longer heads are parsed in full each time.
const KNOWN_HEAD_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub struct KnownHead {
    bytes: Vec<u8>,
    date: Range<usize>,
    pub status: u16,
    pub length: u64,
}

impl KnownHead {
    /// Remembers a head that was parsed in full, if its like can be recognised safely.
    pub fn learn(bytes: &[u8], head: &Head) -> Option<Self> {
        let Framing::Length(length) = head.framing else { return None };
        if !head.keep_alive || head.status < 200 || bytes.len() > KNOWN_HEAD_BYTES_MAX {
            return None;
        }
        let date = head.date.clone().unwrap_or(0..0);
        Some(Self { bytes: bytes.to_vec(), date, status: head.status, length })
    }

    /// The length of the head at the front of `bytes`, if it is this one.
    pub fn recognise(&self, bytes: &[u8]) -> Option<usize> {
        let candidate = bytes.get(..self.bytes.len())?;
        let Range { start, end } = self.date;
        let same = candidate[end..] == self.bytes[end..]
            && candidate[..start] == self.bytes[..start]
            && (candidate[start..end] == self.bytes[start..end] || candidate[start..end].iter().all(|byte| is_date_byte(*byte)));
        same.then_some(self.bytes.len())
    }
}

fn is_date_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b',' | b':' | b'-')
}
