//! An incremental decoder for the chunked transfer coding (RFC 9112, section 7.1).
//!
//! Chunk extensions and trailers are ignored but must be well-formed (sections 7.1.1 and 7.1.2), because lenient parsers may disagree on
//! where a line ends.

use crate::protocol::Fault;

/// Maximum number of digits of a chunk size. 15 hexadecimal digits are 60 bits, so a size cannot overflow 64 bits.
const SIZE_DIGITS_MAX: u8 = 15;
/// Maximum total length of the chunk extensions and trailers in a response.
const EXTRA_BYTES_MAX: u32 = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    SizeStart,
    Size,
    /// White space. Another extension must follow.
    BeforeExtension,
    NameStart,
    Name,
    AfterName,
    ValueStart,
    Value,
    Quoted,
    /// Expects the byte after a backslash.
    QuotedPair,
    QuotedEnd,
    SizeLineFeed,
    Data,
    DataReturn,
    DataLineFeed,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLineFeed,
    LastLineFeed,
    Done,
}

#[derive(Clone, Debug)]
pub struct Chunked {
    state: State,
    /// Number of bytes left in the current chunk.
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

    /// Decodes `bytes` until they or the response end, and passes each piece of the body to `body`. Returns the number of bytes consumed.
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
        use State as S;
        self.state = match (self.state, byte) {
            (S::SizeStart | S::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (S::Size | S::Name | S::Value | S::QuotedEnd, b'\r') => S::SizeLineFeed,
            (S::SizeLineFeed, b'\n') if self.remaining == 0 => S::TrailerStart,
            (S::SizeLineFeed, b'\n') => S::Data,
            (S::DataReturn, b'\r') => S::DataLineFeed,
            (S::DataLineFeed, b'\n') => S::SizeStart,
            (S::TrailerStart, b'\r') => S::LastLineFeed,
            (S::TrailerValue, b'\r') => S::TrailerLineFeed,
            (S::TrailerLineFeed, b'\n') => S::TrailerStart,
            (S::LastLineFeed, b'\n') => S::Done,
            (state, byte) => self.extra(state, byte)?,
        };
        Ok(())
    }

    /// Handles a byte of an extension or a trailer.
    fn extra(&mut self, state: State, byte: u8) -> Result<State, Fault> {
        use State as S;
        self.extra_bytes += 1;
        if self.extra_bytes > EXTRA_BYTES_MAX {
            return Err(Fault::invalid("chunk extensions or trailers are too long"));
        }
        Ok(match (state, byte) {
            (S::Size | S::BeforeExtension | S::Name | S::AfterName | S::Value | S::QuotedEnd, b';') => S::NameStart,
            (S::Size | S::BeforeExtension | S::Value | S::QuotedEnd, b' ' | b'\t') => S::BeforeExtension,
            (S::NameStart, b' ' | b'\t') => S::NameStart,
            (S::NameStart | S::Name, _) if is_token_byte(byte) => S::Name,
            (S::Name | S::AfterName, b' ' | b'\t') => S::AfterName,
            (S::Name | S::AfterName, b'=') => S::ValueStart,
            (S::ValueStart, b' ' | b'\t') => S::ValueStart,
            (S::ValueStart, b'"') => S::Quoted,
            (S::ValueStart | S::Value, _) if is_token_byte(byte) => S::Value,
            (S::Quoted, b'"') => S::QuotedEnd,
            (S::Quoted, b'\\') => S::QuotedPair,
            (S::Quoted | S::QuotedPair, _) if is_text_byte(byte) => S::Quoted,
            (S::TrailerStart | S::TrailerName, _) if is_token_byte(byte) => S::TrailerName,
            (S::TrailerName, b':') => S::TrailerValue,
            (S::TrailerValue, _) if is_text_byte(byte) => S::TrailerValue,
            (S::TrailerStart | S::TrailerName | S::TrailerValue | S::TrailerLineFeed | S::LastLineFeed, _) => {
                return Err(Fault::invalid("a chunked trailer is malformed"));
            }
            (S::SizeStart | S::DataReturn | S::DataLineFeed, _) => return Err(Fault::invalid("the chunked coding is malformed")),
            _ => return Err(Fault::invalid("a chunk size or extension is malformed")),
        })
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
}

/// Returns whether the byte is allowed in a token (RFC 9110, section 5.6.2).
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns whether the byte is allowed in field values and quoted strings (RFC 9110, sections 5.5 and 5.6.4). Tabs are the only control
/// characters allowed.
fn is_text_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The body and the number of bytes used; `None` if the body is incomplete.
    type Decoded = Result<Option<(Vec<u8>, usize)>, Fault>;

    fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Decoded {
        let (mut chunked, mut body, mut used) = (Chunked::new(), Vec::new(), 0);
        for piece in pieces {
            used += chunked.decode(piece, |part| body.extend_from_slice(part))?;
            if chunked.done() {
                return Ok(Some((body, used)));
            }
        }
        Ok(None)
    }

    /// Decodes a complete input line by line. This reference decoder is slow but simple. Returns `None` if the input is incomplete or
    /// malformed.
    fn model(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
        let (mut body, mut rest) = (Vec::new(), bytes);
        loop {
            let line = take_line(&mut rest)?;
            let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            let size = usize::from_str_radix(std::str::from_utf8(&line[..digits]).ok()?, 16).ok()?;
            if digits > usize::from(SIZE_DIGITS_MAX) || !are_extensions(&line[digits..]) {
                return None;
            }
            if size == 0 {
                break;
            }
            body.extend_from_slice(rest.get(..size)?);
            rest = rest[size..].strip_prefix(b"\r\n")?;
        }
        loop {
            let line = take_line(&mut rest)?;
            if line.is_empty() {
                return Some((body, bytes.len() - rest.len()));
            }
            let colon = line.iter().position(|byte| *byte == b':')?;
            if colon == 0 || !line[..colon].iter().copied().all(is_token_byte) || !line[colon..].iter().copied().all(is_text_byte) {
                return None;
            }
        }
    }

