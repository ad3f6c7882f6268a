//! The io_uring engine: one system call moves a whole batch of sends out and of responses in.
//!
//! Each connection is a registered file. One receive waits in the kernel, fills buffers from a shared ring and goes on by itself; or, where
//! answers are close, there is one that does not wait, again and again (see `hearing`). Small requests are sent from memory that never changes,
//! without a completion for success: what went wrong is heard from the receiving side. All work of the kernel for this ring is deferred to the
//! moment when we ask for it, so it never interrupts the loop.

mod buffers;
mod completion;
mod hearing;
mod turns;

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use anyhow::{Context, Result};
use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, cqueue, opcode, squeue};
use socket2::Socket;

use super::polling::Polling;
use super::socket::{Peer, connect_error_kind, stream_to};
use super::{Engine, Setup};
use crate::clock::now_ns;
use crate::protocol::Protocol;
use crate::worker::{Effort, End, Next, Worker};
use buffers::Buffers;
use completion::{Completion, Operation, Tag};
use hearing::Asking;
use turns::Turns;

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

pub struct Uring {
    // Dropped before the buffers that it writes to.
    ring: IoUring,
    buffers: Buffers,
    peer: Box<Peer>,
    links: Vec<Link>,
    batch: Vec<Completion>,
    /// What the kernel may still read of connections that are gone, until it says that it is done.
    retired: Vec<(u64, Vec<u8>)>,
    /// Connections whose receive stopped for want of buffers.
    starved: Vec<u32>,
    polling: Polling,
    asking: Asking,
    turns: Turns,
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
            asking: Asking::new(setup.connections),
            turns: Turns::new(setup.connections),
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
            self.hear(worker.wake_ns().saturating_sub(now_ns()))?;
            worker.effort = Effort { polled_ns: self.polling.spent_ns() + self.asking.in_vain_ns, asked: self.asking.heard };
            let now = now_ns();
            for at in 0..self.batch.len() {
                self.complete(worker, self.batch[at], now)?;
            }
            self.buffers.publish();
            for index in std::mem::take(&mut self.starved) {
                self.listen(index)?;
            }
            if worker.follows_up_at_once() {
                self.consider_asking(now);
            }
        }
    }
}

impl Uring {
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

    fn take_batch(&mut self, most: usize) {
        let completions = self.ring.completion().take(most).map(|entry| Completion::of(&entry));
        self.batch.extend(completions.filter(|completion| !completion.is_nothing()));
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
        // SAFETY: what entries point to is the peer, prepared requests, `sending` or a place: all outlive the operation.
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
        self.turns.remove(index);
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
        if self.turns.has(index) {
            self.turns.put_last(index);
        }
        self.push(&entry)
    }

    #[inline]
    fn complete<P: Protocol>(&mut self, worker: &mut Worker<P>, completion: Completion, now: u64) -> Result<()> {
        let Completion { tag, result, .. } = completion;
        let current = self.links[tag.index as usize].generation == tag.generation;
        match tag.operation {
            Operation::Receive | Operation::Ask => self.received(worker, completion, current, now),
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
            Operation::Connect | Operation::Cancel => Ok(()),
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
        self.listen(index)?;
        worker.connected(index, now);
        Ok(())
    }

    #[inline]
    fn received<P: Protocol>(&mut self, worker: &mut Worker<P>, completion: Completion, current: bool, now: u64) -> Result<()> {
        let Completion { tag: Tag { index, operation, .. }, result, flags } = completion;
        let mut next = Next::Keep;
        if let Some(buffer) = cqueue::buffer_select(flags) {
            if current && result > 0 {
                next = worker.received(index, self.buffers.bytes(buffer, result as usize), now);
            }
            self.buffers.put_back(buffer);
        } else if current && operation == Operation::Ask && result > 0 {
            next = worker.received(index, self.asking.places.bytes(index, result as usize), now);
        }
        if !current {
            return Ok(());
        }
        if next == Next::Close {
            return self.close(index);
        }
        if result > 0 {
            self.flush(worker, index)?;
            self.asking.note_answer(operation == Operation::Ask, result as usize);
        }
        if cqueue::more(flags) {
            return self.go_on(index);
        }
        match -result {
            // Who was asked is in the queue still, or again.
            i32::MIN..0 if operation == Operation::Ask => Ok(()),
            i32::MIN..0 | libc::ECANCELED => self.listen(index),
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
