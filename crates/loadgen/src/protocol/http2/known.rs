//! A shortcut for repeated header blocks. A block that equals an earlier, accepted block isn't decoded again.
//!
//! A server sends nearly the same header block with every response, so most responses in a benchmark take this path. Blocks that change the
//! decoder's dynamic table aren't remembered. A remembered block is valid until another block changes the table.

use super::head::Head;

/// Maximum length of a known block. Longer blocks are always decoded.
const KNOWN_BLOCK_BYTES_MAX: usize = 4096;

#[derive(Debug, Default)]
pub struct KnownBlock {
    bytes: Vec<u8>,
    /// Version of the decoder's table when the block was learned.
    version: u64,
    head: Option<Head>,
}

impl KnownBlock {
    /// Remembers the header block of a final response, unless the block is too long or has changed the table. The block must have just been
    /// decoded. `before` and `version` are the versions of the decoder's table before and after decoding.
    pub fn learn(&mut self, block: &[u8], head: Head, before: u64, version: u64) {
        if before == version && block.len() <= KNOWN_BLOCK_BYTES_MAX {
            self.bytes.clear();
            self.bytes.extend_from_slice(block);
            (self.version, self.head) = (version, Some(head));
        }
    }

    #[inline]
    pub fn recognize(&self, block: &[u8], version: u64) -> Option<Head> {
        self.head.filter(|_| self.version == version && *self.bytes == *block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head = Head { status: 200, length: Some(5), is_event_stream: false };

    #[test]
    fn a_block_is_known_until_the_table_changes() {
        let mut known = KnownBlock::default();
        assert_eq!(known.recognize(b"", 0), None);
        known.learn(b"\x88\xbe", HEAD, 3, 3);
        assert_eq!(known.recognize(b"\x88\xbe", 3), Some(HEAD));
        assert_eq!(known.recognize(b"\x88\xbf", 3), None);
        assert_eq!(known.recognize(b"\x88", 3), None);
        assert_eq!(known.recognize(b"\x88\xbe", 4), None);
    }

    #[test]
    fn a_block_that_changes_the_table_is_not_learned() {
        let mut known = KnownBlock::default();
        known.learn(b"\x88\x40\x01a\x01b", HEAD, 3, 4);
        assert_eq!(known.recognize(b"\x88\x40\x01a\x01b", 3), None);
        assert_eq!(known.recognize(b"\x88\x40\x01a\x01b", 4), None);
    }
}