    fn take_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let line = &rest[..end];
        *rest = &rest[end + 2..];
        Some(line)
    }

    /// Returns whether the text matches `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`.
    fn are_extensions(text: &[u8]) -> bool {
        if text.is_empty() {
            return true;
        }
        let Some(text) = skip_space(text).strip_prefix(b";") else { return false };
        let Some(text) = skip_token(skip_space(text)) else { return false };
        match skip_space(text).strip_prefix(b"=") {
            None => are_extensions(text),
            Some(value) => {
                let value = skip_space(value);
                skip_token(value).or_else(|| skip_quoted(value)).is_some_and(are_extensions)
            }
        }
    }

    fn skip_space(text: &[u8]) -> &[u8] {
        let length = text.iter().take_while(|byte| b" \t".contains(byte)).count();
        &text[length..]
    }

    fn skip_token(text: &[u8]) -> Option<&[u8]> {
        let length = text.iter().take_while(|byte| is_token_byte(**byte)).count();
        (length > 0).then_some(&text[length..])
    }

    fn skip_quoted(text: &[u8]) -> Option<&[u8]> {
        let mut rest = text.strip_prefix(b"\"")?;
        loop {
            let byte;
            (byte, rest) = rest.split_first()?;
            match byte {
                b'"' => return Some(rest),
                b'\\' => {
                    let escaped;
                    (escaped, rest) = rest.split_first()?;
                    is_text_byte(*escaped).then_some(())?;
                }
                byte => is_text_byte(*byte).then_some(())?,
            }
        }
    }

    const EXTENSIONS: [&str; 8] =
        [";a", ";name=value", " ;\ta", "; a =\tb", ";!#$%&'*+-.^_`|~=0", ";a=\"\"", ";a = \"b;c=\\\"\\\\ \t\u{e9}\"", ";a=\"x\" \t"];
    const TRAILERS: [&str; 5] =
        ["X:\r\n", "x-y: z\r\n", "A:\tb \"c\" \u{e9}, d;e=f \r\n", "!#$%&'*+-.^_`|~0:::\r\n", "Content-Length: 7\r\n"];

    fn extensions() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(&EXTENSIONS[..]), 0..3).prop_map(|all| {
            let mut all = all.concat();
            // White space is allowed between extensions, but not after the last one.
            all.truncate(all.trim_end().len());
            all
        })
    }

    fn legal() -> impl Strategy<Value = Vec<u8>> {
        let chunk = (prop::collection::vec(any::<u8>(), 1..30), extensions(), any::<bool>()).prop_map(|(data, extensions, zeros)| {
            let size = if zeros { format!("{:06X}", data.len()) } else { format!("{:x}", data.len()) };
            [format!("{size}{extensions}\r\n").as_bytes(), &data, b"\r\n"].concat()
        });
        let trailers = prop::collection::vec(prop::sample::select(&TRAILERS[..]), 0..3);
        (prop::collection::vec(chunk, 0..3), extensions(), trailers)
            .prop_map(|(chunks, last, trailers)| [chunks.concat(), format!("0{last}\r\n{}\r\n", trailers.concat()).into_bytes()].concat())
    }

    #[test]
    fn rejects_malformed_extensions_and_trailers() {
        for bad in [
            "2 \r\nok\r\n0\r\n\r\n",              // trailing white space
            "2;\r\nok\r\n0\r\n\r\n",              // no name
            "2;a=\r\nok\r\n0\r\n\r\n",            // no value
            "2;a b\r\nok\r\n0\r\n\r\n",           // two names
            "2;a=\"b\r\nok\r\n0\r\n\r\n",         // an unterminated string
            "2;a=\"b\"c\r\nok\r\n0\r\n\r\n",      // text after a string
            "2;a\rb\r\nok\r\n0\r\n\r\n",          // a bare carriage return
            "2;a\nok\r\n0\r\n\r\n",               // a bare line feed
            "2;a=\"\u{1}\"\r\nok\r\n0\r\n\r\n",   // a control character
            "2\r\nok\r\n0\r\nX\r\n\r\n",          // no colon
            "2\r\nok\r\n0\r\n: x\r\n\r\n",        // no name
            "2\r\nok\r\n0\r\nX : x\r\n\r\n",      // white space before the colon
            "2\r\nok\r\n0\r\nX: x\r\n y\r\n\r\n", // a folded line
            "2\r\nok\r\n0\r\nX: \u{7f}\r\n\r\n",  // a control character
            "2\r\nok\r\n0\r\nX: a\rb\r\n\r\n",    // a bare carriage return
            "2\r\nok\r\n0\r\nX: a\nb\r\n\r\n",    // a bare line feed
        ] {
            assert!(decode([bad.as_bytes()].into_iter()).is_err(), "{bad:?}");
            assert_eq!(model(bad.as_bytes()), None, "{bad:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn decodes_valid_input_like_the_model(bytes in legal(), behind in prop::collection::vec(any::<u8>(), 0..4)) {
            let used = bytes.len();
            let whole = [bytes, behind].concat();
            let expected = model(&whole);
            prop_assert!(matches!(&expected, Some((_, length)) if *length == used), "the model rejects {}", whole.escape_ascii());
            prop_assert_eq!(decode([&whole[..]].into_iter()), Ok(expected.clone()));
            prop_assert_eq!(decode(whole.chunks(1)), Ok(expected));
            prop_assert_eq!(decode([&whole[..used - 1]].into_iter()), Ok(None));
        }

        #[test]
        fn rejects_changed_input_whenever_the_model_does(
            mut bytes in legal(),
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), prop_oneof![any::<u8>(), prop::sample::select(&b"\r\n \t;=\"\\:0a\x7f"[..])]), 1..4
            ),
            piece in 1..8usize,
        ) {
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let whole = decode([&bytes[..]].into_iter());
            prop_assert_eq!(whole.clone().unwrap_or(None), model(&bytes), "{}", bytes.escape_ascii());
            prop_assert_eq!(decode(bytes.chunks(piece)), whole);
        }
    }
}
