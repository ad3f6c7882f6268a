//! HPACK, the compression of header fields (RFC 7541). This module contains the parts that the encoder and the decoder share: numbers and
//! the static table.

mod decoder;
mod encoder;
mod huffman;

pub use decoder::Decoder;
pub use encoder::{Encoder, Fields};

/// Initial size of the dynamic table. This client never changes the limit for the server's encoder.
pub const TABLE_BYTES_DEFAULT: u32 = 4096;
/// Maximum size of a header block, and maximum total size of the header fields of a message (computed as in RFC 9113, 6.5.2).
pub const LIST_BYTES_MAX: usize = 64 * 1024;
/// Overhead of a table entry or of a field in a header list. The size of an entry or field is this number plus the lengths of its name and
/// value.
const ENTRY_BYTES: usize = 32;
/// Maximum number of bytes of a number after its prefix. Longer numbers might not fit into 32 bits.
const NUMBER_BYTES_MAX: usize = 4;

/// The static table (RFC 7541, appendix A). In header blocks, its indices start at 1.
#[rustfmt::skip]
const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"), (":scheme", "http"),
    (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""), ("accept-encoding", "gzip, deflate"), ("accept-language", ""),
    ("accept-ranges", ""), ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""),
    ("cache-control", ""), ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""), ("expect", ""),
    ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
    ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""),
    ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
    ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""),
    ("via", ""), ("www-authenticate", ""),
];

/// Appends a number with a prefix of `bits` bits. `pattern` contains the bits before the prefix.
fn write_number(out: &mut Vec<u8>, pattern: u8, bits: u32, mut value: usize) {
    let full = (1 << bits) - 1;
    if value < full {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | full as u8);
    value -= full;
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Decodes a number with a prefix of `bits` bits, and removes it from the front of `bytes`.
fn take_number(bytes: &mut &[u8], bits: u32) -> Option<usize> {
    let full = (1 << bits) - 1;
    let mut value = usize::from(*bytes.split_off_first()?) & full;
    if value < full {
        return Some(value);
    }
    for place in 0..NUMBER_BYTES_MAX {
        let byte = usize::from(*bytes.split_off_first()?);
        value += (byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_match_the_rfc() {
        // RFC 7541, C.1.
        for (value, bits, expected) in [(10, 5, &[0b01010][..]), (1337, 5, &[0b11111, 0b10011010, 0b00001010]), (42, 8, &[0b00101010])] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, 0, bits, value);
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn rejects_unterminated_numbers() {
        assert_eq!(take_number(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0x0f][..], 7), None);
        assert_eq!(take_number(&mut &[0x7f, 0x80][..], 7), None);
        assert_eq!(take_number(&mut &[][..], 7), None);
    }

    proptest! {
        #[test]
        fn numbers_round_trip(value in prop_oneof![0..600usize, 0..1usize << 28], bits in 4..8u32, behind: u8) {
            let mut bytes = Vec::new();
            write_number(&mut bytes, 0, bits, value);
            bytes.push(behind);
            let mut rest = &bytes[..];
            prop_assert_eq!(take_number(&mut rest, bits), Some(value));
            prop_assert_eq!(rest, [behind]);
        }
    }

    /// Encodes and decodes three kinds of requests in a mixed order.
    #[test]
    fn requests_round_trip_with_any_table_size() {
        let field = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let common = [field(":method", "GET"), field(":scheme", "http"), field(":path", "/"), field(":authority", "localhost:8080")];
        let kinds: Vec<Vec<_>> = vec![
            [&common[..], &[field("x-one", "1"), field("cookie", &"c".repeat(200))]].concat(),
            [&common[..], &[field("x-one", "2"), field("cookie", ""), field("cookie", &"c".repeat(200))]].concat(),
            vec![field(":method", "PUT"), field(":path", "/x"), field("x-large", &"l".repeat(5000))],
        ];
        let fields = Fields::new(kinds.iter().cloned());
        for sizes in [&[][..], &[0], &[100], &[600], &[1 << 20], &[0, 4096], &[200, 100, 4096, 0]] {
            let (mut encoder, mut decoder) = (Encoder::new(&fields), Decoder::new());
            for (turn, kind) in [0, 0, 1, 0, 1, 2, 0, 1, 1, 0, 2, 2].into_iter().enumerate() {
                if let Some(size) = turn.checked_sub(2).and_then(|at| sizes.get(at)) {
                    encoder.allow(*size);
                }
                let (mut block, mut decoded) = (Vec::new(), Vec::new());
                encoder.encode(&fields, kind, &mut block);
                decoder.decode(&block, |name, value| decoded.push((name.to_vec(), value.to_vec()))).unwrap();
                assert_eq!(decoded, kinds[kind], "{sizes:?}, turn {turn}");
                assert!(decoder.table_bytes() <= sizes.iter().copied().max().unwrap_or(4096).max(4096) as usize);
            }
        }
    }

    /// Each of many requests has a path of its own. Only the fields that they have in common are added to the table.
    #[test]
    fn many_requests_share_a_small_table() {
        let field = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let kinds = (0..1000).map(|number| vec![field(":method", "GET"), field(":path", &format!("/{number}")), field("x-one", "1")]);
        let kinds: Vec<_> = kinds.collect();
        let fields = Fields::new(kinds.iter().cloned());
        let (mut encoder, mut decoder) = (Encoder::new(&fields), Decoder::new());
        for (kind, expected) in kinds.iter().enumerate() {
            let (mut block, mut decoded) = (Vec::new(), Vec::new());
            encoder.encode(&fields, kind, &mut block);
            decoder.decode(&block, |name, value| decoded.push((name.to_vec(), value.to_vec()))).unwrap();
            assert_eq!(&decoded, expected);
        }
        assert_eq!(decoder.table_bytes(), "x-one1".len() + ENTRY_BYTES);
    }

    #[test]
    fn repeated_requests_are_short() {
        let kind = [(":method", "GET"), (":scheme", "http"), (":path", "/a/long/path"), (":authority", "localhost:8080")];
        let fields = Fields::new([kind.map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).to_vec()]);
        let (mut encoder, mut first, mut second) = (Encoder::new(&fields), Vec::new(), Vec::new());
        encoder.encode(&fields, 0, &mut first);
        encoder.encode(&fields, 0, &mut second);
        assert!(first.len() > 20, "{first:?}");
        assert_eq!(second, [0x82, 0x86, 0xbf, 0xbe]);
    }
}
