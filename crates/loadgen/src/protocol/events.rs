//! An incremental parser of event streams (HTML standard, section "Server-sent events").
//!
//! A line ends with CR LF, LF or CR. A blank line ends a block; a block with a `data` field is an event. The parser looks only at the names
//! of the fields and at ids, so it keeps only the beginning of each line.

use std::borrow::Cow;

use memchr::memchr2;

use super::Fault;
use crate::figures::errors::ErrorKind;
use crate::figures::events::{Block, EventId};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Number of bytes that are kept of each line: enough for `id: ` and a number with 19 digits.
const KEPT_BYTES: usize = 24;
const ID_DIGITS_MAX: usize = 19;

/// Returns whether this value of Content-Type is the media type of event streams.
pub fn is_event_stream(content_type: &[u8]) -> bool {
    let media_type = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
    media_type.trim_ascii().eq_ignore_ascii_case(b"text/event-stream")
}

/// Checks that a response is an event stream. The caller must end a wrong response, because it may never end by itself.
pub fn check(status_is_correct: bool, is_event_stream: bool) -> Result<(), Fault> {
    let fault = |kind, reason| Err(Fault { kind, reason: Cow::Borrowed(reason) });
    match (status_is_correct, is_event_stream) {
        (false, _) => fault(ErrorKind::UnexpectedStatus, "the status of an event stream is wrong"),
        (true, false) => fault(ErrorKind::UnexpectedContentType, "the Content-Type isn't text/event-stream"),
        (true, true) => Ok(()),
    }
}

#[derive(Debug)]
pub struct EventParser {
    /// The beginning of the current line, and the line's length so far.
    line: [u8; KEPT_BYTES],
    length: usize,
    is_first_line: bool,
    /// Whether the last byte was CR, so that LF belongs to the same end of a line.
    after_return: bool,
    block: Block,
}

impl EventParser {
    pub fn new() -> Self {
        Self { line: [0; KEPT_BYTES], length: 0, is_first_line: true, after_return: false, block: Block::default() }
    }

    /// Parses the next bytes of the body, and passes each block to `each` as soon as the blank line after it has arrived. An unfinished
    /// block at the end of a stream is no event.
    pub fn parse(&mut self, mut bytes: &[u8], mut each: impl FnMut(Block)) {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', bytes) else { return self.keep(bytes) };
            self.keep(&bytes[..end]);
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if self.end_line() {
                each(std::mem::take(&mut self.block));
            }
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if let Some(room) = self.line.get_mut(self.length..) {
            let kept = piece.len().min(room.len());
            room[..kept].copy_from_slice(&piece[..kept]);
        }
        self.length = self.length.saturating_add(piece.len());
    }

    /// Takes the finished line. Returns whether it ends a block that has a field of interest.
    fn end_line(&mut self) -> bool {
        let (length, is_first) = (std::mem::take(&mut self.length), std::mem::take(&mut self.is_first_line));
        let kept = &self.line[..length.min(KEPT_BYTES)];
        let line = if is_first { kept.strip_prefix(BYTE_ORDER_MARK).unwrap_or(kept) } else { kept };
        if line.is_empty() {
            return self.block != Block::default();
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        match name {
            b"data" => self.block.is_event = true,
            // The standard ignores ids that contain a null.
            b"id" if !value.contains(&0) => {
                let value = value.strip_prefix(b" ").unwrap_or(value);
                self.block.id = Some(if length > KEPT_BYTES { EventId::Text } else { event_id(value) });
            }
            _ => {}
        }
        false
    }
}

fn event_id(value: &[u8]) -> EventId {
    if value.is_empty() || value.len() > ID_DIGITS_MAX || !value.iter().all(u8::is_ascii_digit) {
        return EventId::Text;
    }
    EventId::Number(value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EVENT: Block = Block { is_event: true, id: None };

    fn parse<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Block> {
        let (mut parser, mut blocks) = (EventParser::new(), Vec::new());
        pieces.for_each(|piece| parser.parse(piece, |block| blocks.push(block)));
        blocks
    }

    fn blocks(text: &str) -> Vec<Block> {
        let whole = parse([text.as_bytes()].into_iter());
        assert_eq!(parse(text.as_bytes().chunks(1)), whole, "{text:?}");
        whole
    }

    fn numbered(id: u64) -> Block {
        Block { is_event: true, id: Some(EventId::Number(id)) }
    }

    #[test]
    fn a_blank_line_ends_an_event() {
        assert_eq!(blocks("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: unfinished\n"), [EVENT; 3]);
        assert_eq!(blocks("data: a\ndata: b\n\n"), [EVENT], "two lines of one event");
        assert_eq!(blocks("data\n\ndata:\n\n"), [EVENT; 2], "empty data");
        assert_eq!(blocks("\u{feff}data: a\n\n"), [EVENT]);
        assert_eq!(blocks(&format!("data: {}\n\n", "x".repeat(1000))), [EVENT]);
    }

    #[test]
    fn blocks_without_data_are_no_events() {
        assert_eq!(blocks(": a comment\n\nretry: 10\n\nevent: x\n\n\n\ndatax: 1\n\n data: 1\n\nDATA: 1\n\n: data:\n\n"), []);
        assert_eq!(blocks("data: a\n\n\u{feff}data: b\n\n"), [EVENT], "a byte order mark is one only at the start");
        assert_eq!(blocks("id: 5\n\n"), [Block { is_event: false, id: Some(EventId::Number(5)) }]);
    }

    #[test]
    fn the_event_ends_with_the_carriage_return() {
        assert_eq!(parse([&b"data: a\r\n\r"[..]].into_iter()), [EVENT]);
    }

    #[test]
    fn ids_are_numbers_or_text() {
        assert_eq!(blocks("id: 7\ndata: a\n\nid:8\ndata: b\n\ndata: c\nid: 007\n\n"), [numbered(7), numbered(8), numbered(7)]);
        assert_eq!(blocks("id: 9999999999999999999\ndata: a\n\n"), [numbered(9_999_999_999_999_999_999)]);
        for text in ["", "x1", "1 ", "  1", "-1", "1.5", "10000000000000000000", &"1".repeat(100)] {
            let id = Some(EventId::Text);
            assert_eq!(blocks(&format!("id: {text}\ndata: a\n\n")), [Block { is_event: true, id }], "{text:?}");
        }
        assert_eq!(blocks("id: 1\0\ndata: a\n\n"), [EVENT]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_pieces_do_not_matter(
            parts in prop::collection::vec(
                prop::sample::select(&["data", ":", " ", "id", "7", "\r", "\n", "\r\n", "\n\n", "\u{feff}", "x", "event: y\n"][..]), 0..60
            ),
            piece in 1..7usize,
        ) {
            let text = parts.concat();
            prop_assert_eq!(parse(text.as_bytes().chunks(piece)), parse([text.as_bytes()].into_iter()));
        }

        #[test]
        fn line_ends_are_equal(parts in prop::collection::vec(prop::sample::select(&["data: a", "id: 3", ": x", "", "", "event"][..]), 0..30)) {
            let ends = ["\n", "\r\n", "\r"].map(|end| parts.iter().map(|line| format!("{line}{end}")).collect::<String>());
            let [line_feed, both, carriage_return] = ends.map(|text| blocks(&text));
            prop_assert_eq!(&line_feed, &both);
            prop_assert_eq!(&line_feed, &carriage_return);
        }
    }
}
