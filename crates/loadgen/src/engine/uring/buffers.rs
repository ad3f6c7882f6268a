//! Memory for what is received: a ring of buffers that the kernel picks from, so that a connection holds none while it waits; and places
//! for answers that are asked for, one for each connection, which cost less than to pick a buffer and to hand it back.
//!
//! Buffers are handed back in batches: one store makes all of them visible. The kernel reads entries up to the tail only, so writing the
//! entries first and the tail last, with release ordering, is all the synchronisation that is needed (io_uring_register_buf_ring(3)).

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

use super::BUFFER_BYTES;

pub const GROUP: u16 = 0;
const PAGE_BYTES: usize = 4096;

pub struct Buffers {
    ring: NonNull<BufRingEntry>,
    ring_layout: Layout,
    memory: Box<[u8]>,
    buffer_bytes: usize,
    mask: u16,
    tail: u16,
}

impl Buffers {
    /// `count` buffers, a power of two of at most 32768, all of them available to the kernel.
    pub fn register(submitter: &Submitter<'_>, count: u16, buffer_bytes: usize) -> io::Result<Self> {
        assert!(count.is_power_of_two());
        let ring_bytes = usize::from(count) * size_of::<BufRingEntry>();
        let ring_layout = Layout::from_size_align(ring_bytes, PAGE_BYTES).map_err(io::Error::other)?;
        // SAFETY: the layout has a size above zero.
        let ring = unsafe { alloc_zeroed(ring_layout) }.cast::<BufRingEntry>();
        let Some(ring) = NonNull::new(ring) else { handle_alloc_error(ring_layout) };
        let memory = vec![0; usize::from(count) * buffer_bytes].into_boxed_slice();
        let mut buffers = Self { ring, ring_layout, memory, buffer_bytes, mask: count - 1, tail: 0 };
        // SAFETY: ring and memory live as long as `self`, which the engine drops after its io_uring.
        unsafe { submitter.register_buf_ring_with_flags(ring.as_ptr() as u64, count, GROUP, 0) }?;
        for id in 0..count {
            buffers.put_back(id);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// The first `length` bytes of a buffer that the kernel has filled.
    #[inline]
    pub fn bytes(&self, id: u16, length: usize) -> &[u8] {
        let start = usize::from(id) * self.buffer_bytes;
        &self.memory[start..start + length]
    }

    /// Takes a buffer back; the kernel sees it with the next `publish`.
    #[inline]
    pub fn put_back(&mut self, id: u16) {
        let address = self.memory.as_mut_ptr().wrapping_add(usize::from(id) * self.buffer_bytes);
        // SAFETY: the mask keeps the entry within the ring; the kernel does not read it before the tail says so.
        unsafe {
            let entry = &mut *self.ring.as_ptr().add(usize::from(self.tail & self.mask));
            entry.set_addr(address as u64);
            entry.set_len(self.buffer_bytes as u32);
            entry.set_bid(id);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline]
    pub fn publish(&self) {
        // SAFETY: the tail lies within the first entry, is aligned, and is written by nobody else.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.ring.as_ptr()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

/// A place for the next answer of each connection.
#[derive(Default)]
pub struct Places {
    memory: Box<[u8]>,
}

impl Places {
    pub fn new(connections: usize) -> Self {
        Self { memory: vec![0; connections * BUFFER_BYTES].into_boxed_slice() }
    }

    /// Where the kernel may write `BUFFER_BYTES`.
    #[inline]
    pub fn address(&mut self, index: u32) -> *mut u8 {
        self.memory[Self::range(index, BUFFER_BYTES)].as_mut_ptr()
    }

    /// The first `length` bytes of what the kernel has written.
    #[inline]
    pub fn bytes(&self, index: u32, length: usize) -> &[u8] {
        &self.memory[Self::range(index, length)]
    }

    #[inline]
    fn range(index: u32, length: usize) -> std::ops::Range<usize> {
        let start = index as usize * BUFFER_BYTES;
        start..start + length
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and the kernel's side is gone with the io_uring.
        unsafe { dealloc(self.ring.as_ptr().cast(), self.ring_layout) };
    }
}
