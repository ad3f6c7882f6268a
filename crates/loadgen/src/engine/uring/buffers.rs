//! A ring of receive buffers from which the kernel picks, so that idle connections occupy no buffers.
//!
//! Buffers are put back in batches, and one store to the ring's tail publishes a whole batch. The kernel reads entries only up to the tail,
//! so it suffices to write the entries first and then the tail, with release ordering (io_uring_register_buf_ring(3)).
//!
//! The kernel may write to this memory at any time, so a reference to all of it must never exist. A reference to a single buffer exists
//! only from the completion that names the buffer until the buffer is put back.

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
    /// Creates `count` buffers and makes all of them available to the kernel. `count` must be a power of two and at most 32768.
    pub fn register(submitter: &Submitter<'_>, count: u16, buffer_bytes: usize) -> io::Result<Self> {
        assert!(count.is_power_of_two());
        let ring = Pages::map(usize::from(count) * size_of::<BufRingEntry>())?;
        let memory = Pages::map(usize::from(count) * buffer_bytes)?;
        let mut buffers = Self { ring, memory, buffer_bytes, mask: count - 1, tail: 0 };
        // SAFETY: the ring and the memory live as long as `self`, which the engine drops after its io_uring.
        unsafe { submitter.register_buf_ring_with_flags(buffers.ring.start.as_ptr() as u64, count, GROUP, 0) }?;
        for id in 0..count {
            buffers.put_back(id);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// Returns the first `length` bytes of a buffer that the kernel has filled.
    ///
    /// # Safety
    ///
    /// A completion must have named this buffer and length, and the buffer must not have been put back since.
    #[inline]
    pub unsafe fn bytes(&self, id: u16, length: usize) -> &[u8] {
        debug_assert!(id <= self.mask && length <= self.buffer_bytes);
        // SAFETY: the buffer lies within the memory, and the kernel doesn't write to it until it is put back.
        unsafe { std::slice::from_raw_parts(self.address(id), length) }
    }

    /// Puts a buffer back. The kernel sees it after the next `publish`.
    #[inline]
    pub fn put_back(&mut self, id: u16) {
        let address = self.address(id);
        // SAFETY: the mask keeps the entry within the ring, and the kernel doesn't read it before the tail is published.
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
        // SAFETY: the tail lies within the first entry, is aligned, and has no other writer.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.entries()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    fn entries(&self) -> *mut BufRingEntry {
        self.ring.start.as_ptr().cast()
    }

    #[inline]
    fn address(&self, id: u16) -> *mut u8 {
        // SAFETY: ids are smaller than the number of buffers.
        unsafe { self.memory.start.as_ptr().add(usize::from(id) * self.buffer_bytes) }
    }
}

/// Zeroed pages in a mapping of their own. After they are unmapped, a late write by the kernel fails instead of corrupting other memory.
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
        // SAFETY: the pages were mapped with this length, and nothing refers to them anymore.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
