//! Validates the header fields and trailers of a response (RFC 9113, sections 8.2 and 8.3).
//!
//! If the RFC allows a client either to guess or to reject, this client rejects, as it does with HTTP/1.1.

use crate::protocol::events::is_event_stream;

/// The relevant contents of a response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    /// The value of Content-Length.
    pub length: Option<u64>,
    /// Whether the body is an event stream (`text/event-stream`).
    pub is_event_stream: bool,
}

/// A validator for the fields of one header block.
#[derive(Debug, Default)]
pub struct FieldCheck {
    status: Option<u16>,
    length: Option<u64>,
    is_event_stream: bool,
    has_pseudo: bool,
    has_regular: bool,
    is_malformed: bool,
}

impl FieldCheck {
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        let well_formed = if name.first() == Some(&b':') {
            let first = !self.has_regular && !self.has_pseudo;
            self.has_pseudo = true;
            self.status = if name == b":status" { parse_status(value) } else { None };
            first && self.status.is_some()
        } else {
            self.has_regular = true;
            is_name(name) && is_value(value) && self.take_regular(name, value)
        };
        self.is_malformed |= !well_formed;
    }

    fn take_regular(&mut self, name: &[u8], value: &[u8]) -> bool {
        match name {
            b"content-length" => parse_length(value).is_some_and(|length| *self.length.get_or_insert(length) == length),
            b"content-type" => {
                self.is_event_stream = is_event_stream(value);
                true
            }
            // Connection-specific fields are forbidden in HTTP/2 (RFC 9113, 8.2.2).
            b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => false,
            b"te" => value == b"trailers",
            _ => true,
        }
    }

    /// Returns the head of a final or interim response, or `None` if the head is malformed.
    pub fn head(&self) -> Option<Head> {
        let status = self.status.filter(|_| !self.is_malformed)?;
        Some(Head { status, length: self.length, is_event_stream: self.is_event_stream })
    }

    pub fn are_trailers(&self) -> bool {
        !self.is_malformed && !self.has_pseudo
    }
}

fn parse_status(value: &[u8]) -> Option<u16> {
    let &[a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = value else { return None };
    Some([a, b, c].into_iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')))
}

fn parse_length(value: &[u8]) -> Option<u64> {
    // A number with 19 digits fits into 64 bits.
    let is_number = (1..=19).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    is_number.then(|| value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

/// Returns whether the name is a token (RFC 9110, section 5.6.2) without uppercase letters.
fn is_name(name: &[u8]) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.iter().copied().all(is_name_byte)
}

/// Returns whether the value has no control characters other than tabs, and no leading or trailing white space.
fn is_value(value: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let is_text_byte = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    !is_space(value.first()) && !is_space(value.last()) && value.iter().copied().all(is_text_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fields: &[(&str, &str)]) -> FieldCheck {
        let mut check = FieldCheck::default();
        fields.iter().for_each(|(name, value)| check.take(name.as_bytes(), value.as_bytes()));
        check
    }

    #[test]
    fn parses_heads() {
        let head = |status, length| Some(Head { status, length, is_event_stream: false });
        assert_eq!(check(&[(":status", "200")]).head(), head(200, None));
        let fields =
            [(":status", "404"), ("content-length", "12"), ("x-!#$%&'*+-.^_`|~0", "\u{e9} \t\""), ("te", "trailers"), ("empty", "")];
        assert_eq!(check(&fields).head(), head(404, Some(12)));
        let twice = [(":status", "200"), ("content-length", "12"), ("content-length", "12")];
        assert_eq!(check(&twice).head().and_then(|head| head.length), Some(12));
        for status in [100, 199, 204, 999] {
            assert_eq!(check(&[(":status", &status.to_string())]).head(), head(status, None));
        }
        let stream = check(&[(":status", "200"), ("content-type", "Text/Event-Stream; charset=utf-8")]);
        assert_eq!(stream.head(), Some(Head { status: 200, length: None, is_event_stream: true }));
    }

    #[test]
    fn rejects_malformed_heads() {
        for bad in [
            &[][..],
            &[("server", "x")],
            &[(":status", "")],
            &[(":status", "20")],
            &[(":status", "2000")],
            &[(":status", "099")],
            &[(":status", "+20")],
            &[(":status", "2o0")],
            &[(":status", "200"), (":status", "200")],
            &[(":status", "200"), (":status", "404")],
            &[("server", "x"), (":status", "200")],
            &[(":status", "200"), (":path", "/")],
            &[(":status", "200"), (":unknown", "x")],
            &[(":path", "/"), (":status", "200")],
            &[(":status", "200"), (":", "x")],
        ] {
            assert_eq!(check(bad).head(), None, "{bad:?}");
        }
        for (name, value) in [
            ("Server", "x"),
            ("", "x"),
            ("a b", "x"),
            ("a:", "x"),
            ("a\u{e9}", "x"),
            ("a\0", "x"),
            ("connection", "close"),
            ("proxy-connection", "x"),
            ("keep-alive", "x"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "x"),
            ("te", "gzip"),
            ("a", "x\r\ny"),
            ("a", "x\n"),
            ("a", "\0"),
            ("a", "\u{7f}"),
            ("a", " x"),
            ("a", "x\t"),
            ("content-length", ""),
            ("content-length", "-1"),
            ("content-length", "+1"),
            ("content-length", "1,1"),
            ("content-length", "99999999999999999999"),
        ] {
            assert_eq!(check(&[(":status", "200"), (name, value)]).head(), None, "{name:?}: {value:?}");
        }
        assert_eq!(check(&[(":status", "200"), ("content-length", "1"), ("content-length", "2")]).head(), None);
    }

    #[test]
    fn trailers_have_no_pseudo_header_fields() {
        assert!(check(&[]).are_trailers());
        assert!(check(&[("x-checksum", "1")]).are_trailers());
        assert!(!check(&[(":status", "200")]).are_trailers());
        assert!(!check(&[("x-checksum", "1"), (":status", "200")]).are_trailers());
        assert!(!check(&[("X", "1")]).are_trailers());
        assert!(!check(&[("connection", "x")]).are_trailers());
    }
}
