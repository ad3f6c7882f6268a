//! Decodes the header blocks of responses and maintains the dynamic table (RFC 7541, sections 2.3 and 3).

use std::collections::VecDeque;

use super::{ENTRY_BYTES, LIST_BYTES_MAX, STATIC, TABLE_BYTES_DEFAULT, huffman, take_number};
use crate::protocol::Fault;

const MALFORMED: Fault = Fault::invalid("a header block cannot be decoded");

/// A name and a value, stored back to back.
#[derive(Debug)]
struct Entry {
    text: Box<[u8]>,
    name_bytes: usize,
}

impl Entry {
    fn table_bytes(&self) -> usize {
        self.text.len() + ENTRY_BYTES
    }
}

#[derive(Debug)]
pub struct Decoder {
    /// The dynamic table, newest entry first.
    entries: VecDeque<Entry>,
    bytes: usize,
    bytes_max: usize,
    /// Number of changes to the table. As long as this number doesn't change, the same block always decodes to the same fields.
    version: u64,
    scratch: Vec<u8>,
}

impl Decoder {
    pub fn new() -> Self {
        Self { entries: VecDeque::new(), bytes: 0, bytes_max: TABLE_BYTES_DEFAULT as usize, version: 0, scratch: Vec::new() }
    }

    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    #[cfg(test)]
    pub fn table_bytes(&self) -> usize {
        self.bytes
    }

    /// Decodes one block, field by field. After an error, the connection is unusable, because the client's table may differ from the
    /// server's.
    pub fn decode(&mut self, mut block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), Fault> {
        while let Some(first) = block.first()
            && first & 0xe0 == 0x20
        {
            let size = take_number(&mut block, 5).filter(|size| *size <= TABLE_BYTES_DEFAULT as usize).ok_or(MALFORMED)?;
            self.resize(size);
        }
        let mut list_bytes = 0;
        let mut each = |name: &[u8], value: &[u8]| {
            list_bytes += name.len() + value.len() + ENTRY_BYTES;
            if list_bytes > LIST_BYTES_MAX {
                return Err(Fault::invalid("the header fields are larger than 64 KiB"));
            }
            field(name, value);
            Ok(())
        };
        while let Some(first) = block.first() {
            if first & 0x80 != 0 {
                let index = take_number(&mut block, 7).ok_or(MALFORMED)?;
                let (name, value) = self.get(index).ok_or(MALFORMED)?;
                each(name, value)?;
                continue;
            }
            let (bits, is_kept) = match first {
                _ if first & 0x40 != 0 => (6, true),
                _ if first & 0x20 != 0 => return Err(Fault::invalid("the dynamic table is resized after a header field")),
                _ => (4, false),
            };
            let name_bytes = self.take_literal(&mut block, bits).ok_or(MALFORMED)?;
            let (name, value) = self.scratch.split_at(name_bytes);
            each(name, value)?;
            if is_kept {
                self.insert(name_bytes);
            }
        }
        Ok(())
    }

    fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let place = index.checked_sub(1)?;
        if let Some((name, value)) = STATIC.get(place) {
            return Some((name.as_bytes(), value.as_bytes()));
        }
        let entry = self.entries.get(place - STATIC.len())?;
        Some(entry.text.split_at(entry.name_bytes))
    }

    /// Reads a literal's name and then its value into the scratch buffer. Returns the length of the name.
    fn take_literal(&mut self, block: &mut &[u8], bits: u32) -> Option<usize> {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        match take_number(block, bits)? {
            0 => take_string(block, &mut text)?,
            index => text.extend_from_slice(self.get(index)?.0),
        }
        let name_bytes = text.len();
        take_string(block, &mut text)?;
        self.scratch = text;
        Some(name_bytes)
    }

    /// Adds the field in the scratch buffer to the dynamic table. If the field is larger than the table, the table is emptied instead.
    fn insert(&mut self, name_bytes: usize) {
        let entry = Entry { text: self.scratch[..].into(), name_bytes };
        self.version += 1;
        self.evict(self.bytes_max.saturating_sub(entry.table_bytes()));
        if entry.table_bytes() <= self.bytes_max {
            self.bytes += entry.table_bytes();
            self.entries.push_front(entry);
        }
    }

    fn resize(&mut self, bytes_max: usize) {
        self.version += 1;
        self.bytes_max = bytes_max;
        self.evict(bytes_max);
    }

    fn evict(&mut self, bytes_max: usize) {
        while self.bytes > bytes_max
            && let Some(entry) = self.entries.pop_back()
        {
            self.bytes -= entry.table_bytes();
        }
    }
}

