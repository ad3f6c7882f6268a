//! The io_uring engine: one system call moves a whole batch of sends out and of responses in.
//!
//! Each connection is a registered file with one multishot receive that fills buffers from a shared ring; it is armed once, not per
//! response. Small requests are sent from memory that never changes, without a completion for success: what went wrong is heard from the
//! receiving side. All work of the kernel for this ring is deferred to the moment when we ask for it, so it never interrupts the loop.

mod buffers;

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use anyhow::{Context, Result};
use io_uring::types::{Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use socket2::{SockAddr, Socket};

use super::polling::{Looked, Polling};
use super::socket::{connect_error_kind, stream_to};
use super::{Engine, Setup};
use crate::clock::now_ns;
use crate::protocol::Protocol;
use crate::worker::{End, Next, Worker};
use buffers::Buffers;

const SUBMISSIONS: u32 = 1024;
/// Completions that share one reading of the clock and one submission.
const BATCH: usize = 128;
const BUFFER_BYTES: usize = 16 * 1024;
const BUFFERS_MIN: u32 = 256;
const BUFFERS_MAX: u32 = 4096;
/// Up to this many bytes in flight fit into any send buffer, so a send is never short and need not be followed.
const UNTRACKED_BYTES_MAX: usize = 8 * 1024;
/// `IORING_ENTER_GETEVENTS` of io_uring_enter(2), which the crate keeps to itself.
const IORING_ENTER_GETEVENTS: u32 = 1;
const NO_SIGNAL_WHOLE: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;

/// What a completion belongs to: connection, its generation, and the operation, packed into 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    generation: u32,
    index: u32,
    operation: Operation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Connect,
    Receive,
    Send,
}

const INDEX_BITS: u32 = 28;

