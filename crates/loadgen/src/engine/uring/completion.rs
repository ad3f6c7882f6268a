//! Completions of io_uring operations, and the tags that identify the operations.

use io_uring::cqueue;

/// The identity of an operation: the connection's index, its generation and the kind of operation. A tag fits into the 64 bits of user data
/// that io_uring copies from a submission to its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub generation: u32,
    pub index: u32,
    pub operation: Operation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Connect,
    Receive,
    Send,
}

const INDEX_BITS: u32 = 30;

impl Tag {
    pub fn pack(self) -> u64 {
        u64::from(self.generation) << 32 | (self.operation as u64) << INDEX_BITS | u64::from(self.index)
    }

    fn unpack(data: u64) -> Self {
        let operation = match (data as u32) >> INDEX_BITS {
            0 => Operation::Connect,
            1 => Operation::Receive,
            _ => Operation::Send,
        };
        Self { generation: (data >> 32) as u32, index: data as u32 & ((1 << INDEX_BITS) - 1), operation }
    }
}

#[derive(Clone, Copy)]
pub struct Completion {
    pub tag: Tag,
    pub result: i32,
    pub flags: u32,
}

impl Completion {
    pub fn of(entry: &cqueue::Entry) -> Self {
        Self { tag: Tag::unpack(entry.user_data()), result: entry.result(), flags: entry.flags() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_round_trip() {
        for operation in [Operation::Connect, Operation::Receive, Operation::Send] {
            let tag = Tag { generation: u32::MAX - 1, index: (1 << INDEX_BITS) - 1, operation };
            assert_eq!(Tag::unpack(tag.pack()), tag);
        }
    }
}