fn take_string(block: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    let is_huffman = block.first()? & 0x80 != 0;
    let length = take_number(block, 7)?;
    let text = block.split_off(..length)?;
    if is_huffman {
        return huffman::decode(text, out);
    }
    out.extend_from_slice(text);
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    /// Decodes a block to text, one field per line.
    fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<String, Fault> {
        let mut text = String::new();
        let mut line = |name: &[u8], value: &[u8]| {
            text.push_str(&format!("{}: {}\n", String::from_utf8_lossy(name), String::from_utf8_lossy(value)));
        };
        decoder.decode(block, &mut line).map(|()| text)
    }

    fn assert_blocks(decoder: &mut Decoder, blocks: &[(&str, &str, usize)]) {
        for (block, fields, table_bytes) in blocks {
            assert_eq!(decode(decoder, &bytes(block)).unwrap(), *fields);
            assert_eq!(decoder.table_bytes(), *table_bytes);
        }
    }

    #[test]
    fn decodes_the_single_fields_of_the_rfc() {
        // RFC 7541, C.2.
        let custom = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
        assert_blocks(&mut Decoder::new(), &[(custom, "custom-key: custom-header\n", 55)]);
        assert_blocks(&mut Decoder::new(), &[("040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path\n", 0)]);
        assert_blocks(&mut Decoder::new(), &[("1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret\n", 0)]);
        assert_blocks(&mut Decoder::new(), &[("82", ":method: GET\n", 0)]);
    }

    const FIRST_REQUEST: &str = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n";
    const SECOND_REQUEST: &str = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache\n";
    const THIRD_REQUEST: &str = ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value\n";

    #[test]
    fn decodes_the_requests_of_the_rfc() {
        // RFC 7541, C.3.
        let plain = [
            ("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", FIRST_REQUEST, 57),
            ("8286 84be 5808 6e6f 2d63 6163 6865", SECOND_REQUEST, 110),
            ("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", THIRD_REQUEST, 164),
        ];
        assert_blocks(&mut Decoder::new(), &plain);
        // RFC 7541, C.4.
        let huffman = [
            ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", FIRST_REQUEST, 57),
            ("8286 84be 5886 a8eb 1064 9cbf", SECOND_REQUEST, 110),
            ("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", THIRD_REQUEST, 164),
        ];
        assert_blocks(&mut Decoder::new(), &huffman);
    }

    const FIRST_RESPONSE: &str =
        ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n";
    const SECOND_RESPONSE: &str =
        ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n";
    const THIRD_RESPONSE: &str = ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\n\
         location: https://www.example.com\ncontent-encoding: gzip\n\
         set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n";

    #[test]
    fn decodes_the_responses_of_the_rfc_with_eviction() {
        let small = || {
            let mut decoder = Decoder::new();
            decoder.resize(256);
            decoder
        };
        // RFC 7541, C.5.
        let plain = [
            (
                "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e \
                 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                FIRST_RESPONSE,
                222,
            ),
            ("4803 3330 37c1 c0bf", SECOND_RESPONSE, 222),
            (
                "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d \
                 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 \
                 7369 6f6e 3d31",
                THIRD_RESPONSE,
                215,
            ),
        ];
        assert_blocks(&mut small(), &plain);
        // RFC 7541, C.6.
        let huffman = [
            (
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b \
                 97c8 e9ae 82ae 43d3",
                FIRST_RESPONSE,
                222,
            ),
            ("4883 640e ffc1 c0bf", SECOND_RESPONSE, 222),
            (
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf \
                 cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                THIRD_RESPONSE,
                215,
            ),
        ];
        assert_blocks(&mut small(), &huffman);
    }

    #[test]
    fn rejects_malformed_blocks() {
        for bad in [
            "80",                // the index 0
            "be",                // an index beyond the table
            "ff ff ff ff ff 7f", // an unterminated number
            "ff",                // a truncated number
            "40",                // nothing after the first byte
            "40 03 61 62",       // a truncated name
            "40 01 61",          // no value
            "40 01 61 02 62",    // a truncated value
            "7f 00 01 61",       // a name with an index beyond the table
            "88 20",             // a size update after a field
            "3f e2 1f",          // a size above the limit
            "08 81 fe",          // invalid padding
            "08 84 ff ff ff ff", // an end-of-string symbol within a string
        ] {
            assert!(decode(&mut Decoder::new(), &bytes(bad)).is_err(), "{bad}");
        }
        assert!(decode(&mut Decoder::new(), &bytes("3f e1 1f 20 88")).is_ok(), "two size updates before the first field");
    }

    #[test]
    fn an_entry_larger_than_the_table_empties_it() {
        let mut decoder = Decoder::new();
        decode(&mut decoder, &bytes("40 01 61 01 62")).unwrap();
        assert_eq!(decoder.table_bytes(), 34);
        let large = [&[0x40, 1, b'x', 0x7f, 0x81, 0x3f][..], &[b'y'; 8192]].concat();
        decode(&mut decoder, &large).unwrap();
        assert_eq!(decoder.table_bytes(), 0);
        assert!(decode(&mut decoder, &bytes("be")).is_err());
    }

    #[test]
    fn rejects_small_blocks_that_expand_to_large_fields() {
        let mut decoder = Decoder::new();
        let large = [&[0x40, 1, b'x', 0x7f, 0x81, 0x17][..], &[b'y'; 3072]].concat();
        decode(&mut decoder, &large).unwrap();
        assert!(decode(&mut decoder, &[0xbe; 20]).is_ok());
        assert!(decode(&mut decoder, &[0xbe; 30]).is_err());
    }

    /// One element of a header block: a field or a change of the table size.
    #[derive(Clone, Debug)]
    enum Piece {
        Index(usize),
        Literal { kept: bool, name: String, value: Vec<u8>, huffman: bool },
        Size(usize),
    }

    fn piece() -> impl Strategy<Value = Piece> {
        let literal = (any::<bool>(), "[a-z]{1,9}", prop::collection::vec(any::<u8>(), 0..300), any::<bool>())
            .prop_map(|(kept, name, value, huffman)| Piece::Literal { kept, name, value, huffman });
        prop_oneof![2 => (1..80usize).prop_map(Piece::Index), 3 => literal, 1 => (0..=4096usize).prop_map(Piece::Size)]
    }

    fn write_string(out: &mut Vec<u8>, text: &[u8], huffman: bool) {
        let coded = huffman::tests::encode(text);
        let (pattern, text) = if huffman { (0x80, &coded[..]) } else { (0, text) };
        super::super::write_number(out, pattern, 7, text.len());
        out.extend_from_slice(text);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        /// The model is a plain list. Entries are evicted from its end.
        #[test]
        fn the_dynamic_table_matches_the_model(pieces in prop::collection::vec(piece(), 1..60)) {
            let (mut decoder, mut table, mut bytes_max) = (Decoder::new(), Vec::<(Vec<u8>, Vec<u8>)>::new(), 4096);
            for piece in pieces {
                let (mut block, mut expected) = (Vec::new(), Some(Vec::new()));
                match &piece {
                    Piece::Index(index) => {
                        super::super::write_number(&mut block, 0x80, 7, *index);
                        let fixed = STATIC.get(index - 1).map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
                        expected = fixed.or_else(|| table.get(index - 62).cloned()).map(|field| vec![field]);
                    }
                    Piece::Literal { kept, name, value, huffman } => {
                        block.push(if *kept { 0x40 } else { 0 });
                        write_string(&mut block, name.as_bytes(), *huffman);
                        write_string(&mut block, value, *huffman);
                        let field = (name.clone().into_bytes(), value.clone());
                        if *kept {
                            table.insert(0, field.clone());
                        }
                        expected = Some(vec![field]);
                    }
                    Piece::Size(size) => {
                        super::super::write_number(&mut block, 0x20, 5, *size);
                        bytes_max = *size;
                    }
                }
                let size = |table: &[(Vec<u8>, Vec<u8>)]| table.iter().map(|(name, value)| name.len() + value.len() + 32).sum::<usize>();
                while size(&table) > bytes_max {
                    table.pop();
                }
                let mut decoded = Vec::new();
                let result = decoder.decode(&block, |name, value| decoded.push((name.to_vec(), value.to_vec())));
                prop_assert_eq!(result.is_ok().then_some(decoded), expected.clone());
                prop_assert_eq!(decoder.table_bytes(), size(&table));
                if expected.is_none() {
                    return Ok(());
                }
            }
        }

        #[test]
        fn arbitrary_bytes_are_handled(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..5)) {
            let mut decoder = Decoder::new();
            for block in blocks {
                let _ = decoder.decode(&block, |_, _| {});
                prop_assert!(decoder.table_bytes() <= 4096);
            }
        }
    }
}
