//! A shortcut for repeated heads. A head that equals a known head, apart from the value of `Date`, isn't parsed again.
//!
//! A server sends nearly the same head with every response, so most responses in a benchmark take this path, which costs one memory
//! comparison. A new value of `Date` may contain only characters that occur in HTTP dates, so it cannot hide a line break. The shortcut
//! remembers the new value, because it stays the same until the next second. All other heads go through the full parser, which then
//! replaces the known head.

use std::ops::Range;

use super::head::{Framing, Head};

/// Maximum length of a known head. Longer heads are always parsed.
const KNOWN_HEAD_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub struct KnownHead {
    bytes: Vec<u8>,
    date: Range<usize>,
    pub status: u16,
    pub length: u64,
}

impl KnownHead {
    /// Remembers a fully parsed head if repetitions of this head can be recognized safely.
    pub fn learn(bytes: &[u8], head: &Head) -> Option<Self> {
        let Framing::Length(length) = head.framing else { return None };
        if !head.keep_alive || head.status < 200 || bytes.len() > KNOWN_HEAD_BYTES_MAX {
            return None;
        }
        let date = head.date.clone().unwrap_or(0..0);
        Some(Self { bytes: bytes.to_vec(), date, status: head.status, length })
    }

    /// Returns the length of the head at the front of `bytes`, or `None` if it doesn't match the known head.
    #[inline]
    pub fn recognize(&mut self, bytes: &[u8]) -> Option<usize> {
        let candidate = bytes.get(..self.bytes.len())?;
        (*candidate == *self.bytes || self.takes_date_of(candidate)).then_some(self.bytes.len())
    }

    fn takes_date_of(&mut self, candidate: &[u8]) -> bool {
        let Range { start, end } = self.date;
        let date = &candidate[start..end];
        let same = candidate[end..] == self.bytes[end..] && candidate[..start] == self.bytes[..start];
        let taken = same && date.iter().all(|byte| is_date_byte(*byte));
        if taken {
            self.bytes[start..end].copy_from_slice(date);
        }
        taken
    }
}

fn is_date_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b',' | b':' | b'-')
}

#[cfg(test)]
mod tests {
    use super::super::head::parse;
    use super::*;
    use crate::request::kind::MethodKind;

    fn head(date: &str) -> Vec<u8> {
        format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 5\r\n\r\n").into_bytes()
    }

    fn known(date: &str) -> KnownHead {
        let bytes = head(date);
        KnownHead::learn(&bytes, &parse(&bytes, MethodKind::Other).unwrap()).unwrap()
    }

    const FIRST: &str = "Thu, 01 Jan 1970 00:00:00 GMT";
    const SECOND: &str = "Thu, 01 Jan 1970 00:00:01 GMT";

    #[test]
    fn a_new_date_is_remembered() {
        let mut known = known(FIRST);
        let second = head(SECOND);
        assert_eq!(known.recognize(&second), Some(second.len()));
        assert_eq!(known.bytes, second);
        assert_eq!(known.recognize(&head(FIRST)), Some(second.len()));
    }

    #[test]
    fn an_invalid_date_is_neither_accepted_nor_remembered() {
        let mut known = known(FIRST);
        assert_eq!(known.recognize(&head("Thu, 01 Jan 1970\r\nX: 00:00 GMT")), None);
        assert_eq!(known.bytes, head(FIRST));
    }
}
