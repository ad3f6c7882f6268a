//! The chunked transfer coding (RFC 9112, section 7.1), decoded as it comes, split anywhere.

use crate::protocol::Fault;

/// Sixty bits: no sum of sizes that we could count overflows.
const SIZE_DIGITS_MAX: u8 = 15;
/// The chunk extensions and trailers of one response together may not be longer than this.
const EXTRA_BYTES_MAX: u32 = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    SizeStart,
    Size,
    Extension,
    SizeLineFeed,
    Data,
    DataReturn,
    DataLineFeed,
    TrailerStart,
    Trailer,
    TrailerLineFeed,
    LastLineFeed,
    Done,
}

#[derive(Clone, Debug)]
pub struct Chunked {
    state: State,
    /// What is left of this chunk, in bytes.
    remaining: u64,
    digits: u8,
    extra_bytes: u32,
}

impl Chunked {
    pub fn new() -> Self {
        Self { state: State::SizeStart, remaining: 0, digits: 0, extra_bytes: 0 }
    }

    pub fn done(&self) -> bool {
        self.state == State::Done
    }

    /// Decodes from the front of `bytes`, hands each piece of the body to `body`, and returns how many bytes were used.
    pub fn decode(&mut self, bytes: &[u8], mut body: impl FnMut(&[u8])) -> Result<usize, Fault> {
        let mut used = 0;
        while used < bytes.len() && !self.done() {
            if self.state == State::Data {
                let take = (bytes.len() - used).min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
                body(&bytes[used..used + take]);
                used += take;
                self.remaining -= take as u64;
                if self.remaining == 0 {
                    self.state = State::DataReturn;
                }
                continue;
            }
            self.step(bytes[used])?;
            used += 1;
        }
        Ok(used)
    }

    fn step(&mut self, byte: u8) -> Result<(), Fault> {
        self.state = match (self.state, byte) {
            (State::SizeStart | State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (State::Size, b'\r') => State::SizeLineFeed,
            (State::Size, b';' | b' ' | b'\t') => self.extra(State::Extension)?,
            (State::Extension, b'\r') => State::SizeLineFeed,
            (State::Extension, b'\n') => return Err(Fault::invalid("a chunk extension has a bare line feed")),
            (State::Extension, _) => self.extra(State::Extension)?,
            (State::SizeLineFeed, b'\n') if self.remaining == 0 => State::TrailerStart,
            (State::SizeLineFeed, b'\n') => State::Data,
            (State::DataReturn, b'\r') => State::DataLineFeed,
            (State::DataLineFeed, b'\n') => State::SizeStart,
            (State::TrailerStart, b'\r') => State::LastLineFeed,
            (State::TrailerStart | State::Trailer, b'\n') => return Err(Fault::invalid("a trailer has a bare line feed")),
            (State::Trailer, b'\r') => State::TrailerLineFeed,
            (State::TrailerStart | State::Trailer, _) => self.extra(State::Trailer)?,
            (State::TrailerLineFeed, b'\n') => State::TrailerStart,
            (State::LastLineFeed, b'\n') => State::Done,
            _ => return Err(Fault::invalid("the chunked coding is malformed")),
        };
        Ok(())
    }

    fn digit(&mut self, byte: u8) -> Result<State, Fault> {
        if self.state == State::SizeStart {
            (self.remaining, self.digits) = (0, 0);
        }
        self.digits += 1;
        if self.digits > SIZE_DIGITS_MAX {
            return Err(Fault::invalid("a chunk size is too large"));
        }
        self.remaining = self.remaining << 4 | u64::from((byte as char).to_digit(16).unwrap_or(0));
        Ok(State::Size)
    }

    fn extra(&mut self, next: State) -> Result<State, Fault> {
        self.extra_bytes += 1;
        if self.extra_bytes > EXTRA_BYTES_MAX {
            return Err(Fault::invalid("chunk extensions or trailers are too long"));
        }
        Ok(next)
    }
}
