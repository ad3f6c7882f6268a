//! The verified short cut: a header block that repeats one which was decoded and found right means the same again.
//!
//! Servers repeat themselves, so this is what nearly every response of a benchmark takes. A block that changes the table of the decoder is not
//! remembered; one that does not change it means the same until something else does.

use super::head::Head;

/// Longer blocks are decoded each time.
const KNOWN_BLOCK_BYTES_MAX: usize = 4096;

#[derive(Debug, Default)]
pub struct KnownBlock {
    bytes: Vec<u8>,
    /// Of the table of the decoder.
    version: u64,
    head: Option<Head>,
}

impl KnownBlock {
    /// Remembers the block of a final response that was just decoded; `before` and `version`: of the table, before and after that.
    pub fn learn(&mut self, block: &[u8], head: Head, before: u64, version: u64) {
        if before == version && block.len() <= KNOWN_BLOCK_BYTES_MAX {
            self.bytes.clear();
            self.bytes.extend_from_slice(block);
            (self.version, self.head) = (version, Some(head));
        }
    }

    #[inline]
    pub fn recognise(&self, block: &[u8], version: u64) -> Option<Head> {
        self.head.filter(|_| self.version == version && *self.bytes == *block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head = Head { status: 200, length: Some(5) };

    #[test]
    fn a_block_is_known_as_long_as_the_table_is_the_same() {
        let mut known = KnownBlock::default();
        assert_eq!(known.recognise(b"", 0), None);
        known.learn(b"\x88\xbe", HEAD, 3, 3);
        assert_eq!(known.recognise(b"\x88\xbe", 3), Some(HEAD));
        assert_eq!(known.recognise(b"\x88\xbf", 3), None);
        assert_eq!(known.recognise(b"\x88", 3), None);
        assert_eq!(known.recognise(b"\x88\xbe", 4), None);
    }

    #[test]
    fn a_block_that_changes_the_table_is_not_learned() {
        let mut known = KnownBlock::default();
        known.learn(b"\x88\x40\x01a\x01b", HEAD, 3, 4);
        assert_eq!(known.recognise(b"\x88\x40\x01a\x01b", 3), None);
        assert_eq!(known.recognise(b"\x88\x40\x01a\x01b", 4), None);
    }
}
