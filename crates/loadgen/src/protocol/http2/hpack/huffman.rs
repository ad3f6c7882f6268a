//! The Huffman code for strings (RFC 7541, section 5.2 and appendix B).
//!
//! The code is canonical: symbols are sorted by code length and then by value, and get ascending codes in this order. The lengths therefore
//! define the whole code.

/// The end-of-string symbol, which no valid string contains.
const END_OF_STRING: u16 = 256;
const LENGTH_MAX: usize = 30;
/// Maximum length, in bits, of codes that a single table lookup finds. The codes of all frequent symbols are at most this long.
const QUICK_BITS: usize = 8;

/// The length of each symbol's code, in bits.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

struct Code {
    /// All symbols, sorted by the length of their codes.
    symbols: [u16; 257],
    /// The first code of each length. This array and the next two are indexed by code length: `count` is the number of codes of this
    /// length, and `start` is the position of their symbols in `symbols`.
    first: [u32; LENGTH_MAX + 1],
    count: [u32; LENGTH_MAX + 1],
    start: [u32; LENGTH_MAX + 1],
    /// Indexed by the next `QUICK_BITS` bits of the input: the symbol and the length of its code. The length is 0 if the code is longer
    /// than `QUICK_BITS`.
    quick: [(u8, u8); 1 << QUICK_BITS],
}

static CODE: Code = Code::new();

impl Code {
    const fn new() -> Self {
        let mut code = Self { symbols: [0; 257], first: [0; 31], count: [0; 31], start: [0; 31], quick: [(0, 0); 1 << QUICK_BITS] };
        let (mut length, mut next, mut place) = (1, 0u32, 0);
        while length <= LENGTH_MAX {
            next <<= 1;
            (code.first[length], code.start[length]) = (next, place as u32);
            let mut symbol = 0;
            while symbol < LENGTHS.len() {
                if LENGTHS[symbol] as usize == length {
                    code.symbols[place] = symbol as u16;
                    code.note_quick(next, length, symbol as u8);
                    code.count[length] += 1;
                    place += 1;
                    next += 1;
                }
                symbol += 1;
            }
            length += 1;
        }
        code
    }

    const fn note_quick(&mut self, code: u32, length: usize, symbol: u8) {
        if length > QUICK_BITS {
            return;
        }
        let free = QUICK_BITS - length;
        let mut at = (code as usize) << free;
        while at < (code as usize + 1) << free {
            self.quick[at] = (symbol, length as u8);
            at += 1;
        }
    }

    /// Returns the symbol whose code is in the highest bits of `bits`, and the length of that code.
    #[inline]
    fn find(&self, bits: u64) -> (u16, u32) {
        match self.quick[(bits >> (64 - QUICK_BITS)) as usize] {
            (_, 0) => self.find_long(bits),
            (symbol, length) => (u16::from(symbol), u32::from(length)),
        }
    }

    fn find_long(&self, bits: u64) -> (u16, u32) {
        for length in QUICK_BITS + 1..=LENGTH_MAX {
            let place = ((bits >> (64 - length)) as u32).wrapping_sub(self.first[length]);
            if place < self.count[length] {
                return (self.symbols[(self.start[length] + place) as usize], length as u32);
            }
        }
        // This line is unreachable, because every sequence of 30 bits begins with a code.
        (END_OF_STRING, LENGTH_MAX as u32)
    }
}

/// Appends the decoded string to `out`. Returns `None` if the bytes are malformed.
pub fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (mut rest, mut bits, mut count) = (bytes.iter(), 0u64, 0u32);
    loop {
        while count <= 56
            && let Some(byte) = rest.next()
        {
            bits |= u64::from(*byte) << (56 - count);
            count += 8;
        }
        let (symbol, length) = CODE.find(bits);
        if length > count {
            // The rest must be padding: less than a byte, and only ones.
            return (count < 8 && bits.leading_ones() >= count).then_some(());
        }
        if symbol == END_OF_STRING {
            return None;
        }
        out.push(symbol as u8);
        bits <<= length;
        count -= length;
    }
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the code of a symbol and its length.
    fn code_of(symbol: u16) -> (u32, usize) {
        let length = usize::from(LENGTHS[usize::from(symbol)]);
        let start = CODE.start[length] as usize;
        let place = CODE.symbols[start..].iter().position(|known| *known == symbol).expect("each symbol has a code");
        (CODE.first[length] + place as u32, length)
    }

    /// Encodes a string by concatenating text of ones and zeros, which is slow but simple.
    pub fn encode(bytes: &[u8]) -> Vec<u8> {
        let mut text = String::new();
        for byte in bytes {
            let (code, length) = code_of(u16::from(*byte));
            text.push_str(&format!("{code:0length$b}"));
        }
        while !text.len().is_multiple_of(8) {
            text.push('1');
        }
        (0..text.len()).step_by(8).map(|at| u8::from_str_radix(&text[at..at + 8], 2).expect("the text has only ones and zeros")).collect()
    }

    fn decoded(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(bytes, &mut out).map(|()| out)
    }

    #[test]
    fn codes_match_the_rfc() {
        let known = [(0, 0x1ff8, 13), (48, 0x0, 5), (32, 0x14, 6), (65, 0x21, 6), (92, 0x7fff0, 19), (255, 0x3ffffee, 26)];
        for (symbol, code, length) in known.into_iter().chain([(10, 0x3ffffffc, 30), (256, 0x3fffffff, 30), (249, 0xffffffe, 28)]) {
            assert_eq!(code_of(symbol), (code, length), "{symbol}");
        }
    }

    #[test]
    fn rejects_invalid_padding() {
        assert_eq!(decoded(b""), Some(b"".to_vec()));
        assert_eq!(decoded(&[0b0001_1111]), Some(b"a".to_vec()));
        assert_eq!(decoded(&[0b0001_1110]), None, "padding with a zero");
        assert_eq!(decoded(&[0b0001_1111, 0xff]), None, "more than seven bits of padding");
        assert_eq!(decoded(&[0xff]), None);
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xff]), None, "an end-of-string symbol");
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xfc]), None, "an end-of-string symbol, then zeros");
    }

    proptest! {
        #[test]
        fn strings_round_trip(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(decoded(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn decoded_strings_encode_to_the_same_bytes(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            if let Some(text) = decoded(&bytes) {
                prop_assert_eq!(encode(&text), bytes);
            }
        }
    }
}