impl Tag {
    fn pack(self) -> u64 {
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
struct Completion {
    tag: Tag,
    result: i32,
    flags: u32,
}

pub struct Uring {
    // Dropped before the buffers that it writes to.
    ring: IoUring,
    buffers: Buffers,
    peer: Box<SockAddr>,
    links: Vec<Link>,
    batch: Vec<Completion>,
    /// What the kernel may still read of connections that are gone, until it says that it is done.
    retired: Vec<(u64, Vec<u8>)>,
    /// Connections whose receive stopped for want of buffers.
    starved: Vec<u32>,
    polling: Polling,
}

#[derive(Default)]
struct Link {
    socket: Option<Socket>,
    generation: u32,
    connected: bool,
    /// Bytes that the kernel is sending, where the protocol's own memory may change meanwhile.
    sending: Vec<u8>,
}

impl Uring {
    /// Whether this kernel, and what confines us, allow all that this engine uses.
    pub fn available() -> bool {
        Self::create(1).is_ok()
    }

    fn create(connections: u32) -> Result<(IoUring, Buffers)> {
        let ring: IoUring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize((4 * connections).next_power_of_two().clamp(2 * SUBMISSIONS, 65536))
            .build(SUBMISSIONS)
            .context("cannot create an io_uring")?;
        ring.submitter().register_files_sparse(connections).context("cannot register files with io_uring")?;
        let count = connections.next_power_of_two().clamp(BUFFERS_MIN, BUFFERS_MAX) as u16;
        let buffers =
            Buffers::register(&ring.submitter(), count, BUFFER_BYTES).context("cannot register a ring of buffers with io_uring")?;
        Ok((ring, buffers))
    }
}

impl Engine for Uring {
    const NAME: &'static str = "io_uring";

    fn new(setup: Setup) -> Result<Self> {
        let (ring, buffers) = Self::create(setup.connections)?;
        let links = (0..setup.connections).map(|_| Link::default()).collect();
        Ok(Self {
            ring,
            buffers,
            peer: Box::new(setup.peer),
            links,
            batch: Vec::with_capacity(BATCH),
            retired: Vec::new(),
            starved: Vec::new(),
            polling: Polling::default(),
        })
    }

    fn run<P: Protocol>(mut self, worker: &mut Worker<P>) -> Result<()> {
        loop {
            let now = now_ns();
            if now >= worker.wake_ns() {
                worker.tick(now);
            }
            self.obey(worker)?;
            if worker.finished().is_some() {
                return Ok(());
            }
            self.wait(worker.wake_ns().saturating_sub(now_ns()))?;
            worker.polled_ns = self.polling.spent_ns();
            self.take_batch();
            let now = now_ns();
            for at in 0..self.batch.len() {
                self.complete(worker, self.batch[at], now)?;
            }
            self.buffers.publish();
            for index in std::mem::take(&mut self.starved) {
                self.receive(index)?;
            }
        }
    }
}

impl Uring {
    /// Submits what is queued, and waits for completions.
    fn wait(&mut self, wait_ns: u64) -> Result<()> {
        self.enter()?;
        if wait_ns == 0 || !self.ring.completion().is_empty() {
            return Ok(());
        }
        let ring = &mut self.ring;
        match self.polling.look(wait_ns, || ring.submission().taskrun()) {
            Looked::Found => self.enter(),
            Looked::TimeIsOver => Ok(()),
            Looked::Sleep => self.sleep(wait_ns),
        }
    }

    fn sleep(&self, wait_ns: u64) -> Result<()> {
        let timeout = Timespec::new().sec(wait_ns / 1_000_000_000).nsec((wait_ns % 1_000_000_000) as u32);
        match self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout)) {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                _ => Err(error).context("io_uring_enter failed"),
            },
        }
    }

    /// Submits what is queued and lets the kernel do its deferred work, without waiting.
    fn enter(&mut self) -> Result<()> {
        let submitted = self.ring.submission().len() as u32;
        // SAFETY: no argument is passed.
        match unsafe { self.ring.submitter().enter::<()>(submitted, 0, IORING_ENTER_GETEVENTS, None) } {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                _ => Err(error).context("io_uring_enter failed"),
            },
        }
    }

    fn take_batch(&mut self) {
        self.batch.clear();
        let completions = self.ring.completion().take(BATCH);
        self.batch.extend(completions.map(|entry| Completion {
            tag: Tag::unpack(entry.user_data()),
            result: entry.result(),
            flags: entry.flags(),
        }));
    }

    /// Does what the worker has asked for.
    fn obey<P: Protocol>(&mut self, worker: &mut Worker<P>) -> Result<()> {
        while !(worker.to_close.is_empty() && worker.to_open.is_empty() && worker.to_flush.is_empty()) {
            while let Some(index) = worker.to_close.pop() {
                self.close(index)?;
            }
            while let Some(index) = worker.to_open.pop() {
                self.open(worker, index)?;
            }
            while let Some(index) = worker.to_flush.pop() {
                self.flush(worker, index)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, entry: &squeue::Entry) -> Result<()> {
        // SAFETY: what entries point to is the peer, prepared requests or `sending`: all outlive the operation.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit().context("io_uring_enter failed")?;
        }
        Ok(())
    }

    fn tag(&self, index: u32, operation: Operation) -> u64 {
        Tag { generation: self.links[index as usize].generation, index, operation }.pack()
    }

    fn open<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32) -> Result<()> {
        let socket = match stream_to(&self.peer) {
            Ok(socket) => socket,
            Err(error) => {
                worker.connect_failed(index, connect_error_kind(&error), &error.to_string(), now_ns());
                return Ok(());
            }
        };
        let entry = opcode::Connect::new(Fd(socket.as_raw_fd()), self.peer.as_ptr().cast(), self.peer.len()).build();
        let link = &mut self.links[index as usize];
        link.socket = Some(socket);
        link.connected = false;
        let entry = entry.user_data(self.tag(index, Operation::Connect));
        self.push(&entry)
    }

    /// Operations under way end by the shutdown; what they report is told apart by the generation.
    fn close(&mut self, index: u32) -> Result<()> {
        let send_tag = self.tag(index, Operation::Send);
        let link = &mut self.links[index as usize];
        if !link.sending.is_empty() {
            self.retired.push((send_tag, std::mem::take(&mut link.sending)));
        }
        link.generation = link.generation.wrapping_add(1);
        let Some(socket) = link.socket.take() else { return Ok(()) };
        // What was queued for this socket must not meet the next one.
        self.ring.submit().context("io_uring_enter failed")?;
        // Fails where the other end has closed already, which is just as well.
        let _ = socket.shutdown(std::net::Shutdown::Both);
        if std::mem::take(&mut self.links[index as usize].connected) {
            self.update_file(index, -1)?;
        }
        Ok(())
    }

    fn update_file(&self, index: u32, fd: RawFd) -> Result<()> {
        self.ring.submitter().register_files_update(index, &[fd]).context("cannot register a file with io_uring")?;
        Ok(())
    }

    fn receive(&mut self, index: u32) -> Result<()> {
        if !self.links[index as usize].connected {
            return Ok(());
        }
        let entry = opcode::RecvMulti::new(Fixed(index), buffers::GROUP).build().user_data(self.tag(index, Operation::Receive));
        self.push(&entry)
    }

    /// Sends what waits. Small and unchanging requests need no following up; others are copied and followed.
    #[inline]
    fn flush<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32) -> Result<()> {
        let link = &mut self.links[index as usize];
        let output = worker.output(index);
        if output.is_empty() || !link.connected || !link.sending.is_empty() {
            return Ok(());
        }
        let length = output.len();
        let untracked = length <= UNTRACKED_BYTES_MAX && worker.stable_output();
        let (start, flags) = if untracked {
            (output.as_ptr(), squeue::Flags::SKIP_SUCCESS)
        } else {
            link.sending.extend_from_slice(output);
            (link.sending.as_ptr(), squeue::Flags::empty())
        };
        let entry = opcode::Send::new(Fixed(index), start, length as u32).flags(NO_SIGNAL_WHOLE).build();
        let entry = entry.flags(flags).user_data(self.tag(index, Operation::Send));
        worker.sent(index, length);
        self.push(&entry)
    }

    #[inline]
    fn complete<P: Protocol>(&mut self, worker: &mut Worker<P>, completion: Completion, now: u64) -> Result<()> {
        let Completion { tag, result, .. } = completion;
        let current = self.links[tag.index as usize].generation == tag.generation;
        match tag.operation {
            Operation::Receive => self.received(worker, completion, current, now),
            Operation::Connect if current => self.connect_over(worker, tag.index, result, now),
            Operation::Send if current => {
                // A failure is heard from the receiving side as well.
                self.links[tag.index as usize].sending.clear();
                self.flush(worker, tag.index)
            }
            Operation::Send => {
                self.retired.retain(|(gone, _)| *gone != tag.pack());
                Ok(())
            }
            Operation::Connect => Ok(()),
        }
    }

    fn connect_over<P: Protocol>(&mut self, worker: &mut Worker<P>, index: u32, result: i32, now: u64) -> Result<()> {
        if result < 0 {
            let error = io::Error::from_raw_os_error(-result);
            self.close(index)?;
            worker.connect_failed(index, connect_error_kind(&error), &error.to_string(), now);
            return Ok(());
        }
        let link = &mut self.links[index as usize];
        let Some(socket) = &link.socket else { return Ok(()) };
        let fd = socket.as_raw_fd();
        link.connected = true;
        self.update_file(index, fd)?;
        self.receive(index)?;
        worker.connected(index, now);
        Ok(())
    }

    #[inline]
    fn received<P: Protocol>(&mut self, worker: &mut Worker<P>, completion: Completion, current: bool, now: u64) -> Result<()> {
        let Completion { tag: Tag { index, .. }, result, flags } = completion;
        let mut next = Next::Keep;
        if let Some(buffer) = cqueue::buffer_select(flags) {
            if current && result > 0 {
                next = worker.received(index, self.buffers.bytes(buffer, result as usize), now);
            }
            self.buffers.put_back(buffer);
        }
        if !current {
            return Ok(());
        }
        if next == Next::Close {
            return self.close(index);
        }
        if result > 0 {
            self.flush(worker, index)?;
        }
        if cqueue::more(flags) {
            return Ok(());
        }
        match -result {
            i32::MIN..0 => self.receive(index),
            libc::ENOBUFS => {
                self.starved.push(index);
                Ok(())
            }
            error => {
                self.close(index)?;
                worker.ended(index, if error == 0 { End::Closed } else { End::Reset }, now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_survive_packing() {
        for operation in [Operation::Connect, Operation::Receive, Operation::Send] {
            let tag = Tag { generation: u32::MAX - 1, index: (1 << INDEX_BITS) - 1, operation };
            assert_eq!(Tag::unpack(tag.pack()), tag);
        }
    }
}
