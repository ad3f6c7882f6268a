//! A ring of receive buffers that all connections share. The kernel picks a buffer when data arrives, so idle connections need none.
//!
//! Buffers are put back in batches, and a single store to the ring's tail publishes a whole batch. The kernel reads entries only up to the
//! tail. Writing the entries first and then the tail, with release ordering, is therefore sufficient (io_uring_register_buf_ring(3)).
//!
//! The kernel may write to this memory at any time, so there must never be a reference to the whole memory. A reference to a buffer may
//! exist only between the completion that names the buffer and the moment when the buffer is put back.

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
        // SAFETY: the buffer is inside the memory, and the kernel doesn't write to it until it is put back.
        unsafe { std::slice::from_raw_parts(self.address(id), length) }
    }

    /// Puts a buffer back into the ring. The kernel can use the buffer after the next `publish`.
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
        // SAFETY: the tail is inside the first entry, is aligned, and has no other writer.
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

/// Zeroed pages in a separate mapping. If the kernel writes to them after they are unmapped, the write fails instead of corrupting other
/// memory.
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
