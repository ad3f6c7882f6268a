//! Parses the head of an HTTP/1.1 response and determines how its body is framed (RFC 9112).
//!
//! httparse handles the syntax. This module implements the rules of message length (RFC 9112, section 6.3) strictly. If a client may either
//! guess or reject, this client rejects, because a benchmark must not count a dubious response as correct.

use crate::protocol::Fault;
use crate::protocol::events::is_event_stream;
use crate::request::kind::MethodKind;

/// Maximum size of a head.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 128;

/// How the body of a response is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub framing: Framing,
    /// Whether the connection can be reused after this response.
    pub keep_alive: bool,
    /// Whether the body is an event stream (`text/event-stream`).
    pub is_event_stream: bool,
    /// The position of the `Date` value in the head.
    pub date: Option<std::ops::Range<usize>>,
}

/// Returns the index after the empty line that ends the head. The search starts at `from`. If a head arrives in parts, `from` must be three
/// bytes before the new part, because the empty line may be split.
pub fn find_end(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find(&bytes[from..], b"\r\n\r\n").map(|position| from + position + 4)
}

/// Parses a complete head. `bytes` must end with the empty line.
pub fn parse(bytes: &[u8], method: MethodKind) -> Result<Head, Fault> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return Err(Fault::invalid("the head has bare line feeds")),
        Err(httparse::Error::TooManyHeaders) => return Err(Fault::invalid("the head has more than 128 header fields")),
        Err(_) => return Err(Fault::invalid("the head is malformed")),
    }
    let status = response.code.unwrap_or(0);
    if !(100..=999).contains(&status) {
        return Err(Fault::invalid("the status is not a three-digit number"));
    }
    let http_1_0 = response.version == Some(0);
    let mut fields = Fields::default();
    for header in response.headers.iter() {
        fields.take(header, bytes)?;
    }
    let framing = fields.framing(status, http_1_0, method)?;
    let keep_alive = framing != Framing::UntilClose && !fields.close && (!http_1_0 || fields.keep_alive);
    Ok(Head { status, framing, keep_alive, is_event_stream: fields.is_event_stream, date: fields.date })
}

#[derive(Default)]
struct Fields {
    length: Option<u64>,
    transfer_encoding: bool,
    chunked_last: bool,
    close: bool,
    keep_alive: bool,
    is_event_stream: bool,
    date: Option<std::ops::Range<usize>>,
}

impl Fields {
    fn take(&mut self, header: &httparse::Header<'_>, head: &[u8]) -> Result<(), Fault> {
        let name = header.name;
        if name.eq_ignore_ascii_case("content-length") {
            let length = parse_length(header.value)?;
            if self.length.is_some_and(|known| known != length) {
                return Err(Fault::invalid("two Content-Length fields differ"));
            }
            self.length = Some(length);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.transfer_encoding = true;
            for coding in tokens(header.value) {
                if self.chunked_last {
                    return Err(Fault::invalid("chunked is not the last transfer coding"));
                }
                self.chunked_last = coding.eq_ignore_ascii_case(b"chunked");
            }
        } else if name.eq_ignore_ascii_case("connection") {
            for option in tokens(header.value) {
                self.close |= option.eq_ignore_ascii_case(b"close");
                self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            }
        } else if name.eq_ignore_ascii_case("content-type") {
            self.is_event_stream = is_event_stream(header.value);
        } else if name.eq_ignore_ascii_case("date") {
            let start = header.value.as_ptr() as usize - head.as_ptr() as usize;
            self.date = Some(start..start + header.value.len());
        }
        Ok(())
    }

    fn framing(&self, status: u16, http_1_0: bool, method: MethodKind) -> Result<Framing, Fault> {
        if self.transfer_encoding && (self.length.is_some() || http_1_0) {
            return Err(Fault::invalid("Transfer-Encoding together with Content-Length, or in HTTP/1.0"));
        }
        if method == MethodKind::Head || status < 200 || status == 204 || status == 304 {
            return Ok(Framing::Length(0));
        }
        if self.transfer_encoding {
            return Ok(if self.chunked_last { Framing::Chunked } else { Framing::UntilClose });
        }
        Ok(self.length.map_or(Framing::UntilClose, Framing::Length))
    }
}

fn parse_length(value: &[u8]) -> Result<u64, Fault> {
    let malformed = Fault::invalid("Content-Length is not a number");
    if value.is_empty() || value.len() > 19 || !value.iter().all(u8::is_ascii_digit) {
        return Err(malformed);
    }
    // A number with 19 digits fits into 64 bits.
    Ok(value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}
