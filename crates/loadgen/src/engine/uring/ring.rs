//! The submission and completion queues of io_uring.
//!
//! The kernel defers all work for this ring until the thread calls io_uring_enter(2) (`DEFER_TASKRUN`). Completions are therefore posted
//! only during that call, in the order of the events that caused them.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use anyhow::{Context, Result};
use io_uring::types::{Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use socket2::SockAddr;

use super::buffers::{self, Buffers};
use super::completion::{Completion, Operation, Tag};

const SUBMISSIONS: u32 = 1024;
/// `IORING_ENTER_GETEVENTS` from io_uring_enter(2), which the `io-uring` crate doesn't export.
const IORING_ENTER_GETEVENTS: u32 = 1;
const NO_SIGNAL_WHOLE: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;
const BUFFER_BYTES: usize = 16 * 1024;
const BUFFERS_MIN: u32 = 256;
const BUFFERS_MAX: u32 = 4096;
/// Maximum number of consecutive attempts to submit.
const TRIES_MAX: u32 = 1000;

pub struct Ring {
    // This field comes first, so that the ring is dropped before the buffers and the address, which the kernel accesses.
    ring: IoUring,
    pub buffers: Buffers,
    peer: Box<SockAddr>,
    /// Completions that were taken from the queue early to make room for submissions.
    stash: VecDeque<Completion>,
}

impl Ring {
    pub fn new(connections: u32, peer: SockAddr) -> Result<Self> {
        let ring: IoUring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all() // one failed entry must not hold up the rest
            .setup_cqsize((4 * connections).next_power_of_two().clamp(2 * SUBMISSIONS, 65536))
            .build(SUBMISSIONS)
            .context("cannot create an io_uring")?;
        ring.submitter().register_files_sparse(connections).context("cannot register files with io_uring")?;
        let count = connections.next_power_of_two().clamp(BUFFERS_MIN, BUFFERS_MAX) as u16;
        let buffers =
            Buffers::register(&ring.submitter(), count, BUFFER_BYTES).context("cannot register a ring of buffers with io_uring")?;
        Ok(Self { ring, buffers, peer: Box::new(peer), stash: VecDeque::new() })
    }

    /// Queues a connect. The socket must stay open until the completion.
    pub fn connect(&mut self, tag: Tag, socket: BorrowedFd<'_>) -> Result<()> {
        debug_assert_eq!(tag.operation, Operation::Connect);
        let entry = opcode::Connect::new(Fd(socket.as_raw_fd()), self.peer.as_ptr().cast(), self.peer.len()).build();
        // SAFETY: the kernel reads the address, which lives as long as the ring and never changes.
        unsafe { self.push(&entry.user_data(tag.pack())) }
    }

    /// Queues a poll that completes once the file is readable. The file must stay open until then.
    pub fn watch(&mut self, tag: Tag, file: BorrowedFd<'_>) -> Result<()> {
        let entry = opcode::PollAdd::new(Fd(file.as_raw_fd()), libc::POLLIN as u32).build();
        // SAFETY: the operation doesn't access memory.
        unsafe { self.push(&entry.user_data(tag.pack())) }
    }

    /// Queues a multishot receive on a registered socket, into buffers that the kernel picks.
    #[inline]
    pub fn arm_receive(&mut self, tag: Tag) -> Result<()> {
        debug_assert_eq!(tag.operation, Operation::Receive);
        let entry = opcode::RecvMulti::new(Fixed(tag.index), buffers::GROUP).build();
        // SAFETY: the kernel writes only to registered buffers, which outlive the ring.
        unsafe { self.push(&entry.user_data(tag.pack())) }
    }

    /// Queues a send of `length` bytes on a registered socket. If `silent` is true, only a failed send produces a completion.
    ///
    /// # Safety
    ///
    /// The bytes must stay valid and unchanged until the completion or, if `silent` is true, for the lifetime of the ring.
    #[inline]
    pub unsafe fn send(&mut self, tag: Tag, start: *const u8, length: usize, silent: bool) -> Result<()> {
        debug_assert_eq!(tag.operation, Operation::Send);
        let entry = opcode::Send::new(Fixed(tag.index), start, length as u32).flags(NO_SIGNAL_WHOLE).build();
        let entry = if silent { entry.flags(squeue::Flags::SKIP_SUCCESS) } else { entry };
        // SAFETY: guaranteed by the contract of this function.
        unsafe { self.push(&entry.user_data(tag.pack())) }
    }

    /// Registers the socket of a connection, or unregisters it if `fd` is -1.
    pub fn register_socket(&self, index: u32, fd: RawFd) -> Result<()> {
        self.ring.submitter().register_files_update(index, &[fd]).context("cannot register a file with io_uring")?;
        Ok(())
    }

    /// Submits all queued operations.
    pub fn submit(&mut self) -> Result<()> {
        for _ in 0..TRIES_MAX {
            if self.ring.submission().is_empty() {
                return Ok(());
            }
            if self.enter_once(0)? {
                continue;
            }
            // The completion queue is full, or the kernel is temporarily short of memory.
            self.enter_once(IORING_ENTER_GETEVENTS)?;
            let taken = self.ring.completion().map(|entry| Completion::of(&entry));
            self.stash.extend(taken);
        }
        Err(io::Error::from(io::ErrorKind::WouldBlock)).context("io_uring accepts no submissions")
    }

    /// Submits the queue and collects completions, without waiting. Operations that the kernel doesn't accept stay queued.
    #[inline]
    pub fn enter(&mut self) -> Result<()> {
        self.enter_once(IORING_ENTER_GETEVENTS).map(drop)
    }

    /// Like `enter`, but waits for a completion for at most `wait_ns`.
    pub fn sleep(&mut self, wait_ns: u64) -> Result<()> {
        let timeout = Timespec::new().sec(wait_ns / 1_000_000_000).nsec((wait_ns % 1_000_000_000) as u32);
        match self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout)) {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                _ => Err(error).context("io_uring_enter failed"),
            },
        }
    }

    /// Returns whether completions are available.
    #[inline]
    pub fn has_completions(&mut self) -> bool {
        !self.stash.is_empty() || !self.ring.completion().is_empty()
    }

    /// Appends up to `most` completions to `batch`, oldest first.
    #[inline]
    pub fn take(&mut self, most: usize, batch: &mut Vec<Completion>) {
        if !self.stash.is_empty() {
            let stashed = self.stash.len().min(most);
            batch.extend(self.stash.drain(..stashed));
        }
        batch.extend(self.ring.completion().take(most - batch.len()).map(|entry| Completion::of(&entry)));
    }

    /// # Safety
    ///
    /// The memory that the entry points to must stay valid until its completion.
    #[inline]
    unsafe fn push(&mut self, entry: &squeue::Entry) -> Result<()> {
        // SAFETY: guaranteed by the contract of this function.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.submit()?;
        }
        Ok(())
    }

    /// Calls io_uring_enter(2) once. Returns false if the call must be retried later.
    #[inline]
    fn enter_once(&mut self, flags: u32) -> Result<bool> {
        let queued = self.ring.submission().len() as u32;
        // SAFETY: no pointer is passed to the call.
        match unsafe { self.ring.submitter().enter::<()>(queued, 0, flags, None) } {
            Ok(_) => Ok(true),
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => Ok(true),
                Some(libc::EBUSY | libc::EAGAIN) => Ok(false),
                _ => Err(error).context("io_uring_enter failed"),
            },
        }
    }
}
