//! Memory for what is received: a ring of buffers that the kernel picks from, so that a connection holds none while it waits.
//!
//! Buffers are handed back in batches: one store makes all of them visible. The kernel reads entries up to the tail only, so writing the
//! entries first and the tail last, with release ordering, is all the synchronisation that it requires (io_uring_register_buf_ring(3)).
//!
//! The kernel writes to this memory at any time, so no reference to all of it ever exists: only to a buffer between the completion that
//! names it and its return.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

pub const GROUP: u16 = 0;

pub struct Buffers {
    ring: Pages,
    memory: Pages,
    buffer_bytes: usize,
    mask: u16,
    tail: u16,
}

impl Buffers {
    /// `count` buffers, a power of two of at most 32768, all of them available to the kernel.
    pub fn register(submitter: &Submitter<'_>, count: u16, buffer_bytes: usize) -> io::Result<Self> {
        assert!(count.is_power_of_two());
        let ring = Pages::map(usize::from(count) * size_of::<BufRingEntry>())?;
        let memory = Pages::map(usize::from(count) * buffer_bytes)?;
        let mut buffers = Self { ring, memory, buffer_bytes, mask: count - 1, tail: 0 };
        // SAFETY: ring and memory live as long as `self`, which the engine drops after its io_uring.
        unsafe { submitter.register_buf_ring_with_flags(buffers.ring.start.as_ptr() as u64, count, GROUP, 0) }?;
        for id in 0..count {
            buffers.put_back(id);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// The first `length` bytes of a buffer that the kernel has filled.
    ///
    /// # Safety
    ///
    /// A completion has named this buffer and length, and the buffer has not been put back since.
    #[inline]
    pub unsafe fn bytes(&self, id: u16, length: usize) -> &[u8] {
        debug_assert!(id <= self.mask && length <= self.buffer_bytes);
        // SAFETY: the buffer lies within the memory, and is ours alone until it is put back.
        unsafe { std::slice::from_raw_parts(self.address(id), length) }
    }

    /// Takes a buffer back; the kernel sees it with the next `publish`.
    #[inline]
    pub fn put_back(&mut self, id: u16) {
        let address = self.address(id);
        // SAFETY: the mask keeps the entry within the ring; the kernel does not read it before the tail says so.
        unsafe {
            let entry = &mut *self.entries().add(usize::from(self.tail & self.mask));
            entry.set_addr(address as u64);
            entry.set_len(self.buffer_bytes as u32);
            entry.set_bid(id);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline]
    pub fn publish(&self) {
        // SAFETY: the tail lies within the first entry, is aligned, and is written by nobody else.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.entries()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    fn entries(&self) -> *mut BufRingEntry {
        self.ring.start.as_ptr().cast()
    }

    #[inline]
    fn address(&self, id: u16) -> *mut u8 {
        // SAFETY: an id is smaller than the number of buffers.
        unsafe { self.memory.start.as_ptr().add(usize::from(id) * self.buffer_bytes) }
    }
}

/// Zeroed pages of their own: once they are unmapped, a write by the kernel that comes too late fails instead of hitting other memory.
struct Pages {
    start: NonNull<u8>,
    length: usize,
}

impl Pages {
    fn map(length: usize) -> io::Result<Self> {
        // SAFETY: the kernel picks the address, so no other mapping is replaced.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped with this length, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
